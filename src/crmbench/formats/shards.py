"""A generated set in shards of Parquet: a million conversations, of which one shard is held.

    data/SPLIT-00007-of-00500.parquet   the conversations of a shard in a split
    data/shards.jsonl                   what the set is made from, then a line a finished shard
    README.md                           the card, once all shards are there

Shards are written in their order, each as a whole. A set that was cut off is a prefix of itself,
and the same command goes on with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib import resources
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import msgspec
import orjson

from crmbench.authoring.dataset import Dataset, canary_of
from crmbench.core.task import Task
from crmbench.errors import InputError
from crmbench.formats.jsonl import digest_of
from crmbench.formats.parquet import table_of, write_table
from crmbench.formats.whole_file import replace_file
from crmbench.language.counts import counted

LIST = "shards.jsonl"
SEEDS = 10_000
"""Seeds that the shards of one seed have to themselves, beyond those of sets in one piece."""


@dataclass(frozen=True)
class ShardPlan:
    """What a set in shards is made from; the same plan gives the same bytes."""

    domain: str
    seed: int
    size: int
    """Conversations of a shard."""
    shards: int
    level: int | None = None
    """Of a hard set; None: the domain's first set."""
    form: int = 1
    """Of these files."""

    @property
    def canary(self) -> str:
        """The string that every task of the set carries."""
        level = "" if self.level is None else f" L{self.level}"
        return canary_of(f"{self.domain}{level} shards {self.seed}")

    def seed_of(self, number: int) -> int:
        """The seed of a shard, counted from 0: no two of any two sets in shards share one."""
        return (self.seed + 1) * SEEDS + number

    def name_of(self, split: str, number: int) -> str:
        """The file of a shard's part of a split."""
        return f"{split}-{number:05d}-of-{self.shards:05d}.parquet"


class SplitPart(msgspec.Struct, frozen=True):
    """What a shard has of a split."""

    conversations: int
    turns: int
    sha256: str
    """Of its file."""


class ShardRecord(msgspec.Struct, frozen=True):
    """A finished shard, as its line in the list says it."""

    number: int
    splits: dict[str, SplitPart]
    families: dict[str, int]
    complexity: dict[str, int]


class MadeShard(NamedTuple):
    """A shard before it is written."""

    record: ShardRecord
    files: dict[str, bytes]
    """Parquet by split."""


_read_record = msgspec.json.Decoder(ShardRecord).decode


def shard_of(plan: ShardPlan, number: int, dataset: Dataset) -> MadeShard:
    """A shard from what the domain generated for its seed.

    A split that only repeats tasks of others is left out. Ids hold the shard's number, and all
    tasks the canary of the whole set.
    """
    splits: dict[str, SplitPart] = {}
    files: dict[str, bytes] = {}
    written: list[Task] = []
    for split, tasks in _partition(dataset).items():
        named = [_in_set(plan, number, task) for task in tasks]
        file = BytesIO()
        write_table(table_of(named), file)
        content = files[split] = file.getvalue()
        turns = sum(len(task.turns) for task in named)
        splits[split] = SplitPart(len(named), turns, sha256(content).hexdigest())
        written += named
    families = Counter(task.family for task in written)
    levels = Counter(task.complexity for task in written)
    return MadeShard(ShardRecord(number, splits, dict(families), dict(levels)), files)


def _partition(dataset: Dataset) -> dict[str, list[Task]]:
    """The tasks by the first split that has them."""
    seen: set[str] = set()
    parts: dict[str, list[Task]] = {}
    for split, tasks in dataset.splits.items():
        new = [task for task in tasks if task.task_id not in seen]
        seen |= {task.task_id for task in new}
        if new:
            parts[split] = new
    return parts


def _in_set(plan: ShardPlan, number: int, task: Task) -> Task:
    head, _, last = task.task_id.rpartition("-")
    task_id = "-".join(part for part in (head, f"{number:05d}", last) if part)
    return replace(task, task_id=task_id, gold=replace(task.gold, canary=plan.canary))


