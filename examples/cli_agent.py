"""An agent that works in a shell, with the commands of `crmbench play`.

    python examples/cli_agent.py                         # has itself evaluated
    crmbench run demo --agent cli:"python examples/cli_agent.py" --sample 2

It ends after each answer, and what it prints is the answer: it is started again for what the user
says next. A coding agent in a terminal plays the same way.
"""

import json
import os
import re
import subprocess
import sys


def play(*words):
    command = [sys.executable, "-m", "crmbench", "play", *words, "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    said = json.loads(play("status"))["turns"][-1]["user"]
    name = re.search(r"(?:[A-Z][\w&-]+ ?)+(?:LLC|Inc|Ltd|GmbH|AG)?", said)
    found = json.loads(play("call", "client_search", json.dumps({"name": name[0].strip()})))
    print(f"There are {found['result']['total_count']} clients like {name[0].strip()}.")


if "CRMBENCH_PLAY" in os.environ:
    main()
else:
    from crmbench import run

    result = run("demo", f"cli:{sys.executable} {__file__}", sample=2)
    print(f"{result.success:.0%} of {len(result)} conversations")
