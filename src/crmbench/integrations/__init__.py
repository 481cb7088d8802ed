"""Outside systems, one file each."""
