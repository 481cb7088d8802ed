"""``crmbench grade``: judge an old run again, without playing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from crmbench.core.trace import Decision
    from crmbench.grading.record import EpisodeRecord
    from crmbench.report.summary import Summary
    from crmbench.roles.judge import Judge
    from crmbench.runner.executors.grading import Stored
    from crmbench.runner.play_grade import GradedPlay
    from crmbench.runner.regrade import Regraded


def grade(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="A directory that `crmbench run --out` made; or any number that `crmbench play "
            "start` made.",
            metavar="RUN|PLAY...",
            parser=o.here,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="A new directory for the graded run.")
    ] = None,
    judge: o.JudgeModel = None,
    judge_all: o.JudgeAll = False,
    judge_weight: o.JudgeWeight = 0.7,
    judge_pass: o.JudgePass = 0.8,
    prompts: o.Prompts = "",
    without_judge: Annotated[
        bool, typer.Option("--without-judge", help="Leave out what the run's judge said.")
    ] = False,
    undecided: Annotated[
        bool, typer.Option("--undecided", help="List the readings that leave episodes undecided.")
    ] = False,
    decide: Annotated[
        Path | None,
        typer.Option("--decide", help="A file of such readings with 'right' and 'by' filled in."),
    ] = None,
    concurrency: o.Concurrency = 8,
    workers: o.Workers = None,
    executor: o.ExecutorName = "",
    as_json: o.AsJson = False,
) -> None:
    """Judge the stored traces of a run with today's rules, and say which verdicts change.

    Plays are replayed and judged; with --out they become a run, which report and compare show.

    No agent is asked, and no model but the judge that you name: a trace holds everything that a
    verdict needs, and what a judge said in the run is kept with it.

    Examples:

      crmbench grade runs/mine

      crmbench grade runs/mine --out runs/mine-graded

      crmbench grade plays/one plays/two --out runs/played

      crmbench grade runs/mine --undecided --json > open.json

      crmbench grade plays/one --undecided

      crmbench grade runs/mine --decide decided.jsonl --out runs/mine-decided

      crmbench grade runs/mine --judge openai/gpt-4.1 --judge-all --out runs/mine-judged
    """
    from crmbench.formats.remote import kept_at
    from crmbench.runner.executors.spread import workers_asked
    from crmbench.runner.participants import open_judge
    from crmbench.runner.play import is_play
    from crmbench.runner.regrade import regrade

    if judge_all and judge is None:
        raise typer.BadParameter("--judge-all needs a --judge")
    if judge and without_judge:
        raise typer.BadParameter("--judge and --without-judge exclude each other")
    stored: Stored = "none" if without_judge else "stored"
    options = o.chosen(locals(), file="")
    with kept_at(out) as folder:
        if any(is_play(path) for path in runs):
            _grade_plays(runs, folder, judge, undecided, as_json)
        elif len(runs) > 1:
            raise typer.BadParameter("one run at a time is graded; only plays go together")
        else:
            made = _decisions(decide) if decide else None
            asked = partial(regrade, concurrency=concurrency, decisions=made)
            again = partial(asked, workers=workers_asked(workers, executor), executor=executor)
            _grade_run(
                runs[0], folder, again, lambda: open_judge(options) or stored, undecided, as_json
            )


def _grade_run(
    run: Path,
    out: Path | None,
    again: Callable[..., Regraded],
    judge: Callable[[], Judge | Stored],
    undecided: bool,
    as_json: bool,
) -> None:
    from crmbench.cli.console import print_json
    from crmbench.runner.parts import PartedRun, open_run

    opened = open_run(run)
    if isinstance(opened, PartedRun):
        from crmbench.cli.grade_parts import grade_parts

        graded, summary = grade_parts(opened, out, again, judge)
    else:
        graded = again(run, out, judge=judge())
        summary = _figured(run, graded, out)
    if undecided:
        _print_open(graded.episodes, as_json)
    elif as_json:
        print_json({**_figures(graded, summary), "out": str(out) if out else None})
    else:
        _print(graded, summary, out)


def _figured(run: Path, graded: Regraded, out: Path | None) -> Summary:
    """The figures of it; with `out` they are written there, with a report."""
    from crmbench.agents.trivial import TRIVIAL_NAMES
    from crmbench.report.html import write_report
    from crmbench.report.summary import summarise
    from crmbench.runner.run_dir import RunDir

    tasks, config = RunDir(run).tasks(), RunDir(run).config()
    trivial, trials = config.get("agent") in TRIVIAL_NAMES, config.get("trials")
    summary = summarise(tasks, graded.episodes, trivial=trivial, trials=trials)
    if out is not None:
        target = RunDir(out)
        target.write_json("summary.json", summary.to_data())
        write_report([target], out / "report.html")
    return summary


def _decisions(path: Path) -> dict[tuple[str, int, int], list[Decision]]:
    """What a person decided: one JSON object a line, as --undecided gives them, with the answer."""
    from crmbench.errors import InputError
    from crmbench.formats.jsonl import read_objects
    from crmbench.grading.decisions import decision_from

    found: dict[tuple[str, int, int], list[Decision]] = {}
    for number, data in read_objects(path):
        if isinstance(data, InputError):
            raise data
        place, decision = decision_from(data, number)
        found.setdefault(place, []).append(decision)
    return found


def _print_open(episodes: Sequence[EpisodeRecord], as_json: bool) -> None:
    from dataclasses import asdict

    from crmbench.cli.console import print_json, say
    from crmbench.grading.decisions import open_readings

    found = list(open_readings(episodes))
    if as_json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        say(f"{each.task_id}, trial {each.trial + 1}, turn {each.turn}: {each.reading}")
        say(f"  asked: {each.question!r}")
        say(f"  reply: {each.reply!r}")
    say(f"{counted(len(found), 'reading')} {'is' if len(found) == 1 else 'are'} open")


def _grade_plays(
    plays: list[Path], out: Path | None, judge: str | None, undecided: bool, as_json: bool
) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.runner.play_grade import grade_plays

    if judge is not None:
        raise typer.BadParameter("--judge takes a run: grade the plays with --out, then that run")
    graded = grade_plays(plays, out)
    if out is not None:
        _write_reports(out)
    if undecided:
        _print_open([play.episode for play in graded], as_json)
        return
    if as_json:
        print_json(
            {"plays": [_play_figures(play) for play in graded], "out": str(out) if out else None}
        )
        return
    for play in graded:
        verdict = play.episode.verdict
        result = "succeeds" if verdict.success else f"fails: {verdict.reason}"
        if verdict.undecided:
            result = f"is undecided: {verdict.reason}"
        say(f"{play.directory} ({play.task.task_id}, {counted(verdict.calls, 'call')}): {result}")
        if any(play.texts):
            say(f"  {play.texts.described()}")
        for item in play.items:
            if not item.right:
                say(f"  {item.key}: {'; '.join(item.wrong)} ({item.explained()})")
    say(f"{sum(play.episode.verdict.success for play in graded)} of {len(graded)} succeed")
    if out is not None:
        say(f"Report: {out / 'report.html'}")


def _play_figures(play: GradedPlay) -> dict[str, Any]:
    verdict = play.episode.verdict
    return {
        "directory": str(play.directory),
        "conversation_id": play.task.task_id,
        "trial": verdict.trial,
        "finished": play.finished,
        "success": verdict.success,
        "undecided": verdict.undecided,
        "reason": verdict.reason,
        "failed_at_turn": verdict.failed_at_turn,
        "calls": verdict.calls,
        "deciding_texts": play.texts._asdict(),
        "wrong_items": [
            {"item": item.key, "wrong": list(item.wrong), "as_if": item.explained()}
            for item in play.items
            if not item.right
        ],
    }


def _write_reports(out: Path) -> None:
    """What `crmbench run --out` leaves beside the episodes."""
    from crmbench.formats.arc_results import write_results
    from crmbench.report.html import write_report
    from crmbench.report.summary import summarise
    from crmbench.runner.run_dir import RunDir

    target = RunDir(out)
    stored, episodes, config = target.tasks(), target.for_figures(), target.config()
    write_results(out / "results.jsonl", stored, target.each(), config)
    target.write_json(
        "summary.json", summarise(stored, episodes, trials=config["trials"]).to_data()
    )
    write_report([target], out / "report.html")


def _figures(graded: Regraded, summary: Summary) -> dict[str, Any]:
    from crmbench.cli.outcome import parts_of

    return {
        "episodes": graded.count,
        "succeeded": summary.succeeded,
        "grading_version_before": graded.version_before,
        "grading_version": graded.version,
        "changed": [
            {
                "conversation_id": each.task_id,
                "trial": each.trial,
                "success": each.success,
                "counted": each.counted,
            }
            for each in graded.changed
        ],
        **parts_of(summary),
    }


def _print(graded: Regraded, summary: Summary, out: Path | None) -> None:
    from crmbench.cli.console import say
    from crmbench.report.role_figures import figures_lines

    changed = len(graded.changed)
    say(
        f"{counted(graded.count, 'episode')} graded by version {graded.version} "
        f"(before: {graded.version_before}); {counted(changed, 'verdict')} "
        f"{'changes' if changed == 1 else 'change'}"
    )
    for each in graded.changed:
        outcome = "succeeds" if each.success else "fails" if each.counted else "does not count"
        say(f"  {each.task_id}, trial {each.trial + 1}: {outcome} now")
    for line in figures_lines(summary.user, summary.judge):
        say(line)
    lost = summary.not_counted
    if lost.total:
        say(f"Not counted: {counted(lost.total, 'episode')} ({lost.described()})")
    if out is not None:
        say(f"Report: {out / 'report.html'}")


def register(app: typer.Typer) -> None:
    app.command("grade")(grade)
