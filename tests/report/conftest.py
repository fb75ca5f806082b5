import sys
from pathlib import Path

import pytest

from mlaut.report import drawing

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def draw_only(monkeypatch):
    """Return a function that has reports draw the decision and the named figures only: it is quick.

    A page with a decision needs its figure.
    """

    def only(*names):
        chosen = {name: drawing.FIGURES[name] for name in ("decision", *names)}
        monkeypatch.setattr(drawing, "FIGURES", chosen)

    return only
