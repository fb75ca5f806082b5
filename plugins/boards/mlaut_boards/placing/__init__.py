"""Places of strategies of one's own among published ones."""
