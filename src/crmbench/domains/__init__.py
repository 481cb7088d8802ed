"""The CRMs, each a folder of its own, and the registry that finds them by name."""
