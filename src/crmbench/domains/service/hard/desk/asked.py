"""What the desk's memos are asked in a world: by its queues, its web form, and by nobody."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from crmbench.authoring.handbook import Facts, Rulebook
from crmbench.domains.service.hard.desk.drawing import Drawer, Judge, Memos, Size, Taken
from crmbench.domains.service.hard.desk.handles import Namer
from crmbench.domains.service.hard.desk.words import subjects
from crmbench.domains.service.hard.due import Claim, due, outcome_without
from crmbench.domains.service.hard.duplicates import Cluster, Merger, WebCase
from crmbench.domains.service.hard.queues import TODAY, Desk
from crmbench.domains.service.hard.rulebook import Rulebook as CreditBook
from crmbench.domains.service.hard.staffing import SHIFTS, QueueCase, Router

ROUTING = Size(provisions=2, changes=11, seconds=8, thirds=3)
DUPLICATES = Size(provisions=2, changes=11, seconds=8, thirds=3)
CENSUS = Size(provisions=2, changes=10, seconds=8, thirds=3)
OTHER = Size(provisions=22, changes=110, seconds=60, thirds=20)


def credit_memos(
    seed: int,
    book: CreditBook,
    claims: Sequence[Claim],
    period: tuple[date, date],
    taken: Taken,
) -> Memos:
    """The memos on credits, drawn to bear on the lines that are complained of in a period.

    Args:
        seed: Of the world.
        book: The other rules on credits.
        claims: Of these lines, as the records have them.
        period: Its first day, and the first one after it.
        taken: By what memos are told from each other; those of these are added.
    """
    days = period[0] - timedelta(days=600), period[1] - timedelta(days=8)
    near = period[0] - timedelta(days=35), period[1] - timedelta(days=14)
    asked: dict[str, Sequence[Facts]] = {
        s.key: [claim.facts for claim in claims] for s in subjects().values() if s.of == "census"
    }

    def judge(desk: Rulebook) -> Mapping[str, object]:
        known = replace(book, desk=(desk,))
        # Some were told an amount, which counts if it binds.
        return {
            str(n): due(known, replace(claim, told=Decimal(12) if n % 3 == 0 else None))
            for n, claim in enumerate(claims)
        }

    name = f"crmbench hard {seed}"
    return Drawer(name, "census", asked, judge, CENSUS, days, near, taken).draw()


def name_credit_memos(
    seed: int,
    memos: Memos,
    book: CreditBook,
    cases: Mapping[int, Claim],
    nicknames: list[str],
    taken: Taken,
) -> None:
    """Settle what these memos call each other, by the cases that a task is about."""

    def judge(desk: Rulebook) -> Mapping[str, object]:
        known = replace(book, desk=(desk,))
        return {str(n): outcome_without(known, c, frozenset()) for n, c in cases.items()}

    Namer(f"crmbench hard {seed}", "census", memos, judge, nicknames, taken).settle()


def desk_memos(
    seed: int,
    desk: Desk,
    inbox: Mapping[str, Sequence[WebCase]],
    nicknames: list[str],
    taken: Taken,
) -> dict[str, Memos]:
    """The memos on the questions of the other mechanisms, and on those that none asks."""
    name = f"crmbench hard {seed}"

    def drawn(
        of: str, asked: Mapping[str, Sequence[Facts]], judge: Judge | None, size: Size
    ) -> Memos:
        memos = Drawer(name, of, asked, judge, size, taken=taken).draw()
        Namer(name, of, memos, judge, nicknames, taken).settle()
        return memos

    focus = desk.queues[focus_queue(seed, desk)]
    asked = routing_population(desk, focus)

    def judge(book: Rulebook) -> Mapping[str, object]:
        return Router(book, desk.agents, TODAY).route(focus)

    routing = drawn("routing", asked, judge, ROUTING)
    web = inbox[focus_state(seed, inbox)]

    def merged(book: Rulebook) -> Mapping[str, object]:
        return _merged(Merger(book, TODAY).clusters(web), web)

    by_case: dict[str, Sequence[Facts]] = {
        s.key: [case.facts for case in web] for s in subjects().values() if s.of == "duplicates"
    }
    double = drawn("duplicates", by_case, merged, DUPLICATES)
    facts = [*(case.facts for case in focus), *(case.facts for case in web)]
    everything = {s.key: facts for s in subjects().values() if s.of == "other"}
    other = drawn("other", everything, None, OTHER)
    return {"routing": routing, "duplicates": double, "other": other}


def _merged(found: Sequence[Cluster], cases: Sequence[WebCase]) -> dict[str, object]:
    """What becomes of each case."""
    result: dict[str, object] = {case.id: None for case in cases}
    for cluster in found:
        result[cluster.master] = cluster.priority
        result |= dict.fromkeys(cluster.others, cluster.master)
    return result


def focus_state(seed: int, inbox: Mapping[str, Sequence[WebCase]]) -> str:
    """The state that a task of one state is about; the memos are drawn to bear on it."""
    most = max(map(len, inbox.values()))
    full = [state for state, cases in sorted(inbox.items()) if len(cases) * 4 >= most * 3]
    return random.Random(f"crmbench hard focus {seed}").choice(full)


def focus_queue(seed: int, desk: Desk) -> str:
    """The queue that a task of one queue is about; the memos are drawn to bear on it."""
    return random.Random(f"crmbench hard focus {seed}").choice(sorted(desk.queues))


def routing_population(desk: Desk, focus: Sequence[QueueCase]) -> dict[str, list[Facts]]:
    """The facts of all that each question is asked about when some cases are given out."""
    held = [
        {"status": case.status, "priority": case.priority, "origin": case.origin}
        for agent in desk.agents
        for case in agent.open
    ]
    cases: list[Facts] = [case.facts for case in focus]
    found: dict[str, list[Facts]] = {s.key: cases for s in subjects().values() if s.of == "routing"}
    return found | {"weight": list(held), "cap": [{"shift": shift} for shift in SHIFTS]}
