"""`crmbench launch`: programs written for Salesforce come to a local org; so does CRMArena's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.serve.test_jsforce import MODULES

from crmbench.errors import InputError
from crmbench.serve.salesforce.hooks.sitecustomize import led
from crmbench.serve.salesforce.launch import HOOKS, environment, launch

ROOT = Path(__file__).parents[2]
LOCAL = "http://127.0.0.1:4123"


def launched(
    *command: str, org: str = "service", **variables: str
) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.run(
        [sys.executable, "-m", "crmbench", "launch", "--org", org, "--", *command],
        capture_output=True,
        text=True,
        check=False,
        env=own,
    )


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://login.salesforce.com/services/Soap/u/59.0", f"{LOCAL}/services/Soap/u/59.0"),
        ("https://acme.my.salesforce.com/services/data/?a=b+c", f"{LOCAL}/services/data/?a=b+c"),
        ("https://127.0.0.1:4123/services/data/", f"{LOCAL}/services/data/"),
        ("https://127.0.0.1:4124/services/data/", None),
        ("https://api.openai.com/v1/chat", None),
        ("https://salesforce.com.evil.example/", None),
        ("http://login.salesforce.com/", None),
    ],
)
def test_only_salesforces_hosts_are_led_here(url: str, address: str | None) -> None:
    assert led(url, LOCAL) == address


def test_a_programs_own_settings_stay() -> None:
    made = environment(LOCAL, {"PYTHONPATH": "mine", "SALESFORCE_USERNAME": "me", "NO_PROXY": "x"})
    assert made["PYTHONPATH"] == f"{HOOKS}{os.pathsep}mine"
    assert made["SALESFORCE_USERNAME"] == "me"
    assert made["SALESFORCE_B2B_PASSWORD"] == "any"
    assert made["NO_PROXY"] == "127.0.0.1,localhost,x"
    assert made["CRMBENCH_LAUNCH_URL"] == LOCAL


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_the_exit_code_is_kept(script: str, code: int) -> None:
    assert launched("sh", "-c", script, org="sales").returncode == code


def test_what_cannot_be_started_says_so() -> None:
    done = launched("no-such-program", org="sales")
    assert done.returncode == 2
    assert "there is no program 'no-such-program'" in done.stderr
    with pytest.raises(InputError, match="no command"):
        launch([], "sales")
    assert "Traceback" not in launched("true", org="nope").stderr


def test_another_sitecustomize_runs_as_well(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine too')")
    done = launched(
        sys.executable,
        "-c",
        "print('done')",
        org="sales",
        PYTHONPATH=f"{ROOT / 'src'}{os.pathsep}{tmp_path}",
    )
    assert done.stdout.split() == ["mine", "too"] * 2 + ["done"], (
        "once in ours, once in the program"
    )


CRMARENA = '''
"""What CRMArena's connector does, by its description: a login, two calls, how it reads answers."""
import ast, os
from simple_salesforce import Salesforce

sf = Salesforce(
    username=os.environ["SALESFORCE_USERNAME"],
    password=os.environ["SALESFORCE_PASSWORD"],
    security_token=os.environ["SALESFORCE_SECURITY_TOKEN"],
)

def run(query):
    try:
        if query.startswith("FIND"):
            return [dict(r) for r in sf.search(query)["searchRecords"]]
        return [dict(r) for r in sf.query_all(query)["records"]]
    except Exception as error:
        told = ast.literal_eval(str(error).split("Response content:")[1].strip())
        return (told[0]["errorCode"], told[0]["message"])

for query in open(os.environ["QUERIES"]).read().split("\\n---\\n"):
    print(repr(run(query)))
'''
CASE_IDS = ", ".join(f"'500Hs{n:010d}'" for n in range(400))
MESSAGES = (
    "SELECT Subject, TextBody, FromAddress, ToAddress, MessageDate FROM EmailMessage "
    "WHERE ParentId = '500Hs0000t00000IAA' ORDER BY MessageDate"
)
ARTICLES = (
    "SELECT Id, Title, FAQ_Answer__c, Summary, UrlName FROM Knowledge__kav "
    "WHERE Language = 'en_US' AND PublishStatus = 'Online' LIMIT 3"
)
BOUGHT = (
    "SELECT Product2Id, Order.EffectiveDate FROM OrderItem "
    "WHERE Order.AccountId != NULL AND Order.EffectiveDate = 2021-11-01"
)
QUERIES: list[tuple[str, Any]] = [
    ("SELECT Id, OwnerId FROM Case WHERE CreatedDate >= 2024-01-01T00:00:00Z LIMIT 2", 2),
    ("SELECT COUNT() FROM Case", 0),
    (MESSAGES, None),
    (ARTICLES, 3),
    (BOUGHT, None),
    ("SELECT OwnerId__c FROM Case", "INVALID_FIELD"),
    ("SELECT AccountId, Account.ShippingState FROM Case WHERE IssueId__c != NULL LIMIT 2", 2),
    (f"SELECT Id FROM Case WHERE Id IN ({CASE_IDS})", 0),
    ("FIND {tent} IN ALL FIELDS RETURNING Product2(Id, Name)", None),
    ("find {tent}", "MALFORMED_QUERY"),
    ("\nFIND {tent}", "MALFORMED_QUERY"),
    ("sosl FIND {tent}", "MALFORMED_QUERY"),
    ("FIND {tent", "MALFORMED_SEARCH"),
    ("SELECT Id FROM Nope", "INVALID_TYPE"),
]  # fmt: skip
"""What it asks, and what comes: how many records (None: some), or the error's code."""


def test_crmarenas_calls_are_answered(tmp_path: Path) -> None:
    pytest.importorskip("simple_salesforce")
    (tmp_path / "queries").write_text("\n---\n".join(query for query, _ in QUERIES))
    (tmp_path / "connector.py").write_text(CRMARENA)
    done = launched(
        sys.executable, str(tmp_path / "connector.py"), QUERIES=str(tmp_path / "queries")
    )
    assert done.returncode == 0, done.stderr
    assert "OrderedDict" in done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) == len(QUERIES)
    for line, (query, expected) in zip(lines, QUERIES, strict=True):
        if isinstance(expected, str):
            code, message = ast.literal_eval(line)
            assert (code, bool(message)) == (expected, True), query
        else:
            found = line.count("'attributes', ") or line.count("{'attributes'")
            assert found >= 1 if expected is None else line.count("{'attributes'") == expected, (
                query
            )


def test_the_node_example_runs(tmp_path: Path) -> None:
    if not MODULES:
        pytest.skip("jsforce is not installed: make test-serve")
    (tmp_path / "node_modules").symlink_to(Path(MODULES) / "node_modules")
    program = tmp_path / "salesforce_client.mjs"
    program.write_text((ROOT / "examples" / "salesforce_client.mjs").read_text())
    done = launched("node", str(program))
    assert done.returncode == 0, done.stderr
    assert "opened case 05000001 for " in done.stdout
