"""Preparation of rows, columns and labels before a fit."""

from typing import Any

NATIVE: dict[str, Any] = {"categories": "native", "max_categories": 250}
"""Preprocessing for learners that take categories. Histogram boosting has 255 bins."""
