"""What the columns of a query's result are: ``columns=true``, which the sf CLI asks first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crmbench.salesforce.sobjects.schema import ObjectSchema, OrgSchema
from crmbench.salesforce.soql import ast, parse
from crmbench.salesforce.soql.plan import ChildPlan, Node, QueryPlan

_NUMBERS = frozenset({"double", "currency", "percent", "int"})
_NO_TEXTS = _NUMBERS | {"id", "reference", "boolean", "date", "datetime"}


def describe_columns(schema: OrgSchema, text: str, plan: QueryPlan) -> dict[str, Any]:
    """The columns of a query's records, in their order.

    Args:
        schema: The org's objects.
        text: The query.
        plan: Its plan.

    Returns:
        ``columnMetadata``, a column each; a parent's columns and those of a subquery are the
        ``joinColumns`` of one. Of the object: ``entityName``, ``keyPrefix``.
    """
    query = parse(text)
    each = schema.get(plan.node.type_name) or schema.get(query.froms[0].path.text)
    columns = _columns(schema, plan.node, _functions(query))
    return {
        "columnMetadata": columns,
        "entityName": each.name if each else plan.node.type_name,
        "groupBy": query.group is not None,
        "idSelected": any(column["columnName"] == "Id" for column in columns),
        "keyPrefix": each.spec.prefix if each else None,
    }


def _functions(query: ast.Query) -> dict[str, str]:
    """The functions among the columns: the name of each, and what is shown above it."""
    calls = [
        (each.alias, each.expr.text)
        for each in query.fields
        if isinstance(each, ast.Field) and isinstance(each.expr, ast.Call)
    ]
    unnamed = iter(range(len(calls)))
    # Clients look a value up by what is shown, unless the column has a name of Salesforce's making.
    names = [(alias or f"expr{next(unnamed)}", alias or text) for alias, text in calls]
    return dict(names)


def _columns(
    schema: OrgSchema, node: Node, functions: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    each = schema.get(node.type_name)
    found = []
    for key, item in node.entries:
        if isinstance(item, Node):
            found.append(_column(key, joined=_columns(schema, item)))
        elif isinstance(item, ChildPlan):
            # A subquery counts as an aggregate: one value that stands for many records.
            joined = _columns(schema, item.plan.node)
            found.append(_column(key, aggregate=True, joined=joined))
        elif functions and key in functions:
            found.append(_column(key, functions[key], aggregate=True))
        else:
            found.append(_column(key, each=each))
    return found


def _column(
    name: str,
    shown: str = "",
    *,
    aggregate: bool = False,
    joined: list[dict[str, Any]] | None = None,
    each: ObjectSchema | None = None,
) -> dict[str, Any]:
    spec = each.fields.get(name.lower()) if each else None
    return {
        "aggregate": aggregate,
        "booleanType": spec is not None and spec.type == "boolean",
        "columnName": name,
        "custom": name.endswith("__c"),
        "displayName": shown or name,
        "foreignKeyName": spec.relation if spec else None,
        "insertable": spec is not None and spec.createable,
        "joinColumns": joined or [],
        "numberType": spec is not None and spec.type in _NUMBERS,
        "textType": spec is not None and spec.type not in _NO_TEXTS,
        "updatable": spec is not None and spec.updateable,
    }
