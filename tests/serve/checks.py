"""The checks that tests make in small and `make test-serve` at length."""

from __future__ import annotations

import asyncio
import gc
import random
from pathlib import Path

from tests.serve.crowd import play_all, run_of
from tests.serve.hostile import Attack, Attacker, Found, attack
from tests.serve.process import ADMIN, ServerProcess

from crmbench.runner.task_sets import load_named

SECRET = "victim-quince-7781"
"""The name of a record in an org that the attackers have no token of."""
RESET = b"HTTP/1.1 400 reset\r\n\r\n"
"""What stands for a connection that was closed while its body was still being sent."""
CLIENT = {"name": SECRET, "email": "a@quince.example", "status": "Active"}


def besieged(folder: Path, count: int, connections: int = 8) -> Found:
    """A server with two orgs and two sessions, attacked with the tokens of one of each.

    What no answer may hold: the canaries of the tasks, the server's token, the other org's and
    the other session's tokens, and what is in them.
    """
    with ServerProcess("--org", "first=sales/empty", "--out", str(folder)) as server:
        body = {"name": "second", "domain": "sales", "world": "empty"}
        second = server.admin.post("/v1/orgs", json=body).json()
        call = {"tool": "create_new_client", "arguments": CLIENT}
        assert server.admin.post("/v1/orgs/second/call", json=call).json()["ok"]
        first = server.admin.get("/v1/orgs").json()["orgs"][0]
        mine = server.open_session("demo", 1, "attacker")
        other = server.open_session("sales", 2, "victim")
        task = load_named("sales").lazy_tasks[1]
        canaries = {load_named(name).lazy_tasks[0].gold.canary for name in ("demo", "sales")}
        assert None not in canaries
        secrets = [SECRET, ADMIN, second["token"], other["token"], task.turns[0].utterance[:60]]
        secrets += [canary for canary in canaries if canary is not None]
        before = server.admin.get("/v1/orgs/second/digest").json()
        found = Found()
        tokens = (first["token"], mine["token"])

        async def siege() -> None:
            async with asyncio.TaskGroup() as group:
                for number in range(connections):
                    attacker = Attacker(number, tokens, f"{server.host}:{server.port}")
                    share = count // connections
                    group.create_task(
                        attack(attacker, server.host, server.port, share, secrets, found)
                    )

        asyncio.run(siege())
        assert server.admin.get("/v1/orgs/second/digest").json() == before
        status = server.admin.get(f"/v1/sessions/{other['id']}").json()
        assert (status["over"], status["calls"], status["agent"]) == (False, 0, [])
        assert server.admin.get("/healthz").status_code == 200
    return found


def change_nothing_on_error(count: int) -> tuple[int, list[Attack]]:
    """Requests to one org, its state compared after each that failed.

    Returns:
        How many failed, and those that failed and changed something.
    """
    changed: list[Attack] = []
    failed = 0
    with ServerProcess("--org", "first=sales/empty") as server:
        call = {"tool": "create_new_client", "arguments": CLIENT}
        assert server.admin.post("/v1/orgs/first/call", json=call).json()["ok"]
        first = server.admin.get("/v1/orgs").json()["orgs"][0]
        attacker = Attacker(99, (first["token"],), f"{server.host}:{server.port}")
        state = server.admin.get("/v1/orgs/first/digest").json()["digest"]

        async def go() -> None:
            nonlocal failed, state
            for _ in range(count):
                sent = attacker.attack()
                reader, writer = await asyncio.open_connection(server.host, server.port)
                writer.write(
                    sent.head.replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nConnection: close\r\n", 1)
                )
                writer.write(sent.body)
                try:
                    answer = await reader.read()
                except ConnectionResetError:
                    answer = RESET
                writer.close()
                now = server.admin.get("/v1/orgs/first/digest").json()["digest"]
                if _has_failed(answer):
                    failed += 1
                    if now != state:
                        changed.append(sent)
                state = now

        asyncio.run(go())
    return failed, changed


def _has_failed(answer: bytes) -> bool:
    status = int((answer or RESET).split(b" ", 2)[1])
    body = answer.partition(b"\r\n\r\n")[2]
    signs = (b'"ok":false', b'"isError":true', b'"error"')
    return status >= 400 or any(sign in body for sign in signs)


def lose_no_verdict(runs: Path, set_name: str, rounds: int, at_once: int) -> int:
    """Kill a server in the midst of its work, again and again; compare what it said and kept.

    Returns:
        How many verdicts were promised, all of which are there.
    """
    tasks = list(load_named(set_name).lazy_tasks)
    chance, promised = random.Random(0), 0
    for _ in range(rounds):
        over: list[str] = []
        server = ServerProcess("--out", str(runs))
        before = len(run_of(runs).outlines()) if runs.exists() and any(runs.iterdir()) else 0

        async def go(
            server: ServerProcess = server,
            over: list[str] = over,
            least: int = chance.randint(1, 5),
        ) -> None:
            chosen = [
                (n, tasks[n - 1]) for n in chance.choices(range(1, len(tasks) + 1), k=at_once)
            ]
            playing = asyncio.create_task(
                play_all(
                    server, set_name, chosen, lambda task: over.append(task.task_id), over_mcp=False
                )
            )
            while len(over) < least and not playing.done():
                await asyncio.sleep(0.005)
            server.kill()
            # Whoever was not done sees the connection break.
            await asyncio.gather(playing, return_exceptions=True)

        try:
            asyncio.run(go())
        finally:
            server.__exit__(None, None, None)
        promised += len(over)
        kept = len(run_of(runs).outlines())
        assert kept >= before + len(over), "a verdict that was promised is lost"
    # The client's library leaves sockets open that a kill cut off: they are to go here, not in
    # another test.
    gc.collect()
    return promised
