"""What the nine tasks are drawn with: periods, words, answers, balance."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date

import pytest

from crmbench.authoring.phrasing import PhrasingHistory
from crmbench.core.answer import Answer
from crmbench.domains.service.families.context import leads, more_than
from crmbench.domains.service.families.draft import Candidate
from crmbench.domains.service.families.knowledge_qa import answer_to
from crmbench.domains.service.families.mention import MentionedGoods, mentions
from crmbench.domains.service.families.periods import all_periods, named, past
from crmbench.domains.service.families.wording import Voice, expand, tidy
from crmbench.domains.service.generate import _take
from crmbench.domains.service.text import QA, article
from crmbench.errors import HarnessError
from crmbench.grading.answer import holds, judge
from crmbench.language.finding import Said

TODAY = date(2026, 3, 2)


def test_no_period_ends_after_today() -> None:
    for period in all_periods(TODAY):
        assert period.start < period.end <= TODAY.isoformat()
        assert period.start >= "2022-01-01"


def test_past_periods_end_today_and_do_not_follow_the_calendar() -> None:
    assert past(TODAY, "day", 30).start == "2026-01-31"
    assert past(TODAY, "week", 3).start == "2026-02-09"
    assert past(TODAY, "month", 1).start == "2026-02-02"
    assert past(TODAY, "quarter", 2).start == "2025-09-02"
    assert past(TODAY, "quarter", 2).end == "2026-03-02"


def test_a_winter_runs_into_the_next_year() -> None:
    winter = next(p for p in all_periods(TODAY) if p.wordings[0] == "the winter of 2024")
    assert (winter.start, winter.end) == ("2024-12-01", "2025-03-01")
    assert winter.holds("2025-02-28T23:59:59.000+0000")
    assert not winter.holds("2025-03-01T00:00:00.000+0000")


def test_a_period_as_a_condition_is_half_open() -> None:
    june = named("June", 2025, ("June 2025",), "2025-06-01", 1)
    assert june.soql("CreatedDate") == (
        "CreatedDate >= 2025-06-01T00:00:00Z AND CreatedDate < 2025-07-01T00:00:00Z"
    )


def test_a_leader_needs_the_margin() -> None:
    assert leads({"a": 100.0, "b": 96.0}, largest=True, margin=0.03)
    assert not leads({"a": 100.0, "b": 98.0}, largest=True, margin=0.03)
    assert leads({"a": 0.0, "b": 1.0}, largest=False)
    assert not leads({"a": 2.0, "b": 2.0}, largest=True)


def test_a_threshold_is_said_in_words_that_mean_it() -> None:
    said = {more_than(random.Random(seed), 1) for seed in range(40)}
    assert said == {"more than 1 case", "at least 2 cases", "more than one case"}
    assert {more_than(random.Random(seed), 20) for seed in range(9)} == {"more than 20 cases"}
    assert {more_than(random.Random(seed), 0) for seed in range(9)} == {
        "at least one case",
        "one case or more",
    }


def test_words_for_a_product_fit_it() -> None:
    goods = MentionedGoods.read("Fernwick II 2-Person Dome Tent in Rust Red")
    assert goods == MentionedGoods("Dome Tent", "2-Person", "Rust Red", 2)
    for mention in mentions(goods, random.Random(1)):
        assert mention.fits(goods)


# --- answers ------------------------------------------------------------------------------------


def test_every_answer_of_the_articles_is_accepted_alone_and_in_a_sentence() -> None:
    for item in QA:
        answer = answer_to(item)
        assert judge(answer, item.answer).ok
        assert judge(answer, f"The article says: {item.answer}").ok, item.answer


def test_a_recited_article_is_no_answer() -> None:
    for item in QA:
        assert not judge(answer_to(item), article(item.article_key).answer).ok


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Up to four.", True),
        ("Up to 4", True),
        ("Up to five.", False),
        ("Up to 40.", False),
        ("None", False),
    ],
)
def test_a_wrong_figure_is_wrong_however_alike_the_words_are(text: str, right: bool) -> None:
    answer = Answer("text", ("Up to four.", "four"), threshold=0.3, facts=("four",))
    assert judge(answer, text).ok is right


def test_another_figure_beside_the_right_one_is_never_wrong_for_certain() -> None:
    answer = Answer("text", ("Up to four.", "four"), threshold=0.3, facts=("four",))
    text = "A customer can use up to four gift cards for one order."
    assert judge(answer, text).said is not Said.NOT_SAID


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("It is kept for twenty-four hours, or 24 hours.", "24 hours"),
        ("An 18-month limit", "18 months"),
        ("By email", "e-mail"),
        ("$1,500 or more", "$1500"),
        ("when it is scanned", "scan"),
        ("the BACK cover", "back cover"),
    ],
)
def test_facts_are_held_in_other_spellings(text: str, fact: str) -> None:
    assert holds(text, fact)


def test_facts_stand_as_whole_words_behind_each_other() -> None:
    assert not holds("124 hours", "24 hours")
    assert not holds("24 business hours", "24 hours")


def test_facts_come_back_from_json() -> None:
    answer = Answer("text", ("Up to four.",), threshold=0.3, facts=("four",))
    assert answer.to_json()["facts"] == ["four"]
    assert Answer.from_json(answer.to_json()) == answer


# --- balance ------------------------------------------------------------------------------------


def candidates(answers: str, topic: str = "") -> Iterator[Candidate]:
    for number, answer in enumerate(answers):
        found = "None" if answer == "-" else answer
        yield Candidate(str(number), (found,), "p", lambda: (), empty=answer == "-", topic=topic)


def test_no_answer_is_taken_too_often() -> None:
    taken = _take(candidates("a" * 30 + "bcdefghijk" * 2), 20, 0)
    assert [c.answers for c in taken].count(("a",)) == 2


def test_just_so_many_are_without_an_answer() -> None:
    taken = _take(candidates("-" * 30 + "abcdefghij" * 3), 20, 4)
    assert sum(c.empty for c in taken) == 4


def test_no_product_is_asked_about_too_often() -> None:
    with pytest.raises(HarnessError, match="only 2 of 20"):
        _take(candidates("abcdefghijklmnopqrstuvwxyz", "tent"), 20, 0)


def test_the_same_thing_is_not_asked_twice() -> None:
    twice = Candidate("same", ("a",), "p", lambda: ())
    with pytest.raises(HarnessError, match="only 1 of 2"):
        _take(iter([twice, twice]), 2, 0)


# --- words --------------------------------------------------------------------------------------


def test_alternatives_may_be_nested() -> None:
    said = {expand("[a|[b|c] d]", random.Random(seed)) for seed in range(30)}
    assert said == {"a", "b d", "c d"}
    assert tidy("hello  there . which one ?") == "Hello there. Which one?"


def test_a_voice_does_not_repeat_itself() -> None:
    voice = Voice(random.Random(3))
    said = [voice.say(["What is {x}?"], "agent", x="this") for _ in range(60)]
    assert len(set(said)) == len(said)


def test_voices_that_share_a_memory_do_not_repeat_each_other() -> None:
    said = PhrasingHistory()
    one, two = Voice(random.Random(1), said), Voice(random.Random(1), said)
    texts = ("Who is it?", "Which agent?", "Whom do we ask?")
    told = [voice.word_for_word(texts) for voice in (one, two, one)]
    assert sorted(filter(None, told)) == sorted(texts)
    assert two.word_for_word(texts) is None
    assert Voice(random.Random(1)).word_for_word(texts) in texts


def test_a_number_may_be_written_otherwise_but_not_in_a_code() -> None:
    for item in QA:
        found = answer_to(item)
        assert all(holds(value, fact) for value in found.values[1:] for fact in found.facts)
