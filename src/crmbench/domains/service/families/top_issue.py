"""Top issue identification: the issue that was reported most for a product in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from crmbench.core.answer import Answer
from crmbench.domains.service.families.acts import refused
from crmbench.domains.service.families.desk import (
    ANALYST,
    MANAGER,
    Desk,
    bounds,
    find_product,
    look_up_period,
    quoted,
    tally,
)
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker, best
from crmbench.domains.service.families.periods import Period
from crmbench.domains.service.families.wording import phrases

NAME = "top_issue"
PREFIX = "a00"
Counts = Mapping[str, int]
LEAST = 2
"""Cases that the leading issue has at least."""


def asked(desk: Desk) -> Iterator[Candidate]:
    while True:
        product, period = desk.rng.choice(desk.complained_of), desk.period()
        counts = desk.truth.issue_counts(product, period.start, period.end)
        if not counts or clear(counts):
            yield Candidate(
                about=f"{product} {period.start} {period.end}",
                answers=(_leader(counts),),
                persona=ANALYST,
                build=partial(_asked, desk, product, period, counts),
                empty=not counts,
                topic=product,
            )


def _asked(desk: Desk, product: str, period: Period, counts: Counts) -> tuple[Step, ...]:
    return (question(desk, product, period, counts),)


def clear(counts: Counts) -> bool:
    """Whether one issue leads: no tie, and more than one case."""
    top = sorted(counts.values(), reverse=True)
    return top[0] >= LEAST and (len(top) == 1 or top[0] > top[1])


def question(
    desk: Desk, product: str, period: Period, counts: Counts, said: str | None = None
) -> Step:
    name = desk.records.name(product)

    def walk(walker: Walker) -> None:
        found = counts_by_tools(walker, name, period)
        if not found:
            walker.respond(None)
            return
        walker.respond(walker.call("find_id_with_max_value", values_by_id=found)[0])

    def query(walker: Walker) -> None:
        found = counts_by_soql(walker, name, period)
        walker.respond(best(found, largest=True) if found else None)

    said = said or desk.say(NAME, "asked", ANALYST, product=name, period=desk.wording(period))
    answer = Answer("id", (best(counts, largest=True),) if counts else (), PREFIX)
    return Step(said, walk, query, answer, rules=("ISSUE-1", "TIME-4"))


def counts_by_tools(walker: Walker, product: str, period: Period) -> Counts:
    look_up_period(walker, period)
    key = find_product(walker, product)
    items = walker.call("get_order_item_ids_by_product", product_id=key)
    found: Counts = walker.call("get_issue_counts", **bounds(period), order_item_ids=items)
    return found


def counts_by_soql(walker: Walker, product: str, period: Period) -> Mapping[str, float]:
    found = walker.soql(
        "SELECT IssueId__c issue, COUNT(Id) n FROM Case "
        f"WHERE OrderItemId__r.Product2.Name = {quoted(product)} AND "
        f"{period.soql('CreatedDate')} GROUP BY IssueId__c ORDER BY COUNT(Id) DESC"
    )
    return tally(found, "issue", "n")


def done(desk: Desk) -> Iterator[Candidate]:
    for candidate in drawn(desk):
        product, period, counts = candidate
        issue, name = best(counts, largest=True), desk.records.name(product)
        build = partial(_done, desk, Draft(issue, name), period)
        about = f"{product} {period.start} {period.end}"
        yield Candidate(about, (issue,), MANAGER, build, topic=product)


def drawn(desk: Desk) -> Iterator[tuple[str, Period, Counts]]:
    """Products and periods in which one issue leads."""
    while True:
        product, period = desk.rng.choice(desk.complained_of), desk.period()
        counts = desk.truth.issue_counts(product, period.start, period.end)
        if counts and clear(counts):
            yield product, period, counts


@dataclass(frozen=True)
class Draft:
    """An article that is to be written about a product's issue."""

    issue: str
    """Its id."""
    product: str
    """Its name."""


def _done(desk: Desk, draft: Draft, period: Period) -> tuple[Step, ...]:
    form = desk.rng.choice(("draft", "publish"))
    summary, text = desk.rng.choice(phrases(NAME)["articles"])
    said = desk.order(
        NAME,
        form,
        product=draft.product,
        period=desk.wording(period),
        summary=summary,
        text=text,
    )
    names = {row["Id"]: row["Name"] for row in desk.records.rows["Issue__c"]}
    written = (f"{names[draft.issue]}: {draft.product}", summary, text)

    def walk(walker: Walker) -> None:
        found = counts_by_tools(walker, draft.product, period)
        walker.call("find_id_with_max_value", values_by_id=found)
        walker.call("get_issues")
        _write(walker, written, form == "publish")

    def query(walker: Walker) -> None:
        found = counts_by_soql(walker, draft.product, period)
        top = quoted(best(found, largest=True))
        walker.soql(f"SELECT Name FROM Issue__c WHERE Id = {top}")
        _write(walker, written, form == "publish")

    return (Step(said, walk, query, rules=("ISSUE-1", "ARTICLE-1")),)


def _write(walker: Walker, written: tuple[str, str, str], publish: bool) -> None:
    title, summary, text = written
    walker.call("draft_article", title=title, summary=summary, answer=text)
    if publish:
        walker.call("publish_article", article_id=walker.reference("Id"))


def talked(desk: Desk) -> Iterator[Candidate]:
    pairs = drawn(desk)
    while True:
        one = next(pairs)
        first = desk.period()
        again = desk.truth.issue_counts(one[0], first.start, first.end)
        other = next(pairs)
        if other[0] != one[0] and first != one[1] and (not again or clear(again)):
            build = partial(_talked, desk, one, (one[0], first, again), other)
            answers = (_leader(one[2]), _leader(again), _leader(other[2]))
            yield Candidate(one[0], answers, ANALYST, build)


def _leader(counts: Counts) -> str:
    return best(counts, largest=True) if counts else "None"


def _talked(desk: Desk, *asked_for: tuple[str, Period, Counts]) -> tuple[Step, ...]:
    (product, period, counts), second, third = asked_for
    told = partial(desk.follow, NAME)
    words, name = desk.wording, desk.records.name
    return (
        question(desk, product, period, counts),
        question(desk, *second, said=told("and_in", period=words(second[1]))),
        question(
            desk, *third, said=told("and_for", product=name(third[0]), period=words(third[1]))
        ),
        refused(told("write", product=name(third[0]))),
    )


TOP_ISSUE = Family(NAME, "Top Issue Identification", asked, done, talked)
