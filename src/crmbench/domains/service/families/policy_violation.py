"""Policy violation identification: which article the agent of a case has broken, if any."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.domains.service.families.desk import AGENT, Desk, quoted
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker

NAME = "policy_violation"
PREFIX = "ka0"
MORE = 2
"""Further cases of the same agent that a conversation is about."""


def asked(desk: Desk) -> Iterator[Candidate]:
    for case, article in drawn(desk):
        yield Candidate(
            about=case["Id"],
            answers=(article or "None",),
            persona=AGENT,
            build=partial(_asked, desk, case, article),
            empty=article is None,
        )


def drawn(desk: Desk) -> Iterator[tuple[Row, str | None]]:
    """Closed cases in any order, each with the article that was broken in it, if any."""
    closed = [case for case in desk.records.cases if case["ClosedDate"]]
    for case in desk.rng.sample(closed, len(closed)):
        yield case, desk.truth.broken(case["Id"])


def _asked(desk: Desk, case: Row, article: str | None) -> tuple[Step, ...]:
    said = desk.say(NAME, "asked", AGENT, **slots(desk, case))
    return (question(desk, said, case, article),)


def slots(desk: Desk, case: Row) -> dict[str, str]:
    names = desk.records
    return {
        "case": case["Id"],
        "agent": names.name(case["OwnerId"]),
        "customer": names.name(case["ContactId"]),
    }


def question(desk: Desk, said: str, case: Row, article: str | None) -> Step:
    """Reading is the agent's work: the gold reads all that there is and names the article."""

    def walk(walker: Walker) -> None:
        _read(walker, desk, case, article)
        walker.respond(article)

    def query(walker: Walker) -> None:
        _read_by_soql(walker, case)
        walker.respond(article)

    answer = Answer("id", (article,) if article else (), PREFIX)
    return Step(said, walk, query, answer, rules=("BREACH-1",))


def _read(walker: Walker, desk: Desk, case: Row, article: str | None) -> None:
    """Read a case's conversation and the articles that govern it."""
    issue = desk.records.name(case["IssueId__c"])
    walker.call("get_cases", case_ids=[case["Id"]])
    walker.call("get_email_messages_by_case_id", case_id=case["Id"])
    walker.call("get_livechat_transcript_by_case_id", case_id=case["Id"])
    walker.call("get_issues")
    term = f"governs every conversation {issue}"
    found = walker.call("search_knowledge_articles", search_term=term)
    if article and all(row["Id"] != article for row in found):
        title = desk.records.get("Knowledge__kav", article)["Title"]
        walker.call("search_knowledge_articles", search_term=title)


def _read_by_soql(walker: Walker, case: Row) -> None:
    walker.soql(
        "SELECT Id, Subject, IssueId__r.Name, (SELECT TextBody, FromAddress, MessageDate FROM "
        "EmailMessages ORDER BY MessageDate), (SELECT Body, EndTime FROM LiveChatTranscripts) "
        f"FROM Case WHERE Id = {quoted(case['Id'])}"
    )
    walker.soql(
        "SELECT Id, Title, Summary, FAQ_Answer__c FROM Knowledge__kav "
        "WHERE PublishStatus = 'Online' ORDER BY Title"
    )


def done(desk: Desk) -> Iterator[Candidate]:
    for case, article in drawn(desk):
        if article:
            build = partial(_done, desk, case, article)
            yield Candidate(case["Id"], (article,), AGENT, build)


def _done(desk: Desk, case: Row, article: str) -> tuple[Step, ...]:
    said = desk.order(NAME, "done", **slots(desk, case))
    return (note(desk, said, case, article, read_first=True),)


def note(desk: Desk, said: str, case: Row, article: str, *, read_first: bool) -> Step:
    """Leave a comment on a case that names the article that was broken."""
    title = desk.records.get("Knowledge__kav", article)["Title"]
    text = f"Quality check: the conversation goes against the article '{title}'."

    def walk(walker: Walker) -> None:
        if read_first:
            _read(walker, desk, case, article)
        walker.call("comment_on_case", case_id=case["Id"], comment=text)

    def query(walker: Walker) -> None:
        if read_first:
            _read_by_soql(walker, case)
        walker.call("comment_on_case", case_id=case["Id"], comment=text)

    fact = Fact("text", title, "broken article")
    return Step(said, walk, query, note_facts=(fact,), rules=("BREACH-1",))


def talked(desk: Desk) -> Iterator[Candidate]:
    closed = [case for case in desk.records.cases if case["ClosedDate"]]
    for case, article in drawn(desk):
        same = [c for c in closed if c["OwnerId"] == case["OwnerId"] and c["Id"] != case["Id"]]
        if article and len(same) >= MORE:
            others = [(c, desk.truth.broken(c["Id"])) for c in desk.rng.sample(same, MORE)]
            build = partial(_talked, desk, [(case, article), *others])
            answers = (article, *(other or "None" for _, other in others))
            yield Candidate(case["Id"], answers, AGENT, build)


def _talked(desk: Desk, found: list[tuple[Row, str | None]]) -> tuple[Step, ...]:
    steps = [*_asked(desk, *found[0])]
    for case, article in found[1:]:
        said = desk.follow(NAME, "and_case", case=case["Id"])
        steps.append(question(desk, said, case, article))
    case, article = found[0]
    last = desk.follow(NAME, "comment", case=case["Id"])
    return (*steps, note(desk, last, case, str(article), read_first=False))


POLICY_VIOLATION = Family(NAME, "Policy Violation Identification", asked, done, talked)
