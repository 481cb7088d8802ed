"""Families about documents."""
