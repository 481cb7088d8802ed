"""Writing conversations: the org to choose from, the builder, and how house rules become calls."""

from crmbench.authoring.calls import Derived, call
from crmbench.authoring.family import NoCandidate
from crmbench.domains.sales.authoring import policy_actions, references
from crmbench.domains.sales.authoring.builder import ConversationBuilder
from crmbench.domains.sales.authoring.family import SalesFamily, family, load_families
from crmbench.domains.sales.authoring.org import SalesOrg

__all__ = [
    "ConversationBuilder",
    "Derived",
    "NoCandidate",
    "SalesFamily",
    "SalesOrg",
    "call",
    "family",
    "load_families",
    "policy_actions",
    "references",
]
