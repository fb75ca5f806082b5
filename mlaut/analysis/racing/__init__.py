"""Evidence that is valid after every dataset, and races that end when a question is answered."""
