"""Notes: on deals, and the remarks on clients, contacts, quotes and contracts."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from crmbench.domains.sales.world.calendar import AFTERNOON
from crmbench.domains.sales.world.clients import Firm, Person
from crmbench.domains.sales.world.deal_notes import DealNote, Storyteller
from crmbench.domains.sales.world.deals import Deal
from crmbench.domains.sales.world.papers import Contract
from crmbench.domains.sales.world.setting import Setting

Row = dict[str, Any]

ON_CLIENT, ON_CONTACT, ON_QUOTE, ON_CONTRACT = 0.24, 0.07, 0.06, 0.25
"""How many records of each kind have a note."""


def make_notes(
    setting: Setting,
    firms: list[Firm],
    deals: list[Deal],
    contracts: list[Contract],
    companies: list[Row],
) -> list[Row]:
    """All notes of a block, in order of their time."""
    rivals = [row["name"] for row in companies if row["type"] == "Competitor"]
    storyteller = Storyteller(setting, rivals or ["another vendor"])
    notebook = _Notebook(setting)
    for deal in deals:
        notebook.write("Opportunity", deal.key, storyteller.tell(deal))
        notebook.on_quotes(deal)
    for firm in firms:
        notebook.on_firm(firm)
    for contract in contracts:
        notebook.on_contract(contract)
    notebook.rows.sort(key=itemgetter("created_at"))
    return notebook.rows


class _Notebook:
    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.rng = setting.rng
        self.bank = setting.bank.notes
        self.rows: list[Row] = []

    def write(self, kind: str, key: str, entries: list[DealNote]) -> None:
        """Give the entries times: working days, in their order, none at the same minute."""
        if not entries:
            return
        if len(entries) > 1:
            entries.sort(key=itemgetter(0))
        calendar = self.setting.calendar
        slot = len(AFTERNOON) // len(entries)
        for i, (day, text, author) in enumerate(entries):
            time = AFTERNOON[i * slot + int(self.rng.random() * slot)]
            self.rows.append(
                {
                    "note_id": next(self.setting.ids),
                    "entity_type": kind,
                    "entity_id": key,
                    "content": text,
                    "created_by": author,
                    "created_at": calendar.text[calendar.working[day]] + time,
                }
            )

    def on_quotes(self, deal: Deal) -> None:
        for day, quote in deal.quotes:
            if self.rng.random() < ON_QUOTE and quote["status"] != "Draft":
                text = self._remark("quote", deal.firm, deal.person)
                entry = DealNote(max(day, deal.born + 1), text, deal.row["owner"])
                self.write("Quote", quote["quote_id"], [entry])

    def on_firm(self, firm: Firm) -> None:
        """Notes on the client and on its contacts."""
        if not firm.people:
            return
        owner = firm.row["owner"]
        if self.rng.random() < ON_CLIENT:
            text = self._remark("client", firm, self.rng.pick(firm.people))
            entry = DealNote(self.rng.between(firm.born + 1, -1), text, owner)
            self.write("Client", firm.row["client_id"], [entry])
        for person in firm.people:
            if self.rng.random() < ON_CONTACT:
                text = self._remark("contact", firm, person)
                entry = DealNote(self.rng.between(max(firm.born + 1, -500), -1), text, owner)
                self.write("Contact", person.key, [entry])

    def on_contract(self, contract: Contract) -> None:
        if self.rng.random() < ON_CONTRACT and contract.firm.people:
            text = self._remark("contract", contract.firm, self.rng.pick(contract.firm.people))
            day = self.rng.between(contract.signed, min(-1, contract.signed + 200))
            entry = DealNote(day, text, contract.owner)
            self.write("Contract", contract.row["contract_id"], [entry])

    def _remark(self, kind: str, firm: Firm, person: Person) -> str:
        sentence: str = self.rng.pick(self.bank[kind]["any"])
        if "{" not in sentence:
            return sentence
        reps = [name for name in self.setting.owners[1:] if name != firm.row["owner"]]
        return sentence.format(
            contact=person.full,
            first=person.first,
            client=firm.short,
            city=firm.city,
            colleague=self.rng.pick(reps).split()[0],
            sites=self.rng.between(3, 9),
        )
