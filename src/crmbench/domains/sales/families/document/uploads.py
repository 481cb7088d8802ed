"""Files, and the records that they belong to."""

from __future__ import annotations

from crmbench.domains.sales.phrases import plain
from crmbench.domains.sales.talk import NoFit, Talk, call, describe, family, house
from crmbench.domains.sales.talk.org import is_open, product_of, version_of

_ENDINGS = ("pdf", "docx", "pptx", "xlsx")


def file_name(talk: Talk, *stems: str) -> str:
    """A name that the CRM takes."""
    tail = talk.choose("", "_final", "_v2", "_signed", f"_{talk.today[:7]}", "-rev3")
    return f"{talk.choose(*stems)}{tail}.{talk.choose(*_ENDINGS)}"


@family("Document Management", 44)
def upload_to_deal(talk: Talk) -> None:
    """A file goes onto a described deal, in the name of the person who asks (DOC-1, DOC-2)."""
    deal = talk.pick(talk.org.deals)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    name = file_name(talk, "site_plan", "tender_answer", "kickoff_slides", "requirements", "mou")
    uploaded = house.upload(talk, "Opportunity", deal["opportunity_id"], name)
    talk.turn(
        "file.to_deal",
        {"deal": named.slot, "file": plain(name)},
        calls=[*named.reads, uploaded],
        rules=("DOC-1", "DOC-2"),
        tags=named.tags,
    )


