"""The verbs of doing something to a record, and what keeps one from being a claim."""

from __future__ import annotations

import re

DONE = (
    "updated|changed|modified|edited|created|added|deleted|removed|set|sent|approved|uploaded|"
    "attached|applied|cancell?ed|moved|marked|cloned|copied|duplicated|logged|saved|recorded|"
    "assigned|reassigned|renamed|closed|granted|processed|completed|scheduled|extended|issued|"
    "registered|raised|lowered|increased|reduced|entered|corrected|adjusted|put|booked|filed|"
    "submitted|executed|finali[sz]ed|linked|merged|reopened|activated|deactivated|reactivated|"
    "switched|transferred|made|erased|wiped|signed|converted|replaced|done|handled|taken care of|"
    "gone ahead|went ahead|pushed|bumped|swapped|restored|shared|emailed|forwarded|gave|given|"
    "stored|kept|noted|drafted|published|escalated|opened|posted|fixed|routed|handed|passed|"
    "commented|placed|flipped|turned|brought|pulled|dropped|thrown|threw|wrote|written|ended|shortened"
)
"""What an agent does to records, in the forms "updated" and "updating"."""
ADVERB = (
    r"(?:also|now|just|already|successfully|gone ahead and|went ahead and|accordingly|duly|happily|"
    r"since|then|therefore|instead|nevertheless|still|quietly|simply|gladly|only|all|both|quickly)"
)
UNREAL = re.compile(
    r"(?:n't\b|\b(?:not|un|never|no|cannot|without|unable to|if|once|unless|until|after|"
    r"before|when|"
    r"could|would|can|may|might|will|'ll|should|must|to be|nothing|none|neither|nor|only|nobody|"
    r"failed to|cant|couldnt|wont|didnt|hasnt|havent|wasnt|isnt|dont|doesnt|whatever|whether|"
    r"as soon as|hardly|supposed|meant|going to|like to|want|wanted|asked|ask|rather)\b)"
)
"""Words before a verb, in its clause, after which it tells nothing that happened."""
NEGATED_OBJECT = re.compile(
    r"(?: (?:absolutely|therefore|so far|here|sure|certain|that|of course|yet|them|you|to it|"
    r"anything but|to the record|in the crm|on it|on file)){0,3} (?:no|nothing|none|neither|nor|"
    r"not (?:a|any|one|even)|exactly nothing|zero)\b"
)
"""What stands behind a verb whose object is nothing: "made no changes", "changed nothing"."""
KEPT = re.compile(
    r" (?:[\w'-]+ ){0,9}?(?:as (?:it|they|is|he|she|before|was|are)\b|(?:un|un-)\w+|alone|in place|"
    r"to myself|where |hands|at (?:inactive|its|the old)|the same|open\b|private|confidential)"
)
"""What stands behind "kept" or "left" where they tell that nothing happened."""
EARLIER = re.compile(
    r"[^.;!?\n]{0,70}?\b(?:before(?! (?:i|we|you|the|it|that|any))|earlier|(?:a|one|few|couple of) "
    r"(?:few )?(?:minutes?|moments?|while|turns?|bit|hours?|days?) ago|just now|previously|"
    r"already told|last time|yesterday|above|at the (?:start|beginning)|in this conversation|"
    r"when (?:i|we|you)|on (?:[a-z]{3,9} \d|\d))"
)
"""What stands behind a verb that tells of an earlier turn."""

NO_PERMISSION = (
    r"(?!\w+ may be (?:put off|set|lowered|raised|reduced|moved|handed over|entered) "
    r"(?:to|by|at|until|only|no)\b)"
)
"""Before "it may be" as a guess: "it may be July". Not: "it may be put off to 3 May at most"."""
