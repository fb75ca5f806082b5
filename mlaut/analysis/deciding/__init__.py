"""One decision from the results of a study, by an analysis that is chosen before the results."""
