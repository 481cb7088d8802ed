"""The ladder: the size, and the budget, at which an agent passes half."""
