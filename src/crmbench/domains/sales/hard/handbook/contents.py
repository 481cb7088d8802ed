"""How an article is spoken of by what it lays down: in free words, with the case in which it does.

No word is common to all wordings of a question, none is the word by which the house rules name it,
and none is a term for a renewal. So no search for a phrase lists what is spoken of so; who asks
what could bear on a renewal finds it by the case, which is in words that stand on its records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RENEWAL_CONTENTS: Mapping[str, Sequence[str]] = {
    "uplift": (
        "the surcharge on the old price where {case}",
        "the extra over last year's bill if {case}",
        "our mark-up for whoever stays with us in the event that {case}",
        "the step from the expiring amount to the next once {case}",
        "the rise in what an existing client pays when {case}",
        "the percentage put on the previous sum if {case}",
        "the increase asked of those who carry on provided that {case}",
        "the premium over the former contract for the case that {case}",
        "the plus against the present rate so long as {case}",
        "the gap between the ending fee and the new one when {case}",
        "the growth of an annual charge from one contract to the next if {case}",
        "the supplement to what was agreed last time as soon as {case}",
        "the figure by which staying becomes dearer where {case}",
        "the difference to the running conditions in money wherever {case}",
    ),
    "ceiling": (
        "the cap on our price rise where {case}",
        "the upper limit of the surcharge on the old price if {case}",
        "the most by which a running bill may grow when {case}",
        "the maximum step up from the expiring amount once {case}",
        "the lid on increases for whoever stays in the event that {case}",
        "the point at which our mark-up stops as soon as {case}",
        "the bound above which no present rate is raised provided that {case}",
        "the top of the range for those who carry on where {case}",
        "the line that no increase must cross if {case}",
        "the highest plus that an existing client can be asked for so long as {case}",
        "the brake on ever dearer contracts for the case that {case}",
        "the protection against steeper fees when {case}",
        "the utmost extra over last year's bill if {case}",
    ),
    "lead time": (
        "the head start over the expiry date if {case}",
        "the notice with which we want both parties' ink when {case}",
        "the span between agreement and the last day of what runs now once {case}",
        "the margin left ahead of expiry provided that {case}",
        "the date for putting pen to paper in the event that {case}",
        "the deadline for the client's yes if {case}",
        "the timing of the conclusion as soon as {case}",
        "the stretch beforehand by which everything is agreed where {case}",
        "the interval by which we are to be done early so long as {case}",
        "the cut-off for a firm commitment when {case}",
        "the time in hand when the parties shake on it if {case}",
        "the advance in days at which the deal has to be sealed where {case}",
        "the place in the calendar for both names for the case that {case}",
    ),
    "desk": (
        "the assignment of the deal where {case}",
        "the choice of the person responsible if {case}",
        "the appointment of a handler when {case}",
        "the decision on who does the work once {case}",
        "the answer to whose file it is in the event that {case}",
        "the naming of a colleague for the job provided that {case}",
        "the arrangement on our contact for the case that {case}",
        "the rota that says which of us sees to it where {case}",
        "the allocation within the team if {case}",
        "the entry under the column for the keeper when {case}",
        "the distribution of this work so long as {case}",
        "the routing to one member of staff where {case}",
        "the transfer into other hands as soon as {case}",
    ),
    "hold": (
        "the freeze that applies where {case}",
        "the pause imposed if {case}",
        "the standstill ordered when {case}",
        "the red light shown once {case}",
        "the blockade in the event that {case}",
        "the parking of the deal provided that {case}",
        "the suspension as soon as {case}",
        "the postponement until further notice where {case}",
        "the ban on proceeding if {case}",
        "the moratorium so long as {case}",
        "the shelving of the matter for the case that {case}",
        "the bar to any preparation when {case}",
        "our refusal to move where {case}",
    ),
    "release": (
        "the green light given where {case}",
        "the clearance to proceed if {case}",
        "the permission to carry on when {case}",
        "the exemption from every pause once {case}",
        "the all-clear in the event that {case}",
        "the free passage granted provided that {case}",
        "the licence to move where {case}",
        "our readiness to press on if {case}",
        "the waiver of any standstill so long as {case}",
        "the leave to get it done for the case that {case}",
        "the promise not to dawdle when {case}",
        "the privilege of being served at once as soon as {case}",
        "the removal of every obstacle once {case}",
    ),
}
"""Kind of provision on renewals to what it is called where it is spoken of by what it says."""

DEFINED: Sequence[str] = (
    "the test for a {noun}",
    "the threshold at which somebody counts as a {noun}",
    "the bar that has to be cleared by a {noun}",
    "the requirement for a {noun}",
    "the measure by which we tell a {noun}",
    "the line between a {noun} and the rest",
    "our yardstick for a {noun}",
    "the figure that makes a {noun}",
    "the description of a {noun}",
    "the criterion for a {noun}",
    "the meaning given to a {noun}",
    "the mark from which on we speak of a {noun}",
    "the hurdle before anybody is listed as a {noun}",
)
"""What a definition is called."""

CHANGED: Mapping[str, Sequence[str]] = {
    "value": (
        "the arrival of {figure} in {root}",
        "the step that put {figure} into {root}",
        "the switch to {figure} in {root}",
        "the revision that gave {figure} to {root}",
    ),
    "repeal": (
        "the end put to {root}",
        "the cancellation of {root}",
        "the abolition of {root}",
        "the farewell to {root}",
    ),
    "except": (
        "the exemption of cases in which {cond} from {root}",
        "the carve-out for cases in which {cond} from {root}",
        "the reprieve for cases in which {cond} from {root}",
        "the exception made for cases in which {cond} under {root}",
    ),
    "extend": (
        "the addition of cases in which {cond} to {root}",
        "the inclusion of cases in which {cond} under {root}",
        "the admission of cases in which {cond} into {root}",
        "the subjection of cases in which {cond} to {root}",
    ),
}
"""Kind of change to what a change of a provision is called."""

CONNECTIVES = (
    "where", "if", "when", "once", "in the event that", "provided that", "so long as", "as soon as",
    "for the case that",
)  # fmt: skip
OTHER_CONTENTS: Mapping[str, Sequence[str]] = {
    "discount on a first order": (
        "the reduction for newcomers",
        "the welcome that takes something off an opening order",
        "the percentage let off a first purchase",
    ),
    "deposit": (
        "the sum put down on new business",
        "the advance on a new order",
        "the share paid before new work begins",
    ),
    "invoice term": (
        "the time in hand for settling invoices",
        "the deadline for invoices",
        "the span within which a bill is paid",
    ),
    "delivery notice": (
        "the notice of a lorry's arrival",
        "the head start of the delivery slip",
        "the timing of the call before a delivery",
    ),
    "sample quota": (
        "the time for handing samples back",
        "the interval for keeping samples",
        "the loan of samples",
    ),
    "rebate": (
        "the reward for paying early",
        "the percentage off for prompt payment",
        "the plus for early payers",
    ),
    "cancellation fee": (
        "the charge for a visit called off",
        "the premium on a canceled visit",
        "the figure due for a missed visit",
    ),
    "quote review": (
        "the second look at a quote",
        "the interval between two looks at a quote",
        "the date for going over quotes",
    ),
    "uplift of list prices": (
        "the rise in list prices for new business",
        "the step up of the price list",
        "the increase of the catalogue for new buyers",
    ),
    "warranty": (
        "the longer warranty",
        "the extra days of warranty",
        "the stretch by which the warranty grows",
    ),
    "follow-up visit": (
        "the time until the next visit",
        "the gap between visits",
        "the place in the calendar for another visit",
    ),
    "dearer parts": (
        "the surcharge on spare parts",
        "the mark-up on spares",
        "the increase for spare parts",
    ),
    "second opinion": (
        "the margin for another expert's view",
        "the advance at which another opinion is sought",
        "the cut-off for a further opinion on the work",
    ),
    "prolonged lease": (
        "the extra time of a lease of devices",
        "the supplement to leases of devices",
        "the growth of a device lease in days",
    ),
}
"""Question that no renewal asks to what its provisions are called where they are spoken of by what
they say; a connective and the case follow."""
