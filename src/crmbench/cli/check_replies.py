"""``crmbench check-replies``: how well the grader reads replies whose right reading is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crmbench.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crmbench.grading.replies import Judged, Reply


def check_replies(
    replies: Annotated[Path, typer.Argument(help="A file of replies, one JSON object a line.")],
    data: Annotated[
        str, typer.Option("--data", help="The tasks that they are replies to: a file or a name.")
    ] = "demo",
    as_json: o.AsJson = False,
) -> None:
    """Judge right and wrong replies as if the right calls had been made, and say what is misread.

    A line holds task_id, turn (from 1), reply and right (true or false); it may hold respond (what
    was submitted with the answering tool), style (of a right reply) and why (it is wrong). A right
    reply should be accepted, a wrong one rejected; the grader may leave either undecided.

    Examples:

      crmbench check-replies replies.jsonl --data dataset/test.jsonl

      crmbench check-replies replies.jsonl --data dataset/test.jsonl --json
    """
    from crmbench.cli.console import print_json, say
    from crmbench.core.backends import backend_maker
    from crmbench.domains.registry import load_domain
    from crmbench.grading.replies import check_replies as judge_replies
    from crmbench.grading.replies import tally
    from crmbench.runner.task_sets import load_named

    tasks = load_named(data).tasks()
    wanted = list(_read(replies))
    judged: list[Judged] = []
    for name in sorted({task.domain for task in tasks}):
        domain = load_domain(name)
        own = [task for task in tasks if task.domain == name]
        ids = {task.task_id for task in own}
        backend = backend_maker("sqlite")(domain)
        try:
            judged += judge_replies(
                domain, own, [each for each in wanted if each.task_id in ids], backend
            )
        finally:
            backend.close()
    _all_known(wanted, judged)
    counts = tally(judged)
    if as_json:
        print_json(counts)
        return
    for each in judged:
        if not each.agrees:
            say(_line(each))
    for kind, part in counts.items():
        say(
            f"{part['n']:,} {kind} replies: {part['accepted']:,} accepted, "
            f"{part['rejected']:,} rejected, {part['undecided']:,} undecided"
        )


def _read(path: Path) -> Iterator[Reply]:
    from crmbench.errors import InputError
    from crmbench.formats.jsonl import read_objects
    from crmbench.grading.replies import Reply

    for number, data in read_objects(path):
        if isinstance(data, InputError):
            raise data
        yield Reply.from_data(data, number)


def _all_known(replies: list[Reply], judged: list[Judged]) -> None:
    from crmbench.errors import InputError

    known = {each.reply.task_id for each in judged}
    for reply in replies:
        if reply.task_id not in known:
            raise InputError(
                f"there is no task '{reply.task_id}' in the data",
                expected="replies to the tasks of --data",
            )


def _line(each: Judged) -> str:
    reply = each.reply
    kind = "right" if reply.right else "wrong"
    about = f", style {reply.style}" if reply.style else f" ({reply.why})" if reply.why else ""
    found = "; ".join(problem.why for problem in each.problems) or "nothing wrong is found"
    submitted = f" [submitted: {reply.submitted}]" if reply.submitted is not None else ""
    return (
        f"{reply.task_id} turn {reply.turn}, {kind}{about}: {each.outcome.value}\n"
        f"  {reply.text!r}{submitted}\n  {found}"
    )


def register(app: typer.Typer) -> None:
    app.command("check-replies")(check_replies)
