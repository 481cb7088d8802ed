"""What counts as right: verdicts from a trace and the gold, and figures over many."""
