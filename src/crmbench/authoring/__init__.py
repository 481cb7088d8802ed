"""What a domain writes its tasks with."""
