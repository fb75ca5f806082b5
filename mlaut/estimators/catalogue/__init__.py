"""Which strategies there are, and how words find them."""