@family("Document Management", 34)
def upload_to_quote(talk: Talk) -> None:
    """A quote's file belongs on that quote, not on the deal (DOC-2); then a second one."""
    quote = talk.pick(talk.org.quotes)
    named = describe.quote(talk, quote)
    talk.turn_to(quote)
    name = file_name(talk, "quote", "offer_letter", "price_list", "quotation")
    key = quote["quote_id"]
    talk.turn(
        "file.to_quote",
        {"quote": named.slot, "file": plain(name)},
        calls=[*named.reads, house.upload(talk, "Quote", key, name)],
        rules=("DOC-1", "DOC-2"),
        tags=named.tags,
    )
    second = file_name(talk, "terms", "annex_a", "cover_note")
    talk.turn(
        "file.same_place",
        {"file": plain(second)},
        calls=[house.upload(talk, "Quote", key, second)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )


@family("Document Management", 30)
def upload_to_contract(talk: Talk) -> None:
    """The signed copy goes onto the contract, which has to be found first."""
    contract = talk.pick(talk.org.contracts)
    named = describe.contract(talk, contract)
    talk.turn_to(contract)
    name = file_name(talk, "contract", "signed_agreement", "countersigned", "framework")
    uploaded = house.upload(talk, "Contract", contract["contract_id"], name)
    talk.turn(
        "file.to_contract",
        {"contract": named.slot, "file": plain(name)},
        calls=[*named.reads, uploaded],
        rules=("DOC-1", "DOC-2"),
        tags=(*named.tags, "by_description"),
    )


@family("Document Management", 32)
def upload_bad_name(talk: Talk) -> None:
    """The CRM refuses a name with spaces or an unknown extension, and the agent may not make up
    another (DOC-1); the user then gives one that it takes.
    """
    deal = talk.pick(talk.org.deals)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    stem = talk.choose("site photos", "signed offer", "meeting notes", "rack layout", "test report")
    spaced = talk.rng.random() < 0.5
    bad = (
        f"{stem}.pdf" if spaced else f"{stem.replace(' ', '_')}.{talk.choose('zip', 'png', 'dwg')}"
    )
    key = deal["opportunity_id"]
    talk.rejected(
        "file.to_deal",
        {"deal": named.slot, "file": plain(bad)},
        calls=[*named.reads, house.upload(talk, "Opportunity", key, bad)],
        error="may only include" if spaced else "is not supported",
        category="validation",
        reasons=("name", "letters", "space", "character", "extension", "support", "type", "format"),
        tags=named.tags,
    )
    good = f"{stem.replace(' ', '_')}.pdf"
    talk.turn(
        "file.then_as",
        {"file": plain(good)},
        calls=[house.upload(talk, "Opportunity", key, good)],
        rules=("DOC-1",),
        tags=("cross_turn_reference", "correction"),
    )


@family("Document Management", 28)
def upload_several(talk: Talk) -> None:
    """A batch of files for one deal."""
    deal = talk.pick(talk.org.deals)
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    names = sorted(
        talk.rng.sample(
            [
                "scope.docx",
                "timeline.xlsx",
                "kickoff.pptx",
                "pricing.xlsx",
                "sla_draft.docx",
                "security_sheet.pdf",
                "references.pdf",
            ],
            talk.rng.choice((2, 3)),
        )
    )
    said = f"{', '.join(names[:-1])} and {names[-1]}"
    key = deal["opportunity_id"]
    talk.turn(
        "file.several",
        {"deal": named.slot, "files": plain(said)},
        calls=[*named.reads, *(house.upload(talk, "Opportunity", key, n) for n in names)],
        rules=("DOC-2",),
        tags=(*named.tags, "batch"),
    )
    found = talk.find("Document", "entity_id", key)
    if len(found) > 6:
        return
    fact = talk.fact("list", tuple(d["file_name"] for d in found), "files", item="text")
    talk.turn(
        "file.which_now",
        calls=[call("document_search", entity_id=key)],
        facts=[fact],
        tags=("cross_turn_reference", "about_change"),
    )


@family("Document Management", 30)
def upload_where(talk: Talk) -> None:
    """The client has two open deals; the user does not say which one, so the agent must ask
    (FIND-2).
    """
    org = talk.org

    def torn(client: dict[str, object]) -> bool:
        deals = [d for d in org.deals_of(client) if is_open(d)]
        return len(deals) == 2 and len({product_of(d) for d in deals}) == 2

    client = talk.pick(org.clients, torn)
    deals = [d for d in org.deals_of(client) if is_open(d)]
    deal = talk.rng.choice(deals)
    if any(product_of(deal) in product_of(d) for d in deals if d is not deal):
        raise NoFit
    talk.turn_to(deal)
    name = file_name(talk, "delivery_plan", "draft_terms", "survey", "comments")
    reads = [
        call("client_search", name=client["name"]),
        call("opportunity_search", client_id=client["client_id"]),
    ]
    uploaded = house.upload(talk, "Opportunity", deal["opportunity_id"], name)
    about = ("which", "deal", "opportunity", "two", "product")
    talk.turn(
        "file.ambiguous",
        {"client": plain(client["name"]), "file": plain(name)},
        calls=[*reads, uploaded],
        rules=("FIND-2", "DOC-2"),
        tags=("near_duplicate",),
        asks=("answer.which_deal", {"product": plain(product_of(deal))}, about),
    )


@family("Document Management", 24)
def latest_quote_file(talk: Talk) -> None:
    """Which files hang on the client itself, and a file for the quote with the highest version."""
    org = talk.org
    deal = talk.pick(org.deals, lambda d: len(org.quotes_of(d)) >= 2)
    quotes = org.quotes_of(deal)
    latest = max(quotes, key=version_of)
    if sum(version_of(q) == version_of(latest) for q in quotes) != 1:
        raise NoFit
    named = describe.deal(talk, deal)
    talk.turn_to(deal)
    search = call("quote_search", opportunity_id=deal["opportunity_id"])
    facts = [
        talk.fact("money", latest["amount"], "amount of the latest quote"),
        talk.fact("count", len(quotes), "quotes"),
    ]
    talk.turn(
        "file.quote_first",
        {"deal": named.slot},
        calls=[*named.reads, search],
        facts=facts,
        rules=("FIND-4",),
        tags=named.tags,
    )
    name = file_name(talk, "quote_letter", "pricing_annex", "quote_terms")
    talk.turn(
        "file.to_that_quote",
        {"file": plain(name)},
        calls=[house.upload(talk, "Quote", latest["quote_id"], name)],
        rules=("DOC-2",),
        tags=("cross_turn_reference",),
    )
