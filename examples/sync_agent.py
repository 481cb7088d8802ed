"""An agent without `async`, for clients that block: it runs in a thread of its own.

    python examples/sync_agent.py

Its calls need no `await`, and what blocks in it holds nobody else up.
"""

import time

from crmbench import run


class Blocking:
    def turn(self, session, utterance):
        time.sleep(0.05)  # as a client does that waits for its server
        found = session.call("client_search", {"status": "Prospect"})
        return f"There are {found.value['total_count']} prospects."


if __name__ == "__main__":
    result = run("demo", Blocking, sample=8)
    calls = sum(episode.verdict.calls for episode in result)
    print(f"{result.success:.0%} of {len(result)} conversations, {calls} tool calls")
