"""The smallest domain: a table of leads, two tools, one family of tasks."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from crmbench.authoring.builder import TaskBuilder
from crmbench.authoring.calls import call
from crmbench.authoring.dataset import Dataset
from crmbench.authoring.domain import TableDomain, TableWorld, TaskSet
from crmbench.authoring.family import Family
from crmbench.authoring.generate import generate_dataset
from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.core.database import Database
from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.core.tool import tool
from crmbench.errors import ToolError

Status = Literal["New", "Working", "Qualified", "Lost"]
STATUSES: tuple[Status, ...] = ("New", "Working", "Qualified", "Lost")
POLICY = """# Leads
- **LEAD-1** Names are not unique: tell leads of one name apart by their company.
- **LEAD-2** A lost lead stays lost; the CRM refuses to change its status.
"""
METADATA = sa.MetaData()
LEADS = sa.Table(
    "Lead",
    METADATA,
    sa.Column("lead_id", sa.String, primary_key=True, info={"assigned": True}),
    sa.Column("name", sa.String, nullable=False, info={"compare": "text"}),
    sa.Column("company", sa.String, nullable=False, info={"compare": "text"}),
    sa.Column("email", sa.String, nullable=False),
    sa.Column("status", sa.String, sa.CheckConstraint(f"status IN {STATUSES}"), nullable=False),
)


@tool()
def find_leads(crm: Database, name: str) -> dict[str, Any]:
    """Find leads by their whole name.

    Args:
        name: First and last name, in any case.
    """
    fits = sa.func.lower(LEADS.c.name) == name.lower()
    return {"records": crm.query(sa.select(LEADS).where(fits).order_by(LEADS.c.lead_id))}


@tool(writes=True)
def set_lead_status(crm: Database, lead_id: str, status: Status) -> Row:
    """Change the status of a lead.

    Args:
        lead_id: The lead's id.
        status: The new status.
    """
    lead = crm.get("Lead", lead_id)
    if lead is None:
        raise ToolError(f"There is no lead '{lead_id}'.", "not_found")
    if lead["status"] == "Lost":
        raise ToolError("A lost lead cannot be changed.")
    return crm.update("Lead", lead, {"status": status})


def make_world(name: str) -> TableWorld:
    """The world of a name, always with the same 64 leads; two and two have one name."""
    rng = random.Random({"leads-1": 1, "leads-2": 2}[name])
    first = rng.sample(("Ada", "Ben", "Cleo", "Dov", "Esra", "Finn", "Gita", "Hugo"), 8)
    last = ("Aalto", "Bianchi", "Costa", "Dietrich")
    firms = ("Northwind", "Birchall", "Corvus", "Dunmore", "Eskdale", "Farrow")
    rows = []
    for number, person in enumerate(f"{f} {surname}" for f in first for surname in last * 2):
        company = firms[(number + number // 4 * 3) % len(firms)]
        mail = f"{person.replace(' ', '.').lower()}@{company.lower()}.example"
        status = rng.choice(STATUSES)
        row = {"lead_id": f"lead-{number:03d}", "name": person, "company": company}
        rows.append({**row, "email": mail, "status": status})
    return TableWorld(name, datetime(2026, 1, 5, 9, tzinfo=UTC), {"Lead": rows})


OPENINGS = ("", "Morning. ", "Quick one: ", "One for the files. ", "When you can, ", "Hello! ")
CLOSINGS = ("", " Thanks.", " That is all.", " No rush.", " Cheers.", " Much obliged.")
SET = (
    "set {name} at {company} to {status}",
    "please move {name} of {company} on to {status}",
    "{name} from {company} is {status} now, so change the status",
    "the status of {name} ({company}) should read {status}",
)
ASK = (
    "which e-mail address do we have for that lead?",
    "and under what e-mail address can they be reached?",
    "what e-mail address is on their record?",
    "tell me the e-mail address that they gave us",
)


def change_status(history: PhrasingHistory, task: TaskBuilder, rng: random.Random) -> None:
    """A lead that shares its name with another gets a new status; a lost one must stay lost."""

    def say(templates: tuple[str, ...], **values: str) -> str:
        def once() -> str:
            body = rng.choice(templates).format(**values)
            return f"{rng.choice(OPENINGS)}{body}{rng.choice(CLOSINGS)}".strip()

        return history.least_heard(once, tries=200)

    lead = rng.choice(task.recorder.sandbox.database.query(sa.select(LEADS)))
    status = rng.choice([s for s in STATUSES if s not in (lead["status"], "Lost")])
    said = say(SET, name=lead["name"], company=lead["company"], status=status)
    find = call("find_leads", name=lead["name"])
    change = call("set_lead_status", lead_id=lead["lead_id"], status=status)
    if lead["status"] == "Lost":
        error = "cannot be changed"
        task.rejected(said, calls=[find, change], error=error, category="business_rule")
    else:
        task.turn(said, calls=[find, change], rules=("LEAD-1",), tags=("near_duplicate",))
    task.turn(say(ASK), calls=[find], facts=[Fact("text", lead["email"], "e-mail address")])


def generate(seed: int = 42, size: int | None = None) -> Dataset:
    """The published set: 60 conversations, half of them for training."""
    history = PhrasingHistory()
    family = Family(
        name="lead_status",
        category="Leads",
        about="A lead is told from its namesake; a lost one stays lost.",
        write=lambda task, rng: change_status(history, task, rng),
    )
    splits = {"train": 0.5, "test": 0.5}
    size = 60 if size is None else size
    return generate_dataset(
        TOY, [family], seed=seed, size=size, worlds=TOY.worlds, splits=splits, prefix="toy"
    )


TOY = TableDomain(
    name="toy",
    metadata=METADATA,
    tools=[find_leads, set_lead_status],
    policy=POLICY,
    worlds=make_world,
    world_names=("leads-1", "leads-2"),
    task_sets=[TaskSet(generate, ("train", "test"))],
)
