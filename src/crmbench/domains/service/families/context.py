"""What every task is drawn from: the org's records, the truth about them, a voice, chance."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crmbench.core.schema import Row
from crmbench.domains.service.families.draft import ServiceRecorder
from crmbench.domains.service.families.periods import (
    NUMBERS,
    Period,
    all_named,
    all_past,
    spans,
    years,
)
from crmbench.domains.service.families.records import Records
from crmbench.domains.service.families.wording import Voice, phrases
from crmbench.domains.service.truth import Truth

MANAGER, AGENT, ANALYST = "the service manager", "a service agent", "an analyst"
MARGIN = 0.03
"""By how much of it the leading mean must differ from the next one."""
RECORDS = 5
"""How many records a winner rests on, while such questions can be found."""
PATIENCE = 1500
"""After so many draws one record less will do: not every org is large enough."""
FRAMES = {MANAGER: "manager", AGENT: "agent", ANALYST: "analyst"}


@dataclass(frozen=True)
class TaskContext:
    """The place where tasks are written."""

    records: Records
    truth: Truth
    voice: Voice
    rng: random.Random

    def say(self, task: str, form: str, persona: str, **values: str) -> str:
        """An utterance of one of the templates that `phrases/<task>.yaml` has for a form."""
        book = phrases(task)
        return self.voice.say(book[form], book.get("frame", FRAMES[persona]), **values)

    def order(self, task: str, form: str, **values: str) -> str:
        """The same for something that is to be done."""
        return self.voice.say(phrases(task)[form], "do", **values)

    def follow(self, task: str, form: str, **values: str) -> str:
        """The same for a turn that is not the first."""
        return self.voice.say(phrases(task)[form], "follow", **values)

    def wording(self, period: Period) -> str:
        """A period in one of its wordings."""
        return self.rng.choice(period.wordings)

    @cached_property
    def named(self) -> list[Period]:
        """Periods with a name, such as quarters."""
        return all_named(self.records.today)

    @cached_property
    def past(self) -> list[Period]:
        """Periods that end today."""
        return all_past(self.records.today)

    @cached_property
    def long(self) -> list[Period]:
        """Runs of months and whole years."""
        return [*spans(self.records.today), *years()]

    def period(self) -> Period:
        """Any period: named, past or long, each kind as often."""
        kind = self.rng.choice((self.named, self.named, self.past, self.past, self.long))
        return self.rng.choice(kind)

    @property
    def complained_of(self) -> list[str]:
        """Ids of the products that some case is about; those of many cases come up more often."""
        return self.records.complained_of


def look_up_period(recorder: ServiceRecorder, period: Period) -> None:
    """Find a period's bounds out, unless the words give them."""
    if period.call is not None:
        tool, arguments = period.call
        recorder.call(tool, **arguments)


def find_product(recorder: ServiceRecorder, name: str) -> str:
    """The id of the product of this very name, found by search."""
    found = recorder.call("search_products", search_term=name)
    return str(next(row["Id"] for row in found if row["Name"] == name))


def bounds(period: Period) -> dict[str, str]:
    """A period's first and last day as arguments."""
    return {"start_date": period.start, "end_date": period.end}


def quoted(text: str) -> str:
    """A text as a literal of SOQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def tally(rows: Sequence[Mapping[str, Any]], key: str, value: str) -> dict[str, float]:
    """Rows of two columns as a mapping."""
    return {row[key]: row[value] for row in rows}


def open_case_of(records: Records, agent: str) -> Row | None:
    """The oldest open case of an agent."""
    return next((case for case in records.open_cases if case["OwnerId"] == agent), None)


def ids_of(rows: Sequence[Row]) -> list[str]:
    """The ids of some records."""
    return [row["Id"] for row in rows]


def leads(values: Mapping[str, float], largest: bool, margin: float = 0.0) -> bool:
    """Whether one value is more extreme than all others, by a share of itself."""
    if len(values) < 2:
        return bool(values)
    first, second = sorted(values.values(), reverse=largest)[:2]
    return abs(first - second) > margin * max(abs(first), abs(second))


def evidence(drawn: int, least: int = 2, most: int = RECORDS) -> int:
    """How many records a winner has to rest on, after so many draws."""
    return max(least, most - drawn // PATIENCE)


def more_than(rng: random.Random, above: int) -> str:
    """ "more than `above` cases" in words."""
    forms = [f"more than {above} case{'s' if above != 1 else ''}"]
    if above == 0:
        forms = ["at least one case", "one case or more"]
    elif above < 12:
        forms += [f"at least {above + 1} cases", f"more than {NUMBERS[above]} case"]
        forms[-1] += "s" if above != 1 else ""
    return rng.choice(forms)


def qualified(recorder: ServiceRecorder, period: Period, above: int) -> list[str]:
    """The agents who handled more than so many cases in a period, by the tools."""
    handled = recorder.call("get_agent_handled_cases_by_period", **bounds(period))
    found: list[str] = recorder.call(
        "get_qualified_agent_ids_by_case_count", agent_handled_cases=handled, n_cases=above
    )
    return found


def handled_by_soql(recorder: ServiceRecorder, period: Period, above: int) -> list[str]:
    """The same by SOQL."""
    rows = recorder.soql(
        "SELECT NewValue__c agent, COUNT_DISTINCT(CaseId__c) n FROM CaseHistory__c "
        f"WHERE Field__c = 'Owner Assignment' AND {period.soql('CreatedDate')} "
        f"GROUP BY NewValue__c HAVING COUNT_DISTINCT(CaseId__c) > {above}"
    )
    return [row["agent"] for row in rows]
