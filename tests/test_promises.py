"""Every promise of the two pages for those who come from elsewhere is kept as its row says.

A row of a table is a promise: number, words, state, and what keeps it. Every command in a row runs,
in the order of the page and in one directory; what is no command has a check below by its number.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.conftest import NORTHGATE
from typer.testing import CliRunner

import crmbench
from crmbench.agents.resolve import FRAMEWORKS, open_agent
from crmbench.cli import app
from crmbench.core.postgres import EmbeddedServer
from crmbench.core.task import Task
from crmbench.domains.registry import load_domain
from crmbench.errors import ToolError
from crmbench.formats.arc_model import ArcConversation, ArcTurn
from crmbench.formats.arc_tasks import task_to_data
from crmbench.models.prices import Prices
from crmbench.models.resolve import full_model_name
from crmbench.runner.estimate import estimate
from crmbench.runner.options import RunOptions

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = ("coming_from_arc.md", "coming_from_crmarena.md")
STATES = ("works", "partly", "not yet", "outside")
ROW = re.compile(r"^\| (\d+) \| (.+?) \| ([a-z ]+) \| (.+) \|$", re.MULTILINE)
COUNTS = re.compile(
    r"Of the (\d+) promises of both pages, (\d+) work, (\d+) do partly, (\d+) do not yet, "
    r"and (\d+) are outside"
)
CELL = re.compile(r"`(crmbench [^`]+)`")
LINE = re.compile(r"^(crmbench .+)$", re.MULTILINE)


class Promise(NamedTuple):
    """A row of a page."""

    number: int
    words: str
    state: str
    here: str


@cache
def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


PROMISES = [Promise(int(n), *rest) for name in PAGES for n, *rest in ROW.findall(page(name))]
CHECKS: dict[int, Callable[[Path], None]] = {}
"""By the number of the promise; given the directory that the commands have filled."""

Check = Callable[[Path], None]


def keeps(*numbers: int) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        CHECKS.update(dict.fromkeys(numbers, check))
        return check

    return add


def commands(name: str) -> Iterator[str]:
    """Those of the page's blocks and rows, as they stand there."""
    for found in re.finditer(rf"{LINE.pattern}|{CELL.pattern}", page(name), re.MULTILINE):
        yield found[1] or found[2]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory in which every command of both pages has run, one after the other."""
    folder = tmp_path_factory.mktemp("promises")
    (folder / "conversations.jsonl").write_bytes(Path(NORTHGATE).read_bytes())
    (folder / "queries.jsonl").write_text('"SELECT Id FROM Case"\n', encoding="utf-8")
    server = EmbeddedServer()
    before, patch = Path.cwd(), pytest.MonkeyPatch()
    patch.setenv("DATABASE_URL", server.url)
    for variable in [name for name in os.environ if name.endswith("_API_KEY")]:
        patch.delenv(variable)
    os.chdir(folder)
    try:
        for command in dict.fromkeys(c for name in PAGES for c in commands(name)):
            _run(command)
        yield folder
    finally:
        os.chdir(before)
        patch.undo()
        server.stop()


def _run(command: str) -> None:
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, f"{command}\n{done.output[-2000:]}\n{done.exception!r}"


def test_each_promise_has_a_number_and_a_state() -> None:
    assert [each.number for each in PROMISES] == list(range(1, len(PROMISES) + 1))
    assert {each.state for each in PROMISES} == set(STATES)
    counts = Counter(each.state for each in PROMISES)
    expected = [len(PROMISES), *(counts[state] for state in STATES)]
    for name in PAGES:
        found = COUNTS.search(" ".join(page(name).split()))
        assert found, f"{name} does not count its promises"
        assert [int(number) for number in found.groups()] == expected


@pytest.mark.parametrize("name", PAGES)
def test_every_row_of_a_table_is_read(name: str) -> None:
    numbered = re.findall(r"^\| \d+ \|", page(name), re.MULTILINE)
    assert len(numbered) == len(ROW.findall(page(name)))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: str(promise.number))
def test_what_is_said_to_work_is_shown_by_something(promise: Promise) -> None:
    shown = bool(CELL.search(promise.here)) or promise.number in CHECKS
    assert shown or promise.state in ("not yet", "outside"), promise.words


def test_every_command_runs_and_every_promise_is_kept(place: Path) -> None:
    # One test, so that the commands run in one worker only.
    assert set(CHECKS) <= {each.number for each in PROMISES}
    broken = {}
    for check in dict.fromkeys(CHECKS.values()):
        try:
            check(place)
        except (AssertionError, LookupError, TypeError, OSError) as error:
            broken[check] = error
    assert not {n: broken[check] for n, check in CHECKS.items() if check in broken}


def test_a_command_that_does_not_work_is_caught() -> None:
    with pytest.raises(AssertionError):
        _run("crmbench run no_such_set")


def test_the_snippet_for_arcs_users_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page("coming_from_arc.md"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "coming_from_arc.md", "exec"), {})
    assert (tmp_path / "from-python" / "results.jsonl").exists()


# What the rows say, by their numbers.


@cache
def sales() -> list[Task]:
    return crmbench.load("sales")


@cache
def lines() -> list[dict[str, Any]]:
    return [task_to_data(task) for task in sales()]


def summary(place: Path, run: str = "mock") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "runs" / run / "summary.json").read_bytes())
    return found


def results(place: Path) -> list[dict[str, Any]]:
    text = (place / "runs" / "mock" / "results.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@keeps(1)
def _entities(_: Path) -> None:
    tables = load_domain("sales").schema.metadata.tables
    entities = "Client Contact Opportunity Quote Contract Document Note"
    assert set(entities.split()) < set(tables)


@keeps(7)
def _own_agent(_: Path) -> None:
    class Mine:
        async def turn(self, session: object, utterance: str) -> str:
            return utterance

    assert len(crmbench.run("demo", Mine, sample=1)) == 1


REFUSED = {
    8: ("create_new_contact", {"first_name": "A", "last_name": "B", "client_id": "x"}, "not found"),
    9: ("create_new_client", {"name": "A", "email": "a@x.co", "status": "Odd"}, "must be one of"),
    11: (
        "create_new_client",
        {"name": "A", "email": "OPS@acme.example", "status": "Active"},
        "already exists with email",
    ),
    13: (
        "add_note",
        {"entity_type": "Client", "entity_id": "x", "content": "Hi"},
        "Client not found with ID 'x'",
    ),
    14: ("opportunity_details", {"opportunity_id": "x"}, "Opportunity not found with ID 'x'."),
}


def _refused(number: int) -> Check:
    tool, arguments, words = REFUSED[number]

    def check(_: Path) -> None:
        with crmbench.MockCrmApi() as api:
            api.create_new_client(name="Acme", email="ops@acme.example", status="Active")
            before = api.digest()
            with pytest.raises(ToolError, match=re.escape(words)):
                api.call(tool, **arguments)
            assert api.digest() == before

    return check


for _number in REFUSED:
    keeps(_number)(_refused(_number))


@keeps(10, 12)
def _guards(_: Path) -> None:
    with crmbench.MockCrmApi() as api:
        client = api.create_new_client(name="Acme", email="ops@acme.example", status="Active")
        deal = api.create_new_opportunity(
            name="D", client_id=client.client_id, amount=5.0, stage="Closed-Won"
        )
        with pytest.raises(ToolError, match="Cannot modify closed opportunity"):
            api.modify_opportunity(opportunity_id=deal.opportunity_id, amount=6.0)
        for amount, words in ((-1, "greater than zero"), (0, "greater than"), (10**8, "exceed")):
            with pytest.raises(ToolError, match=words):
                api.create_quote(opportunity_id=deal.opportunity_id, amount=amount, status="Draft")


BOUNDS = {"simple": (1, 3), "medium": (4, 6), "complex": (7, 10)}


@keeps(2, 15, 16, 17, 56, 85)
def _complexity(_: Path) -> None:
    counts = Counter(task.complexity for task in sales())
    assert counts == {"simple": 280, "medium": 625, "complex": 295}
    for task in sales():
        low, high = BOUNDS[task.complexity]
        assert low <= len(task.turns) <= high


@keeps(18, 96)
def _made_again(place: Path) -> None:
    _run("crmbench generate sales --seed 7 --size 192 --out again")
    for name in ("train.jsonl", "test.jsonl"):
        assert (place / "again" / name).read_bytes() == (place / "private" / name).read_bytes()


@keeps(20, 24, 69, 119)
def _records(place: Path) -> None:
    records = results(place)
    turns = [turn for record in records for turn in record["per_turn_results"]]
    assert len(records) == 24
    assert {"per_segment_results", "chain_success"} <= set(records[0])
    assert {turn["verification"] for turn in turns} == {
        "exact_match",
        "state",
        "expected_failure_diagnostic",
    }
    assert all(turn["matches_expected_tool"] in (True, False) for turn in turns)
    assert any(turn["matches_expected_arguments"] for turn in turns)


@keeps(25, 70)
def _tokens(place: Path) -> None:
    usage = results(place)[0]["metadata"]["agent"]["token_usage"]
    assert {"prompt_tokens", "completion_tokens", "total_tokens"} <= set(usage)
    assert {"prompt_tokens", "completion_tokens", "cost"} <= set(summary(place)["usage"])


@keeps(31, 32)
def _install(_: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    assert {"postgres", "serve", "litellm", "inspect"} <= extras
    core = {re.split(r"[><=]", name)[0] for name in project["dependencies"]}
    assert not core & {"openai", "anthropic", "litellm", "psycopg", "starlette", "inspect-ai"}
    assert core >= {"numpy", "pyarrow", "Jinja2"}


@keeps(26, 27, 28, 29, 30, 75, 76, 77)
def _atlas(_: Path) -> None:
    # Its tests need an environment of their own: `make test-atlas`. Here it is seen that they are.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert any(each.startswith("arc-atlas==") for each in project["optional-dependencies"]["atlas"])
    assert "tests/integrations/test_atlas.py" in (ROOT / "Makefile").read_text(encoding="utf-8")
    tests = (ROOT / "tests/integrations/test_atlas.py").read_text(encoding="utf-8")
    for words in (
        "student_fails_without_and_passes_with_what_atlas_learnt",
        "rejected_attempt_plays_a_fresh_episode_with_the_teachers_advice",
        "with_postgresql_the_tables_are_filled_and_read_back",
        "run_is_led_by_atlas_and_pays_for_every_attempt",
        "run_led_by_atlas_goes_on_with_what_it_knew",
    ):
        assert words in tests
    assert "ATLAS_DATABASE_URL" in (ROOT / ".env.example").read_text(encoding="utf-8")
    assert "arc-atlas==" in (ROOT / "constraints-atlas.txt").read_text(encoding="utf-8")


@keeps(33, 34, 36)
def _compose(_: Path) -> None:
    server = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]
    assert server["postgres"]["image"].startswith("postgres:")
    assert all(port.startswith("127.0.0.1:") for port in server["postgres"]["ports"])
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert {"ANTHROPIC_API_KEY=", "OPENAI_API_KEY="} <= set(example.splitlines())
    assert "DATABASE_URL=" in example


@keeps(42)
def _sampled(place: Path) -> None:
    again = crmbench.run("demo", "mock", sample=5, seed=42)
    kept = (place / "runs" / "sample" / "tasks.jsonl").read_text(encoding="utf-8")
    assert {e.task_id for e in again} == {
        json.loads(line)["conversation_id"] for line in kept.splitlines()
    }


@keeps(40)
def _mock_replays(_: Path) -> None:
    assert type(open_agent("mock")) is type(open_agent("oracle"))


@keeps(46, 48, 49, 51, 52, 53, 54, 79, 80, 81, 82)
def _structure(place: Path) -> None:
    for path in ("src/crmbench/runner", "src/crmbench/grading", "docs/conf.py", "docs/start.md"):
        assert (ROOT / path).exists()
    for room in ("core", "domains", "grading", "formats", "runner"):
        assert list((ROOT / "tests" / room).glob("**/test_*.py"))
    assert (ROOT / "CONTRIBUTING.md").exists()
    assert (place / "runs" / "mock" / "config.json").exists()
    verbs = {command.name for command in app.registered_commands}
    assert {"run", "generate", "export", "report", "grade", "audit", "doctor"} <= verbs
    assert {len(crmbench.load(name)) for name in ("sales", "service", "demo")} == {1200, 1485, 24}


@keeps(47, 73, 74)
def _python(_: Path) -> None:
    assert issubclass(crmbench.MockCrmApi, crmbench.SalesCRM)
    assert {"out", "agent"} <= set(inspect.signature(crmbench.run).parameters)
    assert {"model", "backend", "sample", "seed"} <= set(RunOptions.__dataclass_fields__)


@keeps(50)
def _families(_: Path) -> None:
    assert len({task.family for task in sales()}) > 80
    assert load_domain("sales").schema.metadata.tables


@keeps(57, 58)
def _standard(_: Path) -> None:
    whole, part = (
        Counter(t.complexity for t in crmbench.load(n)) for n in ("sales", "sales/standard")
    )
    assert part.total() == 400
    for name, count in part.items():
        assert abs(count / 400 - whole[name] / 1200) < 0.01


@keeps(59)
def _words(_: Path) -> None:
    said = [turn.utterance for task in sales() for turn in task.turns]
    assert len(set(said)) == len(said)
    assert not any("{" in each for each in said)


@keeps(60, 61, 62, 101, 102, 103, 104, 105, 110, 111)
def _every_turn(_: Path) -> None:
    for line in lines():
        seed = line["initial_entities"]["seed_data"]
        assert all(isinstance(records, dict) for records in seed.values())
        assert [turn["turn_id"] for turn in line["turns"]] == list(range(1, len(line["turns"]) + 1))
        for turn in line["turns"]:
            assert turn["user_utterance"].strip()
            assert turn["expected_tool"] is None or isinstance(turn["expected_args"], dict)
            assert turn["expected_response"]["text"].strip()


@keeps(63, 94, 106)
def _references(_: Path) -> None:
    back = [
        line for line in lines() if any(t.get("references_previous_turns") for t in line["turns"])
    ]
    assert back
    tagged = [task for task in sales() if "cross_turn_reference" in task.tags]
    assert len(tagged) > 1000
    assert any("{{turn_" in json.dumps(line) for line in lines())


ARC_FIGURES = {
    64: "strict_success",
    65: "tool_success",
    66: "response_success",
    67: "turn_tool_accuracy",
    68: "turn_response_accuracy",
}


def _figure(name: str) -> Check:
    def check(place: Path) -> None:
        # Tool accuracy is below 1 for the oracle, too: another call than the last may be right.
        assert 0.8 < summary(place)["arc"][name] <= 1.0

    return check


for _number, _name in ARC_FIGURES.items():
    keeps(_number)(_figure(_name))


@keeps(71)
def _costs(_: Path) -> None:
    found = estimate(RunOptions(file="demo", model="gpt-4.1", sample=1))
    assert found.total("typical").cost > 0
    assert found.prices_as_of


@keeps(72)
def _seconds(place: Path) -> None:
    first = json.loads((place / "out" / "results.jsonl").read_text().splitlines()[0])
    assert first["metadata"]["seconds"] > 0
    assert (place / "runs" / "mock" / "timings.jsonl").exists()


@keeps(78)
def _suite(_: Path) -> None:
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert (ROOT / "tests" / "test_api.py").exists()


@keeps(83, 84)
def _licence(_: Path) -> None:
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["title"]


CATEGORIES: dict[int, set[str]] = {
    87: {"Opportunity Management"},
    88: {"Quote Management"},
    89: {"Client Management", "Contact Management"},
    90: {"Document Management"},
    91: {"Contract Management"},
    92: {"Notes & Communication"},
    93: {"Cross-entity"},
}


def _category(names: set[str]) -> Check:
    def check(_: Path) -> None:
        found = Counter(task.category for task in sales())
        assert all(found[name] > 50 for name in names)

    return check


for _number, _names in CATEGORIES.items():
    keeps(_number)(_category(_names))


@keeps(86)
def _nine_categories(_: Path) -> None:
    assert len({task.category for task in sales()}) == 9


@keeps(97, 107, 109, 114, 115)
def _failures(_: Path) -> None:
    failing = [line for line in lines() if line.get("contains_failure")]
    assert len(failing) > 600
    for line in failing:
        turn = line["turns"][line["failure_turn"] - 1]
        assert turn["expect_success"] is False
        assert turn["failure_category"]


@keeps(108)
def _error_words(_: Path) -> None:
    named = [g for task in sales() for g in task.gold.turns if g.error_substring]
    assert len(named) >= 200
    assert not any(gold.expect_success for gold in named)


FIELDS = {
    98: "conversation_id",
    99: "workflow_category",
    100: "complexity_level",
    112: "final_expected_state",
    116: "verification_mode",
    117: "chain_id",
    118: "segment_number",
    120: "expected_outcome",
    121: "cumulative_context",
}


def _field(name: str) -> Check:
    def check(_: Path) -> None:
        assert name in ArcConversation.model_fields

    return check


for _number, _name in FIELDS.items():
    keeps(_number)(_field(_name))


def test_the_models_hold_each_field_of_the_card() -> None:
    whole = [*ArcConversation.model_fields, *ArcTurn.model_fields]
    rows = [e.words for e in PROMISES if re.match(r"`[a-z_]+`", e.words) and 98 <= e.number <= 121]
    named = {name for words in rows for name in re.findall(r"^`([a-z_]+)`", words)}
    assert named == set(whole) - {"crmbench"}


@keeps(113)
def _criteria(_: Path) -> None:
    assert {task.gold.criteria for task in sales()} == {"all_turns", "final_state", "both"}


@keeps(123, 124)
def _parquet(place: Path) -> None:
    import pyarrow.parquet as pq

    (first, *_) = pq.read_table(place / "private" / "data" / "test.parquet").to_pylist()
    # Columns of JSON: text to pyarrow, objects to the datasets library (make test-datasets).
    assert json.loads(first["turns"][0]["expected_response"])["text"]
    assert "seed_data" in json.loads(first["initial_entities"])
    assert re.search(r"^test-datasets:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


@keeps(125, 126, 127, 129, 131)
def _evaluated(place: Path) -> None:
    found = summary(place)
    assert set(found["by_turn"]) >= {"1", "2"}
    assert found["success"]["value"] == 1.0
    assert any(gold.facts for task in sales() for gold in task.gold.turns)


# CRMArena


@cache
def service() -> list[Task]:
    return crmbench.load("service")


@keeps(134, 135, 136)
def _objects(_: Path) -> None:
    tables = load_domain("service").schema.metadata.tables
    assert len(tables) == 17
    targets = {key.column.table.name for key in tables["Case"].foreign_keys}
    assert {"Account", "Contact", "User"} <= targets


LATENTS = {
    138: "shopping_habits",
    139: "agent_skill",
    140: "complaint_habits",
    141: "policy_violations",
}


def _latent(name: str) -> Check:
    def check(_: Path) -> None:
        assert name in load_domain("service").latents

    return check


for _number, _name in LATENTS.items():
    keeps(_number)(_latent(_name))


@keeps(137, 168)
def _seven_latents(_: Path) -> None:
    assert len(load_domain("service").latents) == 7


@keeps(142, 143, 146)
def _nine_tasks(_: Path) -> None:
    asked = Counter(task.category for task in service() if task.complexity == "simple")
    assert len(asked) == 9
    assert set(asked.values()) == {130}
    roles = {task.persona.rpartition(", ")[2] for task in service()}
    assert roles == {"the service manager", "a service agent", "an analyst"}


@keeps(153)
def _models(_: Path) -> None:
    for name in ("claude-haiku-4-5", "ollama/llama3.1", "http://localhost:8000/v1#mine"):
        assert full_model_name(name)
    assert {"function_calling", "react", "act"} <= set(FRAMEWORKS)


@keeps(147, 154, 155, 167)
def _answers(place: Path) -> None:
    found = summary(place, "service")["answers"]
    assert {"exact_match", "token_f1"} <= set(found)


@keeps(156, 163)
def _eight_trials(place: Path) -> None:
    assert list(summary(place, "eight")["pass_hat"]) == [str(k) for k in range(1, 9)]


@keeps(157)
def _effort(place: Path) -> None:
    found = summary(place, "service")["effort"]
    assert len(found) > 1
    assert all({"turns", "calls", "tokens", "cost"} <= set(each) for each in found.values())


@keeps(159)
def _tools(_: Path) -> None:
    by_name = load_domain("service").toolbox.by_name
    reading = [tool for tool in by_name.values() if not tool.writes]
    assert len(reading) == 27
    cases = {param.name for param in by_name["get_cases"].params}
    assert cases == {
        *("start_date", "end_date", "agent_ids", "case_ids"),
        *("order_item_ids", "issue_ids", "statuses"),
    }


@keeps(162)
def _errors_by_tool(place: Path) -> None:
    assert {"tool", "errors", "kinds"} <= set(summary(place)["tool_errors"][0])


@keeps(133, 144, 165, 166, 172, 173)
def _small_org(place: Path) -> None:
    files = list((place / "org-7").glob("**/*.csv"))
    assert len(files) == 17
    assert (DOCS / "tutorial_domain.md").exists()


@keeps(170, 171)
def _writes(_: Path) -> None:
    writing = {t.name for t in load_domain("service").toolbox.by_name.values() if t.writes}
    acted = Counter(
        task.category
        for task in service()
        if any(call.tool in writing for gold in task.gold.turns for call in gold.calls)
    )
    assert len(acted) == 9
    assert set(load_domain("service").tool_sets) >= {"tasks", "soql", "both"}


# Where results go.

CELLS = re.compile(r"^\| `((?:openai|anthropic)/[\w.-]+)` \|(.+)\|$", re.MULTILINE)


def test_the_page_of_results_has_a_row_for_each_model_with_a_price() -> None:
    rows = dict(CELLS.findall(page("results.md")))
    assert list(rows) == list(Prices.builtin().models)
    for cells in rows.values():
        assert re.fullmatch(r" \$[\d,]+\.\d\d \| \$[\d,]+\.\d\d ", cells), cells


def test_an_estimate_of_the_page_of_results_is_what_a_dry_run_gives() -> None:
    rows = dict(CELLS.findall(page("results.md")))
    shown = float(rows["openai/gpt-4.1"].split("|")[0].strip(" $").replace(",", ""))
    found = estimate(RunOptions(file="sales/standard", model="openai/gpt-4.1"))
    assert found.total("typical").cost_cached == pytest.approx(shown, rel=0.05)
