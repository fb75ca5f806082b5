"""Studies as they are stored: layout, arrays, writer, merge, checks and models."""
