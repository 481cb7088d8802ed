"""A learning run in words, as tables and as a page."""
