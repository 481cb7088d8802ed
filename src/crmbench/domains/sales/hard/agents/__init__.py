"""Agents in the code that play lists, shifts and duplicates through the tools, without a gold."""
