"""The learners that come along, and how one is found by its name."""
