"""``crmbench play``: take a conversation one command at a time, as an agent meets it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crmbench.cli import options as o
from crmbench.errors import InputError

if TYPE_CHECKING:
    from crmbench.core.episode import ToolResult
    from crmbench.core.task import TaskView
    from crmbench.runner.play import Play
    from crmbench.runner.remote_play import RemotePlay

play = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode=None,
)

BREAK = (
    "--- The session breaks here. Go on as somebody who remembers nothing of what was said and "
    "done "
    "before: what you have is the CRM and notebook_read. ---"
)

OVER = "The conversation is over."

Directory = Annotated[
    Path,
    typer.Option("--dir", envvar="CRMBENCH_PLAY", help="The play's directory."),
]
Place = Annotated[
    str,
    typer.Option(
        "--dir",
        envvar="CRMBENCH_PLAY",
        help="The play's directory, or the address of a session that a server holds.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@play.callback()
def choose(
    context: typer.Context,
    web: Annotated[
        str | None,
        typer.Option("--web", metavar="FILE", help="Play a task of this set in a browser."),
    ] = None,
    task: Annotated[str, typer.Option(help="With --web: its number, from 1, or its id.")] = "1",
    agent: Annotated[str, typer.Option(help="With --web: who plays, for reports.")] = "person",
    out: Annotated[
        Path, typer.Option("--out", help="With --web: where the run goes that it becomes.")
    ] = Path("runs/played"),
    host: Annotated[str, typer.Option(help="With --web: the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --web; 0: a free one.")] = 8802,
    browser: Annotated[bool, typer.Option("--open", help="With --web: open the browser.")] = False,
) -> None:
    """Take a conversation one command at a time, as an agent meets it; with --web in a browser.

    Examples:

      crmbench play start demo --task 1 --dir plays/one

      crmbench play call --dir plays/one client_search '{"name": "Acme"}'

      crmbench play reply --dir plays/one 'There is one.'

      crmbench play status --dir plays/one

      crmbench grade plays/one

      crmbench play --web demo --task 1

    Several calls go into one command (TOOL JSON TOOL JSON …), and call, tools and status take
    --json.
    """
    if context.invoked_subcommand is not None:
        return
    if web is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
    from crmbench.errors import needs_extra

    with needs_extra("serve", "crmbench play --web"):
        from crmbench.web.play import play_until_stopped
    play_until_stopped(web, task, agent, out, host, port, open_browser=browser)


@play.command("start")
def start(
    file: Annotated[
        str, typer.Argument(help="Conversations: as for run, such as demo or sales/standard.")
    ],
    directory: Directory,
    task: Annotated[str, typer.Option(help="Its number in the file, from 1, or its id.")] = "1",
    agent: Annotated[str, typer.Option(help="Who plays, for reports.")] = "player",
    tool_limit: Annotated[int, typer.Option(min=1, help="Tool calls a turn at most.")] = 100,
    condition: o.Condition = "",
    condition_seed: o.ConditionSeed = 0,
    budget: o.Budget = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="Name the tools only; `play tools` describes them.")
    ] = False,
) -> None:
    """Begin, and print all that an agent is told: house rules, date, tools, the first words.

    Examples:

      crmbench play start demo --task 3 --dir plays/three

      crmbench play start sales/standard --task 17 --dir plays/one --agent mine
    """
    from crmbench.cli.console import say
    from crmbench.runner.play import start_play

    begun = start_play(
        directory,
        file,
        task,
        agent=agent,
        max_calls=tool_limit,
        condition=condition,
        condition_seed=condition_seed,
        budget=budget,
    )
    with begun:
        say(_introduction(begun.episode.view, brief))
        say(_heard(begun.heard[-1]))


@play.command("call", context_settings={"ignore_unknown_options": True})
def call(
    directory: Place,
    steps: Annotated[
        list[str] | None,
        typer.Argument(
            help="TOOL JSON, again and again; left out or '-': lines of JSON on standard input, "
            'each ["TOOL", {…}] or {"tool": "TOOL", "arguments": {…}}.',
            metavar="[TOOL [JSON]]...",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run tools, one after the other, and print what each gives.

    All of the command is read before anything runs: with a mistake in it nothing is called.

    Examples:

      crmbench play call --dir plays/one client_search '{"name": "Acme"}'

      crmbench play call --dir plays/one client_search '{}' deal_search '{"stage": "Closing"}'
    """
    from crmbench.cli.console import say

    with _opened(directory) as opened:
        known = {tool["name"] for tool in opened.tools}
        wanted = steps if steps and steps != ["-"] else None
        calls = list(_pairs(wanted, known) if wanted else _lines(sys.stdin.read()))
        if not calls:
            raise InputError("no call is named", expected="TOOL JSON")
        for name, arguments in calls:
            _show(opened.calls + 1, name, opened.call(name, arguments), as_json)
        if not as_json:
            say(_counted(opened))


