"""Grids of cells from any form: files, texts, frames, nested values and folders of files."""
