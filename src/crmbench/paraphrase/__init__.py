"""The same conversations in other words, every value kept."""
