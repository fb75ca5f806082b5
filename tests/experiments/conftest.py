"""Databases of real tables, which are made once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from input_and_study import databases, made_databases  # noqa: F401 - fixtures
