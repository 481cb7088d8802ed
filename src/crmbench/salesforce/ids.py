"""Record ids as a real org gives them: 18 characters, of which three say what object it is.

The layout is a key prefix of three characters, two of the server that made the record, a zero,
nine digits in base 62 that count records up, and three characters of checksum: one for each five
characters before, whose bits say which of the five are upper-case letters. Ids remain distinct
where case is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from crmbench.core.clock import WorldClock

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CHECK_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
BASE = 62
SERVER = "Hs"
BODY_LENGTH = 9

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "User": "005",
        "Account": "001",
        "Contact": "003",
        "ProductCategory": "0ZG",
        "Product2": "01t",
        "ProductCategoryProduct": "0ZH",
        "Pricebook2": "01s",
        "PricebookEntry": "01u",
        "Order": "801",
        "OrderItem": "802",
        "Issue__c": "a00",
        "Knowledge__kav": "ka0",
        "Case": "500",
        "CaseHistory__c": "a01",
        "CaseComment": "00a",
        "EmailMessage": "02s",
        "LiveChatTranscript": "570",
        "Credit__c": "a02",
        "Holiday": "0C0",
        "Skill__c": "a03",
        "Absence__c": "a04",
    }
)
"""The first three characters of the ids of each object."""

OTHER_PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        "Profile": "00e",
        "RecordType": "012",
        "ProductCatalog": "0ZS",
        "LiveChatVisitor": "5AM",
    }
)
"""The same for objects that the org does not keep, but whose ids its records bear."""

CREATED_START = BASE**7
"""Where the numbers of records created in an episode begin; those of a world lie below."""

_UPPER_MARKS = bytes(1 if chr(code).isupper() and code < 128 else 0 for code in range(256))
_CHECKS = {
    bytes(number >> place & 1 for place in range(5)): character
    for number, character in enumerate(CHECK_CHARACTERS)
}
"""The character of the checksum for each five marks: 1 for an upper-case letter, else 0."""
_OBJECTS = {prefix: name for name, prefix in (*PREFIXES.items(), *OTHER_PREFIXES.items())}


def checksum(id15: str) -> str:
    """The three characters that make a case-sensitive id of 15 characters safe without case.

    Raises:
        ValueError: It does not have 15 characters.
    """
    if len(id15) != 15:
        raise ValueError(f"an id without its checksum has 15 characters, not {len(id15)}")
    marks = id15.encode("ascii", "replace").translate(_UPPER_MARKS)
    return _CHECKS[marks[:5]] + _CHECKS[marks[5:10]] + _CHECKS[marks[10:]]


def record_id(name: str, number: int) -> str:
    """The id of a record.

    Args:
        name: Its object, one of `PREFIXES` or `OTHER_PREFIXES`.
        number: From 0 to 62**9 - 1; ids sort (bytewise) as their numbers do.
    """
    return prefixed_id(_prefix(name), number)


def prefixed_id(prefix: str, number: int) -> str:
    """The id of a record of the object whose ids begin with `prefix`; see `record_id`."""
    digits = []
    for _ in range(BODY_LENGTH):
        number, digit = divmod(number, BASE)
        digits.append(DIGITS[digit])
    id15 = f"{prefix}{SERVER}0{''.join(reversed(digits))}"
    return id15 + checksum(id15)


def record_ids(name: str, numbers: NDArray[np.int64]) -> list[str]:
    """The ids of many records of one object; each equals `record_id` of its number."""
    count = len(numbers)
    start = (_prefix(name) + SERVER + "0").encode()
    characters = np.empty((count, 18), dtype=np.uint8)
    characters[:, :6] = np.frombuffer(start, dtype=np.uint8)
    values = _digit_values(numbers)
    characters[:, 6:15] = _DIGIT_CODES[values]
    upper = _IS_UPPER[values]
    characters[:, 15] = ord(checksum(start.decode() + "0" * 9)[0])
    # The second group of five begins with the zero before the digits.
    characters[:, 16] = _CHECK_CODES[(upper[:, :4] << _SHIFTS[1:]).sum(axis=1)]
    characters[:, 17] = _CHECK_CODES[(upper[:, 4:] << _SHIFTS).sum(axis=1)]
    text = characters.tobytes().decode("ascii")
    return [text[i : i + 18] for i in range(0, 18 * count, 18)]


def first_number(name: str, seed: int) -> int:
    """The number of the first record of an object in the world of a seed."""
    return BASE**5 * (1 + crc32(f"{seed}/{name}".encode()) % 60)


def next_id(name: str, clock: WorldClock) -> str:
    """The id of a record that is created now, in an episode: the clock counts them."""
    clock.created += 1
    return record_id(name, CREATED_START + clock.created)


def object_of(text: str) -> str | None:
    """The object that an id belongs to, or None if its prefix is unknown."""
    return _OBJECTS.get(text[:3])


def is_id(text: str, name: str | None = None) -> bool:
    """Whether `text` is a well-formed id of 15 or 18 characters (of the object `name`, if given).

    Says nothing of whether such a record exists.
    """
    if len(text) not in (15, 18) or not (text.isascii() and text.isalnum()):
        return False
    if len(text) == 18 and checksum(text[:15]) != text[15:]:
        return False
    return name is None or text.startswith(_prefix(name))


def full_id(text: str) -> str:
    """An id with its checksum: 15 characters get theirs, 18 remain."""
    return text + checksum(text) if len(text) == 15 else text


def _prefix(name: str) -> str:
    return PREFIXES.get(name) or OTHER_PREFIXES[name]


def _digit_values(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    values = np.empty((len(numbers), BODY_LENGTH), dtype=np.int64)
    rest = np.asarray(numbers, dtype=np.int64)
    for place in range(BODY_LENGTH - 1, -1, -1):
        rest, values[:, place] = np.divmod(rest, BASE)
    return values


_DIGIT_CODES = np.frombuffer(DIGITS.encode(), dtype=np.uint8)
_CHECK_CODES = np.frombuffer(CHECK_CHARACTERS.encode(), dtype=np.uint8)
_IS_UPPER = np.array([c.isupper() for c in DIGITS], dtype=np.int64)
_SHIFTS = np.arange(5)
