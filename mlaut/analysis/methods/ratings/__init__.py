"""Ratings of strategies from their duels on datasets: Elo."""
