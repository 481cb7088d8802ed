"""Saying what users say in other words: what a text holds, and whether a rewrite still holds it."""
