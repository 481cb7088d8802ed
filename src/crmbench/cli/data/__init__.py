"""Verbs that make, read, check and hand on data."""
