"""Days and moments of a world: whole numbers inside, text in the rows.

A moment is a count of seconds since 1970-01-01T00:00Z, a day a count of days since then.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from crmbench.domains.service.world.seeds import Ints

DAY = 86_400
NOW_TIME = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""When every episode in a generated world begins: a Monday morning."""
NOW = int(NOW_TIME.timestamp())
TODAY = NOW // DAY
FIRST_MONTH = (2021, 11)
"""The month of the first orders and of the first price book."""
FIRST_DAY = int(datetime(*FIRST_MONTH, 1, tzinfo=UTC).timestamp()) // DAY
CASES_FROM = int(datetime(2022, 3, 2, tzinfo=UTC).timestamp())
"""When the service desk began to keep cases: four years before now."""
MONTHS = (2026 - FIRST_MONTH[0]) * 12 + 3 - FIRST_MONTH[1] + 1
"""How many months the trade spans, the present one counted in."""
QUARTERS = 17
"""Calendar quarters from the first case to now."""


def month_of(days: Ints) -> Ints:
    """Months since January 1970."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def trade_month(days: Ints) -> Ints:
    """Months since the first price book: 0 to MONTHS - 1."""
    first = (FIRST_MONTH[0] - 1970) * 12 + FIRST_MONTH[1] - 1
    return month_of(days) - first


def quarter_of(moments: Ints) -> Ints:
    """Calendar quarters since that of the first case: 0 to QUARTERS - 1."""
    first = (2022 - 1970) * 4
    return month_of(moments // DAY) // 3 - first


def quarter_name(quarter: int) -> str:
    """The name of a quarter counted as `quarter_of` does: ``2024-Q3``."""
    return f"{2022 + quarter // 4}-Q{quarter % 4 + 1}"


def month_days(month: int) -> tuple[str, str]:
    """The first and last day of a month counted as `trade_month` does."""
    start = np.datetime64(f"{FIRST_MONTH[0]}-{FIRST_MONTH[1]:02d}") + month
    last = (start + 1).astype("datetime64[D]") - 1
    return str(start.astype("datetime64[D]")), str(last)


def day_texts(days: Ints) -> list[str]:
    """``YYYY-MM-DD`` for each day."""
    texts: list[str] = days.astype("datetime64[D]").astype(str).tolist()
    return texts


def moment_texts(moments: Ints) -> list[str]:
    """``YYYY-MM-DDTHH:MM:SS.000+0000`` for each moment."""
    texts: list[str] = moments.astype("datetime64[s]").astype(str).tolist()
    return [text + ".000+0000" for text in texts]
