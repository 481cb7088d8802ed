"""The learners: what they recall, how they change, and that they can be stored and frozen."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from crmbench.core.trace import Message
from crmbench.errors import InputError
from crmbench.learning.asker import Asker
from crmbench.learning.learners.playbook import Playbook, PlaybookDelta, read_delta, similarity
from crmbench.learning.learners.registry import OURS, open_learner
from crmbench.learning.learners.retrieval import bm25
from crmbench.learning.protocol import Experience, LearnerContext, RecallView, SeenCall, SeenTurn
from crmbench.learning.tokens import cut, fill, tokens_in
from crmbench.learning.told import HEADING, told
from crmbench.models.base import Message as ModelMessage
from crmbench.models.base import Reply, Usage
from crmbench.models.scripted import ScriptedModel

VIEW = RecallView("sales", "2026-03-02", "Mei Tang, sales representative", "Close the Acme deal.")
CHEAP = ("none", "history", "retrieval", "placebo:30", "simulated:0.1", "playbook")


def episode(first: str = VIEW.first_words, success: bool | None = True) -> Experience:
    view = RecallView(VIEW.domain, VIEW.today, VIEW.persona, first)
    call = SeenCall("client_search", {"name": "Acme"}, True, {"total_count": 1})
    said = (Message("user", first), Message("assistant", "Done."))
    return Experience(view, "", (SeenTurn(said, (call,)),), success)


def context(answers: Sequence[str] = ("{}",)) -> LearnerContext:
    left = list(answers)

    def script(messages: Sequence[ModelMessage], _tools: object) -> Reply:
        return Reply(left.pop(0) if len(left) > 1 else left[0], usage=Usage(100, 10, 0, 0, 0))

    return LearnerContext(ask=Asker(ScriptedModel(script)))


def recall(learner: Any, view: RecallView = VIEW, budget: int = 500) -> str:
    text: str = asyncio.run(learner.recall(view, budget))
    return text


@pytest.mark.parametrize("name", CHEAP)
def test_a_snapshot_holds_all_that_a_learner_knows(name: str) -> None:
    add = orjson.dumps({"add": ["Look first."]}).decode()
    learner, other = (open_learner(name, context([add])) for _ in range(2))
    for each in (learner, other):
        each.reset(3)
    asyncio.run(learner.observe(episode()))
    state = orjson.loads(orjson.dumps(learner.snapshot()))
    other.restore(state)
    assert other.snapshot() == learner.snapshot()
    assert recall(other) == recall(learner)


@pytest.mark.parametrize("name", ["history", "retrieval", "simulated:0.1", "playbook"])
def test_a_frozen_learner_learns_nothing_until_it_is_restored(name: str) -> None:
    learner = open_learner(name, context(['{"add": ["Look first."]}']))
    learner.reset(0)
    empty = learner.snapshot()
    learner.freeze()
    asyncio.run(learner.observe(episode()))
    assert learner.snapshot() == empty
    learner.restore(empty)
    asyncio.run(learner.observe(episode()))
    assert learner.snapshot() != empty


def test_the_history_keeps_the_latest_that_fit() -> None:
    learner = open_learner("history", context())
    for number in range(5):
        asyncio.run(learner.observe(episode(f"Request number {number}.")))
    text = recall(learner, budget=130)
    assert tokens_in(text) <= 130
    assert "number 4" in text
    assert "number 0" not in text
    assert text.index("number 3") < text.index("number 4")
    assert "number 0" in recall(learner, budget=5000)


def test_a_placebo_is_as_long_as_it_is_told_and_says_nothing() -> None:
    sizes = [0, 1, 7, 40]
    learner = open_learner("placebo", LearnerContext(lengths=lambda step: sizes[step]))
    learner.reset(1)
    texts = [recall(learner) for _ in sizes]
    assert [tokens_in(text) for text in texts] == sizes
    assert not {"deal", "client", "quote", "tool"} & set(texts[3].lower().split())
    assert tokens_in(recall(open_learner("placebo:25", LearnerContext()))) == 25
    with pytest.raises(InputError, match="a placebo needs a length"):
        open_learner("placebo", LearnerContext())


def test_retrieval_recalls_the_most_similar_success() -> None:
    learner = open_learner("retrieval:1", context())
    asyncio.run(learner.observe(episode("Upload the signed contract for Birch.")))
    asyncio.run(learner.observe(episode("Close the Acme deal as won.", success=False)))
    asyncio.run(learner.observe(episode("Please close the deal with Norr.")))
    text = recall(learner)
    assert "Norr" in text
    assert "Birch" not in text
    assert "as won" not in text


def test_bm25_weighs_rare_words_and_short_texts() -> None:
    documents = [["the", "deal"], ["the", "quote"], ["the", "the", "quote", "and", "more", "words"]]
    rare, common, long = bm25(["deal"], documents)[0], *bm25(["quote"], documents)[1:]
    assert rare > common > long > 0
    assert bm25(["contract"], documents) == [0.0, 0.0, 0.0]


def test_a_playbook_is_changed_rule_by_rule() -> None:
    learner = Playbook(context())
    learner.apply(PlaybookDelta(add=["Look the client up first.", "Tell every figure.", "  "]))
    assert [rule.id for rule in learner.rules] == ["r1", "r2"]
    learner.apply(PlaybookDelta(helpful=["r2", "[r2]", "r9"], add=["look the client up first"]))
    # Said again in the same words it is no new rule, and speaks for the old one.
    assert [(rule.id, rule.helpful) for rule in learner.rules] == [("r1", 1), ("r2", 2)]
    assert recall(learner).splitlines()[0] == "[r2] Tell every figure."
    learner.apply(read_delta('{"edit": [{"id": "r1", "text": "Look  twice."}]}') or PlaybookDelta())
    assert learner.rules[0].text == "Look twice."
    learner.apply(PlaybookDelta(harmful=["r1", "r1", "r1"]))
    assert [rule.id for rule in learner.rules] == ["r2"]
    learner.apply(PlaybookDelta(remove=["r2"]))
    assert learner.rules == []


def test_rules_on_two_tools_are_two_rules() -> None:
    one, two = (f"After {n} go on until all is done and told." for n in ("a_b", "a_c"))
    assert similarity(one, two) < 0.9
    assert similarity(one, one.upper()) == 1


def test_an_answer_that_is_no_json_changes_nothing_and_is_counted() -> None:
    learner = Playbook(context(["I think it went well.", 'So: {"add": ["Look."]} there.']))
    asyncio.run(learner.observe(episode()))
    assert (learner.rules, learner.unread) == ([], 1)
    asyncio.run(learner.observe(episode()))
    assert [rule.text for rule in learner.rules] == ["Look."]


def test_a_learners_calls_are_counted_by_role() -> None:
    made = context()
    learner = open_learner("playbook", made)
    for _ in range(3):
        asyncio.run(learner.observe(episode()))
    assert made.ask is not None
    (role,) = made.ask.spent
    assert role == "reflection"
    assert made.ask.spent[role].model_calls == 3
    assert made.ask.spent[role].prompt_tokens == 300


class Mine:
    """A learner of somebody's own."""

    def reset(self, seed: int) -> None: ...

    async def recall(self, view: RecallView, budget: int) -> str:
        return f"Mind {view.persona}."

    async def observe(self, experience: Experience) -> None: ...

    def snapshot(self) -> dict[str, Any]:
        return {}

    def restore(self, state: object) -> None: ...

    def freeze(self) -> None: ...


def test_a_learner_of_anybodys_is_found_by_module_and_class() -> None:
    learner = open_learner("tests.learning.test_learners:Mine", LearnerContext())
    assert recall(learner) == "Mind Mei Tang, sales representative."
    for name, text in {
        "nobody": "there is no learner 'nobody'",
        "tests.learning.test_learners:Other": "cannot be loaded",
        "tests.learning.test_learners:episode": "is no learner",
        "no.such.module:Thing": "cannot be loaded",
    }.items():
        with pytest.raises(InputError, match=text):
            open_learner(name, LearnerContext())
    assert set(CHEAP) >= {"none", "history", "retrieval", "playbook"} <= set(OURS)


def test_what_was_recalled_has_one_place_and_a_limit() -> None:
    assert told("", 10) == ""
    section = told("x" * 100, 10)
    assert section.startswith(HEADING)
    assert section.endswith("\n\n" + "x" * 40)
    assert cut("abcdefgh", 1) == "abcd"
    assert fill(["aaaa", "b" * 40, "cccc"], 3) == "aaaa\ncccc"