class ShardedSet:
    """A set in shards on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._list = folder / "data" / LIST

    @property
    def exists(self) -> bool:
        """Whether the directory holds such a set, finished or not."""
        return self._list.is_file()

    # --- writing ------------------------------------------------------------------------------

    def begin(self, plan: ShardPlan) -> int:
        """Begin the set, or go on with it; returns how many shards are there already.

        Raises:
            InputError: The directory holds another set, a run, or cannot be written.
        """
        with _saying_what_failed(self.folder):
            if self.exists:
                if self.plan() != plan:
                    raise InputError(
                        "holds a set that was made from something else",
                        file=str(self._list),
                        expected="a directory of its own, or the same seed, size and shards",
                    )
                records = self._records()
                self._write_list(plan, records)  # without what a kill left half-written
                return len(records)
            if any((self.folder / "data").glob("*.parquet")):
                raise InputError(
                    "holds another data set", file=str(self.folder), expected="a new directory"
                )
            self._list.parent.mkdir(parents=True, exist_ok=True)
            self._write_list(plan, ())
        return 0

    def add(self, plan: ShardPlan, made: MadeShard) -> list[Path]:
        """Write the next shard; returns its files.

        Raises:
            InputError: The directory cannot be written.
        """
        files = []
        with _saying_what_failed(self.folder):
            for split, content in made.files.items():
                files.append(self.folder / "data" / plan.name_of(split, made.record.number))
                replace_file(files[-1], [content])
            # The line last: once it is there, so are its files.
            with self._list.open("ab") as file:
                file.write(msgspec.json.encode(made.record) + b"\n")
        return files

    def finish(self) -> Path:
        """Write the card.

        Raises:
            InputError: The directory cannot be written.
        """
        with _saying_what_failed(self.folder):
            replace_file(self.folder / "README.md", [self._card().encode()])
        return self.folder / "README.md"

    # --- reading ------------------------------------------------------------------------------

    def plan(self) -> ShardPlan:
        """What the set is made from.

        Raises:
            InputError: The list does not say it.
        """
        try:
            return msgspec.json.decode(self._lines()[0], type=ShardPlan)
        except (IndexError, msgspec.DecodeError) as error:
            raise InputError(
                f"is no list of shards: {error}",
                file=str(self._list),
                expected="a directory that crmbench generate --shards wrote",
            ) from error

    def records(self) -> tuple[ShardRecord, ...]:
        """What each shard has, in their order.

        Raises:
            InputError: The set is not finished, or its list is damaged.
        """
        plan, found = self.plan(), self._records()
        if len(found) < plan.shards:
            raise InputError(
                f"is not complete: {len(found)} of {counted(plan.shards, 'shard')}",
                file=str(self.folder),
                expected="a finished set; the command that began it goes on with it",
            )
        return found

    def splits(self) -> dict[str, SplitPart]:
        """The splits with what all shards have of each; the digest is one over those of the files.

        Raises:
            InputError: The set is not finished, or its list is damaged.
        """
        found: dict[str, list[SplitPart]] = {}
        for record in self.records():
            for split, part in record.splits.items():
                found.setdefault(split, []).append(part)
        return {
            split: SplitPart(
                sum(part.conversations for part in parts),
                sum(part.turns for part in parts),
                sha256("".join(part.sha256 for part in parts).encode()).hexdigest(),
            )
            for split, parts in found.items()
        }

    def files(self) -> Iterator[Path]:
        """The Parquet files, shard by shard, each seen to be the one that was written.

        Raises:
            InputError: The set is not finished, or a file is missing or another one.
        """
        for files in self.files_by_shard():
            yield from files

    def files_by_shard(self) -> Iterator[list[Path]]:
        """What `files` gives, a list a shard.

        Raises:
            InputError: The set is not finished, or a file is missing or another one.
        """
        return map(self.files_of, self.records())

    def files_of(self, record: ShardRecord) -> list[Path]:
        """The Parquet files of a shard, each seen to be the one that was written.

        Raises:
            InputError: A file is missing or another one.
        """
        plan = self.plan()
        return [self._checked(plan, record, split) for split in record.splits]

    def _checked(self, plan: ShardPlan, record: ShardRecord, split: str) -> Path:
        path = self.folder / "data" / plan.name_of(split, record.number)
        if not path.is_file() or digest_of(path) != record.splits[split].sha256:
            raise InputError(
                "is not the file that generate wrote",
                file=str(path),
                expected="the whole set, unchanged",
            )
        return path

    def _write_list(self, plan: ShardPlan, records: Iterable[ShardRecord]) -> None:
        lines = [orjson.dumps(asdict(plan)), *map(msgspec.json.encode, records)]
        replace_file(self._list, [line + b"\n" for line in lines])

    def _records(self) -> tuple[ShardRecord, ...]:
        try:
            found = tuple(map(_read_record, self._lines()[1:]))
        except msgspec.DecodeError as error:
            raise InputError(f"is no list of shards: {error}", file=str(self._list)) from error
        if [record.number for record in found] != list(range(len(found))):
            raise InputError("lacks a shard between others", file=str(self._list))
        return found

    def _lines(self) -> Sequence[bytes]:
        # What stands behind the last line end was cut off by a kill.
        return self._list.read_bytes().split(b"\n")[:-1]

    def _card(self) -> str:
        from jinja2 import Environment, StrictUndefined

        template = resources.files("crmbench.formats") / "shards_card.md.jinja"
        records, plan = self.records(), self.plan()
        splits = self.splits()
        total = sum(part.conversations for part in splits.values())
        page = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
        return page.from_string(template.read_text(encoding="utf-8")).render(
            plan=plan,
            splits=splits,
            conversations=total,
            size=next(name for most, name in _SIZES if total < most),
            complexity=_summed(record.complexity for record in records),
            families=_summed(record.families for record in records),
        )


_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (float("inf"), "n>10M"),
)


def _summed(counts: Iterable[Mapping[str, int]]) -> list[tuple[str, int]]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return sorted(total.items())


@contextmanager
def _saying_what_failed(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            file=str(error.filename or folder),
            expected="room, and a directory of your own; the same command goes on",
        ) from error
