"""Splits: the shares they promise, their seeds, and agreement with scikit-learn's splitters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as ms

from mlaut import Data
from mlaut.data.splits.resampling import HoldOut, KFold, make_split, parse_scheme, split_of_pairs
from mlaut.errors import DataError, StudyError
from mlaut.files_io import StudyStore
from mlaut.records import Split

C, R = "Classification", "Regression"
TRUTH = np.repeat([0, 1, 2], [60, 25, 15]).astype(np.int32)


def shares(split: Split, truth, repeat=0, fold=0):
    train, test = split.rows(repeat, fold)
    n = truth.max() + 1
    return np.bincount(truth[train], minlength=n), np.bincount(truth[test], minlength=n)


def test_the_default_is_a_stratified_third():
    split = make_split(TRUTH, C)
    assert (split.n_repeats, split.n_folds, split.n_rows) == (1, 1, 100)
    assert split.folds.dtype == np.int16
    _, test = shares(split, TRUTH)
    assert test.sum() == 33
    assert np.all(abs(test - np.array([60, 25, 15]) * 0.33) < 1)
    assert split.scheme == "holdout(test_size=1/3)"
    assert split.seed == 0


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 30), min_size=2, max_size=8),
    test_size=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
)
def test_a_holdout_gives_each_class_its_share_whatever_its_size(counts, test_size, seed):
    truth = np.repeat(np.arange(len(counts)), counts)
    n_test = min(max(round(len(truth) * test_size), 1), len(truth) - 1)
    split = make_split(truth, C, HoldOut(test_size), seed=seed)
    train, test = shares(split, truth)
    assert test.sum() == n_test
    assert np.all(abs(test - np.array(counts) * n_test / len(truth)) < 1)
    assert np.all(train + test == counts)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 30), min_size=2, max_size=8),
    n_folds=st.integers(2, 10),
    seed=st.integers(0, 9),
)
def test_folds_are_even_in_size_and_in_each_class(counts, n_folds, seed):
    truth = np.repeat(np.arange(len(counts)), counts)
    if len(truth) < n_folds:
        return
    split = make_split(truth, C, KFold(n_folds), seed=seed)
    per_fold = np.stack([shares(split, truth, fold=fold)[1] for fold in range(n_folds)])
    assert np.ptp(per_fold.sum(axis=1)) <= 1
    assert np.all(np.ptp(per_fold, axis=0) <= 1)
    assert np.all(per_fold.sum(axis=0) == counts)


@pytest.mark.parametrize("scheme", ["holdout", "holdout(stratify=false)", "kfold(3)"])
def test_each_row_is_tested_equally_often(scheme):
    truth = np.array([0] * 7 + [1] * 2 + [2])
    folds = [make_split(truth, C, scheme, seed=seed).folds[0] for seed in range(3000)]
    often = np.mean(np.array(folds) == 0, axis=0)
    share = 0.3 if "holdout" in scheme else 1 / 3  # round(10 / 3) of 10 rows
    assert np.all(abs(often - share) < 4.5 * np.sqrt(share * (1 - share) / 3000))


def test_without_stratification_any_rows_test():
    counts = {
        tuple(shares(make_split(TRUTH, C, HoldOut(stratify=False), seed=s), TRUTH)[1])
        for s in range(30)
    }
    assert len(counts) > 10
    assert {sum(c) for c in counts} == {33}


def test_regression_is_not_stratified():
    truth = np.arange(30) / 7
    split = make_split(truth, R, "kfold(3)")
    assert sorted(np.bincount(split.folds[0])) == [10, 10, 10]
    assert make_split(truth, R).rows(0, 0)[1].size == 10


def test_seed_and_key_decide_the_split_and_nothing_else():
    one = make_split(TRUTH, C, seed=1, key="a").folds
    assert np.array_equal(one, make_split(TRUTH, C, seed=1, key="a").folds)
    assert not np.array_equal(one, make_split(TRUTH, C, seed=2, key="a").folds)
    assert not np.array_equal(one, make_split(TRUTH, C, seed=1, key="b").folds)
    assert make_split(TRUTH, C, "holdout(0.05)", seed=0, key="k").rows(0, 0)[1].tolist() == [
        20, 50, 55, 60, 98,
    ]  # fmt: skip


def test_further_repeats_keep_the_first():
    few = make_split(TRUTH, C, "repeated_kfold(5, 2)")
    many = make_split(TRUTH, C, "repeated_kfold(5, 4)")
    assert np.array_equal(many.folds[:2], few.folds)
    assert len({tuple(repeat) for repeat in many.folds}) == 4
    assert make_split(TRUTH, C, "repeated_holdout(n_repeats=3)").folds.shape == (3, 100)


# ------------------------------------------------------------------- the text


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        ("holdout", HoldOut()),
        (" holdout() ", HoldOut()),
        ("holdout(0.25)", HoldOut(0.25)),
        ("holdout(test_size=1/4, stratify=False)", HoldOut(0.25, stratify=False)),
        ("repeated_holdout", HoldOut(n_repeats=10)),
        ("repeated_holdout(0.2, 15)", HoldOut(0.2, 15)),
        ("kfold", KFold()),
        ("kfold(5)", KFold(5)),
        ("repeated_kfold", KFold(10, 10)),
        ("repeated_kfold(5, n_repeats=3)", KFold(5, 3)),
        ("repeated_kfold(n_repeats = 3)", KFold(10, 3)),
    ],
)
def test_schemes_as_texts(text, scheme):
    assert parse_scheme(text) == scheme
    assert parse_scheme(str(scheme)) == scheme


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("holdot", "no split scheme 'holdot'; did you mean 'holdout'?"),
        ("bootstrap(3)", "no split scheme 'bootstrap.*there are holdout, repeated_holdout, kfold"),
        ("kfold(10", r"no split scheme 'kfold\(10'"),
        ("kfold(folds=5)", "cannot take 'folds=5'; did you mean 'n_folds'?"),
        ("kfold(5, 1, true, 4)", "cannot take '4'; it takes n_folds, n_repeats, stratify"),
        ("kfold(5, n_folds=5)", "cannot take 'n_folds=5'"),
        ("kfold(five)", "'five' is not a number"),
        ("holdout(1/0)", "'1/0' is not a number"),
        ("holdout(1e400)", "'1e400' is not a number"),
        ("kfold(1)", r"'kfold\(1\)': n_folds 1: a whole number from 2 is needed"),
        ("kfold(2.5)", "n_folds 2.5: a whole number"),
        ("holdout(1.5)", "test_size 1.5: a share between 0 and 1 is needed"),
        ("repeated_kfold(5, 0)", "n_repeats 0: a whole number from 1"),
    ],
)
def test_a_text_that_is_no_scheme_is_reported(text, message):
    with pytest.raises(DataError, match=message) as caught:
        parse_scheme(text)
    assert "\n" not in str(caught.value)


# --------------------------------------------------------------- scikit-learn

SPLITTERS = [
    (ms.KFold(5), (1, 5)),
    (ms.StratifiedKFold(4, shuffle=True, random_state=3), (1, 4)),
    (ms.RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0), (3, 5)),
    (ms.ShuffleSplit(4, test_size=0.3, random_state=0), (4, 1)),
    (ms.StratifiedShuffleSplit(2, test_size=50, random_state=0), (2, 1)),
    (ms.TimeSeriesSplit(3), (3, 1)),
    (ms.LeaveOneOut(), (1, 100)),
    (ms.GroupKFold(5), (1, 5)),
    (ms.LeaveOneGroupOut(), (1, 20)),
    (ms.LeavePGroupsOut(19), (20, 1)),
    (ms.PredefinedSplit(np.arange(100) % 3), (1, 3)),
    (ms.PredefinedSplit(np.arange(100) % 3 - 1), (2, 1)),
]


@pytest.mark.parametrize(("splitter", "shape"), SPLITTERS, ids=lambda x: str(x)[:40])
def test_any_splitter_gives_its_own_pairs(splitter, shape):
    groups = np.arange(100) % 20 if "Group" in str(splitter) else None
    split = make_split(TRUTH, C, splitter, groups=groups)
    assert (split.n_repeats, split.n_folds) == shape
    expected = list(splitter.split(np.zeros((100, 1)), TRUTH, groups))
    assert len(expected) == len(list(split))
    for (train, test), (theirs_train, theirs_test) in zip(split, expected, strict=True):
        assert train.tolist() == sorted(theirs_train)
        assert test.tolist() == sorted(theirs_test)


@pytest.mark.parametrize(
    "splitter", [ms.KFold(5, shuffle=True), ms.ShuffleSplit(3), ms.RepeatedKFold(n_splits=5)]
)
def test_a_splitter_without_a_seed_is_given_one(splitter):
    one = make_split(TRUTH, C, splitter, seed=1, key="a").folds
    assert np.array_equal(one, make_split(TRUTH, C, splitter, seed=1, key="a").folds)
    assert not np.array_equal(one, make_split(TRUTH, C, splitter, seed=2, key="a").folds)
    assert splitter.random_state is None


@pytest.mark.parametrize(
    ("scheme", "n", "message"),
    [
        ("kfold(10)", 5, "5 rows cannot make 10 folds; ask for fewer folds"),
        ("holdout", 1, "one row cannot both train and test"),
        (ms.KFold(10), 5, r"KFold\(n_splits=10.*Cannot have number of splits n_splits=10"),
        (ms.GroupKFold(2), 5, r"GroupKFold.*'groups' parameter should not be None"),
        (object, 5, "no split scheme <class 'object'>.*pass a text such as"),
        (7, 5, "no split scheme 7; pass a text"),
    ],
    ids=str,
)
def test_a_scheme_that_does_not_suit_the_rows_is_reported(scheme, n, message):
    with pytest.raises(DataError, match=message):
        make_split(np.arange(n), R, scheme)


def test_groups_need_a_splitter_that_knows_them():
    with pytest.raises(
        DataError, match=r"kfold\(n_folds=10\) cannot keep groups together; use a scheme"
    ):
        make_split(TRUTH, C, "kfold", groups=TRUTH)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "makes no split of 4 rows"),
        ([([0, 1], [1, 2])], "pair 0: a row both trains and tests"),
        ([([0], [1]), ([0, 1], [2, 2])], "pair 1: a row is listed twice to test"),
        ([([0, 0], [1])], "pair 0: a row is listed twice to train"),
        ([([], [1])], "pair 0: no row to train"),
        ([([0], [])], "pair 0: no row to test"),
        ([1, 2], "pair 0: not a pair; give"),
        ([([0], [1]), ([0, 1, 2],)], "pair 1: not a pair; give"),
        ([([True, False], [2])], r"pair 0: rows are given as bool of shape \(2,\)"),
        ([([0], [4])], "pair 0: a test row is outside 0 to 3"),
        ([([-1], [2])], "pair 0: a train row is outside 0 to 3"),
    ],
)
def test_pairs_that_overlap_or_repeat_rows_are_reported(pairs, message):
    with pytest.raises(DataError, match=message):
        split_of_pairs(pairs, 4)


class ByColumn:
    """Splitter that looks at a column and at labels, and has the text of any object."""

    def __init__(self, cut):
        self.cut = cut

    def split(self, X, y):
        assert set(y) == {"no", "yes"}
        yield np.flatnonzero(X["a"] < self.cut), np.flatnonzero(X["a"] >= self.cut)


def test_pairs_and_own_splitters_are_splits_of_studies(tmp_path):
    a = np.arange(8.0)
    table = pd.DataFrame({"a": a, "b": -a, "target": ["no", "yes"] * 4})
    pairs = [(np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))]
    data = Data()
    input_io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    paths = data.pandas_to_db(input_io, [table], [{"class_name": "target", "dataset_name": "t"}])

    def split_of(scheme, name):
        out_io = data.open_hdf5(tmp_path / name, mode="a")
        data.split_datasets(input_io, out_io, paths, scheme)
        return StudyStore(out_io.path).load_splits()["t"].split

    split = split_of(pairs, "pairs.h5")
    assert split.folds.tolist() == [[1] * 4 + [0] * 4]
    assert split.scheme.startswith("2 pairs, ")
    assert split_of(iter(pairs), "pairs.h5").scheme == split.scheme  # the same rows
    with pytest.raises(StudyError, match=r"split already, .* \(2 pairs, \w+ -> 1 pair, "):
        split_of(pairs[:1], "pairs.h5")
    split = split_of(ByColumn(5), "own.h5")
    assert (split.scheme, split.folds.tolist()) == ("ByColumn(cut=5)", [[-1] * 5 + [0] * 3])
    assert split_of(ByColumn(5), "own.h5").scheme == "ByColumn(cut=5)"  # another object
    with pytest.raises(DataError, match=r"'t': ByColumn\(cut=.*: TypeError: Invalid comparison"):
        split_of(ByColumn("x"), "other.h5")


def test_folds_that_leave_rows_out_of_training_are_repeats_of_their_own():
    pairs = [([2], [0, 1]), ([0, 1], [2, 3])]
    assert split_of_pairs(pairs, 4).folds.tolist() == [[0, 0, -1, -2], [-1, -1, 0, 0]]
