"""The tables of the sales CRM and, beside them, the handbook."""

from __future__ import annotations

from sqlalchemy import MetaData

from crmbench.authoring.handbook import article_table
from crmbench.core.schema import Schema
from crmbench.domains.sales.schema import METADATA


def _metadata() -> MetaData:
    """A copy, so that the schema of the other sets stays as it is."""
    metadata = MetaData()
    for table in METADATA.sorted_tables:
        table.to_metadata(metadata)
    article_table(metadata)
    return metadata


SCHEMA = Schema(_metadata())
