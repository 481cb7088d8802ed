"""Reply text in one plain form: Unicode folded, markdown gone, tables spelled out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

_FOLD = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        **dict.fromkeys("‘’‚‛′ʼ´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("→⇒➜➔➝⟶↦", "\x00"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad⁰¹²³⁴⁵⁶⁷⁸⁹™®©", None),
        **dict.fromkeys("•◦▪●‣∙·", "-"),
        "ß": "ss",
        "ẞ": "SS",
        "ø": "o",
        "Ø": "O",
        "ł": "l",
        "Ł": "L",
        "đ": "d",
        "Đ": "D",
        "ð": "d",
        "Ð": "D",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "þ": "th",
        "Þ": "TH",
        "ı": "i",
        "≈": "~",
        "✓": " yes ",
        "✔": " yes ",
        "✅": " yes ",
        "✗": " no ",
        "✘": " no ",
        "❌": " no ",
        "½": " 1/2",
    }
)


class _NoMarks(dict[int, int | None]):
    """A table for `str.translate` that drops combining marks; filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code)) == "Mn" else code
        return self[code]


_NO_MARKS = _NoMarks()
_ASCII_FOLD = str.maketrans({"*": None})
_STRUCK = re.compile(r"~~.+?~~|<(del|s|strike)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,60}>")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_UNDERLINE = re.compile(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([^()\s]*)\)")
_HEADING = re.compile(r"^[ \t]*(?:#{1,6}(?=[ \t])|>+)[ \t]*", re.MULTILINE)
_RULE_ROW = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_DULL_HEADERS = frozenset(
    [
        "field",
        "value",
        "property",
        "detail",
        "details",
        "item",
        "attribute",
        "name",
        "information",
        "info",
        "#",
        "result",
    ]
)
_TABLE_CELL = re.compile(r"(?<!\\)\|")

_ABBREVIATIONS = (
    "inc|ltd|co|corp|mr|mrs|ms|dr|prof|st|nr|vs|approx|ca|jr|sr|bros|dept|est|etc|e\\.g|i\\.e|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_SENTENCE_END = re.compile(r"[.!?\n|](?:(?<=[.!?])[.!?]*[\"')\]]*(?=\s|$)|(?<=[\n|]))")
_NOT_AN_END = re.compile(rf"(?:^|[\s(])(?:{_ABBREVIATIONS}|[a-z])$")


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def _folded_run(match: re.Match[str]) -> str:
    return _folded(match[0])


@lru_cache(maxsize=4096)
def _folded(run: str) -> str:
    """Characters beyond ASCII in one form. A long text has few of them, and mostly the same."""
    text = unicodedata.normalize("NFKD", run.translate(_FOLD)).translate(_NO_MARKS)
    return unicodedata.normalize("NFKC", text).translate(_FOLD).replace("\x00", "->")


def plain(reply: str, keep_struck: bool = False) -> str:
    """The reply without markup, its quotes, dashes, spaces and accents in one form.

    Text that is struck out is dropped, or kept where `keep_struck` asks for all that can be read.
    A table's cells come out as ``header: cell`` between bars.
    """
    text = reply
    if not text.isascii():
        text = _NOT_ASCII.sub(_folded_run, text)
    if "~~" in text or "<" in text:
        text = text.replace("~~", "") if keep_struck else _STRUCK.sub(" ", text)
        text = _TAG.sub("", _BREAK.sub("\n", text))
    if "|" in text:
        text = _spell_out_tables(text)
    if "](" in text:
        text = _LINK.sub(r"\1 (\2)", text)
    if "`" in text:
        text = text.replace("`", "")
    if "*" in text:
        # A bullet's star keeps its place as a dash; emphasis goes.
        text = re.sub(r"^([ \t]*)\*(?=[ \t])", r"\1-", text, flags=re.MULTILINE)
        text = text.translate(_ASCII_FOLD)
    if "_" in text:
        text = _UNDERLINE.sub("", text)
    if "#" in text or ">" in text:
        text = _HEADING.sub("", text)
    return text


def lower(text: str) -> str:
    """`text` in lower case, at the same positions."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def _spell_out_tables(text: str) -> str:
    lines = text.split("\n")
    headers: list[str] = []
    for place, line in enumerate(lines):
        if "|" not in line:
            headers = []
            continue
        if _RULE_ROW.fullmatch(line):
            headers = _cells(lines[place - 1]) if place else []
            if place:
                lines[place - 1] = " | ".join(headers)
            lines[place] = ""
            continue
        cells = _cells(line)
        if len(headers) == len(cells):
            line = " | ".join(map(_labelled, headers, cells))
        else:
            line = " | ".join(cells)
        lines[place] = line
    return "\n".join(lines)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _TABLE_CELL.split(row.strip().strip("|"))]


def _labelled(header: str, cell: str) -> str:
    bare = header.strip("*_` ")
    return cell if not bare or bare.lower() in _DULL_HEADERS else f"{bare}: {cell}"


def sentence_ends(low: str) -> list[int]:
    """Where sentences, lines and table cells end: offsets just past each, the text's end last."""
    ends = []
    for match in _SENTENCE_END.finditer(low):
        if match[0][0] == "." and _NOT_AN_END.search(low, max(0, match.start() - 8), match.start()):
            continue
        ends.append(match.end())
    if not ends or ends[-1] != len(low):
        ends.append(len(low))
    return ends


def around(ends: list[int], place: int) -> tuple[int, int]:
    """The sentence that the character at `place` is in, as a span."""
    index = bisect_right(ends, place)
    start = ends[index - 1] if index else 0
    return start, ends[index] if index < len(ends) else ends[-1]
