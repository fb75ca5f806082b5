"""Boards: repositories of entries that are fitted again and tested before they are listed.

A plug-in of MLaut. It also has the forms of public leaderboards, places among published strategies,
new records of boards that grow, and exports to boards.
"""
