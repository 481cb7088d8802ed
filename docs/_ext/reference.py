"""Parts of the site that are read from the package itself, so that they cannot go stale.

``{commands}`` writes a section for each verb of the command line; ``{public}`` one for each public
name of the modules that it lists.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from docutils import nodes
from foreign import FOREIGN
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

_as_written: dict[str, list[str]] = {}
EXAMPLES = ("Examples:", "Example:")
SECTION = re.compile(r"(Args|Raises|Returns|Yields|Attributes|Note):$")


def commands_markdown() -> str:
    """Every verb with its arguments, options, defaults and examples, as Markdown."""
    import typer

    from crmbench.cli import app

    return "\n".join(_sections(typer.main.get_command(app), "crmbench"))


def _sections(command: Any, path: str) -> Iterator[str]:
    context = command.make_context(path, [], resilient_parsing=True)
    if getattr(command, "commands", None) is None:
        yield from _section(command, context, path)
        return
    if command.params and path == "crmbench":
        yield from ["## Of crmbench itself", *_rows(command, context), ""]
    for name in sorted(command.commands):
        yield from _sections(command.commands[name], f"{path} {name}")


def _section(command: Any, context: Any, path: str) -> Iterator[str]:
    anchor = path.removeprefix("crmbench ").replace(" ", "-")
    usage = " ".join([path, *(p for p in command.collect_usage_pieces(context))])
    yield from [f"({anchor})=", f"## `{path}`", ""]
    yield from ["```text", usage, "```", ""]
    yield from _prose(dedent(command.help or ""))
    yield from _rows(command, context)
    yield ""


def _prose(text: str) -> Iterator[str]:
    """The help text; what is indented in it is commands to type."""
    for part in text.strip().split("\n\n"):
        if part.startswith(" "):
            yield from ["```console", dedent(part), "```", ""]
        elif part.strip() not in EXAMPLES:
            yield from [_escaped(part), ""]


def _rows(command: Any, context: Any) -> Iterator[str]:
    records = [p.get_help_record(context) for p in command.get_params(context)]
    yield from ["", "| | |", "| --- | --- |"]
    for name, meaning in filter(None, records):
        yield f"| `{name}` | {_escaped(meaning)} |"


def _escaped(text: str) -> str:
    for mark in "\\|*_<>[]":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())


class Commands(SphinxDirective):
    """``{commands}``: the reference of the command line."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(commands_markdown(), allow_section_headings=True)


class Public(SphinxDirective):
    """``{public}``: a module a line, and what to show of it; all that is public, if nothing."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        parts: list[str] = []
        for line in filter(None, map(str.strip, self.content)):
            module, *chosen = line.split()
            parts += _module_directives(module, chosen)
        return self.parse_text_to_nodes("\n".join(parts))


def _module_directives(module: str, chosen: Sequence[str]) -> Iterator[str]:
    loaded = importlib.import_module(module)
    names = [(name, getattr(loaded, name)) for name in chosen] or public_names(module)
    for name, value in names:
        lines = [f".. auto{_kind(value)}:: {module}.{name}"]
        if inspect.isclass(value):
            lines += ["   :members:", "   :undoc-members:", "   :member-order: bysource"]
        yield from ["```{eval-rst}", *lines, "```", ""]


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if inspect.isroutine(value) else "data"


def public_names(module: str) -> list[tuple[str, Any]]:
    """What a module offers: its ``__all__``, else the classes and functions that it defines."""
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(loaded).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module
        ]
    submodules = {found.name for found in pkgutil.iter_modules(getattr(loaded, "__path__", []))}
    found = [(name, getattr(loaded, name)) for name in names if name not in submodules]
    return [(name, value) for name, value in found if callable(value)]


def mark_examples(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Set the indented code of a docstring as code: ours carry no marks for it."""
    del app, found, options
    if not any(map(SECTION.match, lines)) and what in ("attribute", "data", "property"):
        _as_written[name] = list(lines)
    marked: list[str] = []
    inside = section = False
    for line in lines:
        indented = line.startswith("    ")
        section = bool(SECTION.match(line)) or (section and (indented or not line))
        if indented and not inside and not section and marked and not marked[-1]:
            marked += [".. code-block:: python", ""]
        inside = indented or (inside and not line)
        marked.append(line)
    lines[:] = marked


def restore_attribute(
    app: Sphinx, what: str, name: str, found: object, options: object, lines: list[str]
) -> None:
    """Undo what napoleon does to a field's words: it takes "False: it must fail" for a type."""
    del app, found, options
    if what in ("attribute", "data", "property") and name in _as_written:
        lines[:] = _as_written[name]


def refuse_foreign(app: Sphinx, error: Exception | None) -> None:
    """End the build if a page would load something from another server."""
    if error is not None:
        return
    pages = [f for f in sorted(Path(app.outdir).rglob("*")) if f.suffix in (".html", ".css", ".js")]
    for page in pages:
        load = FOREIGN.search(page.read_text(encoding="utf-8"))
        if load:
            raise ExtensionError(f"{page} loads from another server: {load.group()}")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    app.add_directive("public", Public)
    # Napoleon, which reads the sections, comes between: its priority is 500.
    app.connect("autodoc-process-docstring", mark_examples, priority=400)
    app.connect("autodoc-process-docstring", restore_attribute, priority=600)
    app.connect("build-finished", refuse_foreign)
    # A diagram that GitHub draws stands in the site as its text: drawing it takes a script from
    # elsewhere.
    app.add_lexer("mermaid", TextLexer)
    return {"parallel_read_safe": True}
