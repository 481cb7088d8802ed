"""Requests that the CRM or a house rule refuses."""

from __future__ import annotations

from datetime import timedelta

from crmbench.authoring.derive import half_up
from crmbench.domains.sales.phrases import money, percent, plain
from crmbench.domains.sales.talk import house
from crmbench.domains.sales.talk.moves.asking import AGAIN, look, look_at_quotes, need, quotes_of
from crmbench.domains.sales.talk.moves.people import domain_of, look_at_people, may_be_told, people
from crmbench.domains.sales.talk.moves.registry import move
from crmbench.domains.sales.talk.org import full_name, is_open, version_of
from crmbench.domains.sales.talk.talk import Talk, call


@move(2)
def too_much(talk: Talk) -> None:
    """An amount beyond what the CRM takes."""
    deal = talk.deal
    need(is_open(deal))
    amount = float(talk.choose(10_500_000, 11_000_000, 12_500_000, 15_000_000, 24_000_000))
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    talk.rejected(
        "no.too_much",
        {"amount": money(amount)},
        calls=[changed],
        error="must not exceed 10,000,000",
        category="validation",
        reasons=("10,000,000", "10 million", "ten million", "10M", "$10M", "limit", "maximum"),
        tags=AGAIN,
    )


@move(2)
def past_close(talk: Talk) -> None:
    """A close date that has passed."""
    deal = talk.deal
    need(is_open(deal))
    gone = talk.org.today - timedelta(days=talk.rng.randint(6, 60))
    need(gone.isoformat() != deal["close_date"])
    changed = call(
        "modify_opportunity", opportunity_id=deal["opportunity_id"], close_date=gone.isoformat()
    )
    talk.rejected(
        "no.past_close",
        {"when": plain(f"{gone:%B} {gone.day}, {gone.year}")},
        calls=[changed],
        error="Close date must be today or in the future",
        category="validation",
        reasons=("past", "future", "passed", "already gone", "earlier than today", "before today"),
        tags=AGAIN,
    )


@move(2)
def certain(talk: Talk) -> None:
    """A probability of 100 %."""
    deal = talk.deal
    need(is_open(deal))
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], probability=100)
    talk.rejected(
        "no.certain",
        {"chance": percent(100)},
        calls=[changed],
        error="Probability must be between 1 and 99",
        category="validation",
        reasons=("99", "between 1", "range", "maximum"),
        tags=AGAIN,
    )


@move(2)
def wrong_file(talk: Talk) -> None:
    """A file of a kind, or with a name, that the CRM does not take."""
    deal = talk.deal
    stem = talk.choose("demo", "pictures", "site_video", "backup", "calculation")
    name = f"{stem}.{talk.choose('zip', 'exe', 'mp4', 'png', 'html')}"
    uploaded = house.upload(talk, "Opportunity", deal["opportunity_id"], name)
    talk.rejected(
        "no.wrong_file",
        {"file": plain(name)},
        calls=[uploaded],
        error="is not supported",
        category="validation",
        reasons=("extension", "support", "type", "format", "allowed"),
        tags=AGAIN,
    )


@move(2)
def closed_amount(talk: Talk) -> None:
    """The amount of a deal that is closed."""
    deal = talk.deal
    need(not is_open(deal))
    amount = half_up(deal["amount"] * talk.choose(0.9, 1.1, 1.2) / 500) * 500 + 500
    need(amount != deal["amount"])
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    talk.rejected(
        "no.closed_amount",
        {"amount": money(amount)},
        calls=[changed],
        error="Cannot modify closed opportunity fields",
        category="business_rule",
        reasons=("closed", "locked", "lost", "final"),
        tags=AGAIN,
    )


@move(2)
def quote_when_closed(talk: Talk) -> None:
    """A new quote for a closed deal."""
    need(not is_open(talk.deal))
    # Nobody asks for a quote on a deal that they have just had closed.
    need(any(d["opportunity_id"] == talk.focus.deal and not is_open(d) for d in talk.org.deals))
    inactive = ("inactive", "CLIENT-3") if talk.client["status"] == "Inactive" else ()
    talk.refused(
        "no.quote_when_closed",
        calls=[look(talk)],
        rules=("DEAL-6",),
        reasons=("closed", "lost", "been won", "was won", "is won", "DEAL-6", *inactive),
        tags=AGAIN,
    )


