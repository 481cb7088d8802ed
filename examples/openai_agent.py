"""An agent of your own around the client library of OpenAI (`pip install openai`).

    python examples/openai_agent.py

It asks a local server that speaks the format without a model; `AsyncOpenAI()` asks the real one.
"""

import json

from openai import AsyncOpenAI

from crmbench import run
from crmbench.models.testing.server import spawned


class Assistant:
    def __init__(self, view, client, model):
        self.client, self.model = client, model
        self.tools = [{"type": "function", "function": tool} for tool in view.tools]
        self.messages = [{"role": "system", "content": f"{view.policy}\n\nToday is {view.today}."}]

    async def turn(self, session, utterance):
        self.messages.append({"role": "user", "content": utterance})
        while True:
            asked = {"model": self.model, "messages": self.messages, "tools": self.tools}
            said = (await self.client.chat.completions.create(**asked)).choices[0].message
            self.messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return said.content or ""
            for call in said.tool_calls:
                done = await session.call(call.function.name, json.loads(call.function.arguments))
                told = {"role": "tool", "tool_call_id": call.id, "content": json.dumps(done.value)}
                self.messages.append(told)


with spawned("--tool-calls", "2") as address:
    client = AsyncOpenAI(base_url=f"{address}/v1", api_key="none")
    result = run("demo", lambda view: Assistant(view, client, "fake"), sample=4)
    calls = sum(episode.verdict.calls for episode in result)
    print(f"{result.success:.0%} of {len(result)} conversations, {calls} tool calls")
