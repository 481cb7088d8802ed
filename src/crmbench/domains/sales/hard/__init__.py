"""The hard sets of the sales CRM: a ladder of sizes on which difficulty has no top.

Each mechanism is a module with a generator of worlds and tasks: `worklist` (rules that have to be
found in a handbook, evidence behind one call a row), `merge` (duplicates, by chains of evidence).
"""
