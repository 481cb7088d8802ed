"""The gates: what makes a set of tasks valid, as checks that anyone can run."""
