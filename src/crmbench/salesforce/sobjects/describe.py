"""What the describe calls of Salesforce's REST API answer, from an org's schema."""

from __future__ import annotations

from typing import Any

from crmbench.salesforce.sobjects.schema import SOAP_TYPES, FieldSpec, ObjectSchema, OrgSchema

_NUMBERS = ("double", "currency", "percent")
_TEXTS = ("string", "picklist", "email", "phone", "url")


def describe_global(schema: OrgSchema, path: str) -> dict[str, Any]:
    """All objects.

    Args:
        path: The address of the version's objects, such as ``/services/data/v59.0/sobjects``.
    """
    return {
        "encoding": "UTF-8",
        "maxBatchSize": 200,
        "sobjects": [summary(each, path) for each in schema.objects.values()],
    }


def summary(each: ObjectSchema, path: str) -> dict[str, Any]:
    """An object as the list of all of them shows it."""
    writable = each.spec.writable
    label = each.spec.label
    own = f"{path}/{each.name}"
    return {
        "activateable": False,
        "createable": writable,
        "custom": each.name.endswith("__c"),
        "customSetting": False,
        "deletable": writable,
        "deprecatedAndHidden": False,
        "feedEnabled": False,
        "hasSubtypes": False,
        "isSubtype": False,
        "keyPrefix": each.spec.prefix,
        "label": label,
        "labelPlural": each.spec.plural or f"{label}s",
        "layoutable": True,
        "mergeable": False,
        "mruEnabled": True,
        "name": each.name,
        "queryable": True,
        "replicateable": True,
        "retrieveable": True,
        "searchable": any(f.type in (*_TEXTS, "textarea") for f in each.fields.values()),
        "triggerable": False,
        "undeletable": False,
        "updateable": writable,
        "urls": {
            "sobject": own,
            "describe": f"{own}/describe",
            "rowTemplate": f"{own}/{{ID}}",
            "layouts": f"{own}/describe/layouts",
        },
    }


def describe_object(schema: OrgSchema, each: ObjectSchema, path: str) -> dict[str, Any]:
    """One object: its fields, the relations to its children, and the flags of the list."""
    return {
        **summary(each, path),
        "actionOverrides": [],
        "childRelationships": child_relationships(schema, each),
        "compactLayoutable": True,
        "fields": [describe_field(each, f) for f in each.fields.values()],
        "listviewable": None,
        "lookupLayoutable": None,
        "namedLayoutInfos": [],
        "networkScopeFieldName": None,
        "recordTypeInfos": [_master_record_type(each, path)],
        "searchLayoutable": True,
        "supportedScopes": [{"label": "All records", "name": "everything"}],
    }


def child_relationships(schema: OrgSchema, each: ObjectSchema) -> list[dict[str, Any]]:
    """The relations to records that refer to this object's."""
    names = {(c.object, c.field): c.name for c in each.info.children.values()}
    return [
        {
            "cascadeDelete": _cascades(other, parent.field),
            "childSObject": other.name,
            "deprecatedAndHidden": False,
            "field": parent.field,
            "junctionIdListNames": [],
            "junctionReferenceTo": [],
            "relationshipName": names.get((other.name, parent.field)),
            "restrictedDelete": not _cascades(other, parent.field),
        }
        for other in schema.objects.values()
        for parent in other.info.parents.values()
        if parent.target == each.name
    ]


def _cascades(child: ObjectSchema, field: str) -> bool:
    column = child.fields[field.lower()].info.column
    keys = getattr(column, "foreign_keys", ())
    return any((key.ondelete or "").lower() == "cascade" for key in keys)


def _master_record_type(each: ObjectSchema, path: str) -> dict[str, Any]:
    return {
        "active": True,
        "available": True,
        "defaultRecordTypeMapping": True,
        "developerName": "Master",
        "master": True,
        "name": "Master",
        "recordTypeId": "012000000000000AAA",
        "urls": {"layout": f"{path}/{each.name}/describe/layouts/012000000000000AAA"},
    }


def describe_field(each: ObjectSchema, field: FieldSpec) -> dict[str, Any]:
    """One field."""
    kind = field.type
    number = kind in _NUMBERS
    filterable = kind != "textarea"
    return {
        "aggregatable": filterable and kind != "boolean",
        "aiPredictionField": False,
        "autoNumber": field.name.endswith("Number") and field.info.derive is not None,
        "byteLength": field.length * (1 if kind in ("id", "reference") else 3),
        "calculated": field.info.derive is not None,
        "calculatedFormula": None,
        "cascadeDelete": False,
        "caseSensitive": False,
        "compoundFieldName": None,
        "controllerName": None,
        "createable": field.createable,
        "custom": field.info.custom,
        "defaultValue": False if kind == "boolean" and field.createable else field.default,
        "defaultValueFormula": None,
        "defaultedOnCreate": not field.required and not field.nillable,
        "dependentPicklist": False,
        "deprecatedAndHidden": False,
        "digits": 9 if kind == "int" else 0,
        "displayLocationInDecimal": False,
        "encrypted": False,
        "externalId": field.external_id,
        "extraTypeInfo": None,
        "filterable": filterable,
        "filteredLookupInfo": None,
        "formulaTreatNullNumberAsZero": False,
        "groupable": filterable and field.info.groupable and kind != "datetime" and not number,
        "highScaleNumber": False,
        "htmlFormatted": False,
        "idLookup": field.name == "Id" or field.external_id,
        "inlineHelpText": None,
        "label": field.label,
        "length": field.length,
        "mask": None,
        "maskType": None,
        "name": field.name,
        "nameField": field.name == each.name_field,
        "namePointing": False,
        "nillable": field.nillable,
        "permissionable": field.nillable and field.createable,
        "picklistValues": [_picklist_value(field, value) for value in field.values],
        "polymorphicForeignKey": False,
        "precision": 18 if number else 0,
        "queryByDistance": False,
        "referenceTargetField": None,
        "referenceTo": [field.target] if field.target else [],
        "relationshipName": field.relation,
        "relationshipOrder": None,
        "restrictedDelete": False,
        "restrictedPicklist": bool(field.values),
        "scale": 2 if number else 0,
        "searchPrefilterable": False,
        "soapType": SOAP_TYPES.get(kind, "xsd:string"),
        "sortable": filterable,
        "type": kind,
        "unique": field.unique,
        "updateable": field.updateable,
        "writeRequiresMasterRead": False,
    }


def _picklist_value(field: FieldSpec, value: str) -> dict[str, Any]:
    return {
        "active": True,
        "defaultValue": value == field.default,
        "label": value,
        "validFor": None,
        "value": value,
    }
