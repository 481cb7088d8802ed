"""The second way to the gold: articles, letters and records read as an agent would read them."""
