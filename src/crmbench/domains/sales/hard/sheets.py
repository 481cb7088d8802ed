"""What a person needs to solve a hard task with a spreadsheet; no ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crmbench.authoring.sheet import Sheet
from crmbench.core.task import Task
from crmbench.domains.sales.hard.domain import hard_world

Row = Mapping[str, Any]
_HANDBOOK = (
    "Handbook: search for the common word, then for every word that an article says is the same; "
    "open all that is found. For each article that bears on a question search its number and its "
    "title, and the questions by their names; what changes it is an article too: search for it."
)
_PEOPLE = (
    "People: one line a person and department, from when until when; strike out every note whose "
    "author did not work in the department that it is on, then what a later note takes back."
)
_RENEWAL_COLUMNS = (
    "deal",
    "client",
    "amount",
    "close date",
    "owner",
    "probability",
    "industry",
    "address",
    "client created",
    "client owner",
    "contracts",
    "notes on it",
    "notes that name it",
)


class _World:
    """The rows of a task's world, looked up by what they hang on."""

    def __init__(self, task: Task) -> None:
        self.tables = hard_world(task.world).tables
        self.clients = {row["client_id"]: row for row in self.tables["Client"]}
        self.deals = {row["opportunity_id"]: row for row in self.tables["Opportunity"]}

    def contracts(self, client: str) -> str:
        """A client's contracts, one a line: product, days, value, status."""
        rows = [row for row in self.tables["Contract"] if row["client_id"] == client]
        return "\n".join(
            f"{self.deals[row['opportunity_id']]['name'].rpartition(' - ')[2]}: "
            f"{row['start_date']} to {row['end_date']}, {row['value']:.0f}, {row['status']}"
            for row in rows
        )

    def notes(self, client: str) -> str:
        return _lines([n for n in self.tables["Note"] if n["entity_id"] == client])

    def naming(self, client: str) -> str:
        """Notes on other clients in which this one is named, with the other's name."""
        name = self.clients[client]["name"]
        found = [n for n in self.tables["Note"] if name in n["content"]]
        return "\n".join(
            f"on {self.clients[n['entity_id']]['name']}: {_lines([n])}"
            for n in found
            if n["entity_id"] in self.clients
        )

    def renewal(self, deal: Row) -> tuple[Any, ...]:
        client = self.clients[deal["client_id"]]
        key = client["client_id"]
        return (
            deal["opportunity_id"],
            client["name"],
            deal["amount"],
            deal["close_date"],
            deal["owner"],
            deal["probability"],
            client["industry"],
            client["address"],
            client["created_date"],
            client["owner"],
            self.contracts(key),
            self.notes(key),
            self.naming(key),
        )


def _lines(notes: Sequence[Row]) -> str:
    return "\n".join(f"{n['created_at'][:10]} {n['created_by']}: {n['content']}" for n in notes)


def list_sheet(task: Task) -> Sheet:
    """A worklist or a review: one row a renewal."""
    world = _World(task)
    rows = tuple(world.renewal(world.deals[item.key]) for item in task.gold.items)
    method = (
        _HANDBOOK,
        _PEOPLE,
        (
            "One column a trait (stop, dispute, share, reminders, takeover, group), from the notes "
            "left."
        ),
        (
            "One column a question: of the provisions in force when the old contract ends, as "
            "changed by then, those with a condition first, then the latest."
        ),
        (
            "Amount, day, owner and probability follow; look the day up among the absences. In a "
            "review write only what differs."
        ),
    )
    return Sheet(_RENEWAL_COLUMNS, rows, method)


def shift_sheet(task: Task) -> Sheet:
    """A shift: one row a renewal that a message names, then the messages."""
    world = _World(task)
    named = {world.deals[item.key]["client_id"] for item in task.gold.items}
    deals = [
        row
        for row in world.tables["Opportunity"]
        if row["client_id"] in named
        and row["name"].endswith(" renewal")
        and not row["stage"].startswith("Closed")
    ]
    rows = [world.renewal(row) for row in deals]
    blank = ("",) * (len(_RENEWAL_COLUMNS) - 2)
    rows += [(f"turn {turn.turn_id}", turn.utterance, *blank) for turn in task.turns]
    method = (
        _HANDBOOK,
        _PEOPLE,
        (
            "Keep a list of standing orders (what, for whom, who is left out, until when), one of "
            "deadlines, and who speaks for the manager."
        ),
        (
            "For every message: what has come due; who asks and may they; what the handbook allows "
            "that day; which orders fit; write what changes."
        ),
        "A change of the handbook counts from its day on: look at each again on that day.",
    )
    return Sheet(_RENEWAL_COLUMNS, tuple(rows), method)


def merge_sheet(task: Task) -> Sheet:
    """Duplicates: one row a client of the country."""
    world = _World(task)
    columns = (
        "client",
        "name",
        "industry",
        "phone",
        "address",
        "created",
        "owner",
        "contracts",
        "notes on it",
        "notes that name it",
    )
    keys = [key for item in task.gold.items for _, key in item.records]
    rows = []
    for key in sorted(keys, key=lambda key: str(world.clients[key]["name"])):
        client = world.clients[key]
        fields = ("name", "industry", "phone", "address", "created_date", "owner")
        rows.append(
            (
                key,
                *(client[name] for name in fields),
                world.contracts(key),
                world.notes(key),
                world.naming(key),
            )
        )
    method = (
        _HANDBOOK,
        _PEOPLE,
        (
            "One column each: the tax number and the register entry noted last, former names, the "
            "phone number, the day of the last confirmation, stop, dispute, share, reminders."
        ),
        (
            "Sort by each mark; for every two rows that share one ask the handbook whether it "
            "makes them one firm; join, and join what joins those."
        ),
        "For every firm ask whether it is left apart, which client stays, and whose details hold.",
    )
    return Sheet(columns, tuple(rows), method)


SHEETS = {
    "worklist": list_sheet,
    "review": list_sheet,
    "shift": shift_sheet,
    "merge": merge_sheet,
}
"""Mechanism to what makes its sheet."""
