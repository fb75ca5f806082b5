"""Schemes by dataset and by role: what each dataset gets, keeps, and is told of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import mlaut
from mlaut.data import LeakWarning, make_split
from mlaut.errors import DataError, StrategyError, StudyError, UnusableWarning
from mlaut.experiments import plan_study, run_study
from mlaut.files_io import FilesIO, StudyStore
from mlaut.records import CLASSIFICATION

N = 60
FOLDS = {
    "plain": "kfold(n_folds=3)",
    "other": "kfold(n_folds=3)",
    "grouped": "stratified_group_kfold(n_folds=3)",
    "grouped too": "stratified_group_kfold(n_folds=3)",
    "timed": "time_series(n_folds=3)",
    "both": "group_time_series(n_folds=3)",
}
ROLES = {
    "plain": {},
    "other": {},
    "grouped": {"group": "g"},
    "grouped too": {"group": "g"},
    "timed": {"time": "t"},
    "both": {"group": "g", "time": "t"},
}


def _table(seed=0):
    draw = np.random.default_rng(seed)
    columns = {"x": draw.normal(size=N), "g": draw.integers(0, 12, N), "t": draw.permutation(N)}
    return pd.DataFrame({**columns, "target": draw.choice(["a", "b"], N)})


@pytest.fixture
def study(tmp_path):
    study = mlaut.Study(tmp_path / "study.h5")
    for seed, (name, roles) in enumerate(ROLES.items()):
        study.add_datasets(_table(seed), name=name, roles=roles)
    return study


def _run(study, split=""):
    done = study.run("GaussianNaiveBayes", split=split, engine="inline", verbose=0)
    return {name: e.split.scheme for name, e in StudyStore(done.study).load_splits().items()}


def test_a_scheme_by_role_gives_each_dataset_what_its_roles_need(study, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _run(study, "kfold_by_role(3)") == FOLDS
        said = capsys.readouterr().err
        assert "kfold(n_folds=3) for other, plain; " in said
        assert "stratified_group_kfold(n_folds=3) for grouped, grouped too; " in said
        assert _run(study, "kfold_by_role(3)") == _run(study) == FOLDS
    assert capsys.readouterr().err == ""


def test_a_mapping_names_the_scheme_of_each_dataset(study):
    split = dict.fromkeys(("timed", "both"), "kfold_by_role(3)")
    split |= {"grouped": "group_kfold(4)", "grouped too": "group_kfold(4)", "*": "kfold(3)"}
    schemes = _run(study, split)
    assert schemes == {
        **FOLDS,
        **dict.fromkeys(("grouped", "grouped too"), "group_kfold(n_folds=4)"),
    }
    for wrong, said in (
        ({"groupd": "kfold(3)"}, "split: no dataset 'groupd'; did you mean 'grouped'?"),
        ({"grouped": "kfold(x)"}, "split scheme 'kfold(x)': 'x' is not a number"),
    ):
        with pytest.raises(DataError) as error:
            _run(study, wrong)
        assert str(error.value) == said
    study.add_datasets(_table(9), name="new")
    with pytest.raises(DataError, match=r"no scheme for 'new'; name one, or one for all others"):
        _run(study, {"grouped": "group_kfold(4)"})
    assert _run(study, {"new": "kfold(2)"}) == {**schemes, "new": "kfold(n_folds=2)"}


def test_new_datasets_get_the_scheme_that_is_given_and_old_ones_keep_theirs(study):
    _run(study, "kfold_by_role(3)")
    study.add_datasets(_table(9), name="new")
    with pytest.raises(
        StudyError, match=r"split of the new ones \(new\), for example split='kfold"
    ):
        _run(study)
    kept = "both, grouped, grouped too, timed: their stored split stays \\(group_time_series"
    with pytest.warns(UserWarning, match=kept):
        assert _run(study, "kfold(3)") == {**FOLDS, "new": "kfold(n_folds=3)"}
    with pytest.raises(StudyError, match=r"split already, and otherwise \(group_time_series\(n_f"):
        _run(study, "kfold(7)")


def test_one_warning_names_all_datasets(study):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _run(study, "group_kfold(3)")
    late, left_out = told
    assert (left_out.category, late.category) == (UnusableWarning, LeakWarning)
    assert "dataset 'other' (the same for 'plain', 'timed'): group_kfold" in str(left_out.message)
    said = "dataset 'both': 3 of 3 folds of group_kfold(n_folds=3) train on rows of a later"
    assert str(late.message).startswith(said)


def test_leaks_of_one_kind_are_one_warning(study):
    with pytest.warns(LeakWarning) as told:
        _run(study, "kfold(3)")
    assert [str(one.message).partition(":")[0] for one in told] == [
        "dataset 'both' (the same in 'grouped', 'grouped too')",
        "dataset 'both' (the same in 'timed')",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the stored splits are told of once
        _run(study, "kfold(3)")


def test_group_time_series_trains_on_earlier_rows_of_other_groups():
    table = _table()
    times = table["t"].to_numpy() // 2
    groups = table["g"].to_numpy()
    truth = np.zeros(N, dtype=np.int32)
    split = make_split(truth, CLASSIFICATION, "group_time_series(4)", groups=groups, times=times)
    plain = make_split(truth, CLASSIFICATION, "time_series(4)", times=times)
    for (train, test), (earlier, tested) in zip(split, plain, strict=True):
        assert test.tolist() == tested.tolist()
        assert times[train].max() < times[test].min()
        assert not set(groups[train]) & set(groups[test])
        left = np.setdiff1d(earlier, train)
        assert all(groups[row] in groups[test] or times[row] == times[test].min() for row in left)
    with pytest.raises(DataError, match="fold 1 has no earlier row of other groups than it tests"):
        make_split(truth, CLASSIFICATION, "group_time_series", groups=truth, times=times)


FILE = """
[data]
folder = "tables"
[data.roles.grouped]
group = "g"
[split]
scheme = "kfold(3)"
[split.datasets]
grouped = "group_kfold(4)"
[strategies]
names = ["GaussianNaiveBayes"]
[run]
engine = "inline"
"""


def test_a_study_file_names_the_schemes_of_datasets(tmp_path):
    (tmp_path / "tables").mkdir()
    for seed, name in enumerate(("plain", "grouped")):
        _table(seed).to_csv(tmp_path / "tables" / f"{name}.csv", index=False)
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    assert plan_study(path).plan.n_todo == 7
    assert run_study(path, verbose=0).n_done == 7
    assert plan_study(path).plan.n_todo == 0
    for wrong, said in (
        ("groupd = 'kfold(3)'", "split: no dataset 'groupd'; did you mean 'grouped'?"),
        ("grouped = 3", "no split scheme 3; there are holdout"),
    ):
        path.write_text(FILE.replace('grouped = "group_kfold(4)"', wrong))
        with pytest.raises(DataError, match=said.replace("?", r"\?")):
            plan_study(path)


def test_a_run_that_is_refused_leaves_the_split_open(tmp_path):
    study = mlaut.Study(tmp_path / "study.h5")
    study.add_datasets((np.zeros((12, 3, 2)), np.arange(12) % 2), name="series")
    with pytest.raises(StrategyError, match="cannot take; "):
        study.run([LogisticRegression()], verbose=0)
    assert study.run("BaselineClassifier", split="kfold(3)", verbose=0).n_done == 3


def test_a_stored_split_that_nothing_used_is_not_replaced_in_silence(tmp_path, capsys):
    study = mlaut.Study(tmp_path / "study.h5")
    study.add_datasets((np.arange(24.0).reshape(12, 2), np.arange(12) % 2), name="table")
    mine = [(np.arange(4, 12), np.arange(4))]
    mlaut.Data().split_datasets(FilesIO(study.datasets_path), FilesIO(study.path, "a"), scheme=mine)
    how = {"engine": "inline", "verbose": 0}
    study.run("BaselineClassifier", split="kfold(3)", **how)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mlaut: split: kfold(n_folds=3), in place of 1 pair, ")
    assert line.endswith(", with which nothing was run, for table")
    study.run("BaselineClassifier", split="repeated_kfold(3, 2)", **how)
    assert not capsys.readouterr().err  # what has run is kept
