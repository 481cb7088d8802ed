"""An agent that speaks MCP, and says who works at the client whose name it reads.

python examples/mcp_agent.py                         # has itself evaluated
crmbench run demo --agent mcp:"python examples/mcp_agent.py" --sample 4
"""

import asyncio
import json
import os
import re
import sys

from mcp import Client


async def main(address):
    async with Client(address) as client:

        async def ask(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            return {} if result.is_error else json.loads(result.content[0].text)

        heard = await ask("next_message")
        while not heard["over"]:
            name = re.search(r"(?:[A-Z][\w&-]+ ?)+(?:LLC|Inc|Ltd|GmbH|AG)?", heard["message"] or "")
            found = await ask("client_search", name=name[0].strip() if name else "-")
            record = next(iter(found.get("records", [])), {"client_id": ""})
            people = await ask("contact_search", client_id=record["client_id"])
            names = [f"{p['first_name']} {p['last_name']}" for p in people.get("records", [])]
            heard = await ask("reply", text=f"{len(names)} contacts: {', '.join(names)}.")


if "CRMBENCH_MCP_URL" in os.environ:
    asyncio.run(main(os.environ["CRMBENCH_MCP_URL"]))
else:
    from crmbench import run

    result = run("demo", f"mcp:{sys.executable} {__file__}", sample=4)
    print(f"{result.success:.0%} of {len(result)} conversations")
