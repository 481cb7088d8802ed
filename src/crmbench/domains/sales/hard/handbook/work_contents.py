"""How an article on a renewal being worked on, or on duplicates, is spoken of by what it says.

As in `contents`: no word is common to all wordings of a question, and none is a term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHIFT_CONTENTS: Mapping[str, Sequence[str]] = {
    "delay": (
        "the furthest date to which a deal may slip where {case}",
        "the most days of grace past expiry if {case}",
        "the limit to postponing when {case}",
        "the patience we have beyond the final day of what runs now once {case}",
        "the longest stretch that may go by after expiry in the event that {case}",
        "the bound on moving a date back provided that {case}",
        "the leeway in the calendar for the case that {case}",
        "the span by which a conclusion may come late so long as {case}",
    ),
    "reduction": (
        "the biggest rebate off the present price where {case}",
        "the floor under what we charge if {case}",
        "the scope for bargaining when {case}",
        "the utmost that may be knocked off the running bill once {case}",
        "the room for a cheaper deal in the event that {case}",
        "the limit to giving way on money provided that {case}",
        "the largest concession on price for the case that {case}",
        "the depth to which a fee may sink so long as {case}",
    ),
    "chance": (
        "the highest probability allowed where {case}",
        "the cap on confidence if {case}",
        "the most optimistic figure permitted when {case}",
        "the upper end of any forecast once {case}",
        "the top odds that may be entered in the event that {case}",
        "the bound on how sure we may be provided that {case}",
        "the damper on hopes for the case that {case}",
        "the percentage above which nothing is rated so long as {case}",
    ),
    "keeper": (
        "the choice of who receives what a colleague gives away where {case}",
        "the naming of the new owner upon a transfer if {case}",
        "the destination of files passed on when {case}",
        "the person next in line once {case}",
        "the address for whatever is handed on in the event that {case}",
        "the successor at the desk provided that {case}",
        "the heir to such work for the case that {case}",
        "the arrangement on who inherits a deal so long as {case}",
    ),
    "frozen": (
        "the refusal of every wish where {case}",
        "the freeze on alterations if {case}",
        "the ban on touching anything when {case}",
        "the standstill whatever anybody wants once {case}",
        "the deaf ear to requests in the event that {case}",
        "the seal on the record provided that {case}",
        "the instruction to do nothing for the case that {case}",
        "the lock against all edits so long as {case}",
    ),
    "open": (
        "the permission to carry out wishes where {case}",
        "the green light for alterations if {case}",
        "the freedom to comply when {case}",
        "the readiness to grant requests once {case}",
        "the clearance for edits in the event that {case}",
        "the leave to oblige whoever wants something provided that {case}",
        "the go-ahead to act for the case that {case}",
        "the unlocking of the record so long as {case}",
    ),
}
"""Kind of provision on renewals that are worked on to what it is called."""

_MARKS: Mapping[str, Sequence[str]] = {
    "tax": ("fiscal number", "number from the revenue office", "VAT code"),
    "register": ("listing in the trade register", "registration at court", "line in the register"),
    "renamed": (
        "name, old or current",
        "firm name, past or present",
        "title of the house, now or once",
    ),
    "phone": ("number to ring", "telephone line", "dialling code and extension"),
}
"""Kind of mark to what it is called in other words."""
_PROVES = (
    "the conclusion of sameness from one {mark} where {{case}}",
    "the trust put in one {mark} as proof if {{case}}",
    "the sufficiency of a shared {mark} for taking two files as one when {{case}}",
    "the verdict that one {mark} settles it once {{case}}",
    "the identity that follows from the same {mark} in the event that {{case}}",
    "the weight of full evidence given to an identical {mark} provided that {{case}}",
)
_PROVES_NOT = (
    "the doubt cast on one {mark} where {{case}}",
    "the warning that an identical {mark} is not enough if {{case}}",
    "the refusal to infer anything from one {mark} when {{case}}",
    "the insufficiency of a shared {mark} once {{case}}",
    "the disregard of one {mark} in common in the event that {{case}}",
    "the denial of any weight to the same {mark} provided that {{case}}",
)


def _of_marks() -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {}
    for kind, marks in _MARKS.items():
        found[kind] = tuple(each.format(mark=mark) for each in _PROVES for mark in marks)
        found[f"{kind} not"] = tuple(
            each.format(mark=mark) for each in _PROVES_NOT for mark in marks
        )
    return found


DUPLICATE_CONTENTS: Mapping[str, Sequence[str]] = {
    **_of_marks(),
    "stays": (
        "the choice of the survivor where {case}",
        "the decision on which file is kept if {case}",
        "the pick of the one into which the others go when {case}",
        "the criterion for the remaining record once {case}",
        "the selection of the card that lives on in the event that {case}",
        "the answer to who remains provided that {case}",
        "the preference among several entries for the case that {case}",
    ),
    "details": (
        "the source of e-mail, phone and address where {case}",
        "the origin of the contact data if {case}",
        "the choice of whose particulars are taken over when {case}",
        "the provenance of the address lines once {case}",
        "the answer to whose data prevails in the event that {case}",
        "the donor of the particulars provided that {case}",
        "the precedence among several addresses for the case that {case}",
    ),
    "apart": (
        "the separation kept up where {case}",
        "the ban on joining files if {case}",
        "the protection from being merged when {case}",
        "the coexistence of several files once {case}",
        "the wall between the records in the event that {case}",
        "the obstacle to any union provided that {case}",
        "the veto against putting them together for the case that {case}",
    ),
    "together": (
        "the union in spite of everything where {case}",
        "the permission to join files if {case}",
        "the green light for putting them together when {case}",
        "the lifting of any wall between the records once {case}",
        "the fusion that nothing prevents in the event that {case}",
        "the clearance to unite the entries provided that {case}",
        "the removal of every obstacle to a merger for the case that {case}",
    ),
}
"""Kind of provision on clients that are one firm to what it is called."""
