"""What an upload of a generated data set would hold, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from crmbench.errors import InputError
from crmbench.formats.croissant import NAME as CROISSANT
from crmbench.formats.jsonl import read_objects

CARD = "README.md"


@dataclass(frozen=True)
class UploadedFile:
    """One file of an upload."""

    path: str
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True)
class Upload:
    """What a directory would publish."""

    files: tuple[UploadedFile, ...]
    conversations: dict[str, int]
    """By split."""
    problems: tuple[str, ...]
    """Why it should not be published as it is."""

    def to_data(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "files": [
                {"path": file.path, "bytes": file.size, "sha256": file.sha256}
                for file in self.files
            ],
            "conversations": self.conversations,
            "problems": list(self.problems),
        }


def check_upload(folder: Path) -> Upload:
    """Read everything that an upload would hold, and compare it.

    Raises:
        InputError: The directory holds no data set that `save_dataset` wrote.
    """
    splits = sorted(path.stem for path in folder.glob("*.jsonl"))
    if not splits or not (folder / "data").is_dir():
        raise InputError(
            "holds no data set", file=str(folder), expected="what crmbench generate --out wrote"
        )
    files = tuple(_file(folder, path) for path in _all_files(folder))
    lines = {split: list(_lines(folder / f"{split}.jsonl")) for split in splits}
    problems = [
        *_card_problems(folder, splits),
        *_croissant_problems(folder, files),
        *(problem for split in splits for problem in _split_problems(folder, split, lines[split])),
        *_stray_problems(folder, splits, files),
    ]
    return Upload(files, {split: len(rows) for split, rows in lines.items()}, tuple(problems))


def _all_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _file(folder: Path, path: Path) -> UploadedFile:
    content = path.read_bytes()
    return UploadedFile(str(path.relative_to(folder)), len(content), sha256(content).hexdigest())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for _number, data in read_objects(path):
        if isinstance(data, InputError):
            raise data
        yield data


def _card_problems(folder: Path, splits: Sequence[str]) -> Iterator[str]:
    card = folder / CARD
    if not card.exists():
        yield f"{CARD} is missing: the page that describes the set"
        return
    text = card.read_text("utf-8")
    for split in splits:
        if f"path: data/{split}.parquet" not in text:
            yield f"{CARD} does not name the split {split} in its head"


def _croissant_problems(folder: Path, files: Sequence[UploadedFile]) -> Iterator[str]:
    path = folder / CROISSANT
    if not path.exists():
        yield f"{CROISSANT} is missing: the description for machines"
        return
    try:
        described = orjson.loads(path.read_bytes())["distribution"]
        digests = {each["contentUrl"]: each["sha256"] for each in described}
    except (orjson.JSONDecodeError, KeyError, TypeError):
        yield f"{CROISSANT} is no description that generate wrote"
        return
    for file in files:
        if file.path.endswith(".parquet") and digests.get(file.path) != file.sha256:
            yield f"{CROISSANT} has another digest of {file.path}, or none"


def _split_problems(folder: Path, split: str, lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Whether a split's Parquet file holds the conversations of its lines, and each its canary."""
    import pyarrow.parquet as pq

    path = folder / "data" / f"{split}.parquet"
    if not path.exists():
        yield f"data/{split}.parquet is missing"
        return
    rows = pq.read_table(path).to_pylist()
    if [row["conversation_id"] for row in rows] != [line["conversation_id"] for line in lines]:
        yield f"data/{split}.parquet holds other conversations than {split}.jsonl"
    else:
        changed = [
            line["conversation_id"]
            for row, line in zip(rows, lines, strict=True)
            if [turn["user_utterance"] for turn in row["turns"]]
            != [turn["user_utterance"] for turn in line["turns"]]
            or orjson.loads(row["crmbench"]) != line["crmbench"]
        ]
        if changed:
            yield f"data/{split}.parquet and {split}.jsonl differ in {changed[0]}"
    without = [line for line in lines if not (line.get("crmbench") or {}).get("canary")]
    if without:
        yield f"{split}.jsonl: {without[0]['conversation_id']} has no canary"


def _stray_problems(
    folder: Path, splits: Sequence[str], files: Sequence[UploadedFile]
) -> Iterator[str]:
    known = {CARD, CROISSANT}
    known |= {f"{split}.jsonl" for split in splits}
    known |= {f"data/{split}.parquet" for split in splits}
    for file in files:
        if file.path not in known:
            yield f"{file.path} is no part of the set and would be uploaded with it"
