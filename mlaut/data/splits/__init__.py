"""Which rows are fitted and which are scored."""
