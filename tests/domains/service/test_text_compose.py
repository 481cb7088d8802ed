"""Conversations: what is composed agrees with the facts, and the checker finds what is broken."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmbench.domains.service.text import (
    ISSUES,
    CaseFacts,
    CaseText,
    Channel,
    ChatLine,
    Email,
    RuleRef,
    Temper,
    check_text,
    compose_case,
    violable,
)
from crmbench.errors import HarnessError

CASES: list[tuple[str, RuleRef | None]] = [
    (issue.key, ref) for issue in ISSUES for ref in (None, *violable(issue.key))
]
CHANNELS: tuple[Channel, ...] = ("email", "chat", "both")
TEMPERS: tuple[Temper, ...] = ("calm", "annoyed", "friendly")
PRODUCTS = ("Ridgeline Two-Person Tent", "Oakham Coffee Table 48 in", "Torrent Rain Jacket, Green")


def _facts(
    issue: str,
    violated: RuleRef | None = None,
    *,
    channel: Channel = "email",
    temper: Temper = "calm",
    age: int = 12,
    reply_minutes: int = 90,
    agent: str = "Jonas",
    product: str = PRODUCTS[0],
) -> CaseFacts:
    ordered = date(2024, 5, 28)
    opened = (ordered + timedelta(days=age)).isoformat()
    return CaseFacts(
        *("Maria", "Lopez", agent, product, issue, ordered.isoformat()),
        *(f"{opened}T09:30:00.000+0000", violated, channel, temper, reply_minutes),
    )


def _all_words(text: CaseText) -> str:
    bodies = [email.subject + email.body for email in text.emails]
    lines = [line.text for line in text.chat]
    return "\n".join([text.subject, text.description, *bodies, *lines])


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(
    case=st.sampled_from(CASES),
    channel=st.sampled_from(CHANNELS),
    temper=st.sampled_from(TEMPERS),
    age=st.integers(1, 90),
    reply=st.integers(1, 3000),
    agent=st.sampled_from(["Jonas", "Priya", "Carl", "Dana", "Eve", "Wren", "Ossie"]),
    product=st.sampled_from(PRODUCTS),
    seed=st.integers(0, 2**32),
)
def test_exactly_the_intended_rule_is_broken(
    case: tuple[str, RuleRef | None],
    channel: Channel,
    temper: Temper,
    age: int,
    reply: int,
    agent: str,
    product: str,
    seed: int,
) -> None:
    issue, violated = case
    facts = _facts(
        *case,
        channel=channel,
        temper=temper,
        age=age,
        reply_minutes=reply,
        agent=agent,
        product=product,
    )
    text = compose_case(random.Random(seed), facts)
    assert check_text(text, issue) == ((violated,) if violated else ())


@pytest.mark.parametrize(("issue", "violated"), CASES)
def test_every_case_holds_over_many_draws(issue: str, violated: RuleRef | None) -> None:
    rng = random.Random(7)
    expected = (violated,) if violated else ()
    for number in range(45):
        facts = _facts(
            *(issue, violated),
            channel=CHANNELS[number % 3],
            temper=TEMPERS[number // 3 % 3],
            age=1 + number * 2,
        )
        assert check_text(compose_case(rng, facts), issue) == expected


@pytest.mark.parametrize("channel", CHANNELS)
def test_same_seed_same_words(channel: Channel) -> None:
    facts = _facts("damaged", channel=channel)
    first = compose_case(random.Random(3), facts)
    assert first == compose_case(random.Random(3), facts)
    assert first != compose_case(random.Random(4), facts)


@pytest.mark.parametrize("issue", [issue.key for issue in ISSUES])
def test_threads_have_the_agreed_shape(issue: str) -> None:
    rng = random.Random(11)
    for number in range(90):
        channel = CHANNELS[number % 3]
        facts = _facts(issue, channel=channel, temper=TEMPERS[number % 7 % 3])
        text = compose_case(rng, facts)
        assert (2 <= len(text.emails) <= 5) == (channel != "chat")
        assert (6 <= len(text.chat) <= 26) == (channel != "email")
        mail_moments = [email.minutes_after_open for email in text.emails]
        chat_moments = [line.minutes_after_open for line in text.chat]
        assert mail_moments == sorted(mail_moments)
        assert chat_moments == sorted(chat_moments)
        assert text.last_minute == max(mail_moments + chat_moments)
        words = _all_words(text)
        assert not set("{}\x1e") & set(words)
        assert "  " not in words
        assert ".." not in words


def test_emails_are_greeted_and_signed() -> None:
    rng = random.Random(5)
    for issue in ISSUES:
        for email in compose_case(rng, _facts(issue.key)).emails:
            assert email.body.count("\n\n") >= 2
            signature = email.body.rsplit("\n\n", 1)[1]
            assert ("Maria" if email.from_customer else "Jonas") in signature


def test_first_email_is_the_description_between_greeting_and_signature() -> None:
    text = compose_case(random.Random(2), _facts("warranty"))
    assert text.description in text.emails[0].body
    assert text.emails[0].minutes_after_open == 0
    assert text.emails[1].subject == f"Re: {text.emails[0].subject}"


def test_slow_agents_answer_later() -> None:
    def mean_first_reply(reply_minutes: int) -> float:
        rng = random.Random(1)
        facts = _facts("billing", reply_minutes=reply_minutes)
        firsts = [compose_case(rng, facts).emails[1].minutes_after_open for _ in range(200)]
        return sum(firsts) / len(firsts)

    assert mean_first_reply(600) > 4 * mean_first_reply(60)


def test_threads_do_not_read_alike() -> None:
    rng = random.Random(8)
    texts = [compose_case(rng, _facts("assembly")) for _ in range(500)]
    assert len({text.description for text in texts}) > 450
    assert len({text.emails[1].body for text in texts}) > 100
    assert len({_all_words(text) for text in texts}) == 500


@pytest.mark.parametrize(("age", "share"), [(0, "100"), (30, "100"), (31, "70"), (300, "70")])
def test_refund_share_follows_the_age_of_the_order(age: int, share: str) -> None:
    ref = ("return_window", "share_by_age")
    other = "70" if share == "100" else "100"
    kept = compose_case(random.Random(1), _facts("return_refund", age=age))
    broken = compose_case(random.Random(1), _facts("return_refund", ref, age=age))
    assert f"{share} percent" in _all_words(kept)
    assert f"{other} percent" in _all_words(broken)
    assert check_text(broken, "return_refund") == (ref,)


def test_rule_of_another_issue_cannot_be_broken() -> None:
    facts = _facts("billing", ("video_calls", "two_windows"))
    with pytest.raises(HarnessError, match="cannot be broken in a case of 'billing'"):
        compose_case(random.Random(1), facts)


def _chat(*agent_lines: str) -> CaseText:
    lines = tuple(ChatLine(False, minute, text) for minute, text in enumerate(agent_lines))
    return CaseText("Late parcel", "My parcel is late.", (), lines, "2024-06-09")


def test_checker_reads_words_that_nobody_composed() -> None:
    good = (
        "Hello, so sorry for the wait.",
        "What name did you order under, and on which date was the order?",
        "I found your order in the system.",
        "It takes one to four business days from here.",
        "You could have alerts on your phone.",
        "Would 7 percent in store credit be all right?",
    )
    assert check_text(_chat(*good), "late_delivery") == ()
    late = (good[0], good[2], good[1], *good[3:])
    assert check_text(_chat(*late), "late_delivery") == (
        ("locating_an_order", "ask_date_and_name"),
    )
    generous = (*good[:5], "Would 18 percent in store credit be all right?")
    assert check_text(_chat(*generous), "late_delivery") == (
        ("goodwill_credit", "at_most_ten_percent"),
    )


def test_checker_reads_emails_and_chat_in_order_of_time() -> None:
    asks = "Please send me your full name and your last order."
    looks = "I have looked into your account. The card ends in 1234."
    rest = "Does anyone else use it? The link went to the address on file and works for 48 hours."
    in_order = CaseText(
        *("Locked", "Locked out."),
        (Email(False, "Re: Locked", asks, 5), Email(False, "Re: Locked", rest, 90)),
        (ChatLine(False, 40, looks),),
        "2024-06-09",
    )
    assert check_text(in_order, "account_access") == ()
    swapped = in_order._replace(chat=(ChatLine(False, 2, looks),))
    assert check_text(swapped, "account_access") == (("identity_check", "name_and_last_order"),)


@pytest.mark.parametrize(
    ("product", "soft"),
    [
        ("Cranmoor II Size 9 Rain Boot in Sky Blue", True),
        ("Ashridge 5 L Dry Sack in Black", True),
        ("Oakfell Shoe Rack in Sand", False),
        ("Glenfell 170 cm Snowboard in Plum", False),
    ],
)
def test_soft_goods_neither_crack_nor_dent(product: str, soft: bool) -> None:
    rng = random.Random(6)
    words = " ".join(
        compose_case(rng, _facts("damaged", product=product)).description for _ in range(200)
    )
    assert ("dent" in words or "crack" in words) is not soft
    assert ("torn" in words) is soft
