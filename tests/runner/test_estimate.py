"""The estimate of calls, tokens and cost: without a model, and near what a run then takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import NORTHGATE

from crmbench.errors import InputError
from crmbench.models.testing.server import spawned
from crmbench.runner.estimate import Estimate, estimate
from crmbench.runner.run import RunOptions, execute

HTTP = "http://127.0.0.1:9/v1#nobody-listens-here"


def part(found: Estimate, name: str) -> dict[str, float]:
    data = next(p for p in found.to_data()["parts"] if p["part"] == name)
    return {guess: data[guess]["calls"] for guess in ("low", "typical", "high")}


def test_no_model_is_asked_and_no_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = estimate(RunOptions(NORTHGATE, model="openai/gpt-4.1", trials=2))
    data = found.to_data()
    assert (data["conversations"], data["trials"], data["turns"]) == (12, 2, 33)
    low, typical, high = (data["parts"][0][name] for name in ("low", "typical", "high"))
    for name in low:
        assert 0 < low[name] < typical[name] < high[name], name
        if name == "cost_with_caching":
            assert typical[name] < typical["cost_without_caching"]
    one = estimate(RunOptions(NORTHGATE, model="openai/gpt-4.1")).to_data()["parts"][0]
    assert typical["prompt_tokens"] == pytest.approx(2 * one["typical"]["prompt_tokens"])
    assert one["typical"]["calls"] / 12 == pytest.approx(
        one["typical_a_conversation"]["calls"], abs=0.1
    )


def test_the_cost_is_the_tokens_at_their_prices() -> None:
    found = estimate(RunOptions(NORTHGATE, model="openai/gpt-4.1", sample=1))
    for tokens in found.parts[0].guesses.values():
        fresh = tokens.prompt - tokens.cached
        cached = (fresh * 2.0 + tokens.cached * 0.5 + tokens.completion * 8.0) / 1e6
        assert tokens.cost_cached == pytest.approx(cached)
        assert tokens.cost == pytest.approx((tokens.prompt * 2.0 + tokens.completion * 8.0) / 1e6)


def test_a_model_without_a_price_has_tokens_and_no_cost() -> None:
    found = estimate(RunOptions(NORTHGATE, model=HTTP))
    data = found.to_data()
    assert data["parts"][0]["typical"]["cost_with_caching"] is None
    assert data["total"]["typical"]["cost_with_caching"] is None
    assert data["total"]["typical"]["prompt_tokens"] > 0
    assert "its price is not known" in found.render()


def test_all_models_that_take_part_are_counted() -> None:
    alone = estimate(RunOptions(NORTHGATE, model="claude"))
    options = RunOptions(
        NORTHGATE, model="claude", user="gpt4.1-mini", judge="gpt4.1", judge_all=True
    )
    found = estimate(options)
    assert [(p.part, p.model) for p in found.parts] == [
        ("agent", "claude"),
        ("user", "gpt4.1-mini"),
        ("judge", "gpt4.1"),
    ]
    # A user that speaks freely makes the agent answer more often; the judge is asked once a turn.
    assert part(found, "agent")["typical"] == part(alone, "agent")["typical"] + 33
    assert part(found, "user")["typical"] == 3 * 33
    assert part(found, "judge") == {"low": 33, "typical": 33, "high": 33}
    seldom = estimate(RunOptions(NORTHGATE, agent="noop", judge="gpt4.1"))
    assert part(seldom, "judge")["high"] == 0  # every note of the set is held to facts
    text = found.render()
    for words in ("agent claude", "user gpt4.1-mini", "judge gpt4.1", "Prices as of", "Assumed:"):
        assert words in text


def test_without_a_model_there_is_nothing_to_estimate() -> None:
    found = estimate(RunOptions(NORTHGATE, agent="heuristic"))
    assert found.parts == ()
    assert "nothing to estimate" in found.render()
    with pytest.raises(InputError):
        estimate(RunOptions("no_such_file.jsonl", model=HTTP))


@pytest.mark.parametrize("framework", ["function_calling", "json"])
def test_a_run_takes_about_what_was_estimated(framework: str, tmp_path: Path) -> None:
    with spawned("--tool-calls", "1") as url:
        options = RunOptions(NORTHGATE, agent=framework, model=f"{url}/v1#fake")
        found = estimate(options).parts[0].guesses
        outcome = execute(options, tmp_path / "run")
    usages = [episode.trace.usage for episode in outcome.episodes]
    low, high = found["low"], found["high"]
    assert low.calls * 0.5 <= sum(u.model_calls for u in usages) <= high.calls
    # The server counts tokens by a rule of its own; a prompt differs by less than a half.
    prompt = sum(u.prompt_tokens for u in usages) / sum(u.model_calls for u in usages)
    assert prompt == pytest.approx(low.prompt / low.calls, rel=0.5)
