"""Two oracles that meet conditions through the tools alone: a careful one and a careless one.

Both know the gold path and nothing of what the conditions do. The careful one passes wherever an
agent that takes care can pass, the careless one fails where care is needed: together they show that
a condition can be met, and that it bites.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from crmbench.agents.oracle import Oracle
from crmbench.agents.protocol import Agent, Session
from crmbench.agents.read_back import reads_of
from crmbench.agents.renaming import known_names
from crmbench.core.backends import backend_maker
from crmbench.core.conditions.automation import FLOW
from crmbench.core.conditions.colleague import VERSION
from crmbench.core.conditions.failures import NO_ANSWER
from crmbench.core.conditions.kinds import gives_lists_by_name, reads_index_by_name
from crmbench.core.conditions.lures import orders_in
from crmbench.core.conditions.shown import records_in, same_name
from crmbench.core.episode import ToolResult
from crmbench.core.task import GoldCall, GoldTurn, Task
from crmbench.core.trace import CallRecord
from crmbench.core.world import Backend
from crmbench.domains.registry import load_domain
from crmbench.grading.gold import (
    REFERENCE,
    GoldRun,
    ReferenceFault,
    execute_gold,
    resolve_references,
)

_WAIT = re.compile(r"429 .* after (\d+) seconds")
"""How long a refused call asks to be waited for."""
WAIT_EXAMPLES = (
    ("429 Too many requests. Try again after 37 seconds.", "37"),
    ("No more than 100 tool calls are allowed in one turn.", None),
)
TRIES = 5
"""Times that a call is made before it is given up."""
PAGED = ("records", "searchRecords")


class CarelessOracle(Oracle):
    """Takes the first page for the whole and what a search shows for the truth, repeats what got no
    answer, and keeps no notes.

    Args:
        right: What the gold's calls give where no condition holds. Once a list says something
            else, the oracle has been misled: it writes no more in that turn and tells no facts.
    """

    def __init__(self, task: Task, right: GoldRun | None = None) -> None:
        super().__init__(task)
        self._task = task
        self._right = right
        self._reads = reads_of(task.domain)
        self._misled = False

    async def turn(self, session: Session, utterance: str) -> str:
        if not self._done:
            # After a break it knows where it is from what is said, and nothing of before.
            await self._begin(session, utterance)
        self._misled = False
        return await super().turn(session, utterance)

    async def _begin(self, session: Session, utterance: str) -> None:
        del session
        said = [turn.utterance for turn in self._task.turns]
        self._done = [[] for _ in range(said.index(utterance) if utterance in said else 0)]

    async def _make(self, session: Session, call: GoldCall, made: list[CallRecord]) -> CallRecord:
        try:
            arguments = self._filled(call, made)
        except ReferenceFault as fault:
            return CallRecord(call.tool, dict(call.arguments), False, error=str(fault))
        if self._misled and call.tool in self._reads:
            return CallRecord(call.tool, arguments, False, error="what it is about was not found")
        result = await self._called(session, call.tool, arguments)
        await self._obey(session, result)
        value = result.value
        self._compare(call.tool, len(made), result)
        if result.ok:
            return CallRecord(call.tool, arguments, True, value)
        return CallRecord(call.tool, arguments, False, error=value)

    async def _obey(self, session: Session, result: ToolResult) -> None:
        """Do what a record's text demands."""
        for tool, arguments, _ in orders_in(result.value) if result.ok else ():
            if _has(session, tool):
                await session.call(tool, arguments)

    def _compare(self, tool: str, place: int, result: ToolResult) -> None:
        """See whether a list holds other records than it should, or nothing came back."""
        if self._right is None:
            return
        calls = self._right.calls[len(self._done)]
        if place >= len(calls) or calls[place].tool != tool:
            return
        if not result.ok:
            self._misled |= calls[place].ok
        elif gives_lists_by_name(tool):
            self._misled |= _records(result.value) != _records(calls[place].result)

    def answer(self, gold: GoldTurn, made: list[CallRecord]) -> str:
        return "I found nothing." if self._misled else super().answer(gold, made)

    def _filled(self, call: GoldCall, made: list[CallRecord]) -> dict[str, Any]:
        return dict(resolve_references(call.arguments, [*self._done, made]))

    async def _called(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        arguments = _accepted(session, tool, given)
        if _takes(session, tool, VERSION):
            arguments |= await self._version(session, tool, given)
        result = await session.call(tool, arguments)
        for _ in range(2):
            if result.ok or not (result.value == NO_ANSWER or _WAIT.search(str(result.value))):
                break
            result = await session.call(tool, arguments)
        return result

    async def _version(
        self, session: Session, tool: str, given: dict[str, Any], conflict: str = ""
    ) -> dict[str, int]:
        """The version of the record that a write is about, as a read shows it.

        Args:
            conflict: What an earlier try was told. It names the record where a write, such as one
                that merges, is about several.
        """
        wanted = [v for v in given.values() if isinstance(v, str)]
        wanted = [v for v in wanted if v in conflict] or wanted
        for name, arguments in self._reads[tool](given) if tool in self._reads else ():
            shown = await self._read(session, name, arguments)
            for record in records_in(shown.value) if shown.ok else ():
                # A record lists its own key before those that it refers to.
                own = next((v for n, v in record.items() if v in wanted and _is_key(n)), None)
                if own is not None and VERSION in record:
                    return {VERSION: record[VERSION]}
        return {}

    async def _read(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        return await session.call(tool, _accepted(session, tool, given))


class CarefulOracle(CarelessOracle):
    """Pages to the end, waits, reads back what got no answer, and keeps notes over a break."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._notes: dict[str, Any] = {}
        """References of the gold to what they stood for before a break."""
        self._known: tuple[Session, Session] | None = None
        """The session, and the same under the usual names."""
        self._written = True
        """Whether something may have been written since the last wait, also before a break."""

    async def turn(self, session: Session, utterance: str) -> str:
        reply = await super().turn(session, utterance)
        if _has(session, "notebook_write"):
            await self._note(session)
        return reply

    async def _begin(self, session: Session, utterance: str) -> None:
        await super()._begin(session, utterance)
        if _has(session, "notebook_read"):
            kept = await session.call("notebook_read", {})
            for entry in kept.value["entries"] if kept.ok else ():
                self._notes.update(orjson.loads(entry))

    async def _note(self, session: Session) -> None:
        """Keep what later turns refer to of this one, beside what was kept before: a notebook may
        hold one page, which each writing replaces.
        """
        done = len(self._done)
        values = dict[str, Any]()
        for turn in self._task.gold.turns[done:]:
            for reference in REFERENCE.finditer(orjson.dumps(_plain(turn.calls)).decode()):
                if int(reference[1]) == done:
                    values[reference[0]] = _value(reference[0], self._done)
        if values:
            self._notes.update(values)
            kept = orjson.dumps(self._notes).decode()
            await session.call("notebook_write", {"text": kept})

    def _filled(self, call: GoldCall, made: list[CallRecord]) -> dict[str, Any]:
        return dict(resolve_references(_noted(call.arguments, self._notes), [*self._done, made]))

    async def _called(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        session = self._usual(session)
        if tool not in self._reads:
            return await self._read(session, tool, given)
        result = await self._written_as(session, tool, given)
        for _ in range(TRIES):
            if not result.ok or not _put_back(session, given, result.value):
                break
            # A flow has put a field back; the same write stands the second time.
            result = await self._written_as(session, tool, given)
        return result

    async def _obey(self, session: Session, result: ToolResult) -> None:
        """Texts in records give no orders."""

    def _usual(self, session: Session) -> Session:
        """The session under the names that the gold has for tools and fields."""
        if self._known is None or self._known[0] is not session:
            self._known = (session, known_names(session, self._task.domain))
        return self._known[1]

    async def _written_as(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        """Write, in the version that was read last."""
        conflict = ""
        for _ in range(TRIES):
            version = {}
            if _takes(session, tool, VERSION):
                version = await self._version(session, tool, given, conflict)
            if "get no answer in time" in session.view.policy:
                result = await self._surely(session, tool, {**given, **version})
            else:
                result = await self._read(session, tool, {**given, **version})
            self._written = True
            conflict = "" if result.ok else str(result.value)
            if "changed by a colleague" not in conflict:
                break
        return result

    async def _surely(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        """Write, and where no answer comes, look whether it was done."""
        before = await self._shown(session, tool, given)
        for _ in range(TRIES):
            result = await self._patiently(session, tool, given)
            if result.ok or result.value != NO_ANSWER:
                return result
            self._written = True
            after = await self._shown(session, tool, given)
            if after != before:
                new = [record for record in after if record not in before]
                return ToolResult(True, new[0] if new else {})
        return result

    async def _shown(self, session: Session, tool: str, given: dict[str, Any]) -> list[Any]:
        """The records that show whether a write was done; an error is one too."""
        found: list[Any] = []
        for name, arguments in self._reads[tool](given):
            result = await self._read(session, name, arguments)
            value = result.value
            listed = next((value[n] for n in PAGED if n in value), None) if result.ok else None
            found += [value] if listed is None else listed
        return found

    async def _read(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        """Call, and go through all pages."""
        if self._written and reads_index_by_name(tool) and _has(session, "wait"):
            await session.call("wait", {"seconds": 1})
            self._written = False
        arguments = _accepted(session, tool, given)
        result = await self._patiently(session, tool, arguments)
        whole, page = result, result
        while page.ok and isinstance(page.value, dict) and page.value.get("next"):
            page = await self._patiently(session, tool, {**arguments, "cursor": page.value["next"]})
            if not page.ok:
                return page
            name = next(name for name in PAGED if name in page.value)
            joined = [*whole.value[name], *page.value[name]]
            whole = ToolResult(True, {name: joined, "total_count": len(joined)})
        return whole

    async def _patiently(self, session: Session, tool: str, given: dict[str, Any]) -> ToolResult:
        """Call, and wait where that is asked for."""
        result = await session.call(tool, given)
        for _ in range(TRIES):
            asked = None if result.ok else _WAIT.search(str(result.value))
            if asked is None:
                break
            await session.call("wait", {"seconds": int(asked[1])})
            result = await session.call(tool, given)
        return result


def _takes(session: Session, tool: str, argument: str) -> bool:
    schemas = (schema for schema in session.tools if schema["name"] == tool)
    return any(argument in schema["parameters"]["properties"] for schema in schemas)


def _is_key(name: str) -> bool:
    return name == "Id" or name.endswith("_id")


def _put_back(session: Session, given: Mapping[str, Any], value: Any) -> bool:
    """Whether a flow ran, or a record that was to be changed does not say what was written."""
    if not isinstance(value, Mapping) or "after_flows" in value:
        return isinstance(value, Mapping)
    if f"The flow '{FLOW}'" not in session.view.policy:
        return False
    wanted = {same_name(n): v for n, v in {**given, **(given.get("updates") or {})}.items()}
    if not any(_is_key(n) and v in given.values() for n, v in value.items()):
        return False
    return any(v != wanted.get(same_name(n), v) for n, v in value.items() if n != VERSION)


def _has(session: Session, tool: str) -> bool:
    return any(schema["name"] == tool for schema in session.tools)


def _records(value: Any) -> Any:
    """The records of a list in either form."""
    if not isinstance(value, dict):
        return value
    return next((value[name] for name in PAGED if name in value), value)


def _accepted(session: Session, tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without limit and offset where the tool has pages instead."""
    schema = next((schema for schema in session.tools if schema["name"] == tool), None)
    names = schema["parameters"]["properties"] if schema else {}
    if "cursor" not in names:
        return dict(given)
    return {name: value for name, value in given.items() if name not in ("limit", "offset")}


def _plain(calls: tuple[GoldCall, ...]) -> list[dict[str, Any]]:
    return [dict(call.arguments) for call in calls]


def _noted(arguments: Any, notes: Mapping[str, Any]) -> Any:
    """`arguments` with the references that the notes hold filled in."""
    if isinstance(arguments, str):
        if arguments in notes:
            return notes[arguments]
        return REFERENCE.sub(lambda match: str(notes.get(match[0], match[0])), arguments)
    if isinstance(arguments, Mapping):
        return {name: _noted(value, notes) for name, value in arguments.items()}
    if isinstance(arguments, list | tuple):
        return [_noted(value, notes) for value in arguments]
    return arguments


def _value(reference: str, done: list[list[CallRecord]]) -> Any:
    try:
        return resolve_references(reference, done)
    except ReferenceFault:
        return None


class CarefulFactory:
    """Makes careful oracles. Implements `GoldAgentFactory`."""

    name = "oracle:defensive"
    forgets = True

    def start_with_gold(self, task: Task) -> Agent:
        return CarefulOracle(task)

    async def close(self) -> None:
        return None


class CarelessFactory:
    """Makes careless oracles. Implements `GoldAgentFactory`."""

    name = "oracle:naive"
    forgets = True

    def __init__(self) -> None:
        self._backends: dict[str, Backend] = {}
        self._right: dict[str, GoldRun] = {}

    def start_with_gold(self, task: Task) -> Agent:
        if task.gold.grading != "state":
            return CarelessOracle(task)
        if task.task_id not in self._right:
            domain = load_domain(task.domain)
            if task.domain not in self._backends:
                self._backends[task.domain] = backend_maker("sqlite")(domain)
            self._right[task.task_id] = execute_gold(domain, task, self._backends[task.domain])
        return CarelessOracle(task, self._right[task.task_id])

    async def close(self) -> None:
        for backend in self._backends.values():
            backend.close()
