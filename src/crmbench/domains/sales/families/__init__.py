"""The task families, one file each, by category."""
