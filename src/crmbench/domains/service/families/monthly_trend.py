"""Monthly trend analysis: the month of a period with most cases about a product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.domains.service.families.acts import refused
from crmbench.domains.service.families.context import (
    ANALYST,
    MANAGER,
    TaskContext,
    bounds,
    evidence,
    find_product,
    ids_of,
    look_up_period,
    quoted,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.periods import MONTHS, Period

NAME = "monthly_trend"
Counts = Mapping[str, int]
LEAST = 2
"""Cases that the leading month has at least."""
SHORTEST, LONGEST = 80, 366
"""Days of a period: several months, none of them twice."""


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for product, period, counts in drawn(context):
        yield Candidate(
            about=f"{product} {period.start} {period.end}",
            answers=(month_name(best(counts, largest=True)),),
            persona=ANALYST,
            build=partial(_asked, context, product, period, counts),
            topic=product,
        )


def _asked(context: TaskContext, product: str, period: Period, counts: Counts) -> tuple[Step, ...]:
    said = context.say(
        NAME,
        "asked",
        ANALYST,
        product=context.records.name(product),
        period=context.wording(period),
    )
    return (question(context, said, product, period, counts),)


def month_counts(context: TaskContext, product: str, period: Period, least: int) -> Counts | None:
    """The cases of each month of a fitting period, None where no single month leads, or where the
    period has fewer cases than `least`.
    """
    if context.records.number_about(product, period.start, period.end) < least:
        return None
    counts = context.truth.month_counts(product, period.start, period.end)
    if len(counts) < 2:
        return None
    top = sorted(counts.values(), reverse=True)
    # Nobody may hit the answer by repeating the words of the question.
    month = month_name(best(counts, largest=True))
    named = any(month in words for words in period.wordings)
    clear = top[0] >= LEAST and top[0] > top[1]
    return counts if clear and not named else None


def fits(period: Period) -> bool:
    """Whether a period has several months, and none of them twice."""
    last_month = period.end[5:7] if period.end[8:] != "01" else ""
    return SHORTEST <= period.days <= LONGEST and last_month != period.start[5:7]


def month_name(month: str) -> str:
    """The name of a month such as ``2024-05``."""
    return MONTHS[int(month[5:7]) - 1]


def question(context: TaskContext, said: str, product: str, period: Period, counts: Counts) -> Step:
    """The turn that asks for the month."""
    name = context.records.name(product)

    def gold_path(recorder: ServiceRecorder) -> None:
        months = counts_by_tools(recorder, name, period)
        recorder.respond(recorder.call("find_id_with_max_value", values_by_id=months)[0])

    def query_path(recorder: ServiceRecorder) -> None:
        recorder.respond(top_by_soql(recorder, name, period))

    answer = Answer("month", (month_name(best(counts, largest=True)),))
    return Step(said, gold_path, query_path, answer, rules=("MONTH-1", "TIME-4"))


def counts_by_tools(recorder: ServiceRecorder, product: str, period: Period) -> dict[str, float]:
    """Cases by month, by the tools that are made for it."""
    look_up_period(recorder, period)
    key = find_product(recorder, product)
    items = recorder.call("get_order_item_ids_by_product", product_id=key)
    cases = recorder.call("get_cases", **bounds(period), order_item_ids=items)
    found: dict[str, float] = recorder.call("get_month_to_case_count", cases=ids_of(cases))
    return found


def top_by_soql(recorder: ServiceRecorder, product: str, period: Period) -> str:
    """The month with most cases, by SOQL."""
    found = recorder.soql(
        "SELECT CALENDAR_MONTH(CreatedDate) m, COUNT(Id) n FROM Case "
        f"WHERE OrderItemId__r.Product2.Name = {quoted(product)} AND "
        f"{period.soql('CreatedDate')} GROUP BY CALENDAR_MONTH(CreatedDate) "
        "ORDER BY COUNT(Id) DESC"
    )
    return MONTHS[found[0]["m"] - 1]


def periods_that_fit(context: TaskContext) -> list[list[Period]]:
    """As `TaskContext.period` chooses them: named and past ones twice as often as long ones."""
    kinds = [list(filter(fits, kind)) for kind in (context.named, context.past, context.long)]
    return [kinds[0], *kinds[:2], *kinds[1:]]


def drawn(context: TaskContext) -> Iterator[tuple[str, Period, Counts]]:
    """Products and periods in which one month leads."""
    fitting = periods_that_fit(context)
    often = [key for key in context.complained_of if len(context.records.cases_about(key)) > LEAST]
    for tried in count():
        product, period = context.rng.choice(often), context.rng.choice(context.rng.choice(fitting))
        counts = month_counts(context, product, period, evidence(tried // 4, LEAST + 1))
        if counts:
            yield product, period, counts


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for product, period, counts in drawn(context):
        cases = context.records.cases_about(product)
        case = max(cases, key=lambda case: (case["ClosedDate"] is None, case["CreatedDate"]))
        month = month_name(best(counts, largest=True))
        build = partial(_done, context, case["Id"], (product, period, month))
        about = f"{product} {period.start} {period.end}"
        yield Candidate(about, (month,), MANAGER, build, topic=product)


def _done(context: TaskContext, case: str, found: tuple[str, Period, str]) -> tuple[Step, ...]:
    product, period, month = found
    name = context.records.name(product)
    said = context.order(NAME, "done", product=name, period=context.wording(period), case=case)

    def gold_path(recorder: ServiceRecorder) -> None:
        months = counts_by_tools(recorder, name, period)
        top = recorder.call("find_id_with_max_value", values_by_id=months)[0]
        _comment(recorder, case, top)

    def query_path(recorder: ServiceRecorder) -> None:
        top = top_by_soql(recorder, name, period)
        _comment(recorder, case, top)

    fact = Fact("choice", month, "month", options=MONTHS)
    return (Step(said, gold_path, query_path, note_facts=(fact,), rules=("MONTH-1",)),)


def _comment(recorder: ServiceRecorder, case: str, month: str) -> None:
    text = f"Most cases about this product were created in {month}."
    recorder.call("comment_on_case", case_id=case, comment=text)


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    pairs, fitting = drawn(context), periods_that_fit(context)
    while True:
        one, other = next(pairs), next(pairs)
        period = context.rng.choice(context.rng.choice(fitting))
        again = month_counts(context, one[0], period, LEAST + 1)
        if again and period != one[1] and other[0] != one[0]:
            build = partial(_talked, context, one, (one[0], period, again), other)
            months = (month_name(best(found, largest=True)) for found in (one[2], again, other[2]))
            yield Candidate(one[0], tuple(months), ANALYST, build)


def _talked(context: TaskContext, *asked_for: tuple[str, Period, Counts]) -> tuple[Step, ...]:
    one, two, three = asked_for
    told = partial(context.follow, NAME)
    words, other = context.wording, context.records.name(three[0])
    return (
        *_asked(context, *one),
        question(context, told("and_in", period=words(two[1])), *two),
        question(context, told("and_for", product=other, period=words(three[1])), *three),
        refused(told("write", product=other)),
    )


MONTHLY_TREND = ServiceFamily(NAME, "Monthly Trend Analysis", asked, done, talked, with_empty=False)
