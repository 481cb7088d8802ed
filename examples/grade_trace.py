"""Grading a trace that did not come from a run: your own loop plays, the grader judges.

    python examples/grade_trace.py

An episode is driven by hand here: `say`, `call`, `reply`, and the trace at the end. A trace that is
not finished can be graded turn by turn.
"""

from crmbench import load
from crmbench.core.episode import Episode
from crmbench.runner.evaluate import grader_on

task = load("demo")[0]
grader = grader_on("sqlite")
domain, backend = grader.backends.place(task.domain)

with Episode(domain, task, backend) as episode:
    while (utterance := episode.say()) is not None:
        found = episode.call("client_search", {"name": "Moorhen Diagnostics LLC"})
        client = found.value["records"][0]
        people = episode.call("contact_search", {"client_id": client["client_id"]}).value
        names = [f"{person['first_name']} {person['last_name']}" for person in people["records"]]
        episode.reply(f"{len(names)} contacts: {', '.join(names)}.")
    trace = episode.finish()

for turn in grader.grade_turns(task, trace):
    problems = "; ".join(turn.mismatches + turn.unsaid)
    print(f"turn {turn.turn_id}:", problems or "right")
print("the conversation:", grader.grade(task, trace).reason)
grader.close()
