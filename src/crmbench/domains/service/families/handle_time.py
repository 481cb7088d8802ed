"""Handle time understanding: the agent with the lowest or highest mean handle time in a period."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import count, pairwise
from statistics import fmean

from crmbench.core.answer import Answer
from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import (
    OPEN,
    hand_over,
    hand_over_by_soql,
    open_cases,
    owners_named,
)
from crmbench.domains.service.families.context import (
    MANAGER,
    MARGIN,
    TaskContext,
    bounds,
    evidence,
    handled_by_soql,
    ids_of,
    leads,
    look_up_period,
    open_case_of,
    qualified,
    quoted,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.spans import PREFIX, Measure, Span, drawn

NAME = "handle_time"
FEWEST = 3
"""Agents to choose among."""
LONGEST = 740
"""Days of a period."""
Times = Mapping[str, float]


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for drawn_so_far in count():
        slowest = context.rng.random() < 0.5
        span, times = draw(context)
        if not times or (
            leads(times, slowest, MARGIN)
            and rests_on(context, span, best(times, slowest)) >= evidence(drawn_so_far)
        ):
            yield MEASURE.candidate(context, span, slowest, times)


def rests_on(context: TaskContext, span: Span, agent: str) -> int:
    """How many cases an agent's mean is taken over (HANDLE-2)."""
    owned = context.records.kept_cases.get(agent, ())
    start, end = span.period.start, span.period.end
    return sum(start <= day < end for day in owned)


def draw(context: TaskContext) -> tuple[Span, Times]:
    """A span with enough agents to choose among, or with none at all."""
    return drawn(context, context.truth.handle_times, fewest=FEWEST, beyond=0.15, longest=LONGEST)


def times_by_tools(recorder: ServiceRecorder, span: Span) -> Times:
    """Mean handle times by agent; empty where no agent passes the number of cases."""
    look_up_period(recorder, span.period)
    agents = qualified(recorder, span.period, span.above)
    if not agents:
        return {}
    stayed = recorder.call("get_non_transferred_case_ids", **bounds(span.period))
    cases = recorder.call("get_cases", agent_ids=agents, case_ids=stayed, statuses=["Closed"])
    found: Times = recorder.call("calculate_average_handle_time", cases=ids_of(cases))
    return found


def times_by_soql(recorder: ServiceRecorder, span: Span) -> Times:
    """Mean handle times by agent, by SOQL."""
    agents = handled_by_soql(recorder, span.period, span.above)
    if not agents:
        return {}
    given = f"Field__c = 'Owner Assignment' AND {span.period.soql('CreatedDate')}"
    rows = recorder.soql(
        "SELECT OwnerId, CreatedDate, ClosedDate, (SELECT Id FROM CaseHistories__r WHERE Field__c "
        "= 'Owner Assignment') FROM Case WHERE Status = 'Closed' AND Id IN "
        f"(SELECT CaseId__c FROM CaseHistory__c WHERE {given})"
    )
    times: dict[str, list[float]] = {}
    for row in rows:
        if row["CaseHistories__r"]["totalSize"] == 1 and row["OwnerId"] in agents:
            opened, closed = map(datetime.fromisoformat, (row["CreatedDate"], row["ClosedDate"]))
            times.setdefault(row["OwnerId"], []).append((closed - opened).total_seconds())
    return {agent: fmean(spans) for agent, spans in times.items()}


MEASURE = Measure(
    NAME,
    times_by_tools,
    times_by_soql,
    ("fastest", "slowest"),
    ("HANDLE-1", "HANDLE-2", "TIME-4"),
)


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for drawn_so_far in count():
        span, times = draw(context)
        if not times or not leads(times, True, MARGIN) or not leads(times, False, MARGIN):
            continue
        slow, fast = best(times, True), best(times, False)
        least = evidence(drawn_so_far)
        if min(rests_on(context, span, agent) for agent in (slow, fast)) < least:
            continue
        case = open_case_of(context.records, slow)
        if case:
            about = f"{span.about} {case['Id']}"
            build = partial(_done, context, span, case, fast)
            yield Candidate(about, (slow, fast), MANAGER, build)


