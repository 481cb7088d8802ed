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
Part = tuple[Mapping[str, Sequence[Facts]], Judge]
"""Of some cases: for each question the facts of all that it is asked about, and what becomes of the
cases by a rulebook."""


Days = tuple[date, date]
"""The first day of a period, and the first one after it."""


def credit_memos(
    seed: int,
    book: CreditBook,
    claims_of: Mapping[Days, Sequence[Claim]],
    taken: Taken,
) -> Memos:
    """The memos on credits, drawn to bear on the lines that are complained of in some periods.

    Args:
        seed: Of the world.
        book: The other rules on credits.
        claims_of: Of these lines by period, as the records have them.
        taken: By what memos are told from each other; those of these are added.
    """
    memos = Memos()
    for number, (period, claims) in enumerate(claims_of.items()):
        own = f"crmbench hard {seed} part {number}" if number else f"crmbench hard {seed}"
        _credit_part(own, book, claims, period, taken, memos)
    return memos


def _credit_part(
    name: str,
    book: CreditBook,
    claims: Sequence[Claim],
    period: Days,
    taken: Taken,
    memos: Memos,
) -> None:
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

    Drawer(name, "census", asked, judge, CENSUS, days, near, taken, memos).draw()


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
    foci: int = 1,
) -> dict[str, Memos]:
    """The memos on the questions of the other mechanisms, and on those that none asks.

    Args:
        foci: At how many queues, and states, memos are aimed; at each as many as at a single one.
    """
    name = f"crmbench hard {seed}"

    def drawn(of: str, parts: Sequence[Part], size: Size) -> Memos:
        memos = Memos()
        for number, (asked, judge) in enumerate(parts):
            own = f"{name} part {number}" if number else name
            Drawer(own, of, asked, judge, size, taken=taken, memos=memos).draw()

        def judge_all(book: Rulebook) -> Mapping[str, object]:
            return {key: value for _, judge in parts for key, value in judge(book).items()}

        Namer(name, of, memos, judge_all, nicknames, taken).settle()
        return memos

    queues = [desk.queues[queue] for queue in focus_queues(seed, desk, foci)]
    routing = drawn("routing", [_routing_part(desk, cases) for cases in queues], ROUTING)
    webs = [inbox[state] for state in focus_states(seed, inbox, foci)]
    double = drawn("duplicates", [_merging_part(web) for web in webs], DUPLICATES)
    facts = [case.facts for cases in queues for case in cases]
    facts += [case.facts for web in webs for case in web]
    everything = {s.key: facts for s in subjects().values() if s.of == "other"}
    other = Drawer(name, "other", everything, None, OTHER, taken=taken).draw()
    Namer(name, "other", other, None, nicknames, taken).settle()
    return {"routing": routing, "duplicates": double, "other": other}


def _routing_part(desk: Desk, cases: Sequence[QueueCase]) -> Part:
    def judge(book: Rulebook) -> Mapping[str, object]:
        return Router(book, desk.agents, TODAY).route(cases)

    return routing_population(desk, cases), judge


def _merging_part(cases: Sequence[WebCase]) -> Part:
    def judge(book: Rulebook) -> Mapping[str, object]:
        return _merged(Merger(book, TODAY).clusters(cases), cases)

    facts = [case.facts for case in cases]
    return {s.key: facts for s in subjects().values() if s.of == "duplicates"}, judge


def _merged(found: Sequence[Cluster], cases: Sequence[WebCase]) -> dict[str, object]:
    """What becomes of each case."""
    result: dict[str, object] = {case.id: None for case in cases}
    for cluster in found:
        result[cluster.master] = cluster.priority
        result |= dict.fromkeys(cluster.others, cluster.master)
    return result


def focus_states(
    seed: int, inbox: Mapping[str, Sequence[WebCase]], foci: int = 1
) -> tuple[str, ...]:
    """The states that a task of so many is about; the memos are drawn to bear on them."""
    most = max(map(len, inbox.values()))
    full = [state for state, cases in sorted(inbox.items()) if len(cases) * 4 >= most * 3]
    return _foci(seed, full, sorted(inbox), foci)


def focus_queues(seed: int, desk: Desk, foci: int = 1) -> tuple[str, ...]:
    """The queues that a task of so many is about; the memos are drawn to bear on them."""
    return _foci(seed, sorted(desk.queues), sorted(desk.queues), foci)


def _foci(seed: int, best: Sequence[str], names: Sequence[str], foci: int) -> tuple[str, ...]:
    """One of the best, and as many more as are wanted."""
    rng = random.Random(f"crmbench hard focus {seed}")
    first = rng.choice(best)
    rest = [name for name in names if name != first]
    return first, *rng.sample(rest, min(foci, len(names)) - 1)


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
