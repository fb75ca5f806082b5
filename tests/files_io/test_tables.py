"""Tables in files."""

import importlib
import os
import resource
import sys

import pandas as pd
import pytest

from mlaut.errors import OptionalPackageError, StoreError
from mlaut.files_io.tables import tables

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


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("name;a;b\nx;0,5;1\ny;;-2\n", [[0.5, 1], [None, -2]]),
        ("name;a;b\nx;0.5;1,5\ny;3;2\n", [[0.5, 1.5], [3, 2]]),
        ("name,a,b\nx,0.5,1,\ny,2,3,\n", [[0.5, 1], [2, 3]]),
        ('name,a,b\n"x;y",0.5,1\nz,2,3\n', [[0.5, 1], [2, 3]]),
    ],
)
def test_semicolons_between_values_and_decimal_commas_are_read(tmp_path, text, numbers):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    frame = tables.read_table(path)
    expected = pd.DataFrame(numbers, columns=["a", "b"], dtype=float)
    pd.testing.assert_frame_equal(frame[["a", "b"]].astype(float), expected)
    assert frame["name"].str.contains("x").iloc[0]


def test_what_the_machine_cannot_open_now_is_no_fault_of_the_table(tmp_path):
    """Found by ``simulate.py --seeds 12 13``: a race went on with three of its four datasets."""
    path = tmp_path / "table.csv"
    path.write_text("a,target\n1,x\n2,y\n3,x\n4,y\n")
    assert len(tables.read_table(path)) == 4  # and all that it needs is imported
    first_free = os.open(path, os.O_RDONLY)
    os.close(first_free)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free, limits[1]))
    try:
        with pytest.raises(StoreError, match=r"table\.csv: .*reading a table.*Too many open files"):
            tables.read_table(path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
