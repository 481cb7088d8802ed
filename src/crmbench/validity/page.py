"""An audit as text and as a page of HTML."""

from __future__ import annotations

from html import escape

from crmbench.language.counts import counted
from crmbench.validity.gate import AuditReport, GateResult

SHOWN = 5
"""Offenders of a gate that the text names; the page names more."""
SHOWN_HTML = 200


def figure(gate: GateResult) -> str:
    """What was measured, as people read it."""
    if not gate.applies:
        return "does not apply"
    shown = f"{gate.figure:,}" if isinstance(gate.figure, int) else f"{gate.figure:.1%}"
    if gate.of is None:
        return shown
    # A bare "0 of 24" beside "pass" reads as if none had passed.
    return f"{shown} of {gate.of:,}" + (" fail" if gate.required == "0" else "")


def _size(report: AuditReport) -> str:
    return f"{counted(report.tasks, 'conversation')}, {counted(report.turns, 'turn')}"


def render_text(report: AuditReport) -> str:
    """A table of gates, and under each that fails some of what offends."""
    width = max(len(gate.gate) for gate in report.gates)
    lines = [f"{report.data}: {_size(report)}", ""]
    for gate in report.gates:
        mark = "pass" if gate.passed else "FAIL"
        lines.append(f"{mark}  {gate.gate:<{width}}  {figure(gate):>18}  {gate.required}")
        if not gate.passed:
            lines.append(f"      {gate.question}")
        shown = gate.offenders[:SHOWN]
        lines += [f"      - {o.task_id} {o.reason}".rstrip() for o in shown]
        if len(gate.offenders) > SHOWN:
            lines.append(f"      and {len(gate.offenders) - SHOWN:,} more")
    lines += ["", "All gates pass." if report.passed else "Some gates do not pass."]
    return "\n".join(lines)


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Audit of {title}</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .4rem .6rem; vertical-align: top; }}
tr {{ border-bottom: 1px solid #8884; }}
td.n {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
.pass {{ color: #0a7d3b; }} .fail {{ color: #c62828; font-weight: 600; }}
@media (prefers-color-scheme: dark) {{ .pass {{ color: #4cc38a; }} .fail {{ color: #ff7b72; }} }}
li {{ font-size: .9rem; overflow-wrap: anywhere; }} small {{ opacity: .75; }}
</style>
<h1>Audit of {title}</h1>
<p>{size}. <b class="{mark}">{verdict}</b></p>
<table><thead><tr><th>Gate</th><th>Measured</th><th>Required</th><th></th></tr></thead>
<tbody>{rows}</tbody></table></html>
"""


def render_html(report: AuditReport) -> str:
    """The audit as one self-contained page."""
    return _PAGE.format(
        title=escape(report.data),
        size=_size(report),
        mark="pass" if report.passed else "fail",
        verdict="All gates pass." if report.passed else "Some gates do not pass.",
        rows="".join(map(_row, report.gates)),
    )


def _row(gate: GateResult) -> str:
    mark = "pass" if gate.passed else "fail"
    offenders = "".join(
        f"<li>{escape(o.task_id)} {escape(o.reason)}</li>" for o in gate.offenders[:SHOWN_HTML]
    )
    named = (
        f"<details><summary>{len(gate.offenders):,} named</summary><ul>{offenders}</ul></details>"
    )
    return (
        f"<tr><td>{escape(gate.gate)}<br><small>{escape(gate.question)}</small>"
        f"{named if offenders else ''}</td><td class='n'>{figure(gate)}</td>"
        f"<td class='n'>{escape(gate.required)}</td><td class='{mark}'>{mark}</td></tr>"
    )
