"""Work that the candidates of a learner share, one module for each family."""
