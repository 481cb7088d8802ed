"""Models that take part beside the agent: the simulated user and the judge."""
