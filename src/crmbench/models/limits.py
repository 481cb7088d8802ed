"""How fast and how often a model is asked: concurrency, rates, waits and retries.

Everything here takes its time from a `Clock`, so tests run it without waiting.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from crmbench.errors import InputError
from crmbench.models.base import Reply
from crmbench.models.errors import ModelError


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Seconds of the monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(seconds)


class RateLimit(Protocol):
    """So many a minute, for this process alone or for all that share it."""

    async def take(self, amount: float) -> float:
        """Take an amount; returns the seconds to wait before using it."""
        ...

    async def correct(self, amount: float) -> None:
        """Take more, or give back what turned out not to be needed (a negative amount)."""
        ...


class RateSource(Protocol):
    """Where the rates are that several processes share."""

    def rate(self, name: str, per_minute: float) -> RateLimit:
        """The rate of that name."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What one model is spared."""

    concurrency: int = 128
    """Requests under way at once. A call that waits before a retry holds no place."""
    requests_per_minute: float | None = None
    """Failed requests count."""
    tokens_per_minute: float | None = None
    """Prompt and completion. Estimated before a call, corrected by the usage in its reply."""
    retries: int = 5
    """Further attempts after a failure that may pass."""
    timeout: float = 300.0
    """Seconds for one attempt, from sending to the last byte."""
    first_delay: float = 0.5
    """Seconds before the first retry; doubled each time. A random half of it is taken off."""
    max_delay: float = 60.0
    """The longest wait of our own choosing."""
    max_retry_after: float = 300.0
    """The longest wait that a server may ask for; the call fails if it asks for more."""
    max_reply_bytes: int = 32 * 2**20
    """A larger reply is an error."""
    seed: int = 0
    """Of the waits' random part."""
    rates: RateSource | None = None
    """Where other processes take from the same rates; None: the rates are this process's own."""
    rate_name: str = ""
    """What the rates are shared by."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "timeout", "max_reply_bytes"):
            if getattr(self, name) <= 0:
                raise InputError("must be above zero", field=name)
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise InputError("must be above zero", field=name)
        for name in ("retries", "first_delay", "max_delay", "max_retry_after"):
            if getattr(self, name) < 0:
                raise InputError("must not be negative", field=name)

    def rate(self, of: str, per_minute: float | None, clock: Clock) -> RateLimit | None:
        """The rate of requests or tokens; None where there is none."""
        if per_minute is None:
            return None
        if self.rates is not None:
            return self.rates.rate(f"{self.rate_name} {of}", per_minute)
        return OwnRate(Bucket(per_minute, clock))


class Bucket:
    """A rate: hands out amounts in the order of asking, so many a minute.

    One second's worth may be taken at once. An amount above that is handed out when nothing is
    owed and then owed for. Over any span of t seconds the sum of what is handed out is therefore
    at most rate / 60 * (t + 1) plus one amount.

    Args:
        per_minute: The rate.
        clock: Where time comes from.
        paid_until: The moment up to which was handed out, where that is kept elsewhere.
    """

    def __init__(self, per_minute: float, clock: Clock, paid_until: float | None = None) -> None:
        self._rate = per_minute / 60.0
        self._clock = clock
        self.paid_until = clock.now() - 1.0 if paid_until is None else paid_until

    def reserve(self, amount: float) -> float:
        """Take an amount.

        Returns:
            Seconds to wait before using it.
        """
        now = self._clock.now()
        start = max(self.paid_until, now - 1.0)
        self.paid_until = start + amount / self._rate
        return max(0.0, start - now)

    def correct(self, amount: float) -> None:
        """Take more, or give back what turned out not to be needed (a negative amount)."""
        self.paid_until += amount / self._rate


class OwnRate:
    """A rate of this process alone. Implements `RateLimit`."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def take(self, amount: float) -> float:
        return self._bucket.reserve(amount)

    async def correct(self, amount: float) -> None:
        self._bucket.correct(amount)


class Granted(NamedTuple):
    """A reply and what it took."""

    reply: Reply
    attempts: int


class Gate:
    """Lets calls to one model through, and tries again those whose failure may pass.

    Args:
        limits: The limits.
        clock: Where time comes from.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._places = asyncio.Semaphore(limits.concurrency)
        self._requests = limits.rate("requests", limits.requests_per_minute, clock)
        self._tokens = limits.rate("tokens", limits.tokens_per_minute, clock)
        self._random = random.Random(limits.seed)
        self._held_until = clock.now()
        self._completion = 200.0

    async def run(self, attempt: Callable[[], Awaitable[Reply]], prompt_tokens: int) -> Granted:
        """Make attempts until one gives a reply.

        Args:
            attempt: Sends one request; raises ModelError.
            prompt_tokens: An estimate, for the rate of tokens.

        Raises:
            ModelError: The last attempt's, with `attempts` set.
        """
        for number in range(1, self._limits.retries + 2):
            try:
                async with self._places:
                    return Granted(await self._admit(attempt, prompt_tokens), number)
            except ModelError as error:
                error.attempts = number
                delay = self._delay(number, error)
                if delay is None:
                    raise
                failed = error
            await self._clock.sleep(delay)
        raise failed

    async def _admit(self, attempt: Callable[[], Awaitable[Reply]], prompt_tokens: int) -> Reply:
        while (wait := self._held_until - self._clock.now()) > 0:
            # Spread over a second, or all that waited would be refused together again.
            await self._clock.sleep(wait + self._random.uniform(0.0, min(1.0, wait)))
        wait = await self._requests.take(1.0) if self._requests else 0.0
        estimate = prompt_tokens + self._completion
        if self._tokens:
            wait = max(wait, await self._tokens.take(estimate))
        if wait > 0:
            await self._clock.sleep(wait)
        reply = await attempt()
        usage = reply.usage
        if self._tokens and usage.prompt is not None and usage.completion is not None:
            await self._tokens.correct(usage.prompt + usage.completion - estimate)
            self._completion += (usage.completion - self._completion) / 20
        return reply

    def _delay(self, number: int, error: ModelError) -> float | None:
        """Seconds before the next attempt; None if there is to be none."""
        limits = self._limits
        asked = error.retry_after
        wait_too_long = asked is not None and asked > limits.max_retry_after
        if asked is not None and error.kind == "rate_limit" and not wait_too_long:
            # The limit is the account's: other calls would only be refused too.
            self._held_until = max(self._held_until, self._clock.now() + asked)
        if not error.retryable or number > limits.retries or wait_too_long:
            return None
        if asked is not None:
            return asked + self._random.uniform(0.0, min(1.0, asked))
        longest = min(limits.max_delay, limits.first_delay * 2.0 ** (number - 1))
        return self._random.uniform(longest / 2, longest)
