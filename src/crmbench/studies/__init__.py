"""Whole comparisons, one command each."""
