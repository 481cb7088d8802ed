"""XML in and out: of logins, and of version 1 of the bulk API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from crmbench.salesforce.sobjects import SobjectError

DECLARED = re.compile(r"<!\s*(?:DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)", re.IGNORECASE)
"""A document type, which could hold entities that grow or read files: ``<!DOCTYPE x [``; not a
comment, ``<!-- x -->``."""
NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not take: ``\\x00``; not a line break."""
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def parse(data: bytes) -> ElementTree.Element:
    """A document without a document type.

    Raises:
        SobjectError: It is no XML, or declares a type.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SobjectError("INVALID_XML", "the body is not UTF-8") from None
    if DECLARED.search(text):
        raise SobjectError("INVALID_XML", "a document type is not taken")
    try:
        # A text's own declaration of an encoding would be read again.
        return ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except (ElementTree.ParseError, ValueError) as error:
        raise SobjectError("INVALID_XML", f"the body is not XML: {error}") from None


def local(element: ElementTree.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def first(element: ElementTree.Element, name: str) -> ElementTree.Element | None:
    """The first element of this name, whatever its namespace, at any depth."""
    return next((each for each in element.iter() if local(each) == name), None)


def text_at(element: ElementTree.Element, name: str) -> str:
    """The text of the first element of this name; "" if there is none."""
    found = first(element, name)
    return (found.text or "").strip() if found is not None else ""


def written(text: Any) -> str:
    """A value inside an element."""
    return escape(NOT_XML.sub("", str(text)))


def elements(values: Mapping[str, Any]) -> str:
    """Elements of these names and values."""
    return "".join(f"<{name}>{written(value)}</{name}>" for name, value in values.items())
