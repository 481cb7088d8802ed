"""Rate limits that hold over all workers together."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crmbench.runner.options import RunOptions
from crmbench.runner.participants import models_of

if TYPE_CHECKING:
    from crmbench.models.limits import RateSource


@contextmanager
def shared_rates(options: RunOptions) -> Iterator[RateSource | None]:
    """Where the workers of a run take from its rates; None where no rate is limited.

    On Ray that is an actor beside the process that began the run, else a folder for as long as the
    run lasts.

    Raises:
        InfrastructureError: The Ray cluster cannot be reached.
        MissingExtraError: Ray is not installed.
    """
    limited = options.requests_per_minute or options.tokens_per_minute
    if not (limited and models_of(options)):
        yield None
    elif options.executor.startswith("ray"):
        from crmbench.runner.executors.ray_rates import ray_rates

        with ray_rates(options.executor) as rates:
            yield rates
    else:
        from crmbench.models.shared_rates import FileRates

        with tempfile.TemporaryDirectory(prefix="crmbench-rates-") as folder:
            yield FileRates(Path(folder))
