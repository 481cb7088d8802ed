"""The hard service org: the easy one's objects and tools, real dirt, and rules that are found."""
