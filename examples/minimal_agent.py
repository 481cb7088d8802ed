"""The smallest agent: it looks a client up, and answers.

Run it from Python or by its name on the command line:

    python examples/minimal_agent.py
    crmbench run demo --agent examples/minimal_agent.py:Lookup --sample 4
"""

from crmbench import load, run


class Lookup:
    def __init__(self, view):
        self.today = view.today  # also view.policy, view.tools, view.domain, view.persona

    async def turn(self, session, utterance):
        name = next((word for word in utterance.split()[1:] if word[:1].isupper()), "")
        found = await session.call("client_search", {"name": name})
        if not found.ok:
            return f"The CRM refused: {found.value}"
        return f"On {self.today} there are {found.value['total_count']} clients like '{name}'."


if __name__ == "__main__":
    result = run(load("demo")[:4], Lookup)
    for episode in result:
        print(episode.trace.task_id, episode.verdict.success, episode.verdict.reason)
    print(f"{result.success:.0%} of {len(result)} conversations")
