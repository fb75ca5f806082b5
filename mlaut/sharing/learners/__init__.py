"""Work that candidates share, with one module for each family of learners."""
