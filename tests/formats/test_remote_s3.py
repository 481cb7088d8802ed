"""Sets and runs on a server that speaks S3, over HTTP; only `make test-remote` has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crmbench import load, run, stream
from crmbench.domains.sales.authoring.family import load_families
from crmbench.errors import InputError
from crmbench.formats.remote import here, kept_at
from crmbench.report.summary import summary_of
from crmbench.runner.executors.generating import generate_shards, plan_shards
from crmbench.runner.run_dir import RunDir
from crmbench.runner.task_sets import path_of

pytest.importorskip("s3fs")
moto = pytest.importorskip("moto.server")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = moto.ThreadedMotoServer(port=0)
    made.start()
    host, port = made.get_host_and_port()
    yield f"http://{host}:{port}"
    made.stop()


@pytest.fixture
def bucket(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty bucket that s3fs finds by the environment, as a person would set it."""
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("CRMBENCH_CACHE", str(tmp_path / "cache"))
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    if files.exists("crm"):
        files.rm("crm", recursive=True)
    files.mkdir("crm")
    return files


def test_a_set_is_read_and_a_run_written_and_read(bucket: Any, tmp_path: Path) -> None:
    lines = path_of("demo").read_bytes().splitlines(keepends=True)
    bucket.pipe_file("crm/sets/few.jsonl", b"".join(lines[:4]))
    assert load("s3://crm/sets/few.jsonl") == load("demo")[:4]
    result = run("s3://crm/sets/few.jsonl", "oracle", out="s3://crm/runs/mine", workers=1)
    assert bucket.exists("crm/runs/mine/config.json")
    (tmp_path / "cache").rename(tmp_path / "gone")
    there = RunDir(here("s3://crm/runs/mine"))
    assert summary_of(there) == result.summary
    assert there.episodes() == list(result)
    bucket.pipe_file("crm/sets/few.jsonl", b"".join(lines[:2]))
    assert load("s3://crm/sets/few.jsonl") == load("demo")[:2]
    with pytest.raises(InputError, match="already holds a run"):
        run("demo", "noop", out="s3://crm/runs/mine", workers=1)


def test_a_set_in_shards_is_written_and_streamed(bucket: Any, tmp_path: Path) -> None:
    plan = plan_shards("sales", 7, 4 * len(load_families()), 2)
    with kept_at(Path("s3://crm/sets/large")) as folder:
        assert folder is not None
        generate_shards(plan, folder, workers=2)
    (tmp_path / "cache").rename(tmp_path / "gone")
    tasks = list(stream("s3://crm/sets/large"))
    assert len({task.task_id for task in tasks}) == len(tasks) == plan.size * plan.shards
    one = f"s3://crm/sets/large/data/{plan.name_of('test', 1)}"
    assert load(one) == tasks[-plan.size // 2 :]


def test_a_bucket_that_is_not_there_is_said(bucket: Any) -> None:
    with pytest.raises(InputError, match=r"s3://elsewhere/set"):
        load("s3://elsewhere/set")
