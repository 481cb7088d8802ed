"""Best region identification: the state whose cases of a period were closed fastest, or slowest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from statistics import fmean

from crmbench.core.answer import Answer
from crmbench.core.schema import Row
from crmbench.domains.service.families.acts import OPEN, escalate, refused
from crmbench.domains.service.families.desk import (
    ANALYST,
    MANAGER,
    MARGIN,
    Desk,
    bounds,
    ids_of,
    leads,
    look_up_period,
    quoted,
)
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker, best
from crmbench.domains.service.families.periods import Period
from crmbench.domains.service.families.records import Records

NAME = "best_region"
Times = Mapping[str, float]
FEWEST = 4
"""States to choose among."""
LONGEST = 400
"""Days of a period."""


def asked(desk: Desk) -> Iterator[Candidate]:
    while True:
        period, slowest = desk.period(), desk.rng.random() < 0.4
        times = closing_times(desk, period, slowest)
        if times:
            yield Candidate(
                about=f"{period.start} {period.end} {slowest}",
                answers=(best(times, slowest),),
                persona=ANALYST,
                build=partial(_asked, desk, period, slowest, times),
            )


def _asked(desk: Desk, period: Period, slowest: bool, times: Times) -> tuple[Step, ...]:
    form = "slowest" if slowest else "fastest"
    said = desk.say(NAME, form, ANALYST, period=desk.wording(period))
    return (question(said, period, slowest, times),)


def closing_times(desk: Desk, period: Period, slowest: bool) -> Times | None:
    """Mean times to close by state, None where no single state leads by the margin."""
    if period.days > LONGEST:
        return None
    times = desk.truth.closing_times(period.start, period.end)
    return times if len(times) >= FEWEST and leads(times, slowest, MARGIN) else None


def question(said: str, period: Period, slowest: bool, times: Times) -> Step:
    def walk(walker: Walker) -> None:
        found = times_by_tools(walker, period)
        choose = "find_id_with_max_value" if slowest else "find_id_with_min_value"
        walker.respond(walker.call(choose, values_by_id=found)[0])

    def query(walker: Walker) -> None:
        walker.respond(best(times_by_soql(walker, period), slowest))

    answer = Answer("state", (best(times, slowest),))
    return Step(said, walk, query, answer, rules=("REGION-1", "TIME-4"))


def times_by_tools(walker: Walker, period: Period) -> Times:
    look_up_period(walker, period)
    cases = walker.call("get_cases", **bounds(period), statuses=["Closed"])
    found: Times = walker.call("calculate_region_average_closure_times", cases=ids_of(cases))
    return found


def times_by_soql(walker: Walker, period: Period) -> Times:
    found = walker.soql(
        "SELECT Account.ShippingState, CreatedDate, ClosedDate FROM Case "
        f"WHERE Status = 'Closed' AND {period.soql('CreatedDate')}"
    )
    times: dict[str, list[float]] = {}
    for row in found:
        opened, closed = map(datetime.fromisoformat, (row["CreatedDate"], row["ClosedDate"]))
        state = row["Account"]["ShippingState"]
        times.setdefault(state, []).append((closed - opened).total_seconds())
    return {state: fmean(spans) for state, spans in times.items()}


def done(desk: Desk) -> Iterator[Candidate]:
    while True:
        period = desk.period()
        times = closing_times(desk, period, slowest=True)
        case = waiting(desk.records, best(times, largest=True)) if times else None
        if times and case:
            build = partial(_done, desk, period, case)
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


def _done(desk: Desk, period: Period, case: Row) -> tuple[Step, ...]:
    said = desk.order(NAME, "done", period=desk.wording(period))

    def walk(walker: Walker) -> None:
        top = walker.call("find_id_with_max_value", values_by_id=times_by_tools(walker, period))[0]
        _escalate_oldest(walker, top)

    def query(walker: Walker) -> None:
        top = best(times_by_soql(walker, period), largest=True)
        rows = walker.soql(
            "SELECT Id, Priority, CreatedDate FROM Case WHERE Status != 'Closed' AND "
            f"Account.ShippingState = {quoted(top)} ORDER BY CreatedDate LIMIT 1"
        )
        escalate(walker, rows[0])

    del case
    return (Step(said, walk, query, rules=("REGION-1", "STATUS-1")),)


def _escalate_oldest(walker: Walker, state: str) -> None:
    """Escalate the oldest open case of a state's customers."""
    rows = walker.call("get_cases", statuses=OPEN)
    places = walker.call("get_shipping_state", cases=ids_of(rows))
    here = {place["Id"] for place in places if place["ShippingState"] == state}
    escalate(walker, next(row for row in rows if row["Id"] in here))


def talked(desk: Desk) -> Iterator[Candidate]:
    while True:
        one, two = desk.period(), desk.period()
        fast, slow = closing_times(desk, one, False), closing_times(desk, one, True)
        again = closing_times(desk, two, True)
        if one != two and fast and slow and again:
            about = f"{one.start} {one.end}"
            state = best(again, largest=True)
            act = waiting(desk.records, state) is not None and desk.rng.random() < 0.6
            build = partial(_talked, desk, (one, fast), (two, again), act)
            answers = (best(fast, False), best(slow, True), state)
            yield Candidate(about, answers, MANAGER if act else ANALYST, build)


def _talked(
    desk: Desk, first: tuple[Period, Times], other: tuple[Period, Times], act: bool
) -> tuple[Step, ...]:
    (one, times), (two, again) = first, other
    told = partial(desk.follow, NAME)
    persona = MANAGER if act else ANALYST
    said = desk.say(NAME, "fastest", persona, period=desk.wording(one))
    steps = (
        question(said, one, False, times),
        question(told("and_slowest"), one, True, times),
        question(told("and_slowest_in", period=desk.wording(two)), two, True, again),
    )
    if not act:
        return (*steps, refused(told("escalate")))
    state = best(again, largest=True)

    def walk(walker: Walker) -> None:
        _escalate_oldest(walker, state)

    def query(walker: Walker) -> None:
        rows = walker.soql(
            "SELECT Id, Priority, CreatedDate FROM Case WHERE Status != 'Closed' AND "
            f"Account.ShippingState = {quoted(state)} ORDER BY CreatedDate LIMIT 1"
        )
        escalate(walker, rows[0])

    return (*steps, Step(told("escalate"), walk, query, rules=("STATUS-1",)))


BEST_REGION = Family(NAME, "Best Region Identification", asked, done, talked, with_empty=False)
