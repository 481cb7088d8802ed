"""Families about the people at clients."""
