"""Texts that try to become more than text, in every place where a run holds one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from crmbench.core.journal import Change
from crmbench.core.trace import CallRecord, EpisodeTrace, Message
from crmbench.grading.record import EpisodeRecord
from crmbench.runner.run_dir import RunDir

CORPUS = (
    "<script>window.ran=1;alert(1)</script>",
    '"><img src=x onerror="window.ran=1;alert(2)">',
    "'><svg onload=window.ran=1>",
    "</title></textarea></style></script><script>window.ran=1</script>",
    "javascript:window.ran=1",
    "{{ 7*7 }}{% for x in y %}<%= 7*7 %>${7*7}",
    '<a href="javascript:window.ran=1" autofocus onfocus="window.ran=1">x</a>',
    '<iframe srcdoc="<script>parent.window.ran=1</script>"></iframe>',
    '<div hx-get="/static/app.js" hx-trigger="load" hx-on:load="window.ran=1">x</div>',
    '<meta http-equiv="refresh" content="0;url=javascript:window.ran=1">',
    "<base href=//evil.example/><form action=//evil.example><button>x</button></form>",
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "\u202e\u2028\u2029\ufeff<b>x</b>\U0001f600",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.ran=1>",
)
"""None of these may run, load, or become an element."""


def hostile_run(source: RunDir, out: Path) -> RunDir:
    """The run with texts of the corpus as what was said, called, given back and written."""
    target = RunDir(out)
    target.create({**source.config(), "agent": CORPUS[1], "data": CORPUS[0]}, source.tasks())
    for number, record in enumerate(source.episodes()):
        target.append(_hostile(record, CORPUS[number % len(CORPUS)]))
    target.close()
    return target


def _hostile(record: EpisodeRecord, text: str) -> EpisodeRecord:
    everything = "\n".join(CORPUS)
    call = CallRecord(
        tool=text,
        arguments={text: everything, "records": [everything]},
        ok=True,
        result={"records": [{text: everything, "name": text}], text: text},
        changes=(Change(text, text, {"name": text}, {"name": everything, text: text}),),
    )
    refused = CallRecord(text, {"x": text}, ok=False, error=everything, error_kind=text)
    turns = tuple(
        replace(
            turn,
            messages=(Message("user", everything), Message("assistant", f"{text} {everything}")),
            calls=(call, refused),
            error=text,
        )
        for turn in record.trace.turns
    )
    trace: EpisodeTrace = replace(record.trace, turns=turns, error=text)
    verdicts = tuple(
        replace(turn, mismatches=(f"{text} {everything}",), undecided=(text,), unsaid=(text,))
        for turn in record.verdict.turns
    )
    verdict = replace(record.verdict, success=False, turns=verdicts, reason=everything)
    return replace(record, trace=trace, verdict=verdict)
