"""Ratings of strategies from duels and rankings: Bradley-Terry-Davidson, Elo, Plackett-Luce."""
