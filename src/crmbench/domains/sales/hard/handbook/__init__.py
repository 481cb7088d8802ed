"""What the handbook of the hard sales tasks rules: by question, in chains, and read anew."""
