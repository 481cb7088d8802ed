"""Contracts, documents, and the directory of other companies."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from crmbench.domains.sales.world.banks import slug
from crmbench.domains.sales.world.calendar import AFTERNOON
from crmbench.domains.sales.world.clients import Firm
from crmbench.domains.sales.world.deals import Deal
from crmbench.domains.sales.world.draw import Weighted
from crmbench.domains.sales.world.setting import Setting

Row = dict[str, Any]

FILES = "https://files.alderpoint.example"
LOOSE_CONTRACTS = 7
"""Contracts that no deal in the CRM belongs to; from before it was kept."""
COMPANIES = 8
"""Of each type, in a full block."""
NEIGHBOURS = 2
"""Competitors that share a client's leading word."""
_MONTHS = Weighted((12, 24, 36, 6), (60, 18, 14, 8))


@dataclass(slots=True)
class Contract:
    """A contract, with what its notes and documents need."""

    row: Row
    firm: Firm
    owner: str
    signed: int
    """Day on which it was entered."""


def make_contracts(setting: Setting, firms: list[Firm], deals: list[Deal]) -> list[Contract]:
    """One for each won deal whose profile has one, and some older ones, in order of their start."""
    made = [_for_deal(setting, deal) for deal in deals if deal.profile.contract]
    eldest = [f for f in firms if f.born < -500 and f.row["status"] != "Prospect"]
    for firm in setting.rng.sample(eldest, setting.share(LOOSE_CONTRACTS)):
        signed = setting.calendar.working[setting.rng.between(max(firm.born, -1100), -260)]
        value = float(setting.rng.between(12, 240) * 500)
        start = _start(setting, signed)
        made.append(_contract(setting, firm, None, signed, start, value, firm.row["owner"]))
    made.sort(key=lambda contract: contract.row["start_date"])
    return made


def _for_deal(setting: Setting, deal: Deal) -> Contract:
    close, row = deal.close, deal.row
    start = setting.calendar.month_end[0] + 1 if deal.profile.recent else _start(setting, close)
    return _contract(setting, deal.firm, deal.key, close, start, row["amount"], row["owner"])


def _start(setting: Setting, signed: int) -> int:
    """Mostly the first of the month after the signature."""
    if setting.rng.random() < 0.15:
        return signed + setting.rng.between(1, 20)
    return setting.calendar.month_end[signed] + 1


def _contract(
    setting: Setting,
    firm: Firm,
    deal: str | None,
    signed: int,
    start: int,
    value: float,
    owner: str,
) -> Contract:
    rng, calendar = setting.rng, setting.calendar
    end = calendar.months_on(start, rng.pick_weighted(_MONTHS))
    status = "Pending" if start > 0 else "Expired" if end < 0 else "Active"
    url = f"{FILES}/contracts/{firm.slug}-{calendar.text[start][:7]}.pdf"
    row = {
        "contract_id": next(setting.ids),
        "client_id": firm.row["client_id"],
        "opportunity_id": deal,
        "start_date": calendar.text[start],
        "end_date": calendar.text[end],
        "value": value,
        "status": status,
        "document_url": url if rng.random() < 0.8 else None,
    }
    return Contract(row, firm, owner, signed)


# --- documents ------------------------------------------------------------------------------------

_EARLY_FILES = (
    *("{product}-requirements-{slug}.docx", "{slug}_{product}_overview.pptx"),
    *("Minutes_{slug}_{day}.txt", "{slug}-questionnaire.xlsx", "{product}-intro-{slug}.pdf"),
)
_LATE_FILES = (
    *("{slug}_{product}_proposal.pdf", "{product}-scope-{slug}.docx", "{slug}-rollout-plan.xlsx"),
    *("Reference-list_{slug}.pdf", "{slug}_security_answers.xlsx", "{slug}_site-survey_{day}.pdf"),
    *("Trial-results_{slug}_{day}.csv", "Business-case-{slug}.xlsx"),
)
_CLIENT_FILES = (
    *("NDA_{slug}.pdf", "{slug}-vendor-form.pdf", "{slug}_org-chart.pptx", "{slug}_sites.csv"),
    *("Credit-check_{slug}_{day}.pdf", "{slug}-annual-review-{year}.key"),
)
_CONTRACT_FILES = (
    *("Contract_{slug}_{year}.pdf", "{slug}-annex-2.docx", "{slug}_signed_{day}.pdf"),
    *("Terms_{slug}_{year}.doc",),
)
_QUOTE_FILES = (
    *("Quote_{slug}_{version}.pdf", "{slug}-{product}-{version}.pdf"),
    *("Prices_{slug}_{version}.xlsx",),
)


