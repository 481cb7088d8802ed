"""How the code is built: no cycles, small files and functions, one name a thing, docstrings."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "crmbench"
MAX_FUNCTION = 80
"""Lines."""
MAX_FILES = 25
"""Python files of a package at one level."""
DOCUMENTED = 0.90
"""Share of public classes, functions and methods with a docstring."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


# Class names that stand for two things, and why both may bear one.
SHARED_NAMES = {
    "Names": "a condition that renames tools and fields; the names that a paraphrase must keep",
    "Decision": "by a handbook, of an item; of a reading that the grader is not certain of",
    "Article": "of a condition's handbook; of the service org's knowledge base",
    "Directory": "of names in a world's banks; of who is who, for the grader",
    "Item": "a product of the service org; a piece of work that the gate tries",
    "Reply": "each private to its room",
    "Condition": "of a handbook's rule; laid over a task",
    "Conversation": "what the heuristic remembers; what was said in a case",
    "Kind": "of an argument; of a condition",
    "Question": "to the judge; of the gate on work",
    "Said": "in a handbook's words; in a paraphrase",
    "Answer": "what a task asks for; what a judge's model says",
    "Episode": "an episode being played; one read from a run's directory",
    "Fault": "a fault of a task; a fault that the fake server makes on purpose",
    "Finding": "a line of `doctor`; a mention found in a text",
    "Limits": "on requests to a model; on what a server gives to a client",
    "Message": "of a conversation's record; of a model's wire format",
    "Played": "each a view of an episode's result, private to its module",
    "Sandbox": "the same thing: that of `crmbench.api` takes the domain by its name as well",
    "Step": "a turn of a draft; a step of a play's journal",
    "Summary": "of an agent's episodes; of a run, which holds one",
    "Tokens": "counted, of an estimate; that open a server's sessions",
    "_Run": "private to their modules: a run as each page draws it",
}
# Methods that the parser calls by the names of the grammar's rules: no interface for people.
CALLBACKS = ("crmbench.salesforce.soql.builder", "crmbench.salesforce.sosl.parser")


@cache
def trees() -> dict[str, ast.Module]:
    """The modules of the package by dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ["crmbench", *path.relative_to(SOURCE).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def top_imports(node: ast.AST, modules: set[str]) -> Iterator[str]:
    """What is imported outside functions, under TYPE_CHECKING too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                yield full if full in modules else child.module
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        else:
            yield from top_imports(child, modules)


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules each of which leads to every other."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        left = list(graph[start])
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += graph[name]
        reach[start] = seen
    found = {
        frozenset(name for name in reach[start] if start in reach[name])
        for start in graph
        if start in reach[start]
    }
    return [set(group) for group in sorted(found, key=sorted)]


def test_the_search_for_cycles_finds_one() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [{"b", "c"}]


def test_no_module_imports_itself_by_way_of_others() -> None:
    modules = set(trees())
    graph = {
        name: {found for found in top_imports(tree, modules) if found in modules} - {name}
        for name, tree in trees().items()
    }
    assert sum(map(len, graph.values())) > 500, "the imports were read"
    assert cycles(graph) == []


def lines_of(function: Function) -> int:
    """From the first decorator to the end, docstring and signature included."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return (function.end_lineno or first) - first + 1


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


@pytest.mark.parametrize("name", trees())
def test_functions_are_short(name: str) -> None:
    for function in functions(trees()[name]):
        lines = lines_of(function)
        assert lines <= MAX_FUNCTION, f"{name}.{function.name} has {lines} lines"


def test_packages_are_small() -> None:
    for folder in {path.parent for path in SOURCE.rglob("*.py")}:
        assert len(list(folder.glob("*.py"))) <= MAX_FILES, folder


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for module, tree in trees().items():
        if ".hard" in module:
            continue  # Each hard set has a world of its own, which no other room imports.
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module)
    twice = {name: found for name, found in places.items() if len(found) > 1}
    assert {n: f for n, f in twice.items() if n not in SHARED_NAMES} == {}
    assert len(places) > 300, "the classes were read"


def public(body: list[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    """The public classes, functions and methods."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node.body)


def is_stub(node: ast.ClassDef | Function) -> bool:
    """Whether it is a part of a Protocol, whose body is ``...``."""
    return len(node.body) == 1 and ast.unparse(node.body[0]) == "..."


def share_documented(prefix: str = "crmbench") -> tuple[int, int]:
    """How many of the public names below a package have a docstring, and how many there are."""
    nodes = [
        node
        for name, tree in trees().items()
        if f"{name}.".startswith(f"{prefix}.") and name not in CALLBACKS
        for node in public(tree.body)
        if not is_stub(node)
    ]
    return sum(ast.get_docstring(node) is not None for node in nodes), len(nodes)


def test_what_is_public_says_what_it_is() -> None:
    documented, of = share_documented()
    assert documented >= DOCUMENTED * of, f"{documented} of {of}"


def silent_raises(function: Function) -> bool:
    """Whether it raises by itself and its docstring does not say what. Two kinds are left out: that
    of a tool is what agents read, who are told of errors as they meet them, and that of a command
    is its help, where exit codes stand.
    """
    if any(ast.unparse(decorator).startswith("tool(") for decorator in function.decorator_list):
        return False
    if "Examples:" in (ast.get_docstring(function) or ""):
        return False
    raising = any(
        isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) for node in own(function)
    )
    return raising and "Raises:" not in (ast.get_docstring(function) or "")


def own(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of functions inside it."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            left += ast.iter_child_nodes(node)


@pytest.mark.parametrize("module", trees())
def test_what_raises_says_so(module: str) -> None:
    found = [
        node.name
        for node in public(trees()[module].body)
        if isinstance(node, Function) and silent_raises(node)
    ]
    assert found == []
