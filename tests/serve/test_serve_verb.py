"""``crmbench serve`` as its users start it."""

from __future__ import annotations

import os
import signal
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import orjson
import pytest

ROOT = Path(__file__).parents[2]


@contextmanager
def served(*arguments: str) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """A server; the first two lines that it printed, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "crmbench", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


def test_the_first_line_is_the_address_and_the_second_the_token() -> None:
    with served("--org", "sales/empty") as (address, second, process):
        assert httpx2.get(f"{address}/healthz").json() == {"status": "ok"}
        token = second.removeprefix("token: ")
        headers = {"Authorization": f"Bearer {token}"}
        assert len(httpx2.get(f"{address}/v1/orgs", headers=headers).json()["orgs"]) == 1
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert "Traceback" not in err


def test_https_with_a_certificate_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "certificates"
    for _ in range(2):
        with served("--org", "sales/empty", "--tls", str(folder)) as (address, _, _process):
            assert address.startswith("https://127.0.0.1:")
            context = ssl.create_default_context(cafile=str(folder / "certificate.pem"))
            with httpx2.Client(verify=context, trust_env=False) as client:
                assert client.get(f"{address}/healthz").status_code == 200
                local = address.replace("127.0.0.1", "localhost")
                assert client.get(f"{local}/healthz").status_code == 200
            with pytest.raises(httpx2.ConnectError), httpx2.Client(trust_env=False) as client:
                client.get(f"{address}/healthz")
    assert stat.S_IMODE((folder / "key.pem").stat().st_mode) == 0o600


def test_the_log_names_no_record(tmp_path: Path) -> None:
    arguments = ("--org", "sales/empty", "--log", "--keep", str(tmp_path / "org.jsonl"))
    with served(*arguments) as (address, _, process):
        client = {"name": "Quince", "email": "a@quince.example", "status": "Active"}
        call = {"tool": "create_new_client", "arguments": client}
        made = httpx2.post(f"{address}/v1/orgs/sales/call", json=call).json()
        httpx2.get(f"{address}/v1/orgs/sales/digest?q=Quince")
        httpx2.get(f"{address}/services/data/v59.0/sobjects/Account/{made['value']['client_id']}")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    lines = [orjson.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert [line["path"] for line in lines] == [
        "/v1/orgs/sales/call",
        "/v1/orgs/sales/digest",
        "/services/data/v59.0/sobjects/Account/*",
    ]
    assert lines[0]["status"] == 200
    assert "Quince" not in err
    assert made["value"]["client_id"] not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "0.0.0.0"), "--token"),
        (("--org", "no-such-domain"), "no-such-domain"),
        (("--keep", "x.jsonl"), "--org"),
        (("--org", "sales/empty", "--org", "sales/empty"), "already"),
        (("--tls", "/proc/nowhere"), "--tls"),
    ],
)
def test_what_cannot_be_served(arguments: tuple[str, ...], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crmbench", "serve", "--port", "0", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
