"""Descriptions of objects in plain JSON values, by which a study recognises its strategies."""
