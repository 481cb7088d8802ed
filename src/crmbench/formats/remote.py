"""Sets and runs at addresses such as ``s3://bucket/runs/mine``: any that fsspec knows.

Work is done on files of this machine. What is read is copied into a cache first, file by file where
it changed; a run or a set that is written goes to its address when it is finished. Until then it
is in the cache, where ``--resume`` finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from crmbench.core.stored_world import cache_folder
from crmbench.errors import InfrastructureError, InputError, MissingExtraError
from crmbench.formats.whole_file import replace_file

ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/{1,3}(?P<rest>[^/].*)")
"""Of two letters at least, for a drive of Windows has one; with one slash where a path swallowed
the other."""
ADDRESSES = ("s3://bucket/set", "gs://a/b.jsonl", "memory://x", "s3:/bucket/set", "file:///a/b")
PATHS = ("runs/mine", "C:/runs", "c:\\runs", "s3", "demo", "a:b", "/s3://x", "sales/test", "s3://")
"""Examples that it matches, and that it does not."""
CHUNK = 2**20
LAST = "config.json"
"""Of a run: with it the run is there, so it is sent after all else."""


def address_of(place: str | Path) -> str | None:
    """The address that a text or a path stands for; None for a place on this machine."""
    found = ADDRESS.fullmatch(str(place))
    if found is None or found["scheme"] in ("file", "local", "http", "https"):
        return None
    return f"{found['scheme']}://{found['rest']}".rstrip("/")


def here(place: str | Path) -> Path:
    """The path of what is at a place: itself on this machine, else a copy that is as it is there.

    Raises:
        InputError: There is nothing, or fsspec does not know such addresses.
        InfrastructureError: It cannot be read.
        MissingExtraError: The extra ``remote`` is not installed.
    """
    address = address_of(place)
    if address is None:
        return _local(place)
    mirror = _Mirror(address)
    if not mirror.fetch(everything=True):
        raise InputError(
            "there is nothing", file=address, expected="the address of a file or a directory"
        )
    return mirror.path


@contextmanager
def kept_at(place: Path | None) -> Iterator[Path | None]:
    """A directory to write, whose contents are sent to the place when the work has ended well.

    Args:
        place: On this machine, it is that directory itself; None: there is none.

    Raises:
        InputError: fsspec does not know such addresses.
        InfrastructureError: It cannot be written; what was to be sent stays in the cache.
        MissingExtraError: The extra ``remote`` is not installed.
    """
    address = None if place is None else address_of(place)
    if address is None:
        yield None if place is None else _local(place)
        return
    mirror = _Mirror(address)
    # What is there already, so that no other run is written over, and one that began goes on.
    mirror.fetch(everything=False)
    yield mirror.path
    mirror.send()


def _local(place: str | Path) -> Path:
    found = ADDRESS.fullmatch(str(place))
    if found is None or found["scheme"] not in ("file", "local"):
        return Path(place)
    return Path("/" + unquote(found["rest"]))


class _Mirror:
    """The copy of an address in the cache."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files, self.root = _file_system(address)
        folder = cache_folder("remote") / blake2b(address.encode(), digest_size=12).hexdigest()
        self.path = folder / address.rpartition("/")[2]
        self._known = folder / "known.json"

    def fetch(self, *, everything: bool) -> bool:
        """Copy what is not here as it is there; returns whether there is anything.

        Args:
            everything: Also what is here in another form, and nothing that is not there stays; else
                what was written here stays.
        """
        with _reaching(self.address):
            there = self._there()
            known = self._tokens()
            for name, (path, token) in there.items():
                target = self.path / name if name else self.path
                if target.exists() and (known.get(name) == token or not everything):
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                with self.files.open(path, "rb") as file:
                    replace_file(target, iter(partial(file.read, CHUNK), b""))
                known[name] = token
            if everything and self.path.is_dir():
                for copy in [copy for copy in self.path.rglob("*") if copy.is_file()]:
                    if copy.relative_to(self.path).as_posix() not in there:
                        copy.unlink()
                known = {name: token for name, token in known.items() if name in there}
            self._keep(known)
        return bool(there)

    def send(self) -> None:
        """Write everything to the address."""
        with _reaching(self.address):
            if self.path.is_file():
                names = [""]
            else:
                found = (path for path in self.path.rglob("*") if path.is_file())
                names = [path.relative_to(self.path).as_posix() for path in found]
            known = {}
            for name in sorted(names, key=lambda name: (name == LAST, name)):
                target = f"{self.root}/{name}" if name else self.root
                self.files.put_file(str(self.path / name if name else self.path), target)
            self.files.invalidate_cache()
            for name, (_, token) in self._there().items():
                if name in names:
                    known[name] = token
            self._keep(known)

    def _there(self) -> dict[str, tuple[str, str]]:
        """By name within the address: the path of each file, and what says which version it is."""
        self.files.invalidate_cache()
        if self.files.isfile(self.root):
            return {"": (self.root, str(self.files.ukey(self.root)))}
        found = {}
        for path in self.files.find(self.root):
            name = path.removeprefix(self.root).lstrip("/")
            if ".." in Path(name).parts:
                raise InputError("leads out of its directory", file=f"{self.address}/{name}")
            found[name] = (path, str(self.files.ukey(path)))
        return found

    def _tokens(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._known.read_bytes(), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            return {}

    def _keep(self, known: dict[str, str]) -> None:
        self._known.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._known, [msgspec.json.encode(known)])


def _file_system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError("remote", f"the address {address}") from error
    try:
        files, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"cannot be reached: {error}",
            file=address,
            expected="s3://…, or an address whose package is installed (gcsfs for gs://)",
        ) from error
    return files, str(root).rstrip("/")


@contextmanager
def _reaching(address: str) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise InputError(f"is not open to you: {error}", file=address) from error
    except FileNotFoundError as error:
        raise InputError(f"is not there: {error}", file=address) from error
    except (OSError, TimeoutError) as error:
        raise InfrastructureError(f"{address} cannot be reached: {error}") from error
