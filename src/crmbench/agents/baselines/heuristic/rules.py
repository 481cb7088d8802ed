"""Which rule an utterance calls for: the first in the table that fits and has something to say."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from crmbench.agents.baselines.heuristic import accounts, create, deals
from crmbench.agents.baselines.heuristic.answers import answer
from crmbench.agents.baselines.heuristic.batch import ALL, do_to_all
from crmbench.agents.baselines.heuristic.changes import change, shown
from crmbench.agents.baselines.heuristic.quotes import new_quote
from crmbench.agents.baselines.heuristic.turn import RefusedError, TurnContext

_MAKE = (
    r"\b(?:new|create|add|open|set up|enter|record|register|prepare|make|draft|draw up|get|put"
    r"|start|needs?|needed)\b"
)
_UNDO = (
    r"\bundo|put (?:it|that|them|everything) back|\brevert|restore|as it was|what it was"
    r"|back to (?:what|how|the old)|roll (?:it|that) back|was a mistake"
)
_CHANGE = r"\b(?:change|set|make|move|raise|lower|put|update|fix|mark)\b"
_QUESTION = r"(?:\w+[,.!] )*(?:what|which|who|whose|how|when|where|is|are|does)\b"
_NEW_CLIENT = (
    r"\bas a (?:new )?(?:client|customer)|\bnew (?:client|customer)|(?:client|customer) to add"
    r"|(?:them|it) a (?:client|customer)"
    r"|\b(?:create|add|enter|register|set up) (?:the|a|an|this|that)? ?(?:client|customer)\b"
)
_NEW_DEAL = (
    r"\b(?:new|another) (?:deal|opportunity)\b|\bhave (?:a|that) deal\b"
    r"|\b(?:open|create|enter|start|set up|register|add) (?:a|an|the|that|this)"
    r"(?: \w+)? (?:deal|opportunity)\b"
)


@dataclass(frozen=True)
class ReplyRule:
    """What is done when all that is in ``says`` was said, none of ``without``, and ``when``."""

    run: Callable[[TurnContext], str | None]
    says: tuple[str, ...] = ()
    without: str = ""
    when: Callable[[TurnContext], bool] | None = None

    def fits(self, turn: TurnContext) -> bool:
        """Whether the rule is for what was said."""
        if not all(map(turn.says, self.says)) or (self.without and turn.says(self.without)):
            return False
        return self.when is None or self.when(turn)


def reply_to(turn: TurnContext) -> str:
    """The reply of the first rule that fits.

    Raises:
        AskError: Something must be said first.
        RefusedError: It may not or cannot be done.
    """
    for rule in _RULES:
        if rule.fits(turn) and (reply := rule.run(turn)):
            return reply
    return "I found nothing that fits. Which record do you mean?"


def _undo(turn: TurnContext) -> str | None:
    """Put back what the last turn that changed something changed, or the fields named of it."""
    changes = turn.conversation.changes
    if not changes:
        return None
    last = [c for c in changes if c.turn == changes[-1].turn]
    named = [f for f in ("amount", "stage", "probability") if turn.says(rf"\b{f}\b")]
    if turn.says(r"\bdate\b"):
        named += ["close_date", "valid_until"]
    told = []
    for done in reversed(last):
        before = {f: v for f, v in done.before.items() if not named or f in named}
        if not before:
            continue
        turn.write(f"modify_{done.kind}", **{f"{done.kind}_id": done.key}, **before)
        told += [f"{f}: {shown(f, v)}" for f, v in before.items()]
    turn.conversation.changes = [replace(c, turn=0) if c in last else c for c in changes]
    return "It is as it was before.\n" + "\n".join(told)


def _has_file(turn: TurnContext) -> bool:
    return bool(turn.parsed.values.files)


def _names_title(turn: TurnContext) -> bool:
    """Says what title a person that there is has now."""
    parsed = turn.parsed
    given = parsed.values.titles and (parsed.contacts or turn.says(r"(?:that|the) contact"))
    return bool(given and not parsed.values.emails and _is_change(turn))


def _is_contact(turn: TurnContext) -> bool:
    """Asks to add a person whom no record has."""
    if turn.parsed.contacts:
        return False
    return bool(turn.parsed.values.emails and turn.says(_MAKE)) or turn.says(r"\bnew contact")


def _is_change(turn: TurnContext) -> bool:
    """Not a plain question: it says to change something, or how things are now."""
    question = re.match(_QUESTION, turn.parsed.said, re.IGNORECASE)
    return not question or turn.says(_CHANGE)


def _for_outsider(turn: TurnContext) -> bool:
    """Asks to tell a person what another client than their own pays or was quoted."""
    parsed = turn.parsed
    employers = {person.get("client_id") for person in parsed.contacts}
    others = {client["client_id"] for client in parsed.clients} - employers
    asked = turn.says(r"\bpric|\bpay|\bquot|\bcost|amount|figure|how much")
    return bool(
        employers and others and asked and turn.says(r"\btell|\bsend|\bpass|\bshare|asks?\b")
    )


def _refuse_outsider(_turn: TurnContext) -> str:
    raise RefusedError("what one client pays is not told to people of another (CONTACT-4)")


def _gives_term(turn: TurnContext) -> bool:
    """Gives a contract a new value or end; one that is to be made has both from its deal."""
    values = turn.parsed.values
    given = values.amounts or values.dates or turn.says(r"extend|months?\b|years?\b")
    return bool(given and _is_change(turn) and not turn.says(r"set up|create|draw up|\bneed|\bnew"))


_RULES = (
    ReplyRule(_undo, (_UNDO,)),
    ReplyRule(create.upload, when=_has_file),
    ReplyRule(_refuse_outsider, when=_for_outsider),
    ReplyRule(do_to_all, (ALL,), when=_is_change),
    ReplyRule(
        deals.copy_deal, (r"\bcopy\b|\bduplicate|\bclone",), r"\b(?:the|that) copy\b|\bcopy:"
    ),
    ReplyRule(change, when=_names_title),
    ReplyRule(create.delete_deal, (r"\bdelet|\bremove|get rid",), r"quote|contact"),
    ReplyRule(
        create.add_note, (r"\bnote\b|\blog\b|write down|\bjot",), r"\bwho|author|how many|last note"
    ),
    ReplyRule(deals.lose, (r"(?<!got )\b(?:lost|lose)\b",), r"lost count", when=_is_change),
    ReplyRule(deals.win, (r"\bwon\b",), r"\bwon deal|deal (?:we|they) won", when=_is_change),
    ReplyRule(accounts.new_client, (_NEW_CLIENT,)),
    ReplyRule(accounts.set_status, (r"active\b|activate",), r"quote|contract", when=_is_change),
    ReplyRule(create.new_contact, when=_is_contact),
    ReplyRule(
        new_quote, (r"\bquote\b", _MAKE + r"|\bquote (?:it|the)\b"), r"valid|\bsent\b|\bmark"
    ),
    ReplyRule(accounts.change_contract, (r"\bcontract\b",), when=_gives_term),
    ReplyRule(accounts.new_contract, (r"\bcontract\b", _MAKE + r"|contract for")),
    ReplyRule(deals.new_deal, (_NEW_DEAL,)),
    ReplyRule(change, when=_is_change),
    ReplyRule(answer),
)
