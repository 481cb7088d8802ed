"""What is looked for before a pattern runs leaves out nothing that the pattern finds."""

from __future__ import annotations

import pytest

from crmbench.grading.reports.claimed_deeds import _ANY_VERB as ANY_VERB
from crmbench.grading.reports.claimed_deeds import _VERBS as VERBS
from crmbench.grading.reports.claimed_deeds import KINDS
from crmbench.grading.reports.telling import DOUBTS

OPEN = (
    "i think it went through",
    "presumably",
    "as far as i can see",
    "not entirely sure",
    "it should now be there",
    "it seems to have worked",
    "it will be done",
    "i'll take care",
    "it is on my list",
    "later today",
    "by tomorrow",
    "i rolled it back",
    "i took that back",
    "with an error",
    "it timed out",
    "a time-out",
    "something went wrong",
    "it didn't respond",
    "i only managed",
    "half done",
    "partially",
    "not all of",
    "all but one",
    "awaiting your approval",
    "i forwarded it",
    "submitted for review",
    "it still needs your",
    "to be confirmed",
    "i need your go-ahead",
    "before i save",
    "can you tell me which",
    "you have to confirm it",
    "it had already been set",
    "already up to date",
    "nothing for me to do",
    "no change was needed",
)


@pytest.mark.parametrize("words", OPEN)
def test_a_doubt_holds_one_of_its_cues(words: str) -> None:
    found = [doubt for doubt in DOUBTS if doubt.words.search(words)]
    assert found
    assert all(any(cue in words for cue in doubt.cues) for doubt in found)


@pytest.mark.parametrize(
    ("low", "kinds"),
    [
        ("i raised it and it was sent to the client", {"raise", "send", "deliver"}),
        ("i reported that i deleted it to your manager", {"report", "delete"}),
        ("re-opened and cancelled", {"reopen", "cancel"}),
        ("presented, resent", set()),
    ],
)
def test_verbs_are_found_where_they_begin_also_within_those_of_another_kind(
    low: str, kinds: set[str]
) -> None:
    places = [match.start() for match in ANY_VERB.finditer(low)]
    assert {name for name in KINDS if any(VERBS[name].match(low, at) for at in places)} == kinds
