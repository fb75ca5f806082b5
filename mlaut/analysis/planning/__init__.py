"""How many datasets a study needs, and what a study can show."""
