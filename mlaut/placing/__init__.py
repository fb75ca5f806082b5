"""Places of strategies among those of a published benchmark, by its protocol if possible."""