def make_documents(
    setting: Setting, firms: list[Firm], deals: list[Deal], contracts: list[Contract]
) -> list[Row]:
    """Files on deals, quotes, contracts and clients, in order of their time."""
    rng = setting.rng
    chance = rng.random
    made: list[Row] = []

    def add(kind: str, key: str, day: int, by: str, files: tuple[str, ...], **parts: str) -> None:
        made.append(_document(setting, kind, key, day, by, rng.pick(files), parts))

    for deal in deals:
        code, product, owner = deal.firm.slug, deal.product.files, deal.row["owner"]
        early = deal.row["stage"] in ("Prospecting", "Qualification")
        for _ in range(int(deal.profile.documents + chance())):
            day = rng.between(deal.born, deal.last_day)
            files = _EARLY_FILES if early else _LATE_FILES
            add("Opportunity", deal.key, day, owner, files, slug=code, product=product)
        for day, quote in deal.quotes:
            if chance() < 0.07:
                version = quote["version"]
                parts = {"slug": code, "product": product, "version": version}
                add("Quote", quote["quote_id"], day, owner, _QUOTE_FILES, **parts)
    for contract in contracts:
        if chance() < 0.45:
            key, code = contract.row["contract_id"], contract.firm.slug
            add("Contract", key, contract.signed, contract.owner, _CONTRACT_FILES, slug=code)
    for firm in firms:
        if chance() < 0.2:
            day = rng.between(firm.born, -1)
            add(
                "Client",
                firm.row["client_id"],
                day,
                firm.row["owner"],
                _CLIENT_FILES,
                slug=firm.slug,
            )
    made.sort(key=itemgetter("uploaded_at"))
    return made


def _document(
    setting: Setting, kind: str, key: str, day: int, by: str, file: str, parts: dict[str, str]
) -> Row:
    text = setting.calendar.text[setting.calendar.working[day]]
    file_name = file.format(day=text, year=text[:4], **parts)
    own = next(setting.ids)
    return {
        "document_id": own,
        "entity_type": kind,
        "entity_id": key,
        "file_name": file_name,
        "uploaded_by": by if setting.rng.random() < 0.9 else setting.rng.pick(setting.owners),
        "uploaded_at": text + setting.rng.pick(AFTERNOON),
        "file_url": f"{FILES}/{own[:8]}/{file_name}",
    }


# --- companies ------------------------------------------------------------------------------------

_ROLES = ("sales", "account manager", "support", "partner desk", "managing director")


def make_companies(setting: Setting, firms: list[Firm]) -> list[Row]:
    """Partners, vendors and competitors; no client is among them."""
    rng, bank = setting.rng, setting.bank
    each = setting.share(COMPANIES)
    leads = iter(rng.sample(bank.company_leads, 3 * each))
    clients = {firm.short for firm in firms}
    words = [firm.short.split()[0] for firm in firms]
    near = rng.sample([word for word in words if len(word) > 3], NEIGHBOURS)
    made = []
    for kind, directory in bank.directories.items():
        for i in range(each):
            lead = near.pop() if kind == "Competitor" and i < NEIGHBOURS and near else next(leads)
            name = setting.apart(f"{lead} {rng.pick(directory.words)}")
            if name not in clients:
                made.append(_company(setting, name, kind, rng.pick(directory.industries)))
    return rng.sample(made, len(made))


def _company(setting: Setting, name: str, kind: str, industry: str) -> Row:
    rng, bank = setting.rng, setting.bank
    city = rng.pick(setting.region.cities)
    street = rng.pick(bank.countries[city.country].streets)
    host = f"{slug(name).lower()}.example"
    people = []
    for _ in range(rng.between(0 if kind == "Competitor" else 1, 2)):
        first, last = setting.person()
        role = rng.pick(_ROLES)
        people.append(f"{first.text} {last.text} ({role}), {first.mail}.{last.mail}@{host}")
    return {
        "company_id": next(setting.ids),
        "name": name,
        "type": kind,
        "industry": industry,
        "address": f"{street} {rng.between(1, 90)}, {city.name}",
        "contacts": people,
    }
