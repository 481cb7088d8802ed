"""A file of conversations, paraphrased into another."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crmbench.errors import InputError
from crmbench.formats.jsonl import write_lines
from crmbench.models.resolve import full_model_name
from crmbench.paraphrase.cache import Kept
from crmbench.paraphrase.paraphrase import Paraphrased, Paraphraser, Rewording, paraphrase, retold
from crmbench.runner.task_sets import choose, load_named, path_of

if TYPE_CHECKING:
    from crmbench.roles.role_model import RoleModel
    from crmbench.runner.run import Progress


@dataclass(frozen=True)
class ParaphraseOptions:
    """What to paraphrase, and with what."""

    file: str
    model: str
    out: Path
    cache: Path
    """Folder of what models wrote."""
    sample: int | None = None
    seed: int = 0
    filters: tuple[str, ...] = ()
    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_cost: float | None = None


def paraphrase_file(
    options: ParaphraseOptions,
    progress: Progress = lambda _done, _all: None,
    role_model: RoleModel | None = None,
) -> Paraphrased:
    """Read, rewrite and write. The file appears whole or not at all.

    Args:
        role_model: The model, where it comes from code; else the one that the options name.

    Raises:
        InputError: A file, filter or model cannot be used.
        ModelError: The model could not be asked; what it wrote is kept in the cache.
        BudgetSpent: The limit of cost is reached; the same.
    """
    _check(options)
    loaded = load_named(options.file)
    tasks = choose(
        loaded.tasks(), filters=options.filters, sample=options.sample, seed=options.seed
    )
    _make_folder(options.out)
    with closing(Kept(options.cache)) as kept:
        # Opened last: whatever is wrong with a file is said before a model is.
        paraphraser = Paraphraser(role_model or _role_model(options), kept, options.max_cost)

        async def work() -> Paraphrased:
            try:
                return await paraphrase(
                    tasks, paraphraser, concurrency=options.concurrency, on_done=progress
                )
            finally:
                await paraphraser.close()

        done = asyncio.run(work())
    by_task: defaultdict[int, list[Rewording]] = defaultdict(list)
    for each in done.rewordings:
        by_task[each.said.task].append(each)
    data = {c.conversation_id: c for c in loaded.conversations}

    def rows() -> Iterator[dict[str, Any]]:
        for place, task in enumerate(tasks):
            yield retold(data[task.task_id].to_data(), by_task[place])

    write_lines(options.out, rows())
    return done


def _check(options: ParaphraseOptions) -> None:
    source = path_of(options.file)
    if options.out.is_dir():
        raise InputError("is a directory", file=str(options.out), expected="a file to write")
    if source.exists() and options.out.exists() and source.samefile(options.out):
        raise InputError(
            "is the file that is read", file=str(options.out), expected="another file for --out"
        )
    if options.max_cost is not None:
        from crmbench.models.prices import Prices

        if Prices.builtin().price(full_model_name(options.model)) is None:
            raise InputError(
                f"the price of '{options.model}' is not known, so no limit of cost can be kept",
                expected="a model of the price table, or no --max-cost",
            )


def _make_folder(out: Path) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(out.parent)) from error


def _role_model(options: ParaphraseOptions) -> RoleModel:
    from crmbench.models import Limits, open_model
    from crmbench.models.prices import Prices
    from crmbench.roles.role_model import RoleModel

    limits = Limits(
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
        seed=options.seed,
    )
    return RoleModel(open_model(options.model, limits=limits), Prices.builtin())
