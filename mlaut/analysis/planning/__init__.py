"""Planning of studies: number of datasets, power and smallest difference that a study detects."""
