"""How many kills and damaged files the long tests have: ``MLAUT_MORE=50`` for a night."""

import os

MORE = int(os.environ.get("MLAUT_MORE", "1"))
