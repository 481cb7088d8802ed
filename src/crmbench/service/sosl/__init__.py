"""SOSL: a grammar for the whole language, and its execution on a full-text index.

`parse` and `check` need no org. `crmbench.service.sosl.engine.Sosl` runs searches, on the index
that the statements of `crmbench.service.sosl.index.create_index` make.
"""

from crmbench.service.sosl.parser import check, parse

__all__ = ["check", "parse"]
