"""Requests that the CRM or a house rule refuses."""

from __future__ import annotations

from datetime import timedelta

from crmbench.authoring.calls import call
from crmbench.authoring.derive import half_up
from crmbench.domains.sales.authoring import policy_actions
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.follow_ups.asking import (
    AGAIN,
    look,
    look_at_quotes,
    need,
    quotes_of,
)
from crmbench.domains.sales.authoring.follow_ups.people import (
    domain_of,
    look_at_people,
    may_be_told,
    people,
)
from crmbench.domains.sales.authoring.follow_ups.registry import follow_up
from crmbench.domains.sales.authoring.org import full_name, is_open, version_of
from crmbench.domains.sales.phrases import money, percent, plain

PRIVATE = (
    *("health", "family", "religio", "personal", "private", "privacy", "medical", "sensitive"),
    *("policy", "rule", "NOTE-2", "church", "faith", "belief", "illness", "condition", "surgery"),
    *("divorce", "pregnan", "medication", "hospital", "treatment", "treated"),
)
"""What tells why something private is not written down (NOTE-2), by any of its words."""


def _names(person: str) -> tuple[str, ...]:
    """How somebody may be named: in full, or by the first name."""
    return (person, person.split()[0])


@follow_up(2)
def too_much(builder: ConversationBuilder) -> None:
    """An amount beyond what the CRM takes: of a big deal, or typed with three zeros too many."""
    deal = builder.deal
    need(is_open(deal) and not builder.was_set(deal["opportunity_id"], "amount"))
    big = deal["amount"] >= 2_000_000
    wanted = half_up(deal["amount"] * builder.choose(0.9, 1.1, 1.2) / 500) * 500
    amount = float(builder.choose(10_500_000, 11_000_000, 12_500_000) if big else wanted * 1000)
    need(amount > 10_000_000)
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    builder.rejected(
        "no.too_much" if big else "no.too_much_slip",
        {"amount": money(amount)},
        calls=[changed],
        error="must not exceed 10,000,000",
        category="validation",
        reasons=(
            *("10,000,000", "10000000", "10 000 000", "10 million", "ten million", "10M", "$10M"),
            *("limit", "maximum", "exceed", "highest", "ceiling", "cap", "too high", "too large"),
        ),
        tags=AGAIN,
    )


@follow_up(2)
def past_close(builder: ConversationBuilder) -> None:
    """A close date that has passed."""
    deal = builder.deal
    need(is_open(deal))
    gone = builder.org.today - timedelta(days=builder.rng.randint(6, 60))
    need(gone.isoformat() != deal["close_date"])
    need(not builder.was_set(deal["opportunity_id"], "close_date"))
    changed = call(
        "modify_opportunity", opportunity_id=deal["opportunity_id"], close_date=gone.isoformat()
    )
    builder.rejected(
        "no.past_close",
        {"when": plain(f"{gone:%B} {gone.day}, {gone.year}")},
        calls=[changed],
        error="Close date must be today or in the future",
        category="validation",
        reasons=(
            *("past", "future", "passed", "already gone", "gone by", "earlier than today"),
            *("before today", "behind us", "today or later", "from today", "backdat"),
        ),
        tags=AGAIN,
    )


@follow_up(2)
def certain(builder: ConversationBuilder) -> None:
    """A probability of 100 %."""
    deal = builder.deal
    need(is_open(deal) and not builder.was_set(deal["opportunity_id"], "probability"))
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], probability=100)
    builder.rejected(
        "no.certain",
        {"chance": percent(100)},
        calls=[changed],
        error="Probability must be between 1 and 99",
        category="validation",
        reasons=("99", "between 1", "range", "maximum", "limit", "highest", "at most", "below 100"),
        tags=AGAIN,
    )


@follow_up(2)
def wrong_file(builder: ConversationBuilder) -> None:
    """A file of a kind, or with a name, that the CRM does not take."""
    deal = builder.deal
    stem = builder.choose("demo", "pictures", "site_video", "backup", "calculation")
    name = f"{stem}.{builder.choose('zip', 'exe', 'mp4', 'png', 'html')}"
    uploaded = policy_actions.upload(builder, "Opportunity", deal["opportunity_id"], name)
    builder.rejected(
        "no.wrong_file",
        {"file": plain(name)},
        calls=[uploaded],
        error="is not supported",
        category="validation",
        reasons=(
            *("extension", "support", "type", "format", "allowed", "accept", "kind of file"),
            *(name.rpartition(".")[2], "pdf", "docx", "DOC-1"),
        ),
        tags=AGAIN,
    )


@follow_up(2)
def closed_amount(builder: ConversationBuilder) -> None:
    """The amount of a deal that is closed."""
    deal = builder.deal
    need(not is_open(deal))
    amount = half_up(deal["amount"] * builder.choose(0.9, 1.1, 1.2) / 500) * 500 + 500
    need(amount != deal["amount"])
    changed = call("modify_opportunity", opportunity_id=deal["opportunity_id"], amount=amount)
    builder.rejected(
        "no.closed_amount",
        {"amount": money(amount)},
        calls=[changed],
        error="Cannot modify closed opportunity fields",
        category="business_rule",
        reasons=("closed", "locked", "lost", "final", "won", "no longer be changed", deal["stage"]),
        tags=AGAIN,
    )