@play.command("reply", context_settings={"ignore_unknown_options": True})
def reply(
    text: Annotated[str, typer.Argument(help="What you say to the user; '-': standard input.")],
    directory: Place,
) -> None:
    """Answer the user, and print what they say next.

    Examples:

      crmbench play reply --dir plays/one 'The deal is won.'

      crmbench play reply --dir plays/one - < answer.txt
    """
    from crmbench.cli.console import say

    with _opened(directory) as opened:
        before = opened.forgotten
        heard = opened.reply(sys.stdin.read() if text == "-" else text)
        if opened.forgotten > before:
            say(BREAK)
        say(OVER if heard is None else _heard(heard))


@play.command("status")
def status(
    directory: Place,
    rules: Annotated[
        bool, typer.Option("--rules", help="Also what was told at the start.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the conversation so far, and how many calls were made.

    After a break of the session, or where asked for, also what every session is told at its start:
    the house rules, the date, who is spoken to, the names of the tools.

    Examples:

      crmbench play status --dir plays/one

      crmbench play status --dir plays/one --rules
    """
    from crmbench.cli.console import print_json, say
    from crmbench.runner.play import Play

    with _opened(directory) as opened:
        if as_json:
            print_json(_state(opened))
            return
        if (opened.forgotten or rules) and isinstance(opened, Play):
            say(_introduction(opened.episode.view, brief=True))
        if opened.forgotten:
            say(BREAK)
        for number, words in list(enumerate(opened.heard))[opened.forgotten :]:
            say(_heard(words))
            if number < len(opened.said):
                say(f"you: {opened.said[number]}")
        say(_counted(opened))
        if opened.over:
            say(f"{OVER} {opened.ending}".strip())


@play.command("tools")
def tools(
    directory: Place,
    name: Annotated[
        str | None, typer.Argument(help="One tool, with its whole schema; all if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe the tools.

    Examples:

      crmbench play tools --dir plays/one

      crmbench play tools --dir plays/one client_search
    """
    from crmbench.cli.console import print_json, say

    with _opened(directory) as opened:
        schemas = opened.tools
    if name is not None:
        schemas = tuple(schema for schema in schemas if schema["name"] == name)
        if not schemas:
            raise InputError(f"there is no tool '{name}'", expected="a name that `tools` lists")
    if as_json or name is not None:
        print_json(schemas if name is None else schemas[0])
        return
    for schema in schemas:
        say(_outline(schema))


def _introduction(view: TaskView, brief: bool) -> str:
    parts = [f"Today is {view.today}."]
    if view.persona:
        parts.append(f"The person you talk to is {view.persona}.")
    parts += ["", "HOUSE RULES", view.policy.strip(), "", "TOOLS"]
    if brief:
        parts.append(", ".join(schema["name"] for schema in view.tools))
    else:
        parts += [_outline(schema) for schema in view.tools]
    return "\n".join([*parts, ""])


def _outline(schema: dict[str, Any]) -> str:
    """A tool in a few lines: its arguments as a signature, what it does, what each one means."""
    parameters = schema["parameters"]
    required = set(parameters.get("required", ()))
    shown, told = [], []
    for name, about in parameters.get("properties", {}).items():
        shown.append(f"{name}{'' if name in required else '?'}: {_type(about)}")
        if about.get("description"):
            told.append(f"    {name}: {about['description']}")
    return "\n".join([f"{schema['name']}({', '.join(shown)})", f"  {schema['description']}", *told])


def _type(about: dict[str, Any]) -> str:
    if "enum" in about:
        return " | ".join(f'"{option}"' for option in about["enum"])
    if about.get("type") == "array":
        return f"[{_type(about.get('items', {}))}]"
    return str(about.get("type", "any"))


def _counted(opened: Play | RemotePlay) -> str:
    more = ""
    if not opened.over:
        if opened.calls_left is not None:
            more = f"; left before your next reply: {opened.calls_left}"
        if opened.budget_left is not None:
            more += f"; left for the whole conversation: {opened.budget_left}"
    return f"Calls so far: {opened.calls}{more}"


def _heard(words: str) -> str:
    return f"user: {words}"


def _opened(place: str) -> Play | RemotePlay:
    """The play of a directory, or the session of an address."""
    if place.startswith(("http://", "https://")):
        from crmbench.runner.remote_play import RemotePlay

        return RemotePlay(place)
    from crmbench.runner.play import Play

    return Play(Path(place))


def _show(number: int, name: str, result: ToolResult, as_json: bool) -> None:
    import orjson

    from crmbench.cli.console import say
    from crmbench.core.conditions.failures import NO_ANSWER

    options = orjson.OPT_NON_STR_KEYS
    if as_json:
        data = {"call": number, "tool": name, "ok": result.ok, "result": result.value}
        say(orjson.dumps(data, option=options).decode())
    elif result.ok:
        say(f"[{number}] {name}: {orjson.dumps(result.value, option=options).decode()}")
    else:
        # A write that got no answer was not refused: it may have been made.
        said = ":" if result.value == NO_ANSWER else " was refused:"
        say(f"[{number}] {name}{said} {result.value}")


def _state(opened: Play | RemotePlay) -> dict[str, Any]:
    said = [*opened.said, None]
    return {
        "over": opened.over,
        "calls": opened.calls,
        "calls_left": opened.calls_left,
        "budget_left": opened.budget_left,
        "turns": [
            {"user": words, "reply": said[number]}
            for number, words in list(enumerate(opened.heard))[opened.forgotten :]
        ],
    }


def _pairs(words: list[str], known: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and arguments from the words of a command; a name may stand without arguments."""
    place = 0
    while place < len(words):
        name = words[place]
        place += 1
        if name.lstrip().startswith(("{", "[", '"')):
            raise InputError(
                f"{name[:60]} stands where a tool's name belongs", expected="TOOL JSON"
            )
        if place == len(words) or words[place] in known:
            yield name, {}
            continue
        yield name, _arguments(words[place], f"the arguments of {name}")
        place += 1


def _lines(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        data = _json(line, f"line {number}")
        if isinstance(data, list) and 1 <= len(data) <= 2:
            name, arguments = data[0], data[1] if len(data) == 2 else {}
        elif isinstance(data, dict) and "tool" in data:
            name, arguments = data["tool"], data.get("arguments", {})
        else:
            name, arguments = None, None
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise InputError(
                "is no call; nothing was called",
                field=f"line {number}",
                expected='["TOOL", {…}] or {"tool": "TOOL", "arguments": {…}}',
            )
        yield name, arguments


def _arguments(text: str, field: str) -> dict[str, Any]:
    data = _json(text, field)
    if not isinstance(data, dict):
        raise InputError(
            f"not an object: {text[:60]}; nothing was called",
            field=field,
            expected='an object such as {"name": "Acme"}',
        )
    return data


def _json(text: str, field: str) -> Any:
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        # Where it goes wrong, with the text around, since quoting for a shell is what fails.
        near = text[max(0, error.pos - 20) : error.pos + 20]
        raise InputError(
            f"not JSON at character {error.pos + 1}, near «{near}»: {error.msg}; "
            "nothing was called",
            field=field,
            expected='an object such as {"name": "Acme"}, in single quotes for the shell',
        ) from error


def register(app: typer.Typer) -> None:
    app.add_typer(play, name="play")
