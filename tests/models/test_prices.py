"""Costs from tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crmbench.errors import InputError
from crmbench.models import NO_TOKENS, Usage
from crmbench.models.prices import ModelPrice, Prices
from crmbench.models.resolve import SHORT_NAMES

MILLION = 1_000_000


@pytest.fixture
def prices() -> Prices:
    return Prices.builtin()


def test_the_table_bears_its_date(prices: Prices) -> None:
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", prices.as_of)
    assert prices.currency == "USD"


def test_every_price_makes_sense(prices: Prices) -> None:
    for price in prices.models.values():
        assert price.cached is not None
        assert 0 < price.cached < price.input < price.output
        if price.cache_write is not None:
            assert price.cache_write > price.input
        if price.long_prompt:
            assert price.long_prompt.input > price.input


def test_short_names_have_a_price(prices: Prices) -> None:
    assert all(prices.price(name) for name in SHORT_NAMES.values())


def test_prompt_and_completion(prices: Prices) -> None:
    assert prices.cost("openai/gpt-4.1", Usage(MILLION, 0)) == pytest.approx(2.0)
    assert prices.cost("openai/gpt-4.1", Usage(0, MILLION)) == pytest.approx(8.0)


def test_cached_tokens_are_part_of_the_prompt(prices: Prices) -> None:
    usage = Usage(MILLION, 0, cached=MILLION // 2)
    assert prices.cost("openai/gpt-4.1", usage) == pytest.approx(1.0 + 0.25)


def test_cache_writes_cost_more(prices: Prices) -> None:
    usage = Usage(MILLION, 0, cached=600_000, cache_written=300_000)
    expected = 0.1 * 3.0 + 0.6 * 0.3 + 0.3 * 3.75
    assert prices.cost("anthropic/claude-sonnet-4-5", usage) == pytest.approx(expected)


def test_reasoning_is_not_paid_twice(prices: Prices) -> None:
    with_reasoning = prices.cost("openai/gpt-5", Usage(0, MILLION, reasoning=900_000))
    assert with_reasoning == pytest.approx(10.0)


def test_a_long_prompt_has_its_own_price() -> None:
    price = ModelPrice.model_validate(
        {"input": 1, "output": 2, "long_prompt": {"above": 1000, "input": 10, "output": 20}}
    )
    assert price.of(Usage(1000, 1000)) == pytest.approx(0.003)
    assert price.of(Usage(1001, 1000)) == pytest.approx(0.03001)


@pytest.mark.parametrize("name", ["gpt-4.1-2025-04-14", "gpt-4.1-20250414"])
def test_a_dated_name_has_the_price_of_its_model(prices: Prices, name: str) -> None:
    assert prices.price(f"openai/{name}") == prices.price("openai/gpt-4.1")


@pytest.mark.parametrize(
    "name", ["openai/gpt-4.1-turbo", "http://localhost/v1#gpt-4.1", "scripted", ""]
)
def test_an_unknown_model_costs_none_and_not_zero(prices: Prices, name: str) -> None:
    assert prices.cost(name, NO_TOKENS) is None


def test_unknown_tokens_cost_none(prices: Prices) -> None:
    assert prices.cost("openai/gpt-4.1", Usage()) is None
    assert prices.cost("openai/gpt-4.1", Usage(5)) is None
    assert prices.cost("openai/gpt-4.1", NO_TOKENS) == 0.0


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"as_of": "2026-01-01", "models": {"ollama/x": {"input": 0, "output": 0}}}')
    assert Prices.load(path).cost("ollama/x", Usage(5, 5)) == 0.0


def test_a_bad_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"as_of": "2026-01-01", "models": {"x": {"input": -1, "output": 0}}}')
    with pytest.raises(InputError, match=r"models\.x\.input"):
        Prices.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        Prices.load(tmp_path / "absent.json")
