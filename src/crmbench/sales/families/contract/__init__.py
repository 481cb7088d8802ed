"""Families about contracts."""
