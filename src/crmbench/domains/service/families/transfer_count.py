"""Transfer count understanding: the agent who passed on fewest or most cases in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import (
    hand_over,
    hand_over_by_soql,
    open_cases,
    owners_named,
)
from crmbench.domains.service.families.desk import (
    MANAGER,
    Desk,
    bounds,
    handled_by_soql,
    leads,
    look_up_period,
    more_than,
    qualified,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker, best
from crmbench.domains.service.families.spans import Measure, Span, drawn

NAME = "transfer_count"
FEWEST = 2
"""Agents to choose among."""
Counts = Mapping[str, int]


def asked(desk: Desk) -> Iterator[Candidate]:
    while True:
        most = desk.rng.random() < 0.5
        span, counts = draw(desk)
        if not counts or leads(counts, most):
            yield MEASURE.candidate(desk, span, most, counts)


def draw(desk: Desk) -> tuple[Span, Counts]:
    """A span with enough agents to choose among, or with none at all."""
    return drawn(desk, desk.truth.transfers, fewest=FEWEST, beyond=0.1)


def counts_by_tools(walker: Walker, span: Span) -> Counts:
    look_up_period(walker, span.period)
    agents = qualified(walker, span.period, span.above)
    if not agents:
        return {}
    found: Counts = walker.call(
        "get_agent_transferred_cases_by_period", **bounds(span.period), qualified_agent_ids=agents
    )
    return found


def counts_by_soql(walker: Walker, span: Span) -> Mapping[str, float]:
    agents = handled_by_soql(walker, span.period, span.above)
    if not agents:
        return {}
    rows = walker.soql(
        "SELECT OldValue__c agent, COUNT(Id) n FROM CaseHistory__c WHERE Field__c = "
        f"'Owner Assignment' AND OldValue__c != null AND {span.period.soql('CreatedDate')} "
        "GROUP BY OldValue__c"
    )
    found = tally(rows, "agent", "n")
    return {agent: found.get(agent, 0) for agent in agents}


MEASURE = Measure(
    NAME,
    counts_by_tools,
    counts_by_soql,
    ("fewest", "most"),
    ("HANDLE-1", "TRANSFER-1", "TIME-4"),
)


def done(desk: Desk) -> Iterator[Candidate]:
    while True:
        span, counts = draw(desk)
        if counts and leads(counts, False):
            agent = best(counts, False)
            case = desk.rng.choice(open_cases(desk, agent))
            build = partial(_done, desk, span, case, agent)
            yield Candidate(span.about, (agent,), MANAGER, build)


def _done(desk: Desk, span: Span, case: Row, agent: str) -> tuple[Step, ...]:
    return (give(desk, MEASURE.phrased(desk, "done", span, case=case["Id"]), span, case, agent),)


def give(desk: Desk, said: str, span: Span, case: Row, agent: str) -> Step:
    """Find out who has the fewest transfers, and give a case to that agent."""

    def walk(walker: Walker) -> None:
        counts = counts_by_tools(walker, span)
        least = walker.call("find_id_with_min_value", values_by_id=counts)[0]
        hand_over(walker, case["Id"], least)

    def query(walker: Walker) -> None:
        hand_over_by_soql(walker, case["Id"], best(counts_by_soql(walker, span), False))

    return Step(
        said,
        walk,
        query,
        note_facts=owners_named(desk.records, case["OwnerId"], agent),
        rules=("HANDLE-1", "TRANSFER-1", "NOTE-1"),
    )


def talked(desk: Desk) -> Iterator[Candidate]:
    while True:
        span, counts = draw(desk)
        other = Span(desk.period(), span.above)
        others = desk.truth.transfers(other.period.start, other.period.end, other.above)
        if len(others) < FEWEST or other.period == span.period or not leads(others, True):
            continue
        if counts and leads(counts, True) and leads(counts, False):
            agent = best(counts, False)
            case = desk.rng.choice(open_cases(desk, agent))
            build = partial(_talked, desk, (span, counts), (other, others), case)
            answers = (best(counts, True), best(others, True), agent)
            yield Candidate(span.about, answers, MANAGER, build)


def _talked(
    desk: Desk, one: tuple[Span, Counts], two: tuple[Span, Counts], case: Row
) -> tuple[Step, ...]:
    (span, counts), (other, others) = one, two
    least = best(counts, False)
    told = partial(desk.follow, NAME)
    wording = desk.wording(span.period)
    first = desk.say(NAME, "most", MANAGER, period=wording, above=more_than(desk.rng, span.above))
    return (
        MEASURE.question(first, span, True, counts),
        MEASURE.question(told("and_in", period=desk.wording(other.period)), other, True, others),
        MEASURE.question(told("and_fewest", period=wording), span, False, counts),
        give(desk, told("give", case=case["Id"]), span, case, least),
    )


TRANSFER_COUNT = Family(NAME, "Transfer Count Understanding", asked, done, talked)
