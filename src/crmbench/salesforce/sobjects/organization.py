"""The object that clients ask about an org itself: one record, which no table holds."""

from __future__ import annotations

import sqlalchemy as sa

from crmbench.salesforce.catalog import DerivedField
from crmbench.salesforce.ids import prefixed_id
from crmbench.salesforce.sobjects.schema import ObjectSpec
from crmbench.salesforce.sobjects.session_fields import constant, flag, quoted

ORGANIZATION_ID = prefixed_id("00D", 1)
SPEC = ObjectSpec("Organization", "00D", writable=False)


def text_field(name: str, value: str | None) -> DerivedField:
    """A text that is the same for each record."""
    return DerivedField(name, "string", constant("NULL" if value is None else quoted(value)))


def organization_fields(name: str) -> tuple[DerivedField, ...]:
    """Its fields.

    Args:
        name: Of the company whose org it is.
    """
    return (
        text_field("Name", name),
        DerivedField("IsSandbox", "boolean", flag(True), required=True),
        text_field("InstanceName", "LOCAL"),
        text_field("OrganizationType", "Developer Edition"),
        text_field("NamespacePrefix", None),
        DerivedField("TrialExpirationDate", "datetime", constant("NULL")),
        text_field("LanguageLocaleKey", "en_US"),
        text_field("TimeZoneSidKey", "GMT"),
    )


def organization() -> sa.Subquery:
    """Its one id as a select."""
    key = sa.literal_column(quoted(ORGANIZATION_ID), sa.String())
    return sa.select(key.label("Id")).subquery()
