"""Scores of strategies on datasets: the class `Results`, its sources, and missing cells."""
