"""Whatever a CRM, a task or an agent holds stays text in every page."""

from __future__ import annotations

import gzip
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.conftest import NORTHGATE

from crmbench.core.trace import Message
from crmbench.grading.record import EpisodeRecord
from crmbench.report.charts import Bar, bar_chart
from crmbench.report.html import write_report
from crmbench.report.leaderboard import write_leaderboard
from crmbench.runner.run import RunOptions, execute
from crmbench.runner.run_dir import RunDir

MARKUP = (
    '</script><script>alert("x")</script>',
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "{{ 7 * 7 }}",
    "&lt;b&gt;",
    "\u2028",
    "\"'",
)


READ = ("mark", "class", "title")
"""How a reply's words that a matcher read are marked: which they are follows from the text."""


class Page(HTMLParser):
    """What a browser would find: elements with their attributes' names, and the conversations."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, ...]] = set()
        self.scripts: list[tuple[str | None, str]] = []
        self._open = False
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, *sorted(name for name, _ in attrs)))
        self._open = tag == "script"
        if self._open:
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._open:
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)

    def packed(self) -> list[Page]:
        """The conversations, which the page puts into itself when one is opened."""
        packs = [text for kind, text in self.scripts if kind == "text/plain"]
        return [
            Page(made) for pack in packs for made in orjson.loads(gzip.decompress(b64decode(pack)))
        ]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    out = tmp_path_factory.mktemp("escaping") / "run"
    execute(RunOptions(NORTHGATE, agent="oracle", sample=1), out)
    return RunDir(out)


def rewritten(played: RunDir, text: str, path: Path) -> RunDir:
    """A run of one episode in which every name and every word is `text`."""
    task, episode = played.tasks()[0], played.episodes()[0]
    turns = tuple(
        replace(
            turn,
            messages=(Message("user", text), Message("assistant", text)),
            calls=tuple(
                replace(call, tool=text, ok=False, result=None, error=text, error_kind=text)
                for call in turn.calls
            ),
        )
        for turn in episode.trace.turns
    )
    named = replace(task, category=text, tags=(text,), persona=text)
    run = RunDir(path)
    run.create(
        {"agent": text, "data": text, "data_digest": "0" * 64, "backend": text, "model": None},
        [named],
    )
    verdict = replace(episode.verdict, success=False, reason=text)
    run.append(EpisodeRecord(replace(episode.trace, turns=turns), verdict, 0.1))
    run.settle([named])
    return run


TEXT = st.one_of(
    st.sampled_from(MARKUP),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=40),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=TEXT)
def test_no_text_adds_an_element_or_attribute(
    text: str, tmp_path_factory: pytest.TempPathFactory, played: RunDir
) -> None:
    base = tmp_path_factory.mktemp("text")
    plain, strange = (rewritten(played, t, base / n) for t, n in (("plain", "a"), (text, "b")))
    for write in (write_report, write_leaderboard):
        pages = []
        for number, runs in enumerate(([plain, plain], [strange, strange])):
            write(runs, base / f"{number}.html")
            pages.append(Page((base / f"{number}.html").read_text(encoding="utf-8")))
        assert pages[1].elements <= pages[0].elements | {READ}
        assert len(pages[1].scripts) == len(pages[0].scripts)
        if write is write_report:
            plain_parts, parts = pages[0].packed(), pages[1].packed()
            assert len(parts) == len(plain_parts) == 2
            for before, after in zip(plain_parts, parts, strict=True):
                assert text in after.words
                assert after.elements <= before.elements | {READ}
                assert after.scripts == []


@pytest.mark.parametrize("text", MARKUP[:3])
def test_markup_is_escaped_wherever_the_page_names_something(
    text: str, tmp_path: Path, played: RunDir
) -> None:
    run = rewritten(played, text, tmp_path / "run")
    for write in (write_report, write_leaderboard):
        write([run, run], tmp_path / "page.html")
        assert text not in (tmp_path / "page.html").read_text(encoding="utf-8")


@given(
    label=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=60),
    value=st.floats(0, 1),
)
def test_charts_are_well_formed_whatever_they_are_called(label: str, value: float) -> None:
    svg = ElementTree.fromstring(str(bar_chart([Bar(label, value, 0.0, 1.0, label)])))
    assert svg.tag == "svg"
