"""Agents: the protocol that every one of them follows, and those that ship."""
