"""Methods for those who study comparisons; each room says what it answers."""
