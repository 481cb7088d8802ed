"""``crmbench study experts``: people in the agent's place, and what they think of the org."""

from __future__ import annotations

from pathlib import Path


def experts(
    file: str,
    out: Path | None,
    tasks: int,
    people: int,
    seed: int,
    host: str,
    port: int,
    figures: bool,
    beside: list[Path] | None,
    as_json: bool,
) -> None:
    """Begin or go on with a study with people, or make its report.

    Args:
        file: The set that tasks are drawn from.
        out: The study's directory, ``study-experts`` if None; one that holds a study goes on.
        tasks: That each person gets.
        people: How many links are made.
        seed: What the choice and the orders follow from.
        host: The address to listen on.
        port: 0: a free one.
        figures: Only make the report.
        beside: Runs to set beside.
        as_json: Print the report's figures as JSON.

    Raises:
        MissingExtraError: What serves pages is not installed.
    """
    from crmbench.errors import needs_extra
    from crmbench.studies.experts import ExpertStudy

    folder = out or Path("study-experts")
    if figures:
        _report(ExpertStudy(folder), beside or [], as_json)
        return
    with needs_extra("serve", "crmbench study experts"):
        from crmbench.web.invite import study_until_stopped
    study_until_stopped(file, folder, tasks, people, seed, host, port)


def _report(study: object, beside: list[Path], as_json: bool) -> None:
    from crmbench.cli.console import print_json, say
    from crmbench.language.counts import counted
    from crmbench.report.views.experts import expert_figures, write_expert_page
    from crmbench.runner.run_dir import RunDir
    from crmbench.studies.experts import ExpertStudy

    assert isinstance(study, ExpertStudy)
    found = expert_figures(study, [RunDir(path) for path in beside])
    page = study.folder / "experts.html"
    write_expert_page(found, page)
    if as_json:
        print_json({**found.to_data(), "report": str(page)})
        return
    for each in (found.human, *found.beside):
        if each is not None:
            s = each.success
            say(
                f"{each.name}: {s.value:.1%} ({s.low:.0%} to {s.high:.0%}), "
                f"{counted(each.episodes, 'episode')}, median {each.seconds or 0:.0f} s"
            )
    for rating in found.ratings:
        say(f"{rating.what}: {rating.realistic.value:.0%} realistic, {rating.answers} answers")
    say(f"Report: {page}")
