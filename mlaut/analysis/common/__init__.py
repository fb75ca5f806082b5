"""What every statistic shares: how results show themselves, exact numbers, checks of arguments."""
