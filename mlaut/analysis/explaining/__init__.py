"""Where a strategy wins: properties, groups and relations of datasets."""