def _done(context: TaskContext, span: Span, case: Row, fast: str) -> tuple[Step, ...]:
    def gold_path(recorder: ServiceRecorder) -> None:
        times = times_by_tools(recorder, span)
        slow = recorder.call("find_id_with_max_value", values_by_id=times)[0]
        quick = recorder.call("find_id_with_min_value", values_by_id=times)[0]
        rows = recorder.call("get_cases", agent_ids=[slow], statuses=OPEN)
        hand_over(recorder, rows[0]["Id"], quick)

    def query_path(recorder: ServiceRecorder) -> None:
        times = times_by_soql(recorder, span)
        slow, quick = best(times, True), best(times, False)
        rows = recorder.soql(
            f"SELECT Id, CreatedDate FROM Case WHERE OwnerId = {quoted(slow)} AND "
            "Status != 'Closed' ORDER BY CreatedDate LIMIT 1"
        )
        hand_over_by_soql(recorder, rows[0]["Id"], quick)

    notes = owners_named(context.records, case["OwnerId"], fast)
    rules = ("HANDLE-1", "HANDLE-2", "NOTE-1")
    return (
        Step(
            MEASURE.phrased(context, "done", span),
            gold_path,
            query_path,
            note_facts=notes,
            rules=rules,
        ),
    )


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    while True:
        span, times = draw(context)
        first, second = ranked(times)[:2] if len(times) > FEWEST else ("", "")
        slow = context.rng.random() < 0.5
        case = context.rng.choice(open_cases(context, second))
        if first and clear(times, 2) and (not slow or leads(times, True, MARGIN)):
            build = partial(_talked, context, span, times, case, slow)
            answers = (first, second, best(times, True)) if slow else (first, second)
            yield Candidate(span.about, answers, MANAGER, build)


def ranked(times: Times) -> list[str]:
    """Agents, the fastest first."""
    return sorted(times, key=lambda agent: times[agent])


def clear(times: Times, places: int) -> bool:
    """Whether so many first places are decided by the margin."""
    values = [times[agent] for agent in ranked(times)][: places + 1]
    return all(two - one > MARGIN * two for one, two in pairwise(values))


def _talked(
    context: TaskContext, span: Span, times: Times, case: Row, slow: bool
) -> tuple[Step, ...]:
    second = ranked(times)[1]
    rest = {agent: time for agent, time in times.items() if agent != best(times, False)}
    told = partial(context.follow, NAME)
    steps = [
        MEASURE.question(MEASURE.phrased(context, "fastest", span), span, False, times),
        _second(told("second"), span, rest),
    ]
    if slow:
        steps.append(MEASURE.question(told("and_slowest"), span, True, times))
    assign = Step(
        told("give", case=case["Id"]),
        partial(_give, case["Id"], second, hand_over),
        partial(_give, case["Id"], second, hand_over_by_soql),
        note_facts=owners_named(context.records, case["OwnerId"], second),
        rules=("NOTE-1",),
    )
    return (*steps, assign)


def _second(said: str, span: Span, rest: Times) -> Step:
    """Who is fastest once the fastest is left out."""

    def gold_path(recorder: ServiceRecorder) -> None:
        times = times_by_tools(recorder, span)
        left = {agent: times[agent] for agent in times if agent in rest}
        recorder.respond(recorder.call("find_id_with_min_value", values_by_id=left)[0])

    def query_path(recorder: ServiceRecorder) -> None:
        recorder.respond(ranked(times_by_soql(recorder, span))[1])

    answer = Answer("id", (best(rest, False),), PREFIX)
    return Step(said, gold_path, query_path, answer, rules=("HANDLE-2",))


def _give(
    case: str,
    agent: str,
    give: Callable[[ServiceRecorder, str, str], None],
    recorder: ServiceRecorder,
) -> None:
    give(recorder, case, agent)


HANDLE_TIME = ServiceFamily(NAME, "Handle Time Understanding", asked, done, talked)
