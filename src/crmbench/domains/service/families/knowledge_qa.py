"""Knowledge question answering: a question about procedures, answered from the articles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from crmbench.authoring.pools import part_of
from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.domains.service.families.acts import other_numbers, text_fact
from crmbench.domains.service.families.context import AGENT, TaskContext
from crmbench.domains.service.families.draft import Candidate, ServiceRecorder, Step
from crmbench.domains.service.families.forms import ServiceFamily
from crmbench.domains.service.text import QA, ArticleQuestion, article
from crmbench.grading.answer import holds
from crmbench.grading.facts import conveys

NAME = "knowledge_qa"
THRESHOLD = 0.3
"""The token F1 from which on an answer that holds the facts counts: room for a short sentence
around three words, none for a recited article."""
FRAMED = 4
"""How many of a question's phrasings, the last, have an opening of their own."""
_COMMON = (
    " a an the is are was do does did i we you it its me my our of to for in on at by with and or "
    "how what when which who whom whose where why long much many may can must shall should have "
    "has had be been not no so as from into before after there that this these customer "
)


def _own(context: TaskContext) -> Sequence[int]:
    """The questions that the tasks' pool has."""
    return part_of(range(len(QA)), context.voice.pool)


def asked(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions."""
    for number in context.rng.sample(own := _own(context), len(own)):
        item = QA[number]
        yield Candidate(str(number), (item.answer,), AGENT, partial(_asked, context, item))


def _asked(context: TaskContext, item: ArticleQuestion) -> tuple[Step, ...]:
    return (question(item, phrased(context, item)),)


def phrased(context: TaskContext, item: ArticleQuestion) -> str:
    """The question in one of its phrasings, with an opening where it has none of its own."""
    whole = (
        context.voice.word_for_word(item.phrasings[-FRAMED:])
        if context.rng.random() < 0.3
        else None
    )
    if whole is not None:
        return whole
    direct = context.rng.choice(item.phrasings[:-FRAMED])
    return context.say(NAME, "asked", AGENT, question=direct)


def answer_to(item: ArticleQuestion) -> Answer:
    """What is right: the sentence, its facts alone, and these with numbers written otherwise."""
    facts = ", ".join(item.facts)
    # A number in a code, as in "A-3", is never written out.
    others = [o for o in sorted(other_numbers(facts)) if all(holds(o, f) for f in item.facts)]
    wordings = (item.answer, facts, *others)
    return Answer("text", wordings, threshold=THRESHOLD, facts=item.facts)


def words_of(text: str) -> list[str]:
    """The telling words of a question, each once."""
    found = re.findall(r"[A-Za-z][A-Za-z-]+", text.lower())
    return list(dict.fromkeys(word for word in found if f" {word} " not in _COMMON))


def question(item: ArticleQuestion, said: str) -> Step:
    """The turn that asks what an article answers."""

    def gold_path(recorder: ServiceRecorder) -> None:
        look_up(recorder, item)
        recorder.respond(item.answer)

    def query_path(recorder: ServiceRecorder) -> None:
        search(recorder, item)
        recorder.respond(item.answer)

    return Step(said, gold_path, query_path, answer_to(item), rules=("ANSWER-3",))


def look_up(recorder: ServiceRecorder, item: ArticleQuestion) -> None:
    """Find the article that answers a question, by the question's words or else by its title."""
    title = article(item.article_key).title
    words = " ".join(words_of(item.phrasings[0]))
    found = recorder.call("search_knowledge_articles", search_term=words)
    if all(row["Title"] != title for row in found):
        recorder.call("search_knowledge_articles", search_term=title)


def search(recorder: ServiceRecorder, item: ArticleQuestion) -> None:
    """The same by SOSL."""
    parts = [part for word in words_of(item.phrasings[0]) for part in word.split("-")]
    terms = " OR ".join(part for part in parts if len(part) > 1)
    fields = "Id, Title, FAQ_Answer__c WHERE PublishStatus = 'Online'"
    text = f"FIND {{{terms}}} IN ALL FIELDS RETURNING Knowledge__kav({fields})"
    recorder.call("issue_sosl_query", query=text)


def done(context: TaskContext) -> Iterator[Candidate]:
    """Draws questions whose answer is acted on."""
    for number in context.rng.sample(own := _own(context), len(own)):
        item, case = QA[number], context.rng.choice(context.records.open_cases)["Id"]
        if _plain(item):
            yield Candidate(str(number), (item.answer,), AGENT, partial(_done, context, item, case))


def _plain(item: ArticleQuestion) -> bool:
    """Whether the answer as it stands says its facts, rather than through a denial."""
    return all(conveys(item.answer, fact).ok for fact in _facts(item))


def _facts(item: ArticleQuestion) -> tuple[Fact, ...]:
    return tuple(text_fact(fact, "answer") for fact in item.facts)


def _done(context: TaskContext, item: ArticleQuestion, case: str) -> tuple[Step, ...]:
    asked_for = context.rng.choice(item.phrasings[:-FRAMED])
    return (comment(context.order(NAME, "done", question=asked_for, case=case), item, case),)


def comment(said: str, item: ArticleQuestion, case: str) -> Step:
    """Leave the answer to a question as a comment on a case."""

    def gold_path(recorder: ServiceRecorder) -> None:
        look_up(recorder, item)
        recorder.call("comment_on_case", case_id=case, comment=item.answer)

    def query_path(recorder: ServiceRecorder) -> None:
        search(recorder, item)
        recorder.call("comment_on_case", case_id=case, comment=item.answer)

    return Step(said, gold_path, query_path, note_facts=_facts(item), rules=("ANSWER-3",))


def talked(context: TaskContext) -> Iterator[Candidate]:
    """Draws conversations of several turns."""
    while True:
        numbers = context.rng.sample(_own(context), context.rng.choice((2, 3, 3, 4)))
        case = context.rng.choice(context.records.open_cases)["Id"]
        items = [QA[number] for number in numbers]
        if _plain(items[-1]):
            build = partial(_talked, context, items, case)
            answers = tuple(item.answer for item in items)
            yield Candidate(str(numbers), answers, AGENT, build)


def _talked(context: TaskContext, items: list[ArticleQuestion], case: str) -> tuple[Step, ...]:
    steps = [question(items[0], phrased(context, items[0]))]
    for item in items[1:]:
        asked_for = context.rng.choice(item.phrasings[:-FRAMED])
        steps.append(question(item, context.follow(NAME, "and", question=asked_for)))
    return (*steps, comment(context.follow(NAME, "comment", case=case), items[-1], case))


KNOWLEDGE_QA = ServiceFamily(
    NAME, "Knowledge Question Answering", asked, done, talked, with_empty=False
)
