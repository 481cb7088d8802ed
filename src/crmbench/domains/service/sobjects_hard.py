"""The hard service org through Salesforce's APIs."""

from __future__ import annotations

from functools import cache

from crmbench.core.database import Database
from crmbench.core.schema import Row
from crmbench.domains.service.hard.reading import refuse_long_texts
from crmbench.domains.service.hard.schema import (
    CHILDREN,
    CREDIT_STATES,
    CREDIT_TYPES,
    HARD,
    ORIGINS,
    OUTCOMES,
    PARENTS,
)
from crmbench.domains.service.schema import LABELS, PICKLISTS
from crmbench.domains.service.sobjects import (
    ServiceTriggers,
    derived_fields,
    object_specs,
    store_of,
)
from crmbench.salesforce.catalog import Catalog
from crmbench.salesforce.sobjects.errors import RULE, SobjectError
from crmbench.salesforce.sobjects.organization import organization
from crmbench.salesforce.sobjects.schema import ObjectSchema, OrgSchema
from crmbench.salesforce.sobjects.store import TableStore

HARD_LABELS = {
    **LABELS,
    "Credit__c": "Credit",
    "Skill__c": "Skill",
    "Absence__c": "Absence",
    "Holiday": "Holiday",
}
HARD_PICKLISTS = {
    **PICKLISTS,
    ("Knowledge__kav", "PublishStatus"): ("Draft", "Online", "Archived"),
    ("Case", "Origin"): ORIGINS,
    ("Case", "ReviewOutcome__c"): OUTCOMES,
    ("Credit__c", "Status__c"): CREDIT_STATES,
    ("Credit__c", "Type__c"): CREDIT_TYPES,
}


@cache
def schema() -> OrgSchema:
    """The objects of the hard org."""
    catalog = Catalog(
        HARD, CHILDREN, PARENTS, derived_fields(HARD), {"Organization": organization()}
    )
    return OrgSchema(catalog, object_specs(tuple(HARD.tables), HARD_LABELS, HARD_PICKLISTS))


class HardTriggers(ServiceTriggers):
    """The easy org's, with the rules of reviews; long texts are read one record at a time."""

    def updating(self, store: TableStore, each: ObjectSchema, before: Row, changes: Row) -> None:
        """Refuse what the org's rules refuse."""
        super().updating(store, each, before, changes)
        if each.name == "Case" and {"ReviewOutcome__c", "ReviewAmount__c"} & set(changes):
            _check_review({**before, **changes})

    def check_query(self, text: str) -> None:
        """As the tool that takes queries: none may name a long text."""
        refuse_long_texts(text)


def _check_review(case: Row) -> None:
    outcome, amount = case["ReviewOutcome__c"], case["ReviewAmount__c"]
    fields = ["ReviewOutcome__c", "ReviewAmount__c"]
    if (outcome in ("Underpaid", "Overpaid")) != (amount is not None):
        needs = "takes no" if amount is not None else "needs an"
        raise SobjectError(RULE, f"{outcome} {needs} amount.", fields)
    if amount is not None and amount <= 0:
        raise SobjectError(RULE, "The amount must be more than 0.", fields)
    if case["MasterRecordId"] is not None:
        raise SobjectError(RULE, f"The case {case['CaseNumber']} was merged into another.", fields)


def open_store(database: Database) -> TableStore:
    """The records of a hard service org."""
    return store_of(database, schema(), HardTriggers())
