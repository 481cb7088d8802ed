"""Knowledge question answering: a question about procedures, answered from the articles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from crmbench.core.answer import Answer
from crmbench.core.fact import Fact
from crmbench.domains.service.families.acts import other_numbers, text_fact
from crmbench.domains.service.families.desk import AGENT, Desk
from crmbench.domains.service.families.draft import Candidate, Family, Step, Walker
from crmbench.domains.service.text import QA, Question, article
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


def asked(desk: Desk) -> Iterator[Candidate]:
    for number in desk.rng.sample(range(len(QA)), len(QA)):
        item = QA[number]
        yield Candidate(str(number), (item.answer,), AGENT, partial(_asked, desk, item))


def _asked(desk: Desk, item: Question) -> tuple[Step, ...]:
    return (question(item, phrased(desk, item)),)


def phrased(desk: Desk, item: Question) -> str:
    """The question in one of its phrasings, with an opening where it has none of its own."""
    whole = desk.voice.word_for_word(item.phrasings[-FRAMED:]) if desk.rng.random() < 0.3 else None
    if whole is not None:
        return whole
    direct = desk.rng.choice(item.phrasings[:-FRAMED])
    return desk.say(NAME, "asked", AGENT, question=direct)


def answer_to(item: Question) -> Answer:
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


def question(item: Question, said: str) -> Step:
    def walk(walker: Walker) -> None:
        look_up(walker, item)
        walker.respond(item.answer)

    def query(walker: Walker) -> None:
        search(walker, item)
        walker.respond(item.answer)

    return Step(said, walk, query, answer_to(item), rules=("ANSWER-3",))


def look_up(walker: Walker, item: Question) -> None:
    """Find the article that answers a question, by the question's words or else by its title."""
    title = article(item.article_key).title
    words = " ".join(words_of(item.phrasings[0]))
    found = walker.call("search_knowledge_articles", search_term=words)
    if all(row["Title"] != title for row in found):
        walker.call("search_knowledge_articles", search_term=title)


def search(walker: Walker, item: Question) -> None:
    """The same by SOSL."""
    parts = [part for word in words_of(item.phrasings[0]) for part in word.split("-")]
    terms = " OR ".join(part for part in parts if len(part) > 1)
    fields = "Id, Title, FAQ_Answer__c WHERE PublishStatus = 'Online'"
    text = f"FIND {{{terms}}} IN ALL FIELDS RETURNING Knowledge__kav({fields})"
    walker.call("issue_sosl_query", query=text)


def done(desk: Desk) -> Iterator[Candidate]:
    for number in desk.rng.sample(range(len(QA)), len(QA)):
        item, case = QA[number], desk.rng.choice(desk.records.open_cases)["Id"]
        if _plain(item):
            yield Candidate(str(number), (item.answer,), AGENT, partial(_done, desk, item, case))


def _plain(item: Question) -> bool:
    """Whether the answer as it stands says its facts, rather than through a denial."""
    return all(conveys(item.answer, fact).ok for fact in _facts(item))


def _facts(item: Question) -> tuple[Fact, ...]:
    return tuple(text_fact(fact, "answer") for fact in item.facts)


def _done(desk: Desk, item: Question, case: str) -> tuple[Step, ...]:
    asked_for = desk.rng.choice(item.phrasings[:-FRAMED])
    return (comment(desk.order(NAME, "done", question=asked_for, case=case), item, case),)


def comment(said: str, item: Question, case: str) -> Step:
    """Leave the answer to a question as a comment on a case."""

    def walk(walker: Walker) -> None:
        look_up(walker, item)
        walker.call("comment_on_case", case_id=case, comment=item.answer)

    def query(walker: Walker) -> None:
        search(walker, item)
        walker.call("comment_on_case", case_id=case, comment=item.answer)

    return Step(said, walk, query, note_facts=_facts(item), rules=("ANSWER-3",))


def talked(desk: Desk) -> Iterator[Candidate]:
    while True:
        numbers = desk.rng.sample(range(len(QA)), desk.rng.choice((2, 3, 3, 4)))
        case = desk.rng.choice(desk.records.open_cases)["Id"]
        items = [QA[number] for number in numbers]
        if _plain(items[-1]):
            build = partial(_talked, desk, items, case)
            answers = tuple(item.answer for item in items)
            yield Candidate(str(numbers), answers, AGENT, build)


def _talked(desk: Desk, items: list[Question], case: str) -> tuple[Step, ...]:
    steps = [question(items[0], phrased(desk, items[0]))]
    for item in items[1:]:
        asked_for = desk.rng.choice(item.phrasings[:-FRAMED])
        steps.append(question(item, desk.follow(NAME, "and", question=asked_for)))
    return (*steps, comment(desk.follow(NAME, "comment", case=case), items[-1], case))


KNOWLEDGE_QA = Family(NAME, "Knowledge Question Answering", asked, done, talked, with_empty=False)
