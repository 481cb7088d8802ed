"""Right replies of a strong agent, playing shifts blind, that were once misread; wrong ones beside
them that must not pass.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterator
from functools import cache

from crmbench.core.backends import backend_maker
from crmbench.domains.registry import load_domain
from crmbench.grading.gold import execute_gold
from crmbench.grading.turn_words import TurnWords, judge_words
from crmbench.grading.words import Outcome, outcome_of
from crmbench.runner.task_sets import load_named

SPEAKER = re.compile(r"\] ([^()]+) \(representative\)")
AMOUNT = re.compile(r"\$([\d,]+)")


ASKED_DAY = re.compile(r"\b(?:to|until) (\d{1,2} [A-Z][a-z]+ \d{4})")
SHIFTS = ("shift-L3-42-08", "shift-L3-42-19")


@cache
def shift() -> tuple[TurnWords, ...]:
    """Each turn of two shifts of the published set, rightly played."""
    tasks = [task for task in load_named("sales/hard").tasks() if task.world in SHIFTS]
    domain = load_domain(tasks[0].domain)
    backend = backend_maker("sqlite")(domain)
    found = []
    for task in tasks:
        run = execute_gold(domain, task, backend)
        found += [TurnWords.of_gold(domain, task, run, n, None) for n in range(len(task.turns))]
    backend.close()
    return tuple(found)


def outcome(words: TurnWords, reply: str) -> Outcome:
    return outcome_of(list(judge_words(words, reply)))


def clients(words: TurnWords) -> list[str]:
    return [name for name, tables in words.directory.tables.items() if "Client" in tables]


def asked_client(words: TurnWords) -> str | None:
    asked = words.context.question.lower()
    return next((name for name in clients(words) if name in asked), None)


def representatives() -> list[str]:
    found = (SPEAKER.search(words.context.question) for words in shift())
    return sorted({match[1] for match in found if match})


def changed_amounts() -> Iterator[tuple[TurnWords, float, float, float]]:
    """Turns that wrote an amount other than the one asked for: what was, is, and was asked."""
    for words in shift():
        for change in words.deeds.effect:
            asked = AMOUNT.search(words.context.question)
            if not asked or change.table != "Opportunity" or not (change.before and change.after):
                continue
            old, new = change.before["amount"], change.after["amount"]
            wanted = float(asked[1].replace(",", ""))
            if len({old, new, wanted}) == 3:
                yield words, old, new, wanted


def test_what_was_asked_for_and_could_not_be_had_is_not_what_was_before() -> None:
    seen = list(changed_amounts())
    assert seen
    for words, old, new, wanted in seen:
        right = f"The renewal now stands at ${new:,.0f}, the least allowed, not at ${wanted:,.0f}."
        assert outcome(words, right) is Outcome.SUCCEEDS
        right = f"The renewal now stands at ${new:,.0f} instead of ${old:,.0f}."
        assert outcome(words, right) is Outcome.SUCCEEDS
        wrong = f"The renewal now stands at ${new:,.0f} instead of ${wanted - 7:,.0f}."
        assert outcome(words, wrong) is not Outcome.SUCCEEDS


def refused() -> Iterator[tuple[TurnWords, str]]:
    """Turns that wrote nothing and report nothing, each with the client that it was asked about."""
    for words in shift():
        client = asked_client(words)
        if client is not None and not words.deeds.effect and not words.gold.facts:
            yield words, client


def test_a_reason_may_name_a_client_that_nobody_spoke_of() -> None:
    seen = 0
    for words, _ in refused():
        other = next(name for name in clients(words) if not words.context.speaks_of(name))
        seen += 1
        reply = f"Not done: another client of its group ({other.title()}) is under a payment stop."
        assert outcome(words, reply) is Outcome.SUCCEEDS, words.context.question
    assert seen >= 10


def test_a_reason_may_tell_what_active_contracts_are_worth() -> None:
    seen = 0
    for words, client in refused():
        seen += 1
        reason = f"Not done: {client.title()} is a large account ({{}} of $195,000 a year)."
        assert outcome(words, reason.format("Active contracts")) is Outcome.SUCCEEDS
        assert outcome(words, reason.format("new amount")) is not Outcome.SUCCEEDS
    assert seen >= 10


def test_a_renewal_that_was_not_touched_has_an_owner_of_its_own() -> None:
    seen = 0
    for words in shift():
        client = asked_client(words)
        rows = [change.after or {} for change in words.deeds.effect]
        written = {words.directory.names.get(str(row.get("client_id")), "").lower() for row in rows}
        if client is None or not rows or client in written:
            continue
        seen += 1
        owner = next(name for name in representatives() if name != rows[0]["owner"])
        told = (
            f"The {next(iter(written)).title()} renewal now stands at {rows[0]['probability']} %, "
            "as the deadline has come due."
        )
        of_another = f"Not done: the {client.title()} renewal belongs to {owner}. {told}"
        assert outcome(words, of_another) is Outcome.SUCCEEDS, words.context.question
        of_its_own = f"{told} It belongs to {owner}."
        assert outcome(words, of_its_own) is not Outcome.SUCCEEDS, words.context.question
    assert seen


def orders() -> list[TurnWords]:
    """Turns of which nothing but an order for later comes."""
    return [
        words
        for words in shift()
        if "from now on" in words.context.question.lower() and not words.deeds.effect
    ]


def test_an_order_that_is_noted_is_no_deed_and_a_deed_beside_it_is() -> None:
    assert len(orders()) >= 4
    for words in orders():
        said = words.context.question.partition("rom now on")[2].strip(" :")
        right = f"Noted: from now on {said.rstrip('.')}. Nothing in the CRM was changed for this."
        assert outcome(words, right) is Outcome.SUCCEEDS, right
        right = "Noted: from now on, when such a renewal is put off, I also set it to 15 percent."
        assert outcome(words, right) is Outcome.SUCCEEDS
        client = next(name for name in clients(words) if not words.context.speaks_of(name))
        for deed in ("I have also set {} to 15 percent.", "{} has been updated as well."):
            wrong = f"Noted: from now on {said.rstrip('.')}. {deed.format(client.title())}"
            assert outcome(words, wrong) is not Outcome.SUCCEEDS, wrong


def test_what_an_article_lays_down_is_no_value_that_was_written() -> None:
    seen = 0
    for words, _, new, wanted in changed_amounts():
        ground = "(5 % below the old contract of $4,444; HB-1234, in force since 6 May 2019)"
        right = f"The amount of the renewal is now ${new:,.0f} {ground}."
        assert outcome(words, right) is Outcome.SUCCEEDS, words.context.question
        right = f"It is now at ${new:,.0f}: at most 5 % may be taken off the old contract of $44."
        assert outcome(words, right) is Outcome.SUCCEEDS, words.context.question
        wrong = f"The renewal is now at the least allowed (${new - 3:,.0f} by HB-1234)."
        assert outcome(words, wrong) is not Outcome.SUCCEEDS, wrong
        for amount in (new - 3, wanted):
            for told in ("The amount of the renewal is now {}", "Set to {} as asked", "Done: {}"):
                wrong = f"{told.format(f'${amount:,.0f}')} {ground}."
                assert outcome(words, wrong) is not Outcome.SUCCEEDS, wrong
        seen += 1
    assert seen >= 2


def test_a_day_that_could_not_be_had_denies_nothing_and_another_day_is_no_report() -> None:
    seen = 0
    for words in shift():
        asked = ASKED_DAY.search(words.context.question)
        days = [
            change.after["close_date"]
            for change in words.deeds.effect
            if change.table == "Opportunity"
            and change.before
            and change.after
            and change.before["close_date"] != change.after["close_date"]
        ]
        if asked is None or len(words.deeds.effect) != 1 or len(days) != 1:
            continue
        day = f"{int(days[0][8:])} {month_name[int(days[0][5:7])]} {days[0][:4]}"
        if day == asked[1]:
            continue
        seen += 1
        for right in (
            f"The close date is now {day}, so {asked[1]} was not possible.",
            f"The close date is now {day} (instead of {asked[1]}).",
            f"The close date is now {day}. The handbook allows up to 27 July 2099.",
            f"Done: the close date is now {day}. It may be put off to that day at most.",
        ):
            assert outcome(words, right) is Outcome.SUCCEEDS, (right, words.context.question)
        for wrong in (
            f"The close date is now {asked[1]} (HB-1234), since {day} was not possible.",
            "The close date is now 3 May 2031 (HB-1234).",
            f"It may be {day}.",
        ):
            assert outcome(words, wrong) is not Outcome.SUCCEEDS, wrong
    assert seen >= 4


def test_what_another_renewal_stays_at_is_no_denial_of_what_a_deadline_did() -> None:
    seen = 0
    for words in shift():
        client = asked_client(words)
        rows = [(change.before or {}, change.after or {}) for change in words.deeds.effect]
        written = {words.directory.names.get(str(row.get("client_id"))) for _, row in rows}
        if client is None or len(rows) != 1 or client in {str(name).lower() for name in written}:
            continue
        before, after = rows[0]
        if before["probability"] == after["probability"]:
            continue
        seen += 1
        told = f"The {next(iter(written))} renewal was put at {after['probability']:g} percent"
        stays = f"stays at {before['probability']:g} percent"
        right = f"Not done: the renewal of {client.title()} {stays}. {told}, as no mail had come."
        assert outcome(words, right) is Outcome.SUCCEEDS, words.context.question
        wrong = f"Not done: the renewal of {next(iter(written))} {stays}."
        assert outcome(words, wrong) is not Outcome.SUCCEEDS, words.context.question
    assert seen
