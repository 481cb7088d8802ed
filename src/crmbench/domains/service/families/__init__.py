"""The nine tasks of the service domain, one module each, and what they share.

A module of a task has three functions that draw candidates from a `TaskContext`: ``asked`` (a
question), ``done`` (the answer is acted on) and ``talked`` (several turns that build on each
other).
"""
