"""Facts: what a reply must tell the user, or must not.

A reply is read once into plain text and typed mentions (`crmbench.language.reading`); a matcher a
kind (`matchers`, `choices`, `booleans`) looks for the value among them and asks whether it is
asserted there (`crmbench.language.stance`).
"""

from crmbench.grading.facts.matchers import conveys, mentions

__all__ = ["conveys", "mentions"]
