"""Files, and the records that they belong to."""

from __future__ import annotations

from crmbench.domains.sales.authoring import (
    ConversationBuilder,
    NoCandidate,
    call,
    family,
    policy_actions,
    references,
)
from crmbench.domains.sales.authoring.org import is_open, product_of, version_of
from crmbench.domains.sales.phrases import plain

_ENDINGS = ("pdf", "docx", "pptx", "xlsx")


def file_name(builder: ConversationBuilder, *stems: str) -> str:
    """A name that the CRM takes."""
    tail = builder.choose("", "_final", "_v2", "_signed", f"_{builder.today[:7]}", "-rev3")
    return f"{builder.choose(*stems)}{tail}.{builder.choose(*_ENDINGS)}"


@family("Document Management", 44)
def upload_to_deal(builder: ConversationBuilder) -> None:
    """A file goes onto a described deal, in the name of the person who asks (DOC-1, DOC-2)."""
    deal = builder.pick(builder.org.deals)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    name = file_name(builder, "site_plan", "tender_answer", "kickoff_slides", "requirements", "mou")
    uploaded = policy_actions.upload(builder, "Opportunity", deal["opportunity_id"], name)
    builder.turn(
        "file.to_deal",
        {"deal": named.slot, "file": plain(name)},
        calls=[*named.reads, uploaded],
        rules=("DOC-1", "DOC-2"),
        tags=named.tags,
    )


