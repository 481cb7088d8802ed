"""SOQL: a grammar for the whole language, and its execution on the org's tables.

`parse` and `check` need no org. `crmbench.salesforce.soql.engine.Soql` runs queries.
"""

from crmbench.salesforce.soql.errors import Position, SoqlError
from crmbench.salesforce.soql.parser import CheckResult, check, parse

__all__ = ["CheckResult", "Position", "SoqlError", "check", "parse"]
