"""Top issue identification: the issue that was reported most for a product in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count

from crmbench.core.answer import Answer
from crmbench.domains.service.families.acts import refused
from crmbench.domains.service.families.context import (
    ANALYST,
    MANAGER,
    TaskContext,
    bounds,
    evidence,
    find_product,
    look_up_period,
    quoted,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step, best
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.families.periods import Period
from crmbench.domains.service.families.wording import phrases

NAME = "top_issue"
PREFIX = "a00"
Counts = Mapping[str, int]
LEAST = 3
"""Cases that the leading issue has at least, after long search."""


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for tried in count():
        product, period = context.rng.choice(context.complained_of), context.period()
        # What a few cases could decide is not looked into.
        if 0 < context.records.number_about(product, period.start, period.end) <= LEAST:
            continue
        counts = context.truth.issue_counts(product, period.start, period.end)
        if not counts or clear(counts, evidence(tried, LEAST)):
            yield Candidate(
                about=f"{product} {period.start} {period.end}",
                answers=(_leader(counts),),
                persona=ANALYST,
                build=partial(_asked, context, product, period, counts),
                empty=not counts,
                topic=product,
            )


def _asked(context: TaskContext, product: str, period: Period, counts: Counts) -> tuple[Step, ...]:
    return (question(context, product, period, counts),)


def clear(counts: Counts, least: int) -> bool:
    """Whether one issue of several leads, by two cases, with so many at least."""
    top = sorted(counts.values(), reverse=True)
    return len(top) > 1 and top[0] >= least and top[0] - top[1] >= 2


def question(
    context: TaskContext, product: str, period: Period, counts: Counts, said: str | None = None
) -> Step:
    """The turn that asks for the issue."""
    name = context.records.name(product)

    def gold_path(recorder: ServiceRecorder) -> None:
        found = counts_by_tools(recorder, name, period)
        if not found:
            recorder.respond(None)
            return
        recorder.respond(recorder.call("find_id_with_max_value", values_by_id=found)[0])

    def query_path(recorder: ServiceRecorder) -> None:
        found = counts_by_soql(recorder, name, period)
        recorder.respond(best(found, largest=True) if found else None)

    said = said or context.say(NAME, "asked", ANALYST, product=name, period=context.wording(period))
    answer = Answer("id", (best(counts, largest=True),) if counts else (), PREFIX)
    return Step(said, gold_path, query_path, answer, rules=("ISSUE-1", "TIME-4"))


def counts_by_tools(recorder: ServiceRecorder, product: str, period: Period) -> Counts:
    """Cases by issue, by the tools that are made for it."""
    look_up_period(recorder, period)
    key = find_product(recorder, product)
    items = recorder.call("get_order_item_ids_by_product", product_id=key)
    found: Counts = recorder.call("get_issue_counts", **bounds(period), order_item_ids=items)
    return found


def counts_by_soql(recorder: ServiceRecorder, product: str, period: Period) -> Mapping[str, float]:
    """The same by SOQL."""
    found = recorder.soql(
        "SELECT IssueId__c issue, COUNT(Id) n FROM Case "
        f"WHERE OrderItemId__r.Product2.Name = {quoted(product)} AND "
        f"{period.soql('CreatedDate')} GROUP BY IssueId__c ORDER BY COUNT(Id) DESC"
    )
    return tally(found, "issue", "n")


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for candidate in drawn(context):
        product, period, counts = candidate
        issue, name = best(counts, largest=True), context.records.name(product)
        build = partial(_done, context, ArticleDraft(issue, name), period)
        about = f"{product} {period.start} {period.end}"
        yield Candidate(about, (issue,), MANAGER, build, topic=product)


def drawn(context: TaskContext) -> Iterator[tuple[str, Period, Counts]]:
    """Products and periods in which one issue leads."""
    for tried in count():
        product, period = context.rng.choice(context.complained_of), context.period()
        counts = context.truth.issue_counts(product, period.start, period.end)
        if counts and clear(counts, evidence(tried, LEAST)):
            yield product, period, counts


@dataclass(frozen=True)
class ArticleDraft:
    """An article that is to be written about a product's issue."""

    issue: str
    """Its id."""
    product: str
    """Its name."""


def _done(context: TaskContext, draft: ArticleDraft, period: Period) -> tuple[Step, ...]:
    form = context.rng.choice(("draft", "publish"))
    summary, text = context.rng.choice(phrases(NAME)["articles"])
    said = context.order(
        NAME,
        form,
        product=draft.product,
        period=context.wording(period),
        summary=summary,
        text=text,
    )
    names = {row["Id"]: row["Name"] for row in context.records.rows["Issue__c"]}
    written = (f"{names[draft.issue]}: {draft.product}", summary, text)

    def gold_path(recorder: ServiceRecorder) -> None:
        found = counts_by_tools(recorder, draft.product, period)
        recorder.call("find_id_with_max_value", values_by_id=found)
        recorder.call("get_issues")
        _write(recorder, written, form == "publish")

    def query_path(recorder: ServiceRecorder) -> None:
        found = counts_by_soql(recorder, draft.product, period)
        top = quoted(best(found, largest=True))
        recorder.soql(f"SELECT Name FROM Issue__c WHERE Id = {top}")
        _write(recorder, written, form == "publish")

    return (Step(said, gold_path, query_path, rules=("ISSUE-1", "ARTICLE-1")),)


def _write(recorder: ServiceRecorder, written: tuple[str, str, str], publish: bool) -> None:
    title, summary, text = written
    recorder.call("draft_article", title=title, summary=summary, answer=text)
    if publish:
        recorder.call("publish_article", article_id=recorder.reference("Id"))


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    pairs = drawn(context)
    while True:
        one = next(pairs)
        first = context.period()
        again = context.truth.issue_counts(one[0], first.start, first.end)
        other = next(pairs)
        if other[0] != one[0] and first != one[1] and (not again or clear(again, LEAST)):
            build = partial(_talked, context, one, (one[0], first, again), other)
            answers = (_leader(one[2]), _leader(again), _leader(other[2]))
            yield Candidate(one[0], answers, ANALYST, build)


def _leader(counts: Counts) -> str:
    return best(counts, largest=True) if counts else "None"


def _talked(context: TaskContext, *asked_for: tuple[str, Period, Counts]) -> tuple[Step, ...]:
    (product, period, counts), second, third = asked_for
    told = partial(context.follow, NAME)
    words, name = context.wording, context.records.name
    return (
        question(context, product, period, counts),
        question(context, *second, said=told("and_in", period=words(second[1]))),
        question(
            context, *third, said=told("and_for", product=name(third[0]), period=words(third[1]))
        ),
        refused(told("write", product=name(third[0]))),
    )


TOP_ISSUE = ServiceFamily(NAME, "Top Issue Identification", asked, done, talked)
