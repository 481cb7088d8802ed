"""The files that a run leaves beside its episodes: results, figures, and the page."""

from __future__ import annotations

from pathlib import Path

from crmbench.agents.trivial import TRIVIAL_NAMES
from crmbench.formats.arc_results import write_results
from crmbench.report.summary import Summary, summarise
from crmbench.runner.options import RunOptions
from crmbench.runner.run import RunOutcome
from crmbench.runner.run_dir import RESULTS, RunDir


def conclude_run(options: RunOptions, outcome: RunOutcome, out: Path | None) -> Summary:
    """The figures of a run; with `out` also its results.jsonl, summary.json and report.html.

    Raises:
        InputError: A file cannot be written.
    """
    trivial = options.agent in TRIVIAL_NAMES
    broken = {fault.conversation_id for fault in outcome.broken}
    tasks = [task for task in outcome.tasks if task.task_id not in broken]
    summary = summarise(tasks, outcome.outlines, trivial=trivial, trials=options.trials)
    if out is not None:
        # Pages bring templates and charts with them, which a run without a directory never needs.
        from crmbench.report.html import write_report

        run_dir = RunDir(out)
        if not (out / RESULTS).exists():  # episodes of before the lines were kept as they come
            write_results(out / RESULTS, outcome.tasks, run_dir.each(), run_dir.config())
        run_dir.write_json("summary.json", summary.to_data())
        # Of broken tasks the page says that episodes are missing, and the summary does not.
        figures = None if broken else summary
        write_report([run_dir], out / "report.html", outcome.outlines, figures)
    return summary
