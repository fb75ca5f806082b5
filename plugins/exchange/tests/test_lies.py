"""Servers that lie, as those of MLaut's own tests of downloads, where a bundle should be."""

import runpy
from pathlib import Path

import pytest
from mlaut_exchange import open_bundle, opening

from mlaut.errors import MlautError

OF_MLAUT = runpy.run_path(
    str(Path(__file__).parents[3] / "tests" / "helpers" / "test_downloads.py")
)
LIES, liar, hurry = (OF_MLAUT[name] for name in ("LIES", "liar", "hurry"))


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_one_line(liar, hurry, lie, tmp_path, monkeypatch):
    liar.lie = LIES[lie]
    hurry(lie)
    monkeypatch.setattr(opening, "MOST_MANIFEST", 10**5)
    with pytest.raises(MlautError) as refused:
        open_bundle(liar.url, limit=10**5)
    assert "\n" not in str(refused.value)
    assert "127.0.0.1" in str(refused.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
