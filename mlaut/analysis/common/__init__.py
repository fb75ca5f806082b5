"""Modules shared by all statistics: result classes, display, numerics, checks of arguments."""
