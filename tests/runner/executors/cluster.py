"""A Ray cluster of several nodes on this machine, and how one of them dies."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

CPUS_A_NODE = 1


class Nodes:
    """A head without CPUs, which the driver shares, and nodes of one CPU that work."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "include_dashboard": False},
        )
        self.nodes: list[Any] = [self.add() for _ in range(count)]

    def add(self) -> Any:
        """One more node."""
        return self.cluster.add_node(num_cpus=CPUS_A_NODE)

    @property
    def address(self) -> str:
        """What a driver joins it by."""
        return str(self.cluster.address)

    def kill(self, number: int) -> None:
        """``kill -9`` of everything on a node: Ray's daemon, and the workers that it began."""
        import psutil  # Ray brings its own

        node = self.nodes.pop(number)
        for info in node.all_processes["raylet"]:
            daemon = psutil.Process(info.process.pid)
            for process in [daemon, *daemon.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess, ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)

    def shutdown(self) -> None:
        """Let all of it go."""
        import ray

        ray.shutdown()
        self.cluster.shutdown()


@contextmanager
def nodes(count: int) -> Iterator[Nodes]:
    """A cluster while it lasts; commands and tests find it by RAY_ADDRESS."""
    before = {name: os.environ.get(name) for name in ("RAY_ADDRESS", "RAY_USAGE_STATS_ENABLED")}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Nodes(count)
    os.environ["RAY_ADDRESS"] = made.address
    try:
        yield made
    finally:
        made.shutdown()
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