@move(2)
def private_address(talk: Talk) -> None:
    """A contact's address where the contact's notes say that it is not to be shared."""
    guarded = [c for c in people(talk) if not may_be_told(c) and c["email"]]
    need(guarded)
    person = talk.rng.choice(guarded)
    forbidden = [talk.fact("text", person["email"], "e-mail")]
    if person["phone"]:
        forbidden.append(talk.fact("text", person["phone"], "phone"))
    talk.refused(
        "no.private_address",
        {"contact": plain(full_name(person))},
        calls=[look_at_people(talk)],
        rules=("CONTACT-1",),
        forbidden=forbidden,
        tags=AGAIN,
    )


@move(2)
def other_domain(talk: Talk) -> None:
    """An e-mail address that is not at the client's own domain."""
    found = people(talk)
    need(found)
    person = talk.rng.choice(found)
    name = f"{person['first_name']}.{person['last_name']}".casefold()
    address = f"{name}@{talk.choose('mailbox.example', 'postfach.example', 'inbox.example')}"
    need(address.isascii() and domain_of(talk.client) not in address)
    talk.refused(
        "no.other_domain",
        {"contact": plain(full_name(person)), "email": plain(address)},
        calls=[look_at_people(talk)],
        rules=("CONTACT-2",),
        reasons=("domain", "policy", "rule", "company address", "own address", "CONTACT-2"),
        tags=AGAIN,
    )


@move(2)
def private_matter(talk: Talk) -> None:
    """A note about somebody's health, family or faith."""
    found = people(talk)
    need(found)
    person = talk.rng.choice(found)
    talk.refused(
        "no.private_matter",
        {"contact": plain(full_name(person))},
        rules=("NOTE-2",),
        reasons=(
            "health",
            "family",
            "religio",
            "personal",
            "private",
            "medical",
            "sensitive",
            "policy",
            "rule",
        ),
        tags=AGAIN,
    )


@move(2)
def delete_it(talk: Talk) -> None:
    """Deleting a deal that has gone too far for it, or on which something hangs."""
    deal = talk.deal
    key = deal["opportunity_id"]
    hangs = any(talk.find(t, "entity_id", key) for t in ("Document", "Note")) or quotes_of(talk)
    need(is_open(deal) and (deal["stage"] != "Prospecting" or hangs))
    reasons = ("stage", "quote", "note", "document", "contract", "Prospecting", "lost", "DEAL-5")
    looks = [call("view_opportunity_details", opportunity_id=key)]
    talk.refused("no.delete_it", calls=looks, rules=("DEAL-5",), reasons=reasons, tags=AGAIN)


@move(2)
def approve_alone(talk: Talk) -> None:
    """A representative wants a quote marked Approved."""
    latest = max(quotes_of(talk), key=version_of, default=None)
    need(latest is not None and latest["status"] in ("Draft", "Sent") and not talk.by_manager)
    talk.refused(
        "no.approve_alone",
        calls=[look_at_quotes(talk)],
        rules=("QUOTE-6",),
        reasons=("manager", talk.org.manager, "QUOTE-6", "authority", "authori"),
        tags=AGAIN,
    )


@move(2)
def deep_discount(talk: Talk) -> None:
    """A quote far under the deal's amount, which nobody may have."""
    deal = talk.deal
    need(is_open(deal) and talk.client["status"] != "Inactive")
    talk.refused(
        "no.deep_discount",
        {"rate": percent(talk.choose(32, 35, 38, 40, 45, 50))},
        calls=[look(talk)],
        rules=("DISC-2",),
        reasons=("30", "thirty", "limit", "maximum", "DISC-2", *_no_leave(talk)),
        tags=AGAIN,
    )


def _no_leave(talk: Talk) -> tuple[str, ...]:
    """What a representative may be told as well: so much needs the manager's leave (DISC-1)."""
    return () if talk.by_manager else ("approv", "leave", "manager", "10", "DISC-1")


@move(2)
def not_yours(talk: Talk) -> None:
    """A representative gives away a deal that belongs to somebody else."""
    deal = talk.deal
    need(is_open(deal) and not talk.by_manager and deal["owner"] not in (None, talk.speaker))
    others = [o for o in talk.org.owners[1:] if o not in (deal["owner"], talk.speaker)]
    talk.refused(
        "no.not_yours",
        {"owner": plain(talk.rng.choice(others))},
        calls=[look(talk)],
        rules=("DEAL-8",),
        reasons=("own", "manager", "belong", "DEAL-8", str(deal["owner"])),
        tags=AGAIN,
    )
