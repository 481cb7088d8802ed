"""What docs/dataset.md takes from the data set itself.

python -m tests.domains.sales.dataset_page writes it into the page.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from crmbench.authoring.dataset import Dataset
from crmbench.domains.sales.generate import generate
from crmbench.formats.dataset_dir import card_of
from crmbench.formats.readable import read_aloud
from crmbench.runner.task_sets import choose

PAGE = Path(__file__).parents[3] / "docs" / "dataset.md"
SAMPLE, SEED = 20, 20
"""Conversations printed in the page, and the seed that chooses them."""


@cache
def published() -> Dataset:
    return generate()


def parts() -> dict[str, str]:
    """The generated parts of the page, by name."""
    return {"figures": figures(), "conversations": conversations()}


def figures() -> str:
    """The tables of the data set's card, one level deeper."""
    card = card_of(published())
    found = re.search(r"^## Figures\n(.*?)(?=^## Fields)", card, re.MULTILINE | re.DOTALL)
    assert found
    return found[1].replace("\n## ", "\n### ").strip()


def conversations() -> str:
    """What `crmbench show sales` prints with that sample and seed."""
    chosen = choose(published().tasks, sample=SAMPLE, seed=SEED)
    return "\n\n".join(read_aloud(task).strip() for task in chosen)


def place(name: str) -> re.Pattern[str]:
    """Where a part stands in the page."""
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=\n<!-- end of {name} -->)", re.DOTALL)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        found = place(name).search(text)
        assert found, f"the page has no place for the {name}"
        text = text[: found.start()] + part + text[found.end() :]
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
