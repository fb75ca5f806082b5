"""Tables of losses: where they come from, and what is done about missing cells."""
