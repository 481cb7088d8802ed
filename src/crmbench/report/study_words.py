"""What a study's reports say in words."""

from __future__ import annotations

from collections.abc import Iterator

from crmbench.grading.metrics import Interval
from crmbench.language.counts import counted
from crmbench.report.study import Ends, StudyFigures

TITLES = {
    "frameworks": "Agent frameworks",
    "tools": "Sets of tools",
    "prompts": "Prompts",
    "latents": "Latent variables",
}
QUESTIONS = {
    "frameworks": "The same conversations, the model led to act in different ways: how often it "
    "succeeds, how steadily over repeated trials, and what it takes.",
    "tools": "The same conversations with different parts of the domain's tools: those made for "
    "the tasks, general queries, or both. Writing and answering tools belong to each part.",
    "prompts": "The same conversations, the model told more, less or otherwise: with examples, "
    "without instructions, with its form described in short. House rules and tools are the same.",
    "latents": "Orgs in which one thing that shapes the records is switched off, held to the org "
    "with all of them. Records and right answers differ from org to org, so the questions are "
    "made anew, as many of each kind.",
}


def verdict(difference: Interval, ends: Ends | None = None) -> str:
    """A difference in one or two words.

    Args:
        ends: The difference at both ends of what is undecided, which has to bear it out.
    """
    low, high = ends or (difference, difference)
    if low.low > 0:
        return "higher"
    return "lower" if high.high < 0 else "not shown to differ"


def success_range(value: float | None, at_most: float | None) -> str:
    """A share, up to what it can be where episodes are undecided."""
    if value is None or at_most is None or at_most <= value:
        return optional(value, ".1%")
    return f"{value:.1%} to {at_most:.1%}"


def optional(value: float | None, form: str, unit: str = "") -> str:
    """A number, or a dash for what is not known."""
    return "–" if value is None else f"{unit}{value:{form}}"


def cautions(figures: StudyFigures) -> Iterator[str]:
    """What to bear in mind with these figures, in sentences."""
    begun = {arm.name for arm in figures.arms}
    absent = [arm["name"] for arm in figures.plan["arms"] if arm["name"] not in begun]
    if absent:
        yield f"Not played yet: {', '.join(absent)}. Go on with --resume."
    for arm in figures.arms:
        if arm.missing:
            spoilt = f", {arm.not_counted} of them spoilt" if arm.not_counted else ""
            yield f"{arm.name} lacks {arm.missing} of {counted(arm.planned, 'episode')}{spoilt}."
    for arm in figures.arms:
        if arm.summary.undecided:
            s = arm.summary
            yield (
                f"{arm.name} leaves {s.undecided} of {counted(s.trials, 'episode')} undecided: its "
                f"success is decided at least {s.success.value:.1%} and at most "
                f"{s.at_most.value:.1%}."
            )
    for apart in figures.apart:
        if apart.left_out:
            yield (
                f"{apart.second} has no conversations of {', '.join(apart.left_out)}; they are "
                "left out of its comparison."
            )
    comparisons = len(figures.pairs) + sum(len(apart.by_category) for apart in figures.apart)
    if comparisons > 1:
        yield (
            f"These are {comparisons} comparisons, not corrected for their number: of twenty "
            "without any true difference, one looks like one."
        )
    if figures.kind == "tools" and any(a["agent"] == "oracle" for a in figures.plan["arms"]):
        yield (
            "The oracle makes the ground truth's own calls, with the tools that they name, "
            "whatever an arm offers: this shows that tasks can be done, not which tools are better."
        )
    if figures.kind == "latents":
        yield (
            "All arms are of one org seed; another org may give other differences. See --org-seed."
        )
