"""Families about other companies and whole accounts."""
