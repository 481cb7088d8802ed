"""English text to typed mentions. Imports nothing else of crmbench."""
