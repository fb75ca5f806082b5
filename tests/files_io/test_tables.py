"""Tables in files."""

import importlib
import sys

import pytest

from mlaut.errors import OptionalPackageError
from mlaut.files_io import tables

ARFF = "@relation r\n@attribute 'a b' numeric\n@attribute c {x, 'y z'}\n@data\n1, x\n?, 'y z'\n"


def test_arff_is_read_by_either_copy_of_its_reader(tmp_path, monkeypatch):
    """The one that scikit-learn brings is private; liac-arff is the same."""
    path = tmp_path / "table.arff"
    path.write_text(ARFF)
    expected = tables.read_table(path)
    assert expected["c"].tolist() == ["x", "y z"]
    private = importlib.import_module("sklearn.externals._arff")
    monkeypatch.setitem(sys.modules, "sklearn.externals._arff", None)  # as if it were gone
    monkeypatch.setitem(sys.modules, "arff", None)
    with pytest.raises(OptionalPackageError, match="pip install liac-arff, or save"):
        tables.read_table(path)
    monkeypatch.setitem(sys.modules, "arff", private)
    assert tables.read_table(path).equals(expected)
