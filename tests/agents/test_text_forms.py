"""What model agents are told, and how what they write is read: the pure parts."""

from __future__ import annotations

import re

import orjson
import pytest

from crmbench.agents.http import _usage
from crmbench.agents.json_text import parse
from crmbench.agents.prompting import (
    preamble,
    preamble_with_tools,
)
from crmbench.agents.text_protocols import parse_tags
from crmbench.core.task import TaskView
from crmbench.core.trace import TokenUsage
from crmbench.errors import AgentError
from crmbench.models.prompt_files import OURS, PromptFiles

TOOLS = ({"name": "client_search", "parameters": {}}, {"name": "add", "parameters": {}})
VIEW = TaskView("sales", "2030-01-02", "RULE-1: pay $5 at most.", TOOLS, "Ada Pell, rep")


# --- one JSON object ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        # What stands in a fence goes before what stands around it.
        ('{"tool": "b"}\n```json\n{"tool": "a"}\n```', "a", {}),
        ('{"tool": "a"} {"tool": "b"}', "a", {}),
        ('{"tool": "a", "args": 5} {"tool": "b"}', "b", {}),
        ('{"note": 1} {"tool": "b"}', "b", {}),
        ('{"name": "x", "tool_name": "a"}', "a", {}),
        ('{"tool_name": 7, "action": "a"}', "a", {}),
        ('{"tool": "a", "input": {"p": 1}, "args": {"q": 2}}', "a", {"q": 2}),
        ('{"tool": "a", "args": {"t": "x,}"},}', "a", {"t": "x}"}),
        ('{"tool": "a", "args": {"t": "{\\"tool\\": \\"b\\"}"}}', "a", {"t": '{"tool": "b"}'}),
    ],
)
def test_the_first_usable_object_counts(text: str, tool: str, arguments: dict[str, object]) -> None:
    step = parse(text)
    assert (step.tool, step.arguments, step.reply) == (tool, arguments, None)


@pytest.mark.parametrize("word", ["none", "RESPOND", "Reply", "null"])
def test_a_tool_that_is_none_is_a_reply(word: str) -> None:
    step = parse(orjson.dumps({"tool": word, "args": {"x": 1}, "thought": "why"}).decode())
    assert (step.tool, step.arguments, step.reply, step.reasoning) == (None, {}, "", "why")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing", "holds no JSON object"),
        ('{"x": 1}', "names neither a tool nor a reply"),
        ('{"tool": "a", "args": "x"}', "arguments of 'a' are no JSON object"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    with pytest.raises(AgentError, match=problem):
        parse(text)


# --- tags -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tool", "reply"),
    [
        ('<execute>{"tool": "a"}</execute><respond>Hi</respond>', "a", None),
        ('<respond> Hi </respond><execute>{"tool": "a"}</execute>', None, "Hi"),
        ('<EXECUTE>{"tool": "a"}', "a", None),
        ("<respond>Cut off\nhere", None, "Cut off\nhere"),
        ("<thought><respond>no</respond></thought><respond>yes</respond>", None, "yes"),
        ('<respond>{"tool": "a"}</respond>', None, '{"tool": "a"}'),
    ],
)
def test_the_first_tag_counts_and_thoughts_do_not(
    text: str, tool: str | None, reply: str | None
) -> None:
    step = parse_tags(text)
    assert (step.tool, step.reply) == (tool, reply)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"tool": "a"}', "neither <execute> nor <respond>"),
        ('<execute>{"reply": "Hi"}</execute>', "names no tool"),
        ("<execute>client_search()</execute>", "holds no JSON object"),
        ("<thought><respond>Hi</respond></thought>", "neither <execute> nor <respond>"),
    ],
)
def test_tags_without_a_step_are_refused(text: str, problem: str) -> None:
    with pytest.raises(AgentError, match=problem):
        parse_tags(text)


# --- prompts --------------------------------------------------------------------------------------


def test_a_preamble_has_the_day_the_person_and_the_rules() -> None:
    told = preamble(VIEW)
    assert "Today is 2030-01-02. The person is Ada Pell, rep." in told
    assert "RULE-1: pay $5 at most." in told, "a dollar sign in a policy is no slot"
    assert "$today" not in told
    nobody = preamble(TaskView("sales", "2030-01-02", "", TOOLS))
    assert "The person is" not in nobody
    assert "client_search" not in told


@pytest.mark.parametrize("domain", ["sales", "service"])
@pytest.mark.parametrize("variant", ["", "short_format", "with_examples", "without_instructions"])
def test_an_agent_is_not_told_of_another_department(domain: str, variant: str) -> None:
    view = TaskView(domain, "2030-01-02", "The house has no rules.", TOOLS)
    told = preamble(view, PromptFiles(variant)).casefold()
    assert "colleague" in told
    assert not {"sales", "support", "service"} & set(re.findall("[a-z]+", told))


@pytest.mark.parametrize("framework", ["act", "react", "json"])
def test_a_text_protocol_is_told_the_tools_and_its_form(framework: str) -> None:
    told = preamble_with_tools(VIEW, framework)
    assert told.startswith(preamble(VIEW))
    assert told.endswith(OURS.text(framework))
    lines = told.splitlines()
    assert [orjson.loads(line) for line in lines if line.startswith('{"name"')] == list(TOOLS)


# --- usage that a remote agent states -------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "counted"),
    [
        (None, TokenUsage()),
        ([1], TokenUsage()),
        ({"prompt_tokens": -1, "completion_tokens": "7"}, TokenUsage()),
        (
            {"prompt_tokens": 1, "completion_tokens": 2, "cached_tokens": 3, "reasoning_tokens": 4},
            TokenUsage(prompt_tokens=1, completion_tokens=2, cached_tokens=3, reasoning_tokens=4),
        ),
    ],
)
def test_only_counts_are_counted(stated: object, counted: TokenUsage) -> None:
    assert _usage(stated) == counted
