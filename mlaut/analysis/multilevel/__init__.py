"""One multilevel model of strategies, datasets and folds."""
