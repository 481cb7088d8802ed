"""Playing tasks: one episode, many, and the directory that a run leaves behind."""
