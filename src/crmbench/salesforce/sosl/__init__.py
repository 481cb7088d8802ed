"""SOSL: a grammar for the whole language, and its execution on a full-text index.

`parse` and `check` need no org. `crmbench.salesforce.sosl.engine.Sosl` runs searches, on the index
that the statements of `crmbench.salesforce.sosl.index.create_index` make.
"""

from crmbench.salesforce.sosl.parser import check, parse

__all__ = ["check", "parse"]
