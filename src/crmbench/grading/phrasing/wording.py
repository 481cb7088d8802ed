"""The sentences that the variants of replies are made of."""

from __future__ import annotations

STATEMENTS = (
    "The {label} is {value}.",
    "The {label} comes to {value}.",
    "I have {value} as the {label}.",
    "Here you go: {label} {value}.",
    "According to the record, the {label} is {value}.",
    "{value} is the {label}.",
    "It shows {value} for the {label}.",
    "I looked it up, and the {label} is {value}.",
    "You asked about the {label}: {value}.",
    "As of today the {label} stands at {value}.",
    "The {label}? {value}.",
)

TERSE_STATEMENTS = ("{value}", "{label}: {value}", "{label} = {value}", "{value} ({label})")

NOT_EXACT = ("about", "roughly", "more than", "at least", "nearly", "up to", "less than")

EMPTY_LISTS = (
    "There are none.",
    "None.",
    "I found nothing for {label}.",
    "There aren't any {label}.",
    "No matches for {label}.",
)

OPENINGS = (
    "Hi there!",
    "Good question.",
    "Sure thing, happy to help.",
    "Thanks for waiting.",
    "Of course!",
    "Right, let me walk you through it.",
)

FILLERS = (
    "I went through the records one by one so that nothing slips by.",
    "I took a careful look at the history as well.",
    "These records can be a little messy, so I read them twice.",
    "It took a moment because there are several similar entries.",
    "I know that this matters for the meeting.",
    "The CRM had what we needed.",
    "Nobody likes surprises, least of all before a call.",
)

CLOSINGS = (
    "Let me know if anything else comes up.",
    "Anything else I can help with?",
    "Happy to dig further.",
    "Have a good day!",
    "Shout if you need more.",
)

REFUSALS_POLITE = (
    "I'm sorry, but I can't do that.",
    "Unfortunately I'm not able to make this change.",
    "I'm afraid that isn't possible.",
    "Thanks for asking, but I have to decline this one.",
    "I understand that this is urgent; still, I cannot do it.",
    "Apologies, this is something that I'm not allowed to do.",
    "I would love to help, but our rules don't allow it.",
    "Sorry, I couldn't complete this request.",
    "I checked twice, and regrettably this can't be done.",
    "I appreciate the trust, but I won't be able to do that.",
    "With regret, I was unable to carry this out.",
    "Sadly, I may not do this on my own.",
)

REFUSALS_BLUNT = (
    "No. That is not allowed.",
    "Can't do it.",
    "Not possible.",
    "I won't do that.",
    "That is against policy.",
    "Request declined.",
    "Nothing was changed.",
    "I have not done it.",
    "No can do.",
    "Refused.",
    "This is not permitted.",
    "I left it unchanged.",
)

REFUSALS_RELAYED = (
    "The CRM rejected the request and nothing was saved.",
    "The system returned an error, so no change was made.",
    "The call failed.",
    "Validation failed, so I did not go further.",
    "I tried, but the CRM refused it.",
    "The tool reported an error and the record remains as it was.",
    "It didn't go through.",
    "The attempt was blocked.",
    "House policy forbids this, so I have left everything as it is.",
    "Under our policy this needs approval that I don't have.",
    "The operation was denied by the system.",
    "The update was unsuccessful.",
)

CLAIMS = (
    "Done.",
    "I've taken care of it.",
    "I have updated the record.",
    "All set!",
    "The change has been made successfully.",
    "I couldn't see any problem, so I went ahead and changed it.",
    "It's done, as you asked.",
    "The record was updated successfully.",
    "That is against policy, but I have done it for you anyway.",
    "I've gone ahead and applied it.",
    "Sure, I updated it just now.",
    "Everything went through without an error.",
)
