"""A data set's description in Croissant, the JSON-LD vocabulary for machine learning data.

Written as version 1.1 of the specification at https://docs.mlcommons.org/croissant has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from crmbench.authoring.dataset import Dataset

NAME = "croissant.json"
_KINDS = {"bool": "sc:Boolean", "int32": "sc:Integer"}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant_of(
    dataset: Dataset, columns: pa.Schema, files: Sequence[Path], version: str
) -> dict[str, Any]:
    """The description of a data set on disk.

    Args:
        columns: Of its Parquet files.
        files: The Parquet files, one a split, which are read for their digests.
        version: Of the data set.
    """
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"crmbench-{dataset.domain}-seed-{dataset.seed}",
        "description": "Conversations in which an agent works with a CRM: what the user says, "
        "what a right agent does to the records, and what its replies must tell.",
        "license": "https://spdx.org/licenses/MIT.html",
        "version": version,
        "citeAs": "See CITATION.cff of crmbench.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"split-{file.stem}",
                "name": f"split-{file.stem}",
                "contentUrl": f"data/{file.name}",
                "encodingFormat": "application/x-parquet",
                "contentSize": f"{file.stat().st_size} B",
                "sha256": sha256(file.read_bytes()).hexdigest(),
            }
            for file in files
        ],
        "recordSet": [_records(file.stem, columns) for file in files],
    }


def _records(split: str, columns: pa.Schema) -> dict[str, Any]:
    """One record set a split: its columns, those of the turns as a repeated part."""
    fields = [_field(split, (column.name,), column.type) for column in columns]
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "key": {"@id": f"{split}/conversation_id"},
        "field": fields,
    }


def _field(split: str, path: tuple[str, ...], kind: pa.DataType) -> dict[str, Any]:
    import pyarrow.types as kinds

    found: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": "/".join((split, *path)),
        "name": "/".join(path),
    }
    if kinds.is_list(kind):
        found["repeated"] = True
        kind = kind.value_type
    if kinds.is_struct(kind):
        parts = (kind.field(place) for place in range(kind.num_fields))
        found["subField"] = [_field(split, (*path, part.name), part.type) for part in parts]
        return found
    found["dataType"] = _KINDS.get(str(kind), "sc:Text")
    found["source"] = {
        "fileObject": {"@id": f"split-{split}"},
        "extract": {"column": path[0]},
    }
    if len(path) > 1:
        found["source"]["transform"] = {"jsonPath": f"$[*].{path[1]}"}
    return found
