"""State of a study while it runs."""
