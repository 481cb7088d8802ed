"""Conversations in other words: what a model writes is checked, kept, and never paid for twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from crmbench.core.task import Clarification, Gold, GoldTurn, Task, Turn
from crmbench.domains.registry import load_domain
from crmbench.errors import InputError
from crmbench.formats.arc import load, save_tasks
from crmbench.models import FinalModelError, Message, ModelError, Reply, ScriptedModel, ToolSpec
from crmbench.models.limits import Limits
from crmbench.models.prices import ModelPrice, Prices
from crmbench.models.resolve import open_model
from crmbench.models.testing.server import FakeServer
from crmbench.models.testing.wire import FakeAnswer, FakeRequest
from crmbench.paraphrase.cache import FILE_NAME, Kept
from crmbench.paraphrase.check import known_of
from crmbench.paraphrase.file import ParaphraseOptions, paraphrase_file
from crmbench.paraphrase.paraphrase import (
    BudgetSpent,
    Paraphrased,
    Paraphraser,
    paraphrase,
    request,
    texts_of,
)
from crmbench.roles.role_model import RoleModel
from crmbench.runner.task_sets import load_named
from crmbench.validity.audit import audit

SAID = "Raise the amount of Emi Aoki's deal by 30%."
GOOD = "Please put the amount of Emi Aoki's deal up by thirty percent."
LOST = "Please put the amount of Emi Aoki's deal up."

Writer = Callable[[dict[str, Any], int], Reply | str]


def conversation(*said: str, answer: str = "") -> Task:
    asked = Clarification(answer, ("amount",)) if answer else None
    turns = [Turn(number, text) for number, text in enumerate(said, start=1)]
    turns[-1] = replace(turns[-1], clarification=asked)
    gold = Gold((GoldTurn(),) * len(turns), canary="canary-77aa")
    return Task("t-1", "sales", "mill-04", tuple(turns), gold, tags=("undo", "voice_terse"))


class Writing:
    """A model that writes what a function of the material and of the tries so far says."""

    def __init__(self, write: Writer) -> None:
        self.asked: list[Sequence[Message]] = []
        self._write = write

    def __call__(self, messages: Sequence[Message], _tools: Sequence[ToolSpec]) -> Reply | str:
        self.asked.append(messages)
        before = sum(message.role == "assistant" for message in messages)
        return self._write(orjson.loads(messages[1].text), before)


def opening(material: dict[str, Any], before: int) -> str:
    """Another opening, another one at the second try: the least that a rewrite can be."""
    start = ("Something for you here:", "And this is what has come up by now:")[before]
    said = material["message"]
    return f"{start} {said[0].lower()}{said[1:]}"


def reword(task: Task, write: Writer, folder: Path) -> tuple[Paraphrased, Writing]:
    writing = Writing(write)

    async def run() -> Paraphrased:
        with closing(Kept(folder)) as kept:
            return await paraphrase([task], Paraphraser(RoleModel(ScriptedModel(writing)), kept))

    return asyncio.run(run()), writing


def test_a_good_rewrite_is_taken(tmp_path: Path) -> None:
    done, writing = reword(conversation(SAID), lambda _material, _before: GOOD, tmp_path)
    (only,) = done.rewordings
    assert (only.text, only.ending, only.tries) == (GOOD, "rewritten", 1)
    assert len(writing.asked) == done.usage.model_calls == 1


REFUSED = {
    "a fact is lost": LOST,
    "a number is invented": f"{GOOD} It is 45k then.",
    "a name is invented": GOOD.replace("Please", "Please, Marcus,"),
    "a placeholder": GOOD.replace("thirty percent", "30% [AMOUNT]"),
    "identical": SAID,
    "identical but for marks": SAID.lower(),
    "empty": "",
    "endless": GOOD + " And so on." * 50,
    "broken off": Reply(GOOD, stop_reason="length"),
    "declined": Reply(GOOD, refusal=True),
}


@pytest.mark.parametrize("bad", REFUSED.values(), ids=REFUSED)
def test_a_bad_rewrite_goes_back_once_with_the_complaint(bad: Reply | str, tmp_path: Path) -> None:
    done, writing = reword(
        conversation(SAID), lambda _material, before: GOOD if before else bad, tmp_path
    )
    (only,) = done.rewordings
    assert (only.text, only.ending, only.tries) == (GOOD, "rewritten", 2)
    first, second = writing.asked
    assert list(second[: len(first)]) == list(first)
    assert second[-2].role == "assistant"
    assert "cannot be used" in second[-1].text


@pytest.mark.parametrize("bad", REFUSED.values(), ids=REFUSED)
def test_after_two_bad_rewrites_the_original_stays(bad: Reply | str, tmp_path: Path) -> None:
    done, writing = reword(conversation(SAID), lambda _material, _before: bad, tmp_path)
    (only,) = done.rewordings
    assert (only.text, only.ending, only.tries) == (SAID, "lost a fact", 2)
    assert only.complaints
    assert len(writing.asked) == 2
    assert done.endings == {"lost a fact": 1}


def test_the_complaint_says_what_is_missing(tmp_path: Path) -> None:
    _, writing = reword(
        conversation(SAID), lambda _material, before: GOOD if before else LOST, tmp_path
    )
    assert "the number '30%' is missing" in writing.asked[1][-1].text


def test_what_the_user_would_answer_is_rewritten_as_well(tmp_path: Path) -> None:
    task = conversation("Thanks a lot.", "Change the amount.", answer="It is 12,500 dollars.")

    def write(material: dict[str, Any], _before: int) -> str:
        return {
            "Thanks a lot.": "Many thanks for that.",
            "Change the amount.": "There should be another amount.",
            "It is 12,500 dollars.": "That would be $12.5k.",
        }[material["message"]]

    done, writing = reword(task, write, tmp_path)
    assert [each.text for each in done.rewordings] == [
        "Many thanks for that.",
        "There should be another amount.",
        "That would be $12.5k.",
    ]
    assert [each.said.part for each in done.rewordings] == ["utterance", "utterance", "answer"]
    materials = [orjson.loads(messages[1].text) for messages in writing.asked]
    (answer,) = [m for m in materials if m["message"] == "It is 12,500 dollars."]
    assert answer["earlier"] == ["Thanks a lot.", "Change the amount."]
    assert answer["answers a question about"] == ["amount"]
    assert answer["voice"] == "terse"
    assert answer["keep"] == ["12,500 dollars"]


def test_what_sounds_like_another_message_stays_as_it_was(tmp_path: Path) -> None:
    task = conversation("Raise it by 30%.", "Raise that by 20 percent.", "Raise it by a half.")

    def write(material: dict[str, Any], _before: int) -> str:
        number = "30%" if "30" in material["message"] else "20%"
        kept = material["message"].endswith("half.")
        return "Please raise it by half." if kept else f"Please put it up by {number}."

    done, _ = reword(task, write, tmp_path)
    endings = [each.ending for each in done.rewordings]
    assert endings == ["rewritten", "like another", "rewritten"]
    assert done.rewordings[1].text == "Raise that by 20 percent."


def test_no_ground_truth_is_sent() -> None:
    domain = load_domain("sales")
    for task in load_named("demo").tasks()[:4]:
        knows = known_of(domain, task)
        for said in texts_of([task]):
            sent = "\n".join(message.text for message in request(task, said, knows))
            assert task.gold.canary is not None
            assert task.gold.canary not in sent
            assert task.task_id not in sent
            later = task.turns[said.turn + 1 :]
            assert not any(turn.utterance in sent for turn in later)


# --- what is kept -------------------------------------------------------------------------------


def options(folder: Path, file: str | Path = "demo", **more: Any) -> ParaphraseOptions:
    out = more.pop("out", folder / "out.jsonl")
    return ParaphraseOptions(str(file), "scripted", out, folder / "cache", **more)


def test_a_second_run_asks_nothing_and_writes_the_same_bytes(tmp_path: Path) -> None:
    writing = Writing(opening)
    role_model = RoleModel(ScriptedModel(writing))
    first = paraphrase_file(options(tmp_path, sample=3), role_model=role_model)
    cache = (tmp_path / "cache" / FILE_NAME).read_bytes()
    calls = len(writing.asked)
    assert calls == first.usage.model_calls == len(cache.splitlines()) > 5
    again = tmp_path / "again.jsonl"
    second = paraphrase_file(
        options(tmp_path, sample=3, out=again, concurrency=1), role_model=role_model
    )
    assert len(writing.asked) == calls
    assert second.usage.model_calls == 0
    assert second.rewordings == first.rewordings
    assert again.read_bytes() == (tmp_path / "out.jsonl").read_bytes()
    assert (tmp_path / "cache" / FILE_NAME).read_bytes() == cache
    paraphrase_file(options(tmp_path, sample=4), role_model=role_model)
    assert len(writing.asked) > calls


def test_another_model_is_asked_anew(tmp_path: Path) -> None:
    writing = Writing(opening)
    for name in ("one", "two", "one"):
        paraphrase_file(
            options(tmp_path, sample=1), role_model=RoleModel(ScriptedModel(writing, name))
        )
    lines = (tmp_path / "cache" / FILE_NAME).read_bytes().splitlines()
    assert len(lines) == len(writing.asked)
    models = [orjson.loads(line)["model"] for line in lines]
    assert models.count("one") == models.count("two")


def test_a_run_that_breaks_loses_no_finished_rewrite(tmp_path: Path) -> None:
    calls = 0

    def failing(material: dict[str, Any], before: int) -> str:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise FinalModelError("no credit left", kind="quota")
        return opening(material, before)

    with pytest.raises(ModelError, match="no credit left"):
        paraphrase_file(
            options(tmp_path, sample=3, concurrency=1),
            role_model=RoleModel(ScriptedModel(Writing(failing))),
        )
    assert not (tmp_path / "out.jsonl").exists()
    cache = tmp_path / "cache" / FILE_NAME
    assert len(cache.read_bytes().splitlines()) == 3
    with cache.open("ab") as file:
        file.write(b'{"key": "ab')  # as a kill in the middle of a write leaves it

    writing = Writing(opening)
    resumed = paraphrase_file(
        options(tmp_path, sample=3), role_model=RoleModel(ScriptedModel(writing))
    )
    assert len(writing.asked) == resumed.usage.model_calls
    whole = paraphrase_file(
        options(tmp_path / "whole", sample=3), role_model=RoleModel(ScriptedModel(Writing(opening)))
    )
    assert resumed.usage.model_calls == whole.usage.model_calls - 3
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole/out.jsonl").read_bytes()


def test_a_cache_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b'{"key": "a"}\n')
    with pytest.raises(InputError, match=r"replies\.jsonl:1: not a kept reply"):
        Kept(tmp_path)


def test_a_limit_of_cost_ends_it_and_keeps_what_was_paid_for(tmp_path: Path) -> None:
    prices = Prices(as_of="2026-01-01", models={"scripted": ModelPrice(input=1.0, output=1.0)})
    reply = FakeUsage(opening)
    task = conversation(*(f"Raise the amount by {number}%." for number in range(20, 30)))

    async def run() -> None:
        with closing(Kept(tmp_path)) as kept:
            role_model = RoleModel(ScriptedModel(Writing(reply)), prices)
            await paraphrase([task], Paraphraser(role_model, kept, max_cost=2.5), concurrency=1)

    with pytest.raises(BudgetSpent, match=r"\$2\.5"):
        asyncio.run(run())
    assert len((tmp_path / FILE_NAME).read_bytes().splitlines()) == 3


class FakeUsage:
    """Writes as another does, and says that it took a million tokens."""

    def __init__(self, write: Writer) -> None:
        self._write = write

    def __call__(self, material: dict[str, Any], before: int) -> Reply:
        from crmbench.models.base import Usage

        return Reply(str(self._write(material, before)), usage=Usage(1_000_000, 0, 0, 0, 0))


# --- the file -----------------------------------------------------------------------------------


def test_the_file_is_a_valid_set_of_the_same_conversations(tmp_path: Path) -> None:
    done = paraphrase_file(options(tmp_path), role_model=RoleModel(ScriptedModel(Writing(opening))))
    before = load_named("demo").tasks()
    after = load(tmp_path / "out.jsonl").tasks()
    assert [task.task_id for task in after] == [task.task_id for task in before]
    assert [task.gold for task in after] == [task.gold for task in before]
    changed = {each.said.task for each in done.rewordings if each.ending == "rewritten"}
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        assert new.tags == (*old.tags, *(("paraphrased",) if place in changed else ()))
        assert replace(new, turns=old.turns, tags=old.tags) == old
    assert done.endings["rewritten"] >= 0.9 * len(done.rewordings)
    report = audit(after, "rewritten", backends=("sqlite",), workers=1)
    failing = [gate.gate for gate in report.gates if not gate.passed]
    assert failing == []


def test_a_published_file_keeps_every_field(tmp_path: Path) -> None:
    turn = {
        "turn_id": 1,
        "user_utterance": "Find the client Acme Ltd.",
        "expected_tool": "client_search",
        "expected_args": {"name": "Acme Ltd"},
    }
    source = {
        "conversation_id": "c-1",
        "workflow_category": "Client Management",
        "turns": [turn],
        "initial_entities": {},
        "chain_id": "chain-9",
    }
    path = tmp_path / "in.jsonl"
    path.write_bytes(orjson.dumps(source) + b"\n")
    role_model = RoleModel(ScriptedModel(["Please look for the client Acme Ltd."]))
    paraphrase_file(options(tmp_path, path), role_model=role_model)
    retold = {**turn, "user_utterance": "Please look for the client Acme Ltd."}
    written = orjson.loads((tmp_path / "out.jsonl").read_bytes())
    assert written == {**source, "turns": [retold], "crmbench": {"tags": ["paraphrased"]}}


def test_a_file_is_not_written_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    save_tasks(path, load_named("demo").tasks()[:1])
    with pytest.raises(InputError, match="the file that is read"):
        paraphrase_file(options(tmp_path, path, out=path), role_model=RoleModel(ScriptedModel([])))


def test_no_limit_of_cost_without_a_price(tmp_path: Path) -> None:
    asked = replace(options(tmp_path, max_cost=1.0), model="ollama/mine")
    with pytest.raises(InputError, match="price of 'ollama/mine' is not known"):
        paraphrase_file(asked)


@pytest.mark.parametrize("wire", ["{}/v1#fake", "anthropic+{}#fake", "{}/v1#fake+server_error*1"])
def test_it_works_over_the_wire(wire: str, tmp_path: Path) -> None:
    def answer(asked: FakeRequest) -> FakeAnswer:
        users = [text for role, text in asked.texts if role == "user"]
        return FakeAnswer(opening(orjson.loads(users[0]), len(users) - 1))

    async def run() -> Paraphrased:
        limits = Limits(first_delay=0.001, max_delay=0.002)
        async with FakeServer(answer) as server:
            with closing(Kept(tmp_path)) as kept:
                model = open_model(wire.format(server.url), limits=limits)
                paraphraser = Paraphraser(RoleModel(model), kept)
                try:
                    return await paraphrase([conversation(SAID, "Thank you!")], paraphraser)
                finally:
                    await paraphraser.close()

    done = asyncio.run(run())
    assert done.endings == {"rewritten": 2}
    assert done.usage.prompt_tokens > 500
