"""Shards: each cell belongs to one, and together they are the study."""

import os

import numpy as np
import pytest
from comparing import arrays, assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator
from mlaut.errors import StudyError
from mlaut.experiments import study_status
from mlaut.experiments.following.status import check_alive, unfinished
from mlaut.experiments.plans.shards import Shard, open_shards, shard_counts
from mlaut.files_io import FilesIO, SplitEntry, StudyStore, merge_studies
from mlaut.records import REGRESSION, Split


def entry(name, n_rows, n_repeats, n_folds):
    folds = np.stack([np.arange(n_rows) % n_folds] * n_repeats).astype(np.int16)
    split = Split(folds, f"kfold({n_folds})")
    return SplitEntry(name, f"/{name}", REGRESSION, "f", (), np.zeros(n_rows), split)


sizes = st.tuples(st.integers(5, 200), st.integers(1, 3), st.integers(1, 5))


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(sizes, min_size=1, max_size=6),
    left_out=st.sets(st.tuples(st.integers(0, 5), st.sampled_from("abc"))),
    count=st.integers(1, 40),
)
def test_every_cell_belongs_to_one_shard(sizes, left_out, count):
    datasets = {
        f"d{k}": (entry(f"d{k}", *size), [name for name in "abc" if (k, name) not in left_out])
        for k, size in enumerate(sizes)
    }
    shares = [Shard(number, count).cells(datasets) for number in range(1, count + 1)]
    for name, (of, strategies) in datasets.items():
        owners = sum(share[name].astype(int) for share in shares)
        assert owners.shape == (len(strategies), of.split.n_repeats, of.split.n_folds)
        assert (owners == 1).all()
    for strategy in "abc":
        rows = [
            sum(
                int(share[name][names.index(strategy)].sum()) * of.split.n_rows
                for name, (of, names) in datasets.items()
                if strategy in names
            )
            for share in shares
        ]
        assert max(rows) - min(rows) <= max(of.split.n_rows for of, _ in datasets.values())
    listed_otherwise = dict(reversed([(n, (of, names)) for n, (of, names) in datasets.items()]))
    again = Shard(1, count).cells(listed_otherwise)
    assert all(np.array_equal(shares[0][name], again[name]) for name in datasets)


def test_cells_of_a_hold_out_are_dealt_evenly():
    datasets = {f"d{k}": (entry(f"d{k}", 50, 1, 1), list("abcdefghij")) for k in range(5)}
    counts = [
        sum(int(s.sum()) for s in Shard(k, 10).cells(datasets).values()) for k in range(1, 11)
    ]
    assert counts == [5] * 10


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/4", "", 3, " 1/3"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(StudyError, match=r"not a share of the cells; write '2/10' for the second"):
        Shard.parse(text)


STRATEGIES = {"tree": DecisionTreeClassifier(max_depth=2, random_state=0), "bayes": GaussianNB()}


@pytest.fixture
def study_of(databases):
    """Return a function that makes the runner of a study, which is new for each name."""
    input_io, _ = databases
    names, paths = Data().list_datasets(hdf5_io=input_io, hdf5_group="tables")

    def make(name):
        out_io = FilesIO(input_io.path.with_name(name), mode="a")
        Data().split_datasets(input_io, out_io, paths, scheme="repeated_kfold(2,2)", seed=1)
        return Orchestrator(input_io, out_io, names)

    return make


def run(study, **options):
    return study.run(STRATEGIES, engine="inline", verbose=0, **options)


def test_shards_are_run_alone_resumed_and_joined_to_the_same_bits(study_of, tmp_path):
    whole = study_of("whole.h5")
    assert run(whole).n_cells == 3 * 2 * 4
    paths = []
    for number in (1, 2, 3):
        text = f"{number}/3"
        shard = study_of(f"{number}.h5")
        plan = shard.plan(STRATEGIES, shard=text)
        assert (plan.n_cells, plan.n_todo) == (8, 8)
        assert sum(row["cells"] for row in plan.why()) == 8
        assert run(shard, shard=text).complete
        again = run(shard, shard=text)
        assert (again.n_cells, again.n_before, again.complete) == (8, 8, True)
        paths.append(shard.hdf5_output_io.path)
        now = study_status(paths[-1])
        assert (now.shard, str(now.total), now.complete) == (text, str(again.before.total), True)
        assert f"shard {text}, 3 datasets, 2 strategies, 8 cells: 8 done" in str(now)
        assert unfinished(paths[-1]) == []
        assert check_alive(paths[-1]) == (
            True,
            f"{paths[-1]}: finished, all 8 cells have an outcome",
        )
    merged = merge_studies(paths, tmp_path / "merged.h5")
    assert_same(arrays(merged), arrays(StudyStore(whole.hdf5_output_io.path)))
    assert study_status(merged.path).shard == ""
    assert not study_of("merged.h5").plan(STRATEGIES).n_todo


def test_a_file_holds_one_shard_and_may_be_run_to_its_end(study_of):
    study = study_of("1.h5")
    run(study, shard="1/3")
    with pytest.raises(
        StudyError,
        match=r"1\.h5: holds shard 1/3; write shard 2/3 to a file of its own, such as "
        r"study\.shard-2-of-3\.h5, and join them with 'mlaut merge'",
    ):
        run(study, shard="2/3")
    rest = run(study)
    assert (rest.n_cells, rest.n_before, rest.complete) == (24, 8, True)
    assert study_status(study.hdf5_output_io.path).shard == ""


def test_a_race_has_no_shards(study_of):
    study = study_of("1.h5")
    with pytest.raises(
        StudyError, match=r"a race decides on the results of all cells, which no sh"
    ):
        run(study, shard="1/3", race=lambda *_: None)


def test_a_shard_skips_only_its_own_cells(study_of, monkeypatch):
    """Cells above the size limit of a strategy are shared out like all others."""
    study = study_of("1.h5")
    reasons = {"wine": {"tree": "too many rows"}}
    monkeypatch.setattr("mlaut.experiments.plans.plan.exceeded_size_limits", lambda *_: reasons)
    counts = []
    for number in (1, 2, 3):
        plan = study.plan(STRATEGIES, shard=f"{number}/3")
        counts.append((plan.n_cells, plan.n_todo + plan.n_skipped))
        assert sum(row["cells"] for row in plan.why()) == plan.n_cells
    assert counts == [(8, 8)] * 3
    assert study.plan(STRATEGIES).n_skipped == 4


def test_shards_are_open_until_they_are_merged(tmp_path):
    study = tmp_path / "study.h5"
    first, second = (Shard(number, 2).path(study) for number in (1, 2))
    assert open_shards(study) == []
    first.touch()
    (tmp_path / "study.shard-x.h5").touch()  # a file of the user
    assert open_shards(study) == [first, second]
    assert shard_counts(study, [Shard(3, 3).path(study)]) == [2, 3]
    study.touch()
    os.utime(study, (1, 1))
    assert open_shards(study) == [first, second]  # the study is older
    os.utime(study)
    os.utime(first, (2, 2))
    assert open_shards(study) == []
