"""Audits of a set's parts as one report."""

from __future__ import annotations

from crmbench.validity.gate import (
    NAMED,
    AuditReport,
    GateResult,
    Offender,
    at_least,
    merged,
    none_wrong,
)


def report(*gates: GateResult) -> AuditReport:
    return AuditReport("part", 10, 50, gates)


def offenders(count: int) -> list[Offender]:
    return [Offender(f"t{number}", "wrong") for number in range(count)]


def test_counts_are_added_and_one_failing_part_fails_the_whole() -> None:
    whole = merged(
        "set",
        [
            report(none_wrong("a", "?", [], 10), at_least("b", "?", 9, 10, 0.5)),
            report(none_wrong("a", "?", offenders(2), 10), at_least("b", "?", 10, 10, 0.5)),
        ],
    )
    assert (whole.data, whole.tasks, whole.turns, whole.passed) == ("set", 20, 100, False)
    one, two = whole.gates
    assert (one.figure, one.of, one.passed, len(one.offenders)) == (2, 20, False, 2)
    assert (two.figure, two.of, two.passed) == (19, 20, True)


def test_of_shares_the_worst_is_shown() -> None:
    def share(required: str, figure: float) -> AuditReport:
        return report(GateResult("s", "?", True, figure, None, required))

    assert merged("set", [share("≤ 5%", 0.01), share("≤ 5%", 0.04)]).gates[0].figure == 0.04
    assert merged("set", [share("≥ 5%", 0.3), share("≥ 5%", 0.1)]).gates[0].figure == 0.1


def test_a_gate_that_applies_in_one_part_applies() -> None:
    nothing, some = at_least("a", "?", 0, 0, 0.5), at_least("a", "?", 3, 4, 0.5)
    for parts in ([nothing, some], [some, nothing]):
        found = merged("set", [report(gate) for gate in parts]).gates[0]
        assert (found.applies, found.figure, found.of) == (True, 3, 4)


def test_offenders_beyond_some_are_counted_only() -> None:
    parts = [report(none_wrong("a", "?", offenders(NAMED - 1), NAMED)) for _ in range(2)]
    found = merged("set", parts).gates[0]
    assert (len(found.offenders), found.figure) == (NAMED, 2 * NAMED - 2)
