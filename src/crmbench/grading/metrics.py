"""Numbers over a run: rates, their intervals, repeated trials, and agreement.

Every function is pure and deterministic; resampling takes its seed as an argument.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# numpy is imported where draws are made: many runs make none, and it takes as long to import as
# a hundred conversations to play.

T = TypeVar("T")

_ARTICLES = frozenset({"a", "an", "the"})
_NO_ANSWER = frozenset({"", "none", "null", "n/a", "na", "nothing", "no answer"})
_CELLS = 4_000_000


class Interval(NamedTuple):
    """An estimate with the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def pass_hat_k(successes: int, trials: int, k: int) -> float:
    """The chance that k trials of one task all succeed, estimated without bias.

    ``C(c, k) / C(n, k)`` for c successes in n trials: Yao et al., "tau-bench: A Benchmark for
    Tool-Agent-User Interaction in Real-World Domains" (2024), section 2.

    Raises:
        ValueError: k is not between 1 and the number of trials, or successes exceed trials.
    """
    _check_trials(successes, trials, k)
    return math.comb(successes, k) / math.comb(trials, k)


def pass_at_k(successes: int, trials: int, k: int) -> float:
    """The chance that at least one of k trials of one task succeeds, estimated without bias.

    ``1 - C(n - c, k) / C(n, k)``: Chen et al., "Evaluating Large Language Models Trained on
    Code" (2021), equation 1.

    Raises:
        ValueError: as `pass_hat_k`.
    """
    _check_trials(successes, trials, k)
    return 1.0 - math.comb(trials - successes, k) / math.comb(trials, k)


def _check_trials(successes: int, trials: int, k: int) -> None:
    if not 1 <= k <= trials:
        raise ValueError(f"k is {k}, but a task has {trials} trials")
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")