@follow_up(2)
def quote_when_closed(builder: ConversationBuilder) -> None:
    """A new quote for a closed deal."""
    need(not is_open(builder.deal))
    # Nobody asks for a quote on a deal that they have just had closed.
    need(
        any(d["opportunity_id"] == builder.focus.deal and not is_open(d) for d in builder.org.deals)
    )
    inactive = ("inactive", "CLIENT-3") if builder.client["status"] == "Inactive" else ()
    builder.refused(
        "no.quote_when_closed",
        calls=[look(builder)],
        rules=("DEAL-6",),
        reasons=("closed", "lost", "won", builder.deal["stage"], "DEAL-6", *inactive),
        tags=AGAIN,
    )


@follow_up(2)
def private_address(builder: ConversationBuilder) -> None:
    """A contact's address where the contact's notes say that it is not to be shared."""
    guarded = [c for c in people(builder) if not may_be_told(c) and c["email"]]
    need(guarded)
    person = builder.rng.choice(guarded)
    forbidden = [builder.fact("text", person["email"], "e-mail")]
    if person["phone"]:
        forbidden.append(builder.fact("text", person["phone"], "phone"))
    builder.refused(
        "no.private_address",
        {"contact": plain(full_name(person))},
        calls=[look_at_people(builder)],
        rules=("CONTACT-1",),
        forbidden=forbidden,
        tags=AGAIN,
    )


@follow_up(2)
def other_domain(builder: ConversationBuilder) -> None:
    """An e-mail address that is not at the client's own domain."""
    found = people(builder)
    need(found)
    person = builder.rng.choice(found)
    name = f"{person['first_name']}.{person['last_name']}".casefold()
    address = f"{name}@{builder.choose('mailbox.example', 'postfach.example', 'inbox.example')}"
    need(address.isascii() and domain_of(builder.client) not in address)
    builder.refused(
        "no.other_domain",
        {"contact": plain(full_name(person)), "email": plain(address)},
        calls=[look_at_people(builder)],
        rules=("CONTACT-2",),
        reasons=(
            *("domain", "policy", "rule", "company address", "own address", "CONTACT-2"),
            *("work address", "business address", "private address", domain_of(builder.client)),
        ),
        tags=AGAIN,
    )


@follow_up(2)
def private_matter(builder: ConversationBuilder) -> None:
    """A note about somebody's health, family or faith."""
    found = people(builder)
    need(found)
    person = builder.rng.choice(found)
    builder.refused(
        "no.private_matter",
        {"contact": plain(full_name(person))},
        rules=("NOTE-2",),
        reasons=PRIVATE,
        tags=AGAIN,
    )


@follow_up(2)
def delete_it(builder: ConversationBuilder) -> None:
    """Deleting a deal that has gone too far for it, or on which something hangs."""
    deal = builder.deal
    key = deal["opportunity_id"]
    hangs = any(builder.find(t, "entity_id", key) for t in ("Document", "Note")) or quotes_of(
        builder
    )
    need(is_open(deal) and (deal["stage"] != "Prospecting" or hangs))
    reasons = (
        *("stage", "quote", "note", "document", "contract", "Prospecting", "lost", "DEAL-5"),
        *(deal["stage"], "file", "attach", "too far"),
    )
    looks = [call("view_opportunity_details", opportunity_id=key)]
    builder.refused("no.delete_it", calls=looks, rules=("DEAL-5",), reasons=reasons, tags=AGAIN)


@follow_up(2)
def approve_alone(builder: ConversationBuilder) -> None:
    """A representative wants a quote marked Approved."""
    latest = max(quotes_of(builder), key=version_of, default=None)
    need(latest is not None and latest["status"] in ("Draft", "Sent") and not builder.by_manager)
    builder.refused(
        "no.approve_alone",
        calls=[look_at_quotes(builder)],
        rules=("QUOTE-6",),
        reasons=("manager", *_names(builder.org.manager), "QUOTE-6", "authori", "permi"),
        tags=AGAIN,
    )


@follow_up(2)
def deep_discount(builder: ConversationBuilder) -> None:
    """A quote far under the deal's amount, which nobody may have."""
    deal = builder.deal
    need(is_open(deal) and builder.client["status"] != "Inactive")
    builder.refused(
        "no.deep_discount",
        {"rate": percent(builder.choose(32, 35, 38, 40, 45, 50))},
        calls=[look(builder)],
        rules=("DISC-2",),
        reasons=(
            *("30", "thirty", "limit", "maximum", "DISC-2", "too deep", "too much", "more than"),
            *_no_leave(builder),
        ),
        tags=AGAIN,
    )


def _no_leave(builder: ConversationBuilder) -> tuple[str, ...]:
    """What a representative may be told as well: so much needs the manager's leave (DISC-1)."""
    if builder.by_manager:
        return ()
    leave = ("approv", "leave", "permission", "sign-off", "sign off", "manager", "10", "ten")
    return (*leave, "DISC-1", *_names(builder.org.manager))


@follow_up(2)
def not_yours(builder: ConversationBuilder) -> None:
    """A representative gives away a deal that belongs to somebody else."""
    deal = builder.deal
    need(is_open(deal) and not builder.by_manager and deal["owner"] not in (None, builder.speaker))
    others = [o for o in builder.org.owners[1:] if o not in (deal["owner"], builder.speaker)]
    builder.refused(
        "no.not_yours",
        {"owner": plain(builder.rng.choice(others))},
        calls=[look(builder)],
        rules=("DEAL-8",),
        reasons=(
            *("own", "manager", "belong", "DEAL-8", "yours", "not your", "somebody else's"),
            *(*_names(str(deal["owner"])), *_names(builder.org.manager)),
        ),
        tags=AGAIN,
    )
