"""The pages of ``crmbench view``: what they show, where they lead, and what they keep."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import orjson
import pytest
from starlette.testclient import TestClient
from tests.web.pages import OPEN, client_of, play, play_partly, with_open_reading

from crmbench.errors import InputError
from crmbench.report.summary import summary_of
from crmbench.runner.outline import outlines
from crmbench.runner.regrade import regrade
from crmbench.runner.run_dir import RunDir
from crmbench.web.pages import POLICY
from crmbench.web.runs import RunStore


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    play_partly(root / "partly")
    play(root / "oracle")
    return root


@pytest.fixture(scope="module")
def client(runs: Path) -> TestClient:
    return client_of([runs])


def links(page: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', page)]


def rows(page: str) -> list[str]:
    return re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)


def test_all_runs_with_their_figures(client: TestClient, runs: Path) -> None:
    page = client.get("/").text
    figures = summary_of(RunDir(runs / "partly"))
    assert len(rows(page)) == 2
    assert f"{100 * figures.success.value:.1f} %" in page
    assert f"{100 * figures.success.low:.0f} % to {100 * figures.success.high:.0f} %" in page


def test_one_run_opens_at_its_episodes(runs: Path) -> None:
    answer = client_of([runs / "oracle"]).get("/", follow_redirects=False)
    assert answer.headers["location"] == "/runs/oracle"


def test_the_first_wrong_step_is_three_clicks_away(client: TestClient) -> None:
    """From the first page: the run, the reason that its line gives, which is the place itself."""
    run = next(link for link in links(client.get("/").text) if link == "/runs/partly")
    fault = next(link for link in links(client.get(run).text) if link.endswith("#fault"))
    page = client.get(fault.partition("#")[0]).text
    assert re.search(r'class="[^"]*\bfault\b[^-]', page)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", 12),
        ("?outcome=passed", 2),
        ("?outcome=failed", 10),
        ("?outcome=undecided", 0),
        ("?q=northgate-04", 1),
        ("?q=NORTHGATE-04+northgate", 1),
        ("?q=nowhere", 0),
        ("?cost_from=1", 0),
        ("?page=2", 0),
        ("?page=x&cost_from=x&sort=x", 12),
    ],
)
def test_the_address_says_which_episodes_are_listed(
    client: TestClient, query: str, expected: int
) -> None:
    assert len(rows(client.get(f"/runs/partly{query}").text)) == expected


def test_each_facet_lists_as_many_as_it_says(client: TestClient) -> None:
    page = client.get("/runs/partly").text
    checked = 0
    for facet, options in re.findall(r'<select name="(\w+)">(.*?)</select>', page, re.DOTALL):
        for value, count in re.findall(r'<option value="([^"]+)">[^<]*\((\d+)\)', options):
            found = client.get("/runs/partly", params={facet: unescape(value)}).text
            assert len(rows(found)) == int(count), (facet, value)
            checked += 1
    assert checked > 5


def test_htmx_gets_the_list_alone(client: TestClient) -> None:
    part = client.get("/runs/partly?outcome=passed", headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert part.lstrip().startswith('<section id="episodes"')
    assert len(rows(part)) == 2


def test_sorting_goes_both_ways(client: TestClient) -> None:
    def order(sort: str) -> list[str]:
        page = client.get(f"/runs/oracle?sort={sort}").text
        return [match[1] for row in rows(page) if (match := re.search(r"episodes/([^/]+)/", row))]

    assert order("task_id") == sorted(order(""))
    assert order("-task_id") == order("task_id")[::-1]


def test_an_episode_shows_what_was_done_beside_what_was_expected(
    client: TestClient, runs: Path
) -> None:
    record = RunDir(runs / "partly").episode("northgate-02")
    task = RunDir(runs / "partly").task("northgate-02")
    page = unescape(client.get("/runs/partly/episodes/northgate-02/0").text)
    for turn in record.trace.turns:
        assert turn.utterance in page
    for gold in task.gold.turns:
        for call in gold.calls:
            assert call.tool in page
    assert "Why it fails" in page
    assert 'id="turn-1"' in page


def test_words_of_a_reply_are_marked_as_they_were_read(client: TestClient) -> None:
    pages = [client.get(f"/runs/oracle/episodes/northgate-{n:02d}/0").text for n in range(1, 13)]
    assert any('<mark class="fact" title="read as ' in page for page in pages)
    assert any('<mark class="claim" title="read as a claim' in page for page in pages)


def test_records_are_shown_beside_what_should_be_there(client: TestClient) -> None:
    wrong = client.get("/runs/partly/episodes/northgate-02/0/records").text
    right = client.get("/runs/oracle/episodes/northgate-02/0/records").text
    assert "chip missing" in wrong or "Nothing was written" in right
    assert "chip wrong" not in right
    assert "chip missing" not in right
    assert "chip right" in right


def test_two_runs_on_one_task(client: TestClient) -> None:
    page = client.get("/compare?a=partly&b=oracle&only=better").text
    assert len(rows(page)) == 10
    link = next(link for link in links(page) if link.startswith("/compare/episode/"))
    both = client.get(link).text
    assert both.count("chip failed") > 0
    assert both.count("chip passed") > 0
    assert "worse" in page
    assert len(rows(client.get("/compare?a=partly&b=oracle&only=worse").text)) == 0


def test_what_a_call_gave_back_as_a_whole(client: TestClient, runs: Path) -> None:
    record = RunDir(runs / "oracle").episode("northgate-02")
    first = record.trace.turns[0].calls[0]
    answer = client.get("/runs/oracle/episodes/northgate-02/0/calls/1")
    assert orjson.loads(answer.text) == first.result
    assert client.get("/runs/oracle/episodes/northgate-02/0/calls/999").status_code == 404


def test_a_decision_is_kept_as_grade_reads_it(tmp_path: Path, runs: Path) -> None:
    run = with_open_reading(RunDir(runs / "oracle"), tmp_path / "open")
    task_id = run.tasks()[0].task_id
    client = client_of([run.path])
    address = f"/runs/open/episodes/{task_id}/0"
    assert unescape(client.get(address).text).count(f"<p>{OPEN}</p>") == 1
    answer = client.post(
        f"{address}/decide?q=x",
        data={"turn": "1", "reading": OPEN, "right": "no", "by": "ann"},
        follow_redirects=False,
    )
    assert answer.headers["location"] == f"{address}?q=x#turn-1"
    client.post(f"{address}/decide", data={"turn": "1", "reading": OPEN, "right": "yes"})
    lines = [
        orjson.loads(line) for line in (run.path / "decisions.jsonl").read_bytes().splitlines()
    ]
    assert [(line["right"], line["by"]) for line in lines] == [(False, "ann"), (True, "tester")]
    assert lines[0]["reply"] == run.episode(task_id).trace.turns[0].reply
    assert 'aria-pressed="true"' in client.get(address).text

    from crmbench.cli.grade import _decisions

    graded = regrade(run.path, decisions=_decisions(run.path / "decisions.jsonl"))
    kept = graded.episodes[0].trace.turns[0].decisions
    assert [(each.reading, each.right) for each in kept][-1] == (OPEN, True)


@pytest.mark.parametrize(
    "data",
    [
        {"turn": "1", "reading": "another", "right": "yes"},
        {"turn": "9", "reading": OPEN, "right": "yes"},
        {"turn": "1", "reading": OPEN, "right": "maybe"},
        {},
    ],
)
def test_a_decision_on_no_open_reading_is_refused(
    tmp_path: Path, runs: Path, data: dict[str, str]
) -> None:
    run = with_open_reading(RunDir(runs / "oracle"), tmp_path / "open")
    client = client_of([run.path])
    task_id = run.tasks()[0].task_id
    assert client.post(f"/runs/open/episodes/{task_id}/0/decide", data=data).status_code == 400
    assert not (run.path / "decisions.jsonl").exists()


def test_another_site_cannot_decide(tmp_path: Path, runs: Path) -> None:
    run = with_open_reading(RunDir(runs / "oracle"), tmp_path / "open")
    address = f"/runs/open/episodes/{run.tasks()[0].task_id}/0/decide"
    data = {"turn": "1", "reading": OPEN, "right": "yes"}
    answer = client_of([run.path]).post(
        address, data=data, headers={"Origin": "http://evil.example"}
    )
    assert answer.status_code == 403
    assert not (run.path / "decisions.jsonl").exists()


@pytest.mark.parametrize("path", ["/", "/runs/partly", "/static/app.css", "/nowhere", "/runs/none"])
def test_every_answer_has_the_strict_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert "unsafe" not in POLICY


@pytest.mark.parametrize(
    "path", ["/nowhere", "/runs/none", "/runs/partly/episodes/none/0", "/static/../pages.py"]
)
def test_what_is_not_there_is_a_page_that_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


def test_another_host_is_not_answered(client: TestClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


def test_no_page_asks_for_anything_elsewhere(client: TestClient) -> None:
    for path in ("/", "/runs/partly", "/runs/partly/episodes/northgate-02/0", "/compare"):
        page = client.get(path).text
        assert not re.findall(r'(?:src|href|action)="(?:https?:)?//', page)
        assert not re.findall(r"<script(?![^>]*\bsrc=)", page)
        assert not re.findall(r'\s(?:style|on\w+)="', page)


def test_directories_without_a_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run"):
        RunStore.open([tmp_path])


def test_runs_of_one_name_are_told_apart(tmp_path: Path, runs: Path) -> None:
    play(tmp_path / "oracle")
    store = RunStore.open([runs / "oracle", tmp_path / "oracle"])
    assert list(store.runs) == ["oracle", "oracle-2"]


def test_a_run_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    run = play(tmp_path / "torn")
    (run.path / "tasks.jsonl").write_bytes(b"{}\n")
    page = client_of([run.path]).get("/runs/torn").text
    assert "not a task" in page


def test_cost_is_asked_for_only_where_something_cost(client: TestClient) -> None:
    assert "Cost from" not in client.get("/runs/partly").text
    assert "Cost from" in client.get("/runs/partly?cost_from=1").text


def test_lists_need_neither_the_grading_nor_a_database() -> None:
    """Their import would keep the first page waiting for longer than reading 10,000 episodes."""
    heavy = ("sqlalchemy", "numpy", "mcp", "pyarrow", "crmbench.grading")
    code = f"import sys, crmbench.web.view; print(*[m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_of_an_episode_that_was_played_twice_the_later_one_is_listed(
    tmp_path: Path, runs: Path
) -> None:
    first, *rest = RunDir(runs / "partly").episodes()
    target = RunDir(tmp_path / "again")
    target.create(RunDir(runs / "partly").config(), RunDir(runs / "partly").tasks())
    again = replace(first, verdict=replace(first.verdict, success=True, reason=None))
    for record in (first, *rest, again):
        target.append(record)
    target.close()
    with (target.path / "episodes.jsonl").open("ab") as file:
        file.write(b'{"trace": {"task_id": "northg')
    found = list(outlines(target.path))
    assert [each.place for each in found] == [record.key for record in (first, *rest)]
    assert found[0].verdict.success
    assert client_of([target.path]).get(f"/runs/again/episodes/{first.key[0]}/0").status_code == 200
