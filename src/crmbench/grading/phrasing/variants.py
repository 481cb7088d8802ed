"""Many right ways to say a fact, and many wrong ones: what the matchers are tried on.

This module, and those that it brings together, share no code with the matchers, so that the two
check each other.
"""

from __future__ import annotations

import random

from crmbench.core.fact import Fact
from crmbench.grading.phrasing.layouts import STYLES, Style, false_success, refusal, wrap
from crmbench.grading.phrasing.misses import near_misses
from crmbench.grading.phrasing.wording import EMPTY_LISTS, STATEMENTS, TERSE_STATEMENTS
from crmbench.grading.phrasing.written import boolean_form, label_of, written_forms

__all__ = [
    "STYLES",
    "Style",
    "false_success",
    "near_misses",
    "realise",
    "refusal",
    "wrap",
    "written_forms",
]


def realise(fact: Fact, rng: random.Random, style: str = "plain") -> str:
    """One right way to say the fact, as a piece that `wrap` joins in the same style.

    Args:
        style: One of `STYLES`. terse gives the bare value or ``label: value``; table and json
            give ``label<TAB>value`` for `wrap` to lay out; the others a sentence.
    """
    label = label_of(fact)
    if fact.kind == "boolean":
        return boolean_form(fact, fact.value, rng, style)
    if fact.kind == "list":
        return _list(fact, rng, style)
    written = rng.choice(written_forms(fact))
    return _state(fact, label, written, rng, style)


def _state(fact: Fact, label: str, written: str, rng: random.Random, style: str) -> str:
    about = f"{label} ({fact.subject})" if fact.subject else label
    if style in {"table", "json"}:
        return f"{about}\t{written}"
    if style == "terse":
        return rng.choice(TERSE_STATEMENTS).format(label=about, value=written)
    if style == "bold":
        written = f"**{written}**"
    if fact.kind == "count" and label.endswith("s") and rng.random() < 0.5:
        shown = label if fact.value != 1 else label[:-1]
        return rng.choice(("I found {0} {1}.", "That makes {0} {1}.", "{0} {1} in total.")).format(
            written, shown
        )
    sentence = rng.choice(STATEMENTS).format(label=label, value=written)
    return f"For {fact.subject}: {sentence}" if fact.subject else sentence


def _list(fact: Fact, rng: random.Random, style: str) -> str:
    items = [rng.choice(written_forms(item)) for item in fact.items()]
    label = label_of(fact)
    if not items:
        nothing = rng.choice(EMPTY_LISTS)
        return f"{label}\tnone" if style in {"table", "json"} else nothing.format(label=label)
    rng.shuffle(items)
    if style in {"table", "json"}:
        return f"{label}\t{', '.join(items)}"
    if style == "bullets":
        return f"{label}:\n" + "\n".join(f"  - {item}" for item in items)
    if style == "terse":
        return ", ".join(items)
    joined = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    return f"{label.capitalize()}: {joined}."
