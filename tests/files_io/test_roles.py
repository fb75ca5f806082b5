"""Roles of columns in databases: checks, identity, and databases from before there were roles."""

import json

import h5py
import numpy as np
import pandas as pd
import pytest

from mlaut.errors import DataError, StoreError
from mlaut.files_io import FilesIO
from mlaut.files_io.tables.datasets import checked_dataset
from mlaut.files_io.tables.fingerprints import dataset_fingerprint
from mlaut.files_io.tables.roles import numbers_of_time, role_values
from mlaut.records import Dataset


def table(**columns):
    return pd.DataFrame(
        {
            "x": [1.0, 2.0, 3.0, 4.0],
            "w": [1, 2, 0, 1],
            "who": ["a", "a", "b", "b"],
            "day": ["2020-01-02", "2020-01-01", "2021-01-01", "2019-05-05"],
            "note": ["u", "v", "w", "x"],
            "y": ["n", "p", "n", "p"],
        }
    ).assign(**columns)


def saved(tmp_path, roles, frame=None, **more):
    io = FilesIO(tmp_path / "in.h5", "a")
    metadata = {"class_name": "y", "dataset_name": "d", **({"roles": roles} if roles else {})}
    io.save_pandas_dataset(table() if frame is None else frame, "/", metadata, **more)
    return io


ALL = {"weight": "w", "group": "who", "time": "day", "ignore": ["note"]}


def test_columns_with_a_role_are_no_features(tmp_path):
    io = saved(tmp_path, ALL)
    dataset, info = io.load_dataset("d"), io.dataset_info("d")
    assert list(dataset.features) == ["x"]
    assert list(dataset.frame) == ["x", "w", "who", "day", "note", "y"]
    assert info.n_features == 1
    assert info.roles == dataset.roles
    assert dict(dataset.roles) == {role: tuple(np.ravel(column)) for role, column in ALL.items()}
    values = role_values(dataset)
    assert values["weight"].tolist() == [1, 2, 0, 1]
    assert values["time"].argsort().tolist() == [3, 1, 0, 2]
    frame, metadata = io.load_dataset_pd("d")
    assert metadata["roles"] == dict(dataset.roles)
    saved(tmp_path, ALL, frame)  # the same again: nothing to write


def test_roles_are_part_of_the_fingerprint_and_none_leave_it_unchanged(tmp_path):
    plain = saved(tmp_path / "a", None).dataset_info("d").fingerprint
    with_roles = saved(tmp_path / "b", ALL).dataset_info("d").fingerprint
    assert plain == dataset_fingerprint(table(), "y", "Classification")
    assert plain != with_roles
    # The digest of this table as every version computes it, also those without roles.
    assert plain.startswith("093008b62bc98836")
    with pytest.raises(StoreError, match=r"exists and differs: roles weight=w.* are now none"):
        saved(tmp_path / "b", None)


def test_a_changed_role_in_the_file_is_noticed(tmp_path):
    io = saved(tmp_path, {"group": "who"})
    text = json.dumps({**_about(io.path), "roles": {"group": ["note"]}})
    with h5py.File(io.path, "r+") as file:
        del file["d/about"]
        file["d"].create_dataset("about", data=np.frombuffer(text.encode(), dtype=np.uint8))
    with pytest.raises(StoreError):
        io.load_dataset("d")


def _about(path):
    from mlaut.files_io.safe_files.texts import get_json

    with h5py.File(path) as file:
        return get_json(file["d"], "about", None)


def test_datasets_without_roles_are_written_as_before(tmp_path):
    with h5py.File(saved(tmp_path / "a", None).path) as file:
        assert file["d"].attrs["encoding-version"] == 1
        assert "roles" not in _about(tmp_path / "a/in.h5")
    with h5py.File(saved(tmp_path / "b", ALL).path) as file:
        assert file["d"].attrs["encoding-version"] == 2  # older versions ask for an update


@pytest.mark.parametrize(
    ("roles", "columns", "message"),
    [
        ({"grup": "who"}, {}, "no role 'grup'; did you mean 'group'?"),
        ({"group": "whom"}, {}, "no column 'whom' for the role 'group'; did you mean 'who'?"),
        ({"group": "y"}, {}, "column 'y' has two roles, target and group"),
        ({"group": "who", "ignore": ["who"]}, {}, "column 'who' has two roles, group and ignore"),
        ({"weight": ["w", "x"]}, {}, "role 'weight' is for one column, and 2 are given"),
        ({"weight": "who"}, {}, "weight 'who': .* values; weights are numbers"),
        ({"weight": "w"}, {"w": [1, -2, 0, 1]}, "weight 'w': -2 in row 1; weights are finite"),
        ({"weight": "w"}, {"w": [1, np.inf, 0, 1]}, "weight 'w': inf in row 1"),
        ({"weight": "w"}, {"w": 0}, "weight 'w': every weight is 0"),
        ({"weight": "w"}, {"w": [1, None, 1, 1]}, "weight 'w': 1 values are missing, the first"),
        ({"group": "who"}, {"who": ["a", None, "b", "b"]}, "group 'who': 1 values are missing"),
        ({"time": "note"}, {}, "time 'note': 'u' is no date in the form 2020-01-31"),
        ({"time": "w"}, {"w": True}, "time 'w': truth values have no order"),
        ({"time": "w"}, {"w": [1, np.inf, 0, 1]}, "time 'w': a value is infinite"),
        ({"ignore": ["x", "w", "who", "day", "note"]}, {}, "no column beside the target 'y' and"),
        ("who", {}, "roles are given as"),
    ],
)
def test_roles_that_do_not_suit_a_table_are_one_line(tmp_path, roles, columns, message):
    with pytest.raises(DataError, match=message) as found:
        saved(tmp_path, roles, table(**columns))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([3, 1, 2]),
        pd.Series([0.3, 0.1, 0.2]),
        pd.to_datetime(pd.Series(["2022-01-01", "2020-01-01", "2021-01-01"])),
        pd.Series(["2022-01-01T10:00", "2020-01-01", "2021-01-01"]),
        pd.Series(pd.PeriodIndex(["2022-01", "2020-01", "2021-01"], freq="M")),
        pd.to_timedelta(pd.Series([3, 1, 2]), unit="h"),
        pd.Series(pd.Categorical(["c", "a", "b"], ordered=True)),
        pd.Series(pd.Categorical(["2022-01-01", "2020-01-01", "2021-01-01"])),
    ],
    ids=str,
)
def test_times_of_every_kind_have_an_order(values):
    assert numbers_of_time(values).argsort().tolist() == [1, 2, 0]


def test_values_of_roles_are_those_that_splits_use():
    roles = {"weight": "w", "group": "who", "time": "day", "id": ["x", "note"]}
    frame = table(note=[None, None, "w", "x"], x=[1.0, 1.0, 1.0, 2.0], z=0.5)
    dataset = checked_dataset(Dataset("d", frame, "y", "", roles=roles))
    found = role_values(dataset)
    assert list(found) == ["weight", "group", "time", "id"]
    assert found["weight"].tolist() == [1.0, 2.0, 0.0, 1.0]
    assert found["group"].tolist() == ["a", "a", "b", "b"]
    assert found["time"].argsort().tolist() == [3, 1, 0, 2]
    one, same, *others = found["id"].tolist()
    assert one == same
    assert len({one, *others}) == 3
    assert list(role_values(dataset, ["id"])) == ["id"]
