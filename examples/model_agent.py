"""A model that calls tools, over chat completions, in a run with every figure.

    python examples/model_agent.py                       # against a local server without a model
    python examples/model_agent.py openai/gpt-4.1        # with OPENAI_API_KEY

The local server calls tools at random and then replies, so its success is 0: it is there to try
the way from a model's answer to a report without one.
"""

import sys

from crmbench import run
from crmbench.models.testing.server import spawned


def play(model):
    result = run("demo", agent="function_calling", model=model, sample=4, temperature=0.0)
    usage = result.summary.usage
    print(f"{model.rpartition('#')[2]}: {result.success:.0%} of {len(result)} conversations")
    print(f"{usage.model_calls} model calls, {usage.total_tokens:,} tokens")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        play(sys.argv[1])
    else:
        with spawned("--tool-calls", "2") as address:
            play(f"{address}/v1#fake")
