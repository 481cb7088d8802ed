"""``python -m crmbench`` is the command line."""

from __future__ import annotations

from crmbench.cli import main

main()
