"""Other names for tools and fields, and tools that are of no use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from crmbench.core.arguments import TEXT
from crmbench.core.conditions.base import ChanceCondition, Draw, wrapped
from crmbench.core.sandbox import Sandbox
from crmbench.core.tool import Param, Tool, Toolbox
from crmbench.core.trace import CallRecord

TOKENS: Mapping[str, str] = {
    "opportunity": "prospect",
    "opportunities": "prospects",
    "client": "firm",
    "clients": "firms",
    "contact": "person",
    "contacts": "persons",
    "quote": "offer",
    "quotes": "offers",
    "contract": "agreement",
    "contracts": "agreements",
    "note": "memo",
    "notes": "memos",
    "case": "ticket",
    "cases": "tickets",
    "article": "guide",
    "search": "lookup",
    "get": "fetch",
    "issue": "problem",
    "create": "register",
    "modify": "revise",
    "amount": "sum",
    "stage": "phase",
    "probability": "likelihood",
    "owner": "keeper",
    "priority": "urgency",
    "agent": "handler",
    "valid": "good",
    "comment": "remark",
}
"""Words of names, and what stands in their place; none of these occurs in a domain's own names."""
_NAME = re.compile(r"[a-z]+(?:_[a-z0-9]+)*\Z")
"""A name that is made of words: ``quote_id``, not ``CaseNumber``."""
NAME_EXAMPLES = (("quote_id", True), ("amount", True), ("CaseNumber", False), ("quote id", False))
_DISTRACTORS = tuple(
    f"{verb}_{thing}"
    for thing in (
        *("campaign", "webinar", "invoice", "shipment", "survey", "territory", "forecast"),
        *("timesheet", "newsletter", "warranty", "asset", "visit", "coupon", "badge", "fleet"),
        *("vacancy", "parcel", "licence", "room", "locker"),
    )
    for verb in ("view", "find", "export", "count", "archive")
)


class Names(ChanceCondition):
    """Tools, arguments and fields have other names, and stand among tools of modules that the org
    does not use. Records of calls keep the usual names, so that scores and reports do not change.
    """

    def __init__(self, draw: Draw, distractors: int) -> None:
        super().__init__(draw)
        self._count = min(distractors, len(_DISTRACTORS))
        self._usual: dict[str, str] = {}
        self._tokens: dict[str, str] = {}

    def told(self) -> str:
        return (
            "Tools, arguments and fields have names of this org's own; their descriptions say what "
            "they are. Some tools belong to modules that the org does not use."
        )

    def policy(self, policy: str) -> str:
        # The rules quote fields and tools in backticks.
        return re.sub(r"`([a-z0-9_]+)`", lambda m: f"`{renamed(m[1], TOKENS)}`", policy)

    def tools(self, toolbox: Toolbox) -> Toolbox:
        self._tokens = tokens_for(toolbox)
        changed = [self._renamed(tool) for tool in toolbox.by_name.values()]
        self._usual = dict(zip((t.name for t in changed), toolbox.by_name, strict=True))
        useless = sorted(_DISTRACTORS, key=lambda name: self.draw.fraction(name))
        return Toolbox([*changed, *(_useless(name) for name in useless[: self._count])])

    def _renamed(self, tool: Tool) -> Tool:
        params = tuple(replace(p, name=renamed(p.name, self._tokens)) for p in tool.params)
        params = tuple(replace(p, label="") for p in params)
        usual = {new.name: old.name for new, old in zip(params, tool.params, strict=True)}

        def function(handle: Any, **arguments: Any) -> Any:
            return tool.function(handle, **{usual[n]: _back(v) for n, v in arguments.items()})

        def _back(value: Any) -> Any:
            return with_names(value, {new: old for old, new in self._tokens.items()})

        return replace(
            wrapped(tool, function), name=renamed(tool.name, self._tokens), params=params
        )

    def usual(self, name: Any, arguments: Any) -> tuple[Any, Any]:
        back = {new: old for old, new in self._tokens.items()}
        if not isinstance(name, str) or name not in self._usual:
            return name, arguments
        return self._usual[name], with_names(arguments, back)

    def after(self, sandbox: Sandbox, record: CallRecord) -> CallRecord:
        del sandbox
        name, arguments = self.usual(record.tool, record.arguments)
        result = with_names(record.result, self._tokens)
        return replace(record, tool=name, arguments=arguments, result=result)


def tokens_for(toolbox: Toolbox) -> dict[str, str]:
    """The words that are exchanged in a toolbox: those whose new word it has not already."""
    names: Iterable[str] = (
        name for t in toolbox.by_name.values() for name in (t.name, *(p.name for p in t.params))
    )
    used = {word for name in names for word in name.split("_")}
    return {old: new for old, new in TOKENS.items() if new not in used}


def renamed(name: str, tokens: Mapping[str, str]) -> str:
    """A name with other words."""
    if not _NAME.match(name):
        return name
    return "_".join(tokens.get(word, word) for word in name.split("_"))


def with_names(value: Any, tokens: Mapping[str, str]) -> Any:
    """A JSON value with other names for its fields."""
    if isinstance(value, Mapping):
        return {renamed(str(n), tokens): with_names(v, tokens) for n, v in value.items()}
    if isinstance(value, list):
        return [with_names(each, tokens) for each in value]
    return value


def _useless(name: str) -> Tool:
    thing = name.partition("_")[2]

    def function(handle: Any, reference: str) -> dict[str, Any]:
        del handle
        return {"module": thing, "reference": reference, "records": [], "enabled": False}

    reference = Param("reference", TEXT, True, f"of the {thing}")
    verb = name.partition("_")[0].capitalize()
    return Tool(name, f"{verb} a {thing} of the {thing} module.", False, (reference,), function)
