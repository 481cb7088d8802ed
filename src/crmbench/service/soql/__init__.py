"""SOQL: a grammar for the whole language, and its execution on the org's tables.

`parse` and `check` need no org. `crmbench.service.soql.engine.Soql` runs queries.
"""

from crmbench.service.soql.errors import Position, SoqlError
from crmbench.service.soql.parser import CheckResult, check, parse

__all__ = ["CheckResult", "Position", "SoqlError", "check", "parse"]
