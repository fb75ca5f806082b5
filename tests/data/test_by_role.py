"""Splits by group and by time: equal to scikit-learn's, and leaks of other splits."""

import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection as ms

from mlaut import Data
from mlaut.data import LeakWarning, from_frame, make_split, parse_scheme
from mlaut.errors import DataError
from mlaut.files_io import StudyStore
from mlaut.records import CLASSIFICATION

N = 120
GENERATOR = np.random.default_rng(5)
TRUTH = GENERATOR.integers(0, 3, N).astype(np.int32)
GROUPS = np.array([f"p{number}" for number in GENERATOR.integers(0, 17, N)])
TIMES = GENERATOR.permutation(N)
SPLITTERS = {
    "group_kfold(4)": ms.GroupKFold(4),
    "group_kfold": ms.GroupKFold(5),
    "stratified_group_kfold(3)": ms.StratifiedGroupKFold(3),
    "leave_one_group_out": ms.LeaveOneGroupOut(),
}


@pytest.mark.parametrize("scheme", SPLITTERS)
def test_splits_by_group_are_those_of_scikit_learn_fold_by_fold(scheme):
    split = make_split(TRUTH, CLASSIFICATION, scheme, groups=GROUPS)
    expected = list(SPLITTERS[scheme].split(np.zeros((N, 1)), TRUTH, GROUPS))
    assert split.n_repeats == 1
    assert split.n_folds == len(expected)
    for found, wanted in zip(split, expected, strict=True):
        assert [part.tolist() for part in found] == [part.tolist() for part in wanted]


@pytest.mark.parametrize(("scheme", "gap"), [("time_series(4)", 0), ("time_series(4, gap=3)", 3)])
def test_splits_by_time_are_those_of_scikit_learn_on_rows_in_order_of_time(scheme, gap):
    split = make_split(TRUTH, CLASSIFICATION, scheme, times=TIMES)
    in_order = np.argsort(TIMES)
    expected = list(ms.TimeSeriesSplit(4, gap=gap).split(in_order))
    assert (split.n_repeats, split.n_folds) == (4, 1)
    for found, wanted in zip(split, expected, strict=True):
        assert [part.tolist() for part in found] == [sorted(in_order[part]) for part in wanted]


@pytest.mark.parametrize("text", ["group_kfold(3)", "leave_one_group_out", "time_series(7, gap=2)"])
def test_the_text_of_a_scheme_is_read_as_the_same_scheme(text):
    assert parse_scheme(str(parse_scheme(text))) == parse_scheme(text)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("group_kfold(5)", r"group_kfold\(n_folds=5\) needs the group of each row; name its col"),
        ("time_series(5)", r"time_series\(n_folds=5\) needs the time of each row"),
        ("group_kfold(1)", "n_folds 1: a whole number from 2"),
        ("time_series(3, gap=-1)", "'-1' is not|gap -1"),
        ("leave_one_group_out(3)", "cannot take '3'"),
    ],
)
def test_a_scheme_by_role_that_cannot_be_made_is_one_line(scheme, message):
    with pytest.raises(DataError, match=message):
        make_split(TRUTH, CLASSIFICATION, scheme)


def test_too_few_groups_and_rows_are_one_line():
    with pytest.raises(DataError, match=r"group_kfold\(n_folds=5\): Cannot have number of splits"):
        make_split(TRUTH, CLASSIFICATION, "group_kfold(5)", groups=np.arange(N) % 3)
    with pytest.raises(DataError, match="leave_one_group_out: 1 groups"):
        make_split(TRUTH, CLASSIFICATION, "leave_one_group_out", groups=np.zeros(N))
    with pytest.raises(DataError, match=r"time_series\(n_folds=5\): Cannot have number of folds"):
        make_split(TRUTH[:4], CLASSIFICATION, "time_series", times=np.arange(4))


def table():
    return pd.DataFrame(
        {
            "x": np.arange(N) * 1.0,
            "who": GROUPS,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(TIMES, unit="D"),
            "number": np.arange(N) // 2,
            "y": np.array(["a", "b", "c"])[TRUTH],
        }
    )


def split_of(tmp_path, scheme, **roles):
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    out_io = data.open_hdf5(tmp_path / "out.h5", "a")
    input_io.save_datasets([from_frame(table(), "y", name="d", roles=roles)])
    data.split_datasets(input_io, out_io, scheme=scheme)
    return StudyStore(out_io.path).load_split("d").split


def test_a_database_is_split_by_the_columns_of_the_roles(tmp_path):
    split = split_of(tmp_path / "g", "group_kfold(4)", group="who")
    expected = make_split(TRUTH, CLASSIFICATION, "group_kfold(4)", groups=GROUPS)
    assert (split.folds == expected.folds).all()
    split = split_of(tmp_path / "t", "time_series(4)", time="day")
    expected = make_split(TRUTH, CLASSIFICATION, "time_series(4)", times=TIMES)
    assert (split.folds == expected.folds).all()
    split = split_of(tmp_path / "s", ms.GroupKFold(4), group="who")
    expected = ms.GroupKFold(4).split(TRUTH, TRUTH, GROUPS)
    assert [test.tolist() for _, test in split] == [test.tolist() for _, test in expected]


@pytest.mark.parametrize(
    ("scheme", "roles", "message"),
    [
        ("kfold(3)", {"group": "who"}, r"'d': 17 of 17 groups have rows among the training and"),
        ("holdout", {"id": "number"}, r"\d+ of 60 ids have rows .* of holdout\(test_size=1/3\); d"),
        ("kfold(3)", {"time": "day"}, "3 of 3 folds of .* train on rows of a later time"),
        ("time_series(6)", {"time": "number"}, "train and test on rows of one time; give the sch"),
    ],
)
def test_a_leak_is_pointed_out_before_the_run(tmp_path, scheme, roles, message):
    with pytest.warns(LeakWarning, match=message) as found:
        split_of(tmp_path, scheme, **roles)
    assert len(found) == 1
    assert "\n" not in str(found[0].message)


def test_a_group_that_only_trains_is_no_leak(tmp_path):
    frame = table().assign(who=np.where(np.arange(N) < 60, "train", "test"))
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    input_io.save_datasets([from_frame(frame, "y", name="d", roles={"group": "who"})])
    halves = ms.PredefinedSplit(np.where(np.arange(N) < 60, -1, 0))
    (entry,) = data.make_splits(input_io, scheme=halves)  # no warning, which would be an error
    assert entry.split.n_folds == 1
