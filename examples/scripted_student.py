"""A made-up model that succeeds where its playbook says how: python examples/scripted_student.py
crmbench learn demo --learner playbook,placebo --model scripted:examples/scripted_student.py:student
"""

from orjson import dumps, loads

from crmbench.cli import app
from crmbench.core.trace import CallRecord
from crmbench.grading.gold import resolve_references
from crmbench.models.base import Reply, ToolCall, Usage
from crmbench.runner.task_sets import load_named

TASKS = {task.turns[0].utterance: task for task in load_named("demo").tasks()}
ADVICE, USED = "After {} go on until all is done and told.", Usage(1200, 20, 0, 0, 0)


def answer(messages, tools):
    if not tools:  # asked to reflect: what the conversation began with is the lesson
        calls = messages[1].text.rpartition("The conversation:")[2].split("Call: ")[1:]
        add = [ADVICE.format(calls[0].split(" ")[0])] if calls else []
        return Reply(dumps({"add": add}).decode(), (), USED)
    turns = []
    for m in messages[1:]:
        if m.role == "tool":
            turns[-1].append(CallRecord("", {}, True, None if m.is_error else loads(m.text)))
        elif m.role == "user":
            turns.append([])
    gold, done = TASKS[messages[1].text].gold.turns, len(turns[-1])
    calls, said = gold[len(turns) - 1].calls, gold[len(turns) - 1].response["text"]
    knows = gold[0].calls and ADVICE.format(gold[0].calls[0].tool) in messages[0].text
    if done < len(calls) and (knows or (done == 0 and len(turns) == 1)):
        arguments = dict(resolve_references(calls[done].arguments, turns))
        return Reply("", (ToolCall(f"c{len(messages)}", calls[done].tool, arguments),), USED)
    return Reply(said if knows else "I do not know.", (), USED)


student = lambda: answer  # noqa: E731
if __name__ == "__main__":
    app(["learn", "demo", "--model", f"scripted:{__file__}:student", "--seeds", "2"])
