"""Continual learning: what an agent that remembers gains over the same agent without a memory."""
