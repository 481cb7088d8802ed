"""Policy violation identification: which article the agent of a case has broken, if any."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.core.schema import Row
from crmbench.domains.service.families.context import AGENT, TaskContext, quoted
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step
from crmbench.domains.service.families.forms import ServiceFamily

NAME = "policy_violation"
PREFIX = "ka0"
MORE = 2
"""Further cases of the same agent that a conversation is about."""


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for case, article in drawn(context):
        yield Candidate(
            about=case["Id"],
            answers=(article or "None",),
            persona=AGENT,
            build=partial(_asked, context, case, article),
            empty=article is None,
        )


def drawn(context: TaskContext) -> Iterator[tuple[Row, str | None]]:
    """Closed cases in any order, each with the article that was broken in it, if any."""
    closed = [case for case in context.records.cases if case["ClosedDate"]]
    for case in context.rng.sample(closed, len(closed)):
        yield case, context.truth.broken(case["Id"])


def _asked(context: TaskContext, case: Row, article: str | None) -> tuple[Step, ...]:
    said = context.say(NAME, "asked", AGENT, **slots(context, case))
    return (question(context, said, case, article),)


def slots(context: TaskContext, case: Row) -> dict[str, str]:
    """What the phrases say of a case."""
    names = context.records
    return {
        "case": case["Id"],
        "agent": names.name(case["OwnerId"]),
        "customer": names.name(case["ContactId"]),
    }


def question(context: TaskContext, said: str, case: Row, article: str | None) -> Step:
    """Reading is the agent's work: the gold reads all that there is and names the article."""

    def gold_path(recorder: ServiceRecorder) -> None:
        _read(recorder, context, case, article)
        recorder.respond(article)

    def query_path(recorder: ServiceRecorder) -> None:
        _read_by_soql(recorder, case)
        recorder.respond(article)

    answer = Answer("id", (article,) if article else (), PREFIX)
    return Step(said, gold_path, query_path, answer, rules=("BREACH-1",))


def _read(recorder: ServiceRecorder, context: TaskContext, case: Row, article: str | None) -> None:
    """Read a case's conversation and the articles that govern it."""
    issue = context.records.name(case["IssueId__c"])
    recorder.call("get_cases", case_ids=[case["Id"]])
    recorder.call("get_email_messages_by_case_id", case_id=case["Id"])
    recorder.call("get_livechat_transcript_by_case_id", case_id=case["Id"])
    recorder.call("get_issues")
    term = f"governs every conversation {issue}"
    found = recorder.call("search_knowledge_articles", search_term=term)
    if article and all(row["Id"] != article for row in found):
        title = context.records.get("Knowledge__kav", article)["Title"]
        recorder.call("search_knowledge_articles", search_term=title)


def _read_by_soql(recorder: ServiceRecorder, case: Row) -> None:
    recorder.soql(
        "SELECT Id, Subject, IssueId__r.Name, (SELECT TextBody, FromAddress, MessageDate FROM "
        "EmailMessages ORDER BY MessageDate), (SELECT Body, EndTime FROM LiveChatTranscripts) "
        f"FROM Case WHERE Id = {quoted(case['Id'])}"
    )
    recorder.soql(
        "SELECT Id, Title, Summary, FAQ_Answer__c FROM Knowledge__kav "
        "WHERE PublishStatus = 'Online' ORDER BY Title"
    )


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for case, article in drawn(context):
        if article:
            build = partial(_done, context, case, article)
            yield Candidate(case["Id"], (article,), AGENT, build)


def _done(context: TaskContext, case: Row, article: str) -> tuple[Step, ...]:
    said = context.order(NAME, "done", **slots(context, case))
    return (note(context, said, case, article, read_first=True),)


def note(context: TaskContext, said: str, case: Row, article: str, *, read_first: bool) -> Step:
    """Leave a comment on a case that names the article that was broken."""
    title = context.records.get("Knowledge__kav", article)["Title"]
    text = f"Quality check: the conversation goes against the article '{title}'."

    def gold_path(recorder: ServiceRecorder) -> None:
        if read_first:
            _read(recorder, context, case, article)
        recorder.call("comment_on_case", case_id=case["Id"], comment=text)

    def query_path(recorder: ServiceRecorder) -> None:
        if read_first:
            _read_by_soql(recorder, case)
        recorder.call("comment_on_case", case_id=case["Id"], comment=text)

    fact = Fact("text", title, "broken article")
    return Step(said, gold_path, query_path, note_facts=(fact,), rules=("BREACH-1",))


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    closed = [case for case in context.records.cases if case["ClosedDate"]]
    for case, article in drawn(context):
        same = [c for c in closed if c["OwnerId"] == case["OwnerId"] and c["Id"] != case["Id"]]
        if article and len(same) >= MORE:
            others = [(c, context.truth.broken(c["Id"])) for c in context.rng.sample(same, MORE)]
            build = partial(_talked, context, [(case, article), *others])
            answers = (article, *(other or "None" for _, other in others))
            yield Candidate(case["Id"], answers, AGENT, build)


def _talked(context: TaskContext, found: list[tuple[Row, str | None]]) -> tuple[Step, ...]:
    steps = [*_asked(context, *found[0])]
    for case, article in found[1:]:
        said = context.follow(NAME, "and_case", case=case["Id"])
        steps.append(question(context, said, case, article))
    case, article = found[0]
    last = context.follow(NAME, "comment", case=case["Id"])
    return (*steps, note(context, last, case, str(article), read_first=False))


POLICY_VIOLATION = ServiceFamily(NAME, "Policy Violation Identification", asked, done, talked)
