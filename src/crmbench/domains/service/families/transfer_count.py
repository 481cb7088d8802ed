"""Transfer count understanding: the agent who passed on fewest or most cases in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count

from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import (
    hand_over,
    hand_over_by_soql,
    open_cases,
    owners_named,
)
from crmbench.domains.service.families.context import (
    MANAGER,
    TaskContext,
    bounds,
    evidence,
    handled_by_soql,
    leads,
    look_up_period,
    more_than,
    qualified,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.spans import Measure, Span, drawn

NAME = "transfer_count"
FEWEST = 3
"""Agents to choose among."""
PAIR = 2
"""Agents to choose among where the choice is only a step to something else."""
AHEAD = 2
"""Transfers by which the first differs from the next, while such questions can be found."""
Counts = Mapping[str, int]


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for drawn_so_far in count():
        most = context.rng.random() < 0.5
        span, counts = draw(context)
        if not counts or ahead(counts, most, drawn_so_far):
            yield MEASURE.candidate(context, span, most, counts)


def ahead(counts: Counts, most: bool, drawn_so_far: int) -> bool:
    """Whether one agent leads, by as much as can be asked for after so many draws."""
    first, second = sorted(counts.values(), reverse=most)[:2]
    return abs(first - second) >= evidence(drawn_so_far, 1, AHEAD)


def draw(context: TaskContext, fewest: int = FEWEST) -> tuple[Span, Counts]:
    """A span with enough agents to choose among, or with none at all."""
    return drawn(context, context.truth.transfers, fewest=fewest, beyond=0.1)


def counts_by_tools(recorder: ServiceRecorder, span: Span) -> Counts:
    """Transfers by agent, by the tools that are made for it."""
    look_up_period(recorder, span.period)
    agents = qualified(recorder, span.period, span.above)
    if not agents:
        return {}
    found: Counts = recorder.call(
        "get_agent_transferred_cases_by_period", **bounds(span.period), qualified_agent_ids=agents
    )
    return found


def counts_by_soql(recorder: ServiceRecorder, span: Span) -> Mapping[str, float]:
    """The same by SOQL."""
    agents = handled_by_soql(recorder, span.period, span.above)
    if not agents:
        return {}
    rows = recorder.soql(
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


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for drawn_so_far in count():
        span, counts = draw(context, PAIR)
        if counts and ahead(counts, False, drawn_so_far):
            agent = best(counts, False)
            case = context.rng.choice(open_cases(context, agent))
            build = partial(_done, context, span, case, agent)
            yield Candidate(span.about, (agent,), MANAGER, build)


def _done(context: TaskContext, span: Span, case: Row, agent: str) -> tuple[Step, ...]:
    return (
        give(context, MEASURE.phrased(context, "done", span, case=case["Id"]), span, case, agent),
    )


def give(context: TaskContext, said: str, span: Span, case: Row, agent: str) -> Step:
    """Find out who has the fewest transfers, and give a case to that agent."""

    def gold_path(recorder: ServiceRecorder) -> None:
        counts = counts_by_tools(recorder, span)
        least = recorder.call("find_id_with_min_value", values_by_id=counts)[0]
        hand_over(recorder, case["Id"], least)

    def query_path(recorder: ServiceRecorder) -> None:
        hand_over_by_soql(recorder, case["Id"], best(counts_by_soql(recorder, span), False))

    return Step(
        said,
        gold_path,
        query_path,
        note_facts=owners_named(context.records, case["OwnerId"], agent),
        rules=("HANDLE-1", "TRANSFER-1", "NOTE-1"),
    )


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    while True:
        span, counts = draw(context, PAIR)
        other = Span(context.period(), span.above)
        others = context.truth.transfers(other.period.start, other.period.end, other.above)
        if len(others) < PAIR or other.period == span.period or not leads(others, True):
            continue
        if counts and leads(counts, True) and leads(counts, False):
            agent = best(counts, False)
            case = context.rng.choice(open_cases(context, agent))
            build = partial(_talked, context, (span, counts), (other, others), case)
            answers = (best(counts, True), best(others, True), agent)
            yield Candidate(span.about, answers, MANAGER, build)


def _talked(
    context: TaskContext, one: tuple[Span, Counts], two: tuple[Span, Counts], case: Row
) -> tuple[Step, ...]:
    (span, counts), (other, others) = one, two
    least = best(counts, False)
    told = partial(context.follow, NAME)
    wording = context.wording(span.period)
    first = context.say(
        NAME, "most", MANAGER, period=wording, above=more_than(context.rng, span.above)
    )
    return (
        MEASURE.question(first, span, True, counts),
        MEASURE.question(told("and_in", period=context.wording(other.period)), other, True, others),
        MEASURE.question(told("and_fewest", period=wording), span, False, counts),
        give(context, told("give", case=case["Id"]), span, case, least),
    )


TRANSFER_COUNT = ServiceFamily(NAME, "Transfer Count Understanding", asked, done, talked)
