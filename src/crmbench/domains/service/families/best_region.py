"""Best region identification: the state whose cases of a period were closed fastest, or slowest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import count
from statistics import fmean

from crmbench.core.answer import Answer
from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import OPEN, escalate, refused
from crmbench.domains.service.families.context import (
    ANALYST,
    MANAGER,
    MARGIN,
    TaskContext,
    bounds,
    evidence,
    ids_of,
    leads,
    look_up_period,
    quoted,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.periods import Period
from crmbench.domains.service.families.records import Records

NAME = "best_region"
Times = Mapping[str, float]
FEWEST = 4
"""States to choose among."""
LONGEST = 1600
"""Days of a period."""


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for drawn in count():
        period, slowest = context.period(), context.rng.random() < 0.4
        times = closing_times(context, period, slowest, evidence(drawn))
        if times:
            yield Candidate(
                about=f"{period.start} {period.end} {slowest}",
                answers=(best(times, slowest),),
                persona=ANALYST,
                build=partial(_asked, context, period, slowest, times),
            )


def _asked(context: TaskContext, period: Period, slowest: bool, times: Times) -> tuple[Step, ...]:
    form = "slowest" if slowest else "fastest"
    said = context.say(NAME, form, ANALYST, period=context.wording(period))
    return (question(said, period, slowest, times),)


def closing_times(context: TaskContext, period: Period, slowest: bool, least: int) -> Times | None:
    """Mean times to close by state, None where no single state leads by the margin, or only by a
    handful of cases.
    """
    if period.days > LONGEST:
        return None
    times = context.truth.closing_times(period.start, period.end)
    if len(times) < FEWEST or not leads(times, slowest, MARGIN):
        return None
    return times if cases_behind(context.records, period, best(times, slowest)) >= least else None


def cases_behind(records: Records, period: Period, state: str) -> int:
    """How many closed cases of a state's customers were created in a period."""
    created = records.closed_by_state.get(state, ())
    return sum(period.start <= moment < period.end for moment in created)


def question(said: str, period: Period, slowest: bool, times: Times) -> Step:
    """The turn that asks for the state."""

    def gold_path(recorder: ServiceRecorder) -> None:
        found = times_by_tools(recorder, period)
        choose = "find_id_with_max_value" if slowest else "find_id_with_min_value"
        recorder.respond(recorder.call(choose, values_by_id=found)[0])

    def query_path(recorder: ServiceRecorder) -> None:
        recorder.respond(best(times_by_soql(recorder, period), slowest))

    answer = Answer("state", (best(times, slowest),))
    return Step(said, gold_path, query_path, answer, rules=("REGION-1", "TIME-4"))


def times_by_tools(recorder: ServiceRecorder, period: Period) -> Times:
    """Mean times to close by state, by the tools that are made for it."""
    look_up_period(recorder, period)
    cases = recorder.call("get_cases", **bounds(period), statuses=["Closed"])
    found: Times = recorder.call("calculate_region_average_closure_times", cases=ids_of(cases))
    return found


def times_by_soql(recorder: ServiceRecorder, period: Period) -> Times:
    """The same by SOQL."""
    found = recorder.soql(
        "SELECT Account.ShippingState, CreatedDate, ClosedDate FROM Case "
        f"WHERE Status = 'Closed' AND {period.soql('CreatedDate')}"
    )
    times: dict[str, list[float]] = {}
    for row in found:
        opened, closed = map(datetime.fromisoformat, (row["CreatedDate"], row["ClosedDate"]))
        state = row["Account"]["ShippingState"]
        times.setdefault(state, []).append((closed - opened).total_seconds())
    return {state: fmean(spans) for state, spans in times.items()}


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for drawn in count():
        period = context.period()
        times = closing_times(context, period, True, evidence(drawn))
        case = waiting(context.records, best(times, largest=True)) if times else None
        if times and case:
            build = partial(_done, context, period, case)
            about, state = f"{period.start} {period.end}", best(times, largest=True)
            yield Candidate(about, (state,), MANAGER, build)


def waiting(records: Records, state: str) -> Row | None:
    """The oldest open case of a state's customers, unless it is escalated already."""
    found = (
        case
        for case in records.open_cases
        if records.get("Account", case["AccountId"])["ShippingState"] == state
    )
    case = next(found, None)
    return case if case and case["Status"] != "Escalated" else None


def _done(context: TaskContext, period: Period, case: Row) -> tuple[Step, ...]:
    said = context.order(NAME, "done", period=context.wording(period))

    def gold_path(recorder: ServiceRecorder) -> None:
        top = recorder.call(
            "find_id_with_max_value", values_by_id=times_by_tools(recorder, period)
        )[0]
        _escalate_oldest(recorder, top)

    def query_path(recorder: ServiceRecorder) -> None:
        top = best(times_by_soql(recorder, period), largest=True)
        rows = recorder.soql(
            "SELECT Id, Priority, CreatedDate FROM Case WHERE Status != 'Closed' AND "
            f"Account.ShippingState = {quoted(top)} ORDER BY CreatedDate LIMIT 1"
        )
        escalate(recorder, rows[0])

    del case
    return (Step(said, gold_path, query_path, rules=("REGION-1", "STATUS-1")),)


def _escalate_oldest(recorder: ServiceRecorder, state: str) -> None:
    """Escalate the oldest open case of a state's customers."""
    rows = recorder.call("get_cases", statuses=OPEN)
    places = recorder.call("get_shipping_state", cases=ids_of(rows))
    here = {place["Id"] for place in places if place["ShippingState"] == state}
    escalate(recorder, next(row for row in rows if row["Id"] in here))


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    for drawn in count():
        one, two, least = context.period(), context.period(), evidence(drawn)
        fast = closing_times(context, one, False, least)
        slow = closing_times(context, one, True, least) if fast else None
        again = closing_times(context, two, True, least) if slow else None
        if one != two and fast and slow and again:
            about = f"{one.start} {one.end}"
            state = best(again, largest=True)
            act = waiting(context.records, state) is not None and context.rng.random() < 0.6
            build = partial(_talked, context, (one, fast), (two, again), act)
            answers = (best(fast, False), best(slow, True), state)
            yield Candidate(about, answers, MANAGER if act else ANALYST, build)


def _talked(
    context: TaskContext, first: tuple[Period, Times], other: tuple[Period, Times], act: bool
) -> tuple[Step, ...]:
    (one, times), (two, again) = first, other
    told = partial(context.follow, NAME)
    persona = MANAGER if act else ANALYST
    said = context.say(NAME, "fastest", persona, period=context.wording(one))
    steps = (
        question(said, one, False, times),
        question(told("and_slowest"), one, True, times),
        question(told("and_slowest_in", period=context.wording(two)), two, True, again),
    )
    if not act:
        return (*steps, refused(told("escalate")))
    state = best(again, largest=True)

    def gold_path(recorder: ServiceRecorder) -> None:
        _escalate_oldest(recorder, state)

    def query_path(recorder: ServiceRecorder) -> None:
        rows = recorder.soql(
            "SELECT Id, Priority, CreatedDate FROM Case WHERE Status != 'Closed' AND "
            f"Account.ShippingState = {quoted(state)} ORDER BY CreatedDate LIMIT 1"
        )
        escalate(recorder, rows[0])

    return (*steps, Step(told("escalate"), gold_path, query_path, rules=("STATUS-1",)))


BEST_REGION = ServiceFamily(
    NAME, "Best Region Identification", asked, done, talked, with_empty=False
)
