"""Figures of runs: in the terminal, on a page, side by side."""
