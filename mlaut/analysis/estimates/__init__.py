"""Mean losses with intervals."""