@family("Document Management", 34)
def upload_to_quote(builder: ConversationBuilder) -> None:
    """A quote's file belongs on that quote, not on the deal (DOC-2); then a second one."""
    quote = builder.pick(builder.org.quotes)
    named = references.quote(builder, quote)
    builder.turn_to(quote)
    name = file_name(builder, "quote", "offer_letter", "price_list", "quotation")
    key = quote["quote_id"]
    builder.turn(
        "file.to_quote",
        {"quote": named.slot, "file": plain(name)},
        calls=[*named.reads, policy_actions.upload(builder, "Quote", key, name)],
        rules=("DOC-1", "DOC-2"),
        tags=named.tags,
    )
    second = file_name(builder, "terms", "annex_a", "cover_note")
    builder.turn(
        "file.same_place",
        {"file": plain(second)},
        calls=[policy_actions.upload(builder, "Quote", key, second)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )


@family("Document Management", 30)
def upload_to_contract(builder: ConversationBuilder) -> None:
    """The signed copy goes onto the contract, which has to be found first."""
    contract = builder.pick(builder.org.contracts)
    named = references.contract(builder, contract)
    builder.turn_to(contract)
    name = file_name(builder, "contract", "signed_agreement", "countersigned", "framework")
    uploaded = policy_actions.upload(builder, "Contract", contract["contract_id"], name)
    builder.turn(
        "file.to_contract",
        {"contract": named.slot, "file": plain(name)},
        calls=[*named.reads, uploaded],
        rules=("DOC-1", "DOC-2"),
        tags=(*named.tags, "by_description"),
    )


@family("Document Management", 32)
def upload_bad_name(builder: ConversationBuilder) -> None:
    """The CRM refuses a name with spaces or an unknown extension, and the agent may not make up
    another (DOC-1); the user then gives one that it takes.
    """
    deal = builder.pick(builder.org.deals)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    stem = builder.choose(
        "site photos", "signed offer", "meeting notes", "rack layout", "test report"
    )
    spaced = builder.rng.random() < 0.5
    bad = (
        f"{stem}.pdf"
        if spaced
        else f"{stem.replace(' ', '_')}.{builder.choose('zip', 'png', 'dwg')}"
    )
    key = deal["opportunity_id"]
    builder.rejected(
        "file.to_deal",
        {"deal": named.slot, "file": plain(bad)},
        calls=[*named.reads, policy_actions.upload(builder, "Opportunity", key, bad)],
        error="may only include" if spaced else "is not supported",
        category="validation",
        reasons=(
            *("name", "letters", "space", "blank", "character", "extension", "support", "type"),
            *("format", "accept", "allowed", bad.rpartition(".")[2]),
        ),
        tags=named.tags,
    )
    good = f"{stem.replace(' ', '_')}.pdf"
    builder.turn(
        "file.then_as",
        {"file": plain(good)},
        calls=[policy_actions.upload(builder, "Opportunity", key, good)],
        rules=("DOC-1",),
        tags=("cross_turn_reference", "correction"),
    )


@family("Document Management", 28)
def upload_several(builder: ConversationBuilder) -> None:
    """A batch of files for one deal."""
    deal = builder.pick(builder.org.deals)
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    names = sorted(
        builder.rng.sample(
            [
                "scope.docx",
                "timeline.xlsx",
                "kickoff.pptx",
                "pricing.xlsx",
                "sla_draft.docx",
                "security_sheet.pdf",
                "references.pdf",
            ],
            builder.rng.choice((2, 3)),
        )
    )
    said = f"{', '.join(names[:-1])} and {names[-1]}"
    key = deal["opportunity_id"]
    builder.turn(
        "file.several",
        {"deal": named.slot, "files": plain(said)},
        calls=[
            *named.reads,
            *(policy_actions.upload(builder, "Opportunity", key, n) for n in names),
        ],
        rules=("DOC-2",),
        tags=(*named.tags, "batch"),
    )
    found = builder.find("Document", "entity_id", key)
    if len(found) > 6 or len(found) == len(names):
        return
    fact = builder.fact("list", tuple(d["file_name"] for d in found), "files", item="text")
    builder.turn(
        "file.which_now",
        calls=[call("document_search", entity_id=key)],
        facts=[fact],
        tags=("cross_turn_reference", "about_change"),
    )


@family("Document Management", 30)
def upload_where(builder: ConversationBuilder) -> None:
    """The client has two open deals; the user does not say which one, so the agent must ask
    (FIND-2).
    """
    org = builder.org

    def torn(client: dict[str, object]) -> bool:
        deals = [d for d in org.deals_of(client) if is_open(d)]
        return len(deals) == 2 and len({product_of(d) for d in deals}) == 2

    client = builder.pick(org.clients, torn)
    deals = [d for d in org.deals_of(client) if is_open(d)]
    deal = builder.rng.choice(deals)
    if any(product_of(deal) in product_of(d) for d in deals if d is not deal):
        raise NoCandidate
    builder.turn_to(deal)
    name = file_name(builder, "delivery_plan", "draft_terms", "survey", "comments")
    reads = [
        call("client_search", name=client["name"]),
        call("opportunity_search", client_id=client["client_id"]),
    ]
    uploaded = policy_actions.upload(builder, "Opportunity", deal["opportunity_id"], name)
    about = ("which", "deal", "opportunity", "two", "product", *map(product_of, deals))
    builder.turn(
        "file.ambiguous",
        {"client": plain(client["name"]), "file": plain(name)},
        calls=[*reads, uploaded],
        rules=("FIND-2", "DOC-2"),
        tags=("near_duplicate",),
        asks=("answer.which_deal", {"product": plain(product_of(deal))}, about),
    )


@family("Document Management", 24)
def latest_quote_file(builder: ConversationBuilder) -> None:
    """Which files hang on the client itself, and a file for the quote with the highest version."""
    org = builder.org
    deal = builder.pick(org.deals, lambda d: len(org.quotes_of(d)) >= 2)
    quotes = org.quotes_of(deal)
    latest = max(quotes, key=version_of)
    if sum(version_of(q) == version_of(latest) for q in quotes) != 1:
        raise NoCandidate
    named = references.deal(builder, deal)
    builder.turn_to(deal)
    search = call("quote_search", opportunity_id=deal["opportunity_id"])
    facts = [
        builder.fact("money", latest["amount"], "amount of the latest quote"),
        builder.fact("count", len(quotes), "quotes"),
    ]
    builder.turn(
        "file.quote_first",
        {"deal": named.slot},
        calls=[*named.reads, search],
        facts=facts,
        rules=("FIND-4",),
        tags=named.tags,
    )
    name = file_name(builder, "quote_letter", "pricing_annex", "quote_terms")
    builder.turn(
        "file.to_that_quote",
        {"file": plain(name)},
        calls=[policy_actions.upload(builder, "Quote", latest["quote_id"], name)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )
