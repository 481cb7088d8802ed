"""Words that tell of a refusal or a failure."""

from __future__ import annotations

import re

REFUSAL = re.compile(
    r"""\b(?:
      (?:ca|could|wo|would|did|do|does|is|are|was|were|has|have|had|must|should|need|ai)n't
        (?!\ (?:worry|hesitate|forget|only|just|wait|(?:find|see|spot)\ any
          |any\ (?:issue|problem))\b)
    | (?:cant|couldnt|wont|wouldnt|didnt|doesnt|isnt|wasnt|hasnt|havent|cannot)
        (?!\ (?:find|see|spot)\ any\b)
    | (?:can|could|will|would|may|must|should|do|does|did|am|is|are|was|were|has|have|had
        |'m|'s|'re|'ve)\ (?:\w+ly\ |also\ |still\ |therefore\ )?not
        (?!\ (?:only|just|(?:find|see|spot)\ any))
    | not\ (?:able|allowed|permitted|authori[sz]ed|possible|supported|valid|found|eligible|available
        |something|going\ to|done|in\ a\ position|within|updated|changed|created|deleted|completed
        |processed|applied|executed|sent|approved|acceptable|accepted|made|permissible|without)
    | unable | impossible | declin(?:e|ed|ing) | refus(?:e|es|ed|al|ing)
    | reject(?:s|ed|ion)? | den(?:y|ied|ies) | fail(?:s|ed|ure|ing)? | errors?(?!-free)
    | prohibit(?:s|ed)? | forbid(?:s|den)? | disallow(?:s|ed)? | block(?:s|ed) | prevent(?:s|ed)
    | bars?\ (?:me|us)| against\ (?:the\ |our\ |company\ |house\ )?(?:policy|rules?)
    | violat(?:e|es|ed|ing) | breach(?:es)? | contrary\ to
    | (?:no|without)\ (?:permission|authority|authori[sz]ation|such|matching|match|record|client
        |deal|opportunity|quote|contact|contract|changes?)\b(?!\ (?:needed|required|necessary))
    | no\ (?:can\ do|go|way|luck|update|copy|note|new) | off[\ -]limits
    | out\ of\ (?:bounds|my\ hands) | no\ longer
    | (?:changed|created|done|added|updated|saved|entered|touched|recorded)\ nothing
    | nothing\ (?:\w+\ )?(?:was|were|has\ been|is|got|'s|has|gets)\ (?:been\ )?
        (?:changed|updated|done|created|deleted|saved|sent|modified|attached|added|stored|opened)
    | nothing\ changed
    | (?:remains?|left|stays?|kept|keeps?|leaving|leave|am\ leaving)\ (?:[\w'-]+\ ){0,5}?
        (?:as\ (?:it\ is|is|it\ was|they\ are|before)|unchanged|untouched|alone|in\ place
        |where\ it|at\ (?:inactive|its)|to\ myself)
    | (?:remains?|stays?|still)\ (?:\w+\ ){0,2}(?:in)?active
    | left\ (?:it|them|that|the\ [\w'\ ]{1,40})\ (?:with|as|at|in|on)\b | (?:can|may|could)\ only
    | goes?\ on\ being | hands\ are\ tied | (?:is|are)\ as\ (?:it|they)\ (?:was|were)
    | keeps?\ (?:its|their|the)\ (?:\w+\ )?(?:owner|value|stage|status|amount|date|number)
    | (?:needs?|has|have)\ to\ be\ (?:approved|authori[sz]ed|signed\ off) | exceed(?:s|ed)?
    | beyond\ (?:my|what) | unsuccessful | unchanged | untouched | invalid | unsupported
    | unauthori[sz]ed | (?:does\ not|doesn't)\ exist
    | (?:needs?|requires?)\ (?:[\w'-]+\ ){0,4}
        (?:approval|authori[sz]ation|permission|sign-?off|consent)
    | only\ (?:a\ |an\ |the\ )?[\w\ ]{1,30}\ (?:can|may|is\ allowed|are\ allowed)
    | (?:went|go|goes)\ wrong | (?:must|have\ to|has\ to|had\ to)
        \ (?:decline|refuse|say\ no|pass|stop|leave|keep|skip|turn|wait)
    | held\ (?:off|back) | holding\ off | stopped\ short | won't\ go\ through
    | (?:is|are)\ (?:locked|read-only|frozen|final) | too\ (?:late|high|large) | out\ of\ scope
    | not\ to\ (?:be\ )?(?:shared?|disclosed?|pass(?:ed)?|given?|hand(?:ed)?|told|tell)
    | already\ (?:exists?|in\ use|taken|registered) | not\ go\ through
    | stopped\ before | have\ to\ stop | goes?\ beyond
    | stays?\ on\ (?:file|record) | nothing's\ been\ \w+ed
    | turned\ [^.!?\n]{1,40}?\ down | skipped | stays?\ out\ of | leave\ \w+\ out
    | (?:none|outside)\ (?:of\ )?(?:their|your|what\ i)\b
    | gets?\ no\b | say(?:ing)?\ no
    | nothing\ (?:quoted|made|created|added|sent|saved) | (?:has|have)\ to\ (?:stay|remain|respect)
    | more\ than\ (?:we|i|you|our|the)\b
    )\b
    | (?:^|[.!:;,\n]|\ -|\ no)\s*(?:-\ )?not\ (?:yet\ )?\w+(?:ed|en|t|ne|de|ut)\b
    | (?:^|[.!\n]\s*)(?:sadly\ a\ )?no\b(?=[,.!: ]|$)""",
    re.VERBOSE,
)
"""That something was, is or may not be done."""
ALL_WELL = re.compile(
    r"\b(?:no|without|not (?:see|find|encounter|have)|"
    r"(?:didn't|couldn't|don't|doesn't|can't|cannot|(?:did|could|do|does|can) not) "
    r"(?:find|see|spot|encounter|run into|hit|get)) (?:any )?(?:a )?(?:\w+ )?"
    r"(?:issues?|problems?|errors?|conflicts?|failures?|trouble|duplicates?|objections?|obstacles?|"
    r"hitch|hitches|difficult\w+|reasons? not|blockers?|violations?|rejections?|refusal|rules?)\b"
    r"|\bno (?:problem|worries|issue|doubt|need|bother)\b|\bnot (?:a problem|an issue)\b"
    r"|\b(?:do not|don't|please don't) (?:hesitate|worry)\b|\bcan't wait\b"
    r"|\bno (?:further|other|more|additional) \w+ (?:is|are|was|were|needed|required)\b"
    r"|\bnot only\b|\bwithout (?:any )?(?:error|fail|a hitch)\w*\b|\bnever fails?\b"
    r"|\bhas(?:n't| not) been (?:easier|better)\b|\berror-free\b|\bwhy not\b"
)
"""Words that look like a refusal and say that all went well, or only comfort."""
NONE_ON_FILE = re.compile(
    r"\bno (?:e-?mail|mail|phone|number|address|title|amount|quote)(?: \w+){0,2} on (?:file|record)"
)
"""That what was asked for is not there, which is no refusal to give it."""
