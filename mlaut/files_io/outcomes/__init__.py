"""Outcomes of cells as bytes: records, payloads, packs, traces and the journal."""
