"""Families about quotes."""
