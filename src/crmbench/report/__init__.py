"""Looking at runs: figures, tables for the terminal, pages of HTML."""
