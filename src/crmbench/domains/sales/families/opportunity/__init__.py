"""Families about deals."""
