"""Families about notes."""
