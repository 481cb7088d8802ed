"""Episodes and records as pages show them."""
