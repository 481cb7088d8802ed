"""Families about clients."""
