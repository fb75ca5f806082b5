"""Tables of one's own: frames, folders, archives, databases, the starter collection."""
