"""Helpers of these tests and of those of the experiments can be imported."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "experiments")]
