"""Running somebody's Salesforce program, unchanged, against an org of ours."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from crmbench.errors import InputError, needs_extra

HOOKS = Path(__file__).with_name("hooks")
KINDS = ("", "B2B_", "B2C_")
CREDENTIALS = {
    "USERNAME": "user@crmbench.example",
    "PASSWORD": "any",
    "SECURITY_TOKEN": "any",
}
"""What a program logs in with that takes it from the environment; an org here takes any."""


def environment(address: str, given: Mapping[str, str]) -> dict[str, str]:
    """The variables of a program that is to find the org at `address`.

    What is set already stays: a program's own credentials are taken as well.
    """
    made = dict(given)
    for kind in KINDS:
        for name, value in CREDENTIALS.items():
            made.setdefault(f"SALESFORCE_{kind}{name}", value)
    made["CRMBENCH_LAUNCH_URL"] = address
    paths = [str(HOOKS), made.get("PYTHONPATH", "")]
    made["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    # Node takes double quotes there, and a backslash before what they hold of either.
    hook = f"--require {json.dumps(str(HOOKS / 'lead.cjs'), ensure_ascii=False)}"
    made["NODE_OPTIONS"] = f"{hook} {made.get('NODE_OPTIONS', '')}".strip()
    # Nothing of it goes through a proxy, should the program's library not ask us.
    own = "127.0.0.1,localhost"
    for name in ("NO_PROXY", "no_proxy"):
        made[name] = f"{own},{made[name]}" if made.get(name) else own
    return made


def launch(command: Sequence[str], org: str) -> int:
    """Run a program while an org is served for it.

    Args:
        command: The program and its arguments.
        org: ``DOMAIN`` or ``DOMAIN/WORLD``.

    Returns:
        The program's exit code; 128 and the signal's number if a signal ended it.

    Raises:
        InputError: There is no such org, or no command.
        MissingExtraError: Starlette or uvicorn is not installed.
    """
    if not command:
        raise InputError("there is no command", expected="crmbench launch -- COMMAND")
    with served(org) as address:
        try:
            program = subprocess.Popen(list(command), env=environment(address, os.environ))
        except FileNotFoundError:
            raise InputError(f"there is no program '{command[0]}'") from None
        except OSError as error:
            raise InputError(f"{command[0]} cannot be started: {error.strerror}") from error
        code = _wait(program)
    return 128 - code if code < 0 else code


def _wait(program: subprocess.Popen[bytes]) -> int:
    """Wait for a program; Ctrl-C reaches it by itself and is its own affair."""
    while True:
        try:
            return program.wait()
        except KeyboardInterrupt:
            continue


@contextmanager
def served(org: str) -> Iterator[str]:
    """An org on a port of its own, in a thread; gives its address.

    Raises:
        InputError: There is no such org.
        MissingExtraError: Starlette or uvicorn is not installed.
    """
    with needs_extra("serve", "crmbench launch"):
        import uvicorn

        from crmbench.seats.listener import LONGEST_HEAD, LOOPBACK, listen
        from crmbench.serve.app import make_app
        from crmbench.serve.run import org_of
        from crmbench.serve.sessions import Sessions
    name, domain, world = org_of(org)
    listener = listen("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    sessions = Sessions(address=address)
    try:
        sessions.open_org(name, domain, world)
        config = uvicorn.Config(
            make_app(sessions, LOOPBACK),
            log_level="warning",
            access_log=False,
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()
    finally:
        sessions.close()
        listener.close()
