"""What tokens cost. The table is data (`prices.json`) and bears its date."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crmbench.errors import InputError
from crmbench.models.base import Usage

_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Price(BaseModel):
    """Prices per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    """Prompt tokens that are neither read from a cache nor written to one."""
    output: float = Field(ge=0)
    """Completion tokens, reasoning included."""
    cached: float | None = Field(default=None, ge=0)
    """Prompt tokens read from a cache; None: as ``input``."""
    cache_write: float | None = Field(default=None, ge=0)
    """Prompt tokens written to a cache; None: as ``input``."""

    def of(self, usage: Usage) -> float | None:
        """The cost of one call; None if prompt or completion is unknown.

        What the provider does not say of its cache is priced as not cached.
        """
        if usage.prompt is None or usage.completion is None:
            return None
        read, written = usage.cached or 0, usage.cache_written or 0
        fresh = max(0, usage.prompt - read - written)
        total = fresh * self.input + usage.completion * self.output
        total += read * (self.input if self.cached is None else self.cached)
        total += written * (self.input if self.cache_write is None else self.cache_write)
        return total / 1e6


class LongPrompt(Price):
    """Prices of calls with a long prompt."""

    above: int = Field(gt=0)
    """Tokens of the prompt; calls with more pay these prices for all their tokens."""


class ModelPrice(Price):
    """Prices of a model."""

    long_prompt: LongPrompt | None = None

    def of(self, usage: Usage) -> float | None:
        """The cost of one call; None if prompt or completion is unknown."""
        tier = self.long_prompt
        if tier and usage.prompt is not None and usage.prompt > tier.above:
            return tier.of(usage)
        return super().of(usage)


class Prices(BaseModel):
    """A table of prices."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str
    """The day on which the prices were looked up."""
    currency: str = "USD"
    unit: str = "per million tokens"
    note: str = ""
    models: dict[str, ModelPrice]
    """By the name that opens the model, such as ``openai/gpt-4.1``."""

    @classmethod
    def builtin(cls) -> Prices:
        """The table that comes with this package."""
        return _builtin()

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a table of one's own, in the form of the built-in one.

        Raises:
            InputError: The file cannot be read or is not such a table.
        """
        try:
            return cls.model_validate_json(path.read_bytes())
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(first["msg"], file=str(path), field=place or None) from error

    def price(self, model: str) -> ModelPrice | None:
        """The prices of a model; a date at the end of its name may be missing in the table."""
        known = self.models.get(model)
        return known or self.models.get(_DATED.sub("", model))

    def cost(self, model: str, usage: Usage) -> float | None:
        """What one call cost; None (never 0) if the model or the tokens are unknown.

        Args:
            model: `Model.name`.
            usage: Of one call; sums hide which calls had a long prompt.
        """
        price = self.price(model)
        return None if price is None else price.of(usage)


@cache
def _builtin() -> Prices:
    raw = files("crmbench.models").joinpath("prices.json").read_bytes()
    return Prices.model_validate(orjson.loads(raw))
