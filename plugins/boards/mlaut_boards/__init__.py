"""Boards: repositories of entries that are fitted again and tested before they are listed.

A plug-in of MLaut. It also has the forms of public leaderboards, places among published strategies,
new records of boards that grow, exports to boards, skill scores, and whether a rerun has the same
scores.
"""

from mlaut_boards.rerun import same_results
from mlaut_boards.skill import paired_items, skill_table

__all__ = ["paired_items", "same_results", "skill_table"]
