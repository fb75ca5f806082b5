"""What an object is, in plain JSON values, so that a study recognises its strategies."""