def mean_over_tasks(
    outcomes: Mapping[str, Sequence[bool]],
    k: int,
    estimator: Callable[[int, int, int], float] = pass_hat_k,
) -> float | None:
    """`estimator` averaged over the tasks that have at least k trials.

    Args:
        outcomes: Task to one outcome a trial.

    Returns:
        None when no task has k trials.
    """
    scores = [
        estimator(sum(trials), len(trials), k) for trials in outcomes.values() if len(trials) >= k
    ]
    return math.fsum(scores) / len(scores) if scores else None


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """The score interval of a proportion: Wilson, "Probable Inference, the Law of Succession,
    and Statistical Inference", JASA 22 (1927). Sensible for few trials and at 0 and 1.

    Raises:
        ValueError: No trials, or more successes than trials.
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(share, low, high)


def cluster_bootstrap(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """The mean of `values` with a percentile bootstrap interval that resamples whole clusters.

    Tasks of one family succeed and fail together, so families are drawn, with replacement, and
    each draw's mean is that of all values in the families drawn: Cameron, Gelbach and Miller,
    "Bootstrap-Based Improvements for Inference with Clustered Errors", REStat 90 (2008).

    Args:
        values: One number a task.
        clusters: The cluster of each value; an order of appearance decides nothing but the draw.
        resamples: How many draws.
        seed: Of the draws; the same seed gives the same interval.

    Raises:
        ValueError: No values, or not one cluster a value.
    """
    import numpy as np

    draws = bootstrap_means(values, clusters, resamples=resamples, seed=seed)
    tail = (1 - confidence) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(math.fsum(values) / len(values), float(low), float(high))


def bootstrap_means(
    values: Sequence[float], clusters: Sequence[Hashable], *, resamples: int, seed: int
) -> NDArray[np.float64]:
    """The means of `resamples` draws of whole clusters, shape (resamples,)."""
    import numpy as np

    sums, sizes = cluster_totals(values, clusters)
    rng = np.random.default_rng(seed)
    batch = max(1, _CELLS // len(sums))
    means = []
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        drawn = rng.integers(0, len(sums), size=(rows, len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    return np.concatenate(means)


def cluster_totals(
    values: Sequence[float], clusters: Sequence[Hashable]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the number of the values in each cluster, both of shape (clusters,).

    Raises:
        ValueError: No values, or not one cluster a value.
    """
    if not values or len(values) != len(clusters):
        raise ValueError(f"{len(values)} values, {len(clusters)} clusters")
    import numpy as np

    index = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    places = np.array([index[cluster] for cluster in clusters])
    numbers = np.asarray(values, dtype=np.float64)
    sums = np.bincount(places, weights=numbers, minlength=len(index)).astype(np.float64)
    return sums, np.bincount(places, minlength=len(index)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Summary:
    """The success of a group of tasks."""

    tasks: int
    trials: int
    success: Interval
    """Mean over tasks of the share of trials that succeeded."""
    method: str
    """``bootstrap`` over clusters, or ``wilson``."""
    pass_hat: dict[int, float]
    """k to pass^k, for every k up to the smallest number of trials."""
    pass_at: dict[int, float]
    """k to pass@k, likewise."""


def summarise(
    outcomes: Mapping[str, Sequence[bool]],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Summary:
    """The success of tasks over their trials.

    The interval is a bootstrap over clusters; with one cluster, or all tasks alike in outcome,
    draws cannot vary, and with one trial a task and no clusters the binomial applies: then it is
    Wilson's, over tasks.

    Args:
        outcomes: Task to one outcome a trial; tasks without trials are left out.
        clusters: Task to family; a task without one is its own cluster.

    Raises:
        ValueError: No task has a trial.
    """
    played = {task: trials for task, trials in outcomes.items() if trials}
    return summarise_counts(
        [sum(trials) for trials in played.values()],
        [len(trials) for trials in played.values()],
        [(clusters or {}).get(task) or f"\0{task}" for task in played],
        confidence=confidence,
        seed=seed,
    )


def summarise_counts(
    successes: Sequence[int],
    trials: Sequence[int],
    families: Sequence[Hashable],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Summary:
    """`summarise` for tasks of which only numbers are known.

    Args:
        successes: Of each task.
        trials: Of each task, at least one.
        families: The cluster of each task.

    Raises:
        ValueError: No task has a trial.
    """
    if not trials:
        raise ValueError("no task was played")
    shares = [right / of for right, of in zip(successes, trials, strict=True)]
    single = all(of == 1 for of in trials)
    alone = len(set(families)) == len(families)
    if len(set(families)) < 2 or len(set(shares)) < 2 or (single and alone):
        interval = _wilson_of_shares(shares, confidence)
        method = "wilson"
    else:
        interval = cluster_bootstrap(shares, families, confidence=confidence, seed=seed)
        method = "bootstrap"
    alike = Counter(zip(successes, trials, strict=True))
    steps = range(1, min(trials) + 1)
    hats = {k: _mean_of_alike(alike, k, pass_hat_k) for k in steps}
    ats = {k: _mean_of_alike(alike, k, pass_at_k) for k in steps}
    return Summary(len(trials), sum(trials), interval, method, hats, ats)


def _mean_of_alike(
    alike: Mapping[tuple[int, int], int], k: int, estimator: Callable[[int, int, int], float]
) -> float:
    """`estimator` averaged over tasks that are counted by successes and trials."""
    scores = (repeat(estimator(*pair, k), tasks) for pair, tasks in alike.items())
    # Every score for itself: the sum is then rounded once, whatever the order.
    return math.fsum(chain.from_iterable(scores)) / sum(alike.values())


def _wilson_of_shares(shares: Sequence[float], confidence: float) -> Interval:
    """Wilson's interval with tasks as the trials: repeated trials of one task add no tasks."""
    mean = math.fsum(shares) / len(shares)
    bounds = wilson_interval(round(mean * len(shares)), len(shares), confidence)
    return Interval(mean, min(bounds.low, mean), max(bounds.high, mean))


def summarise_by(
    outcomes: Mapping[str, Sequence[bool]],
    slices: Mapping[str, Iterable[str]],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Summary]:
    """`summarise` for each slice, in the slices' alphabetical order.

    Args:
        slices: Task to the slices that it belongs to (a category; several tags).
    """
    groups: defaultdict[str, dict[str, Sequence[bool]]] = defaultdict(dict)
    for task, trials in outcomes.items():
        for name in slices.get(task, ()):
            if trials:
                groups[name][task] = trials
    return {
        name: summarise(groups[name], clusters, confidence=confidence, seed=seed)
        for name in sorted(groups)
    }


def normalise_answer(text: str) -> str:
    """Text as SQuAD compares it: lower case, no punctuation, no articles, single spaces.

    Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (2016),
    section 6.1; here also over Unicode (NFKC, all punctuation).
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(" " if unicodedata.category(char)[0] in "PSZC" else char for char in folded)
    return " ".join(word for word in bare.split() if word not in _ARTICLES)


def token_f1(answer: str, gold: str) -> float:
    """The harmonic mean of precision and recall over words, each counted as often as it occurs.

    Rajpurkar et al. (2016), section 6.1. Two empty texts agree: 1; one empty text: 0.
    """
    got, wanted = normalise_answer(answer).split(), normalise_answer(gold).split()
    if not got or not wanted:
        return float(got == wanted)
    common = sum((Counter(got) & Counter(wanted)).values())
    if not common:
        return 0.0
    precision, recall = common / len(got), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def exact_set_match(answer: str | Iterable[str], gold: str | Iterable[str]) -> bool:
    """Whether two answers hold the same elements, in any order.

    Elements are compared without case, surrounding space and quotes. A text is split at commas,
    semicolons and line ends. "None", "N/A" and an empty answer are the empty set.
    """
    return answer_set(answer) == answer_set(gold)


def answer_set(answer: str | Iterable[str]) -> frozenset[str]:
    """The elements of an answer in the form in which `exact_set_match` compares them."""
    parts = re.split(r"[,;\n]", answer) if isinstance(answer, str) else answer
    elements = (
        " ".join(unicodedata.normalize("NFKC", str(part)).casefold().split()).strip("\"'`*[]. ")
        for part in parts
    )
    return frozenset(element for element in elements if element not in _NO_ANSWER)


def cohen_kappa(first: Sequence[T], second: Sequence[T]) -> float:
    """How far two raters agree beyond chance: Cohen, "A Coefficient of Agreement for Nominal
    Scales", Educational and Psychological Measurement 20 (1960).

    Returns:
        1 for full agreement, 0 for what chance gives, down to -1. Where both raters give every
        item the same single label, chance agrees fully too and kappa is undefined: NaN.

    Raises:
        ValueError: The ratings are empty or not paired.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} ratings")
    count = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / count
    left, right = Counter(first), Counter(second)
    chance = sum(left[label] * right[label] for label in left) / (count * count)
    return (observed - chance) / (1 - chance) if chance < 1 else math.nan
