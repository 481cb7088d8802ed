"""Families that touch several kinds of records."""
