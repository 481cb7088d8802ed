"""Why the house rules forbid what they forbid, as a good reply tells it."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "NOTE-2": "nothing about health, family or religion is written into the CRM",
    "CONTACT-1": "their notes say that phone number and e-mail address are not to be shared",
    "CONTACT-2": "a contact's e-mail address has to be at the client's own domain",
    "CONTACT-4": "what one client was quoted is not passed on to people of another client",
    "DISC-1": "more than 10 % off needs the sales manager's approval, and no note gives it",
    "DISC-2": "30 % under the deal's amount is the limit for any quote",
    "DEAL-3": "the deal has no Approved quote",
    "DEAL-5": "the deal is past its first stage or has a quote, a contract, a document or a note",
    "DEAL-6": "the deal is closed",
    "DEAL-8": "the deal is not your own, and only the sales manager hands over somebody else's",
    "DEAL-9": "the deal is closed, and closed deals are not copied",
    "QUOTE-3": "the quote is Approved, and an Approved quote keeps its fields",
    "QUOTE-4": "only Drafts are deleted, and this quote is not a Draft",
    "QUOTE-6": "only the sales manager may have a quote marked Approved",
    "CLIENT-1": "there is such a client already",
    "CLIENT-3": "only the sales manager may make an Inactive client Active again",
    "CLIENT-3+DEAL-6": "the client is Inactive, and the deal is closed",
    "CLIENT-4": "the company directory lists them as a Competitor",
    "CLIENT-5": "the client still has an open deal",
    "CONTRACT-1": "a contract is made only for a won deal that does not have one already",
    "CONTRACT-3": "the contract is Active, and an Active contract keeps its value and its start",
}
"""By the id of a rule, or of several that were cited together."""
