"""Prompts as files: ours, and those of a folder that go before them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template

from crmbench.errors import InputError

HOMES = ("crmbench.agents", "crmbench.roles", "crmbench.learning")
"""Packages that have a folder of prompts. A prompt's name is in one of them only."""
VARIANTS = "crmbench.agents"
"""The package whose prompts come in variants, each a folder of files that go before the usual."""


@dataclass(frozen=True)
class PromptFiles:
    """Where prompts are read from.

    Args:
        chosen: A folder with files named as ours, such as ``judge.md``, each in place of ours; or
            the name of one of `variants`. Empty: ours alone.
    """

    chosen: str = ""

    def text(self, name: str) -> str:
        """The prompt of that name, with its slots, such as ``$policy``, not yet filled.

        Raises:
            InputError: The folder or a file in it cannot be used.
        """
        return _texts(self.chosen)[name]

    def filled(self, name: str, **slots: str) -> str:
        """The prompt with its slots filled; one that it does not use is left out."""
        return Template(self.text(name)).substitute(slots)

    def digests(self, names: tuple[str, ...]) -> dict[str, str]:
        """SHA-256 of prompts, by file name, for a run's record."""
        return {f"{name}.md": sha256(self.text(name).encode()).hexdigest() for name in names}


OURS = PromptFiles()


def prompts_of(package: str) -> tuple[str, ...]:
    """The names of a package's prompts, sorted."""
    folder = resources.files(package) / "prompts"
    return tuple(sorted(f.name[:-3] for f in folder.iterdir() if f.name.endswith(".md")))


def variants() -> tuple[str, ...]:
    """The names of the variants that come along, sorted."""
    folder = resources.files(VARIANTS) / "prompts" / "variants"
    return tuple(sorted(item.name for item in folder.iterdir() if item.is_dir()))


@cache
def _texts(chosen: str) -> dict[str, str]:
    """Every prompt by name."""
    texts = {
        name: (resources.files(home) / "prompts" / f"{name}.md").read_text("utf-8")
        for home in HOMES
        for name in prompts_of(home)
    }
    if not chosen:
        return texts
    if chosen in variants():
        folder = resources.files(VARIANTS) / "prompts" / "variants" / chosen
        own = {f.name: f.read_text("utf-8") for f in folder.iterdir() if f.name.endswith(".md")}
    else:
        own = _read(Path(chosen))
    for file, text in own.items():
        name = file.removesuffix(".md")
        _check(chosen, file, text, texts)
        texts[name] = text
    return texts


def _read(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise InputError(
            f"'{folder}' is no folder of prompts",
            field="--prompts",
            expected="a folder, or one of " + ", ".join(variants()),
        )
    found = {path.name: path for path in sorted(folder.glob("*.md"))}
    if not found:
        raise InputError("holds no prompt", file=str(folder), expected="files such as judge.md")
    try:
        return {name: path.read_text("utf-8") for name, path in found.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(folder)) from error


def _check(chosen: str, file: str, text: str, ours: dict[str, str]) -> None:
    name = file.removesuffix(".md")
    place = str(Path(chosen) / file)
    if name not in ours:
        raise InputError(
            "is the name of no prompt", file=place, expected=", ".join(f"{n}.md" for n in ours)
        )
    template = Template(text)
    if not template.is_valid():
        raise InputError("a $ stands alone", file=place, expected="$$ for a dollar sign")
    known = Template(ours[name]).get_identifiers()
    strange = [slot for slot in template.get_identifiers() if slot not in known]
    if strange:
        raise InputError(
            f"nothing is known to put in ${strange[0]}",
            file=place,
            expected="slots " + ", ".join(f"${slot}" for slot in known) if known else "no slots",
        )
