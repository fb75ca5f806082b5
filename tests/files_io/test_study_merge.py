"""Merging studies: every outcome of any, and contradictions are errors."""

import multiprocessing

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from studies import assert_same_block, entry, outcome, strategy

from mlaut.errors import StoreError, StudyError
from mlaut.files_io import Study, merge_studies
from mlaut.files_io.models import models_folder, write_model
from mlaut.records import REGRESSION, Cell, Status

ENTRIES = [entry("iris", n_repeats=2), entry("cpu", n_rows=5, task=REGRESSION)]
STRATEGIES = [strategy("tree"), strategy("svc")]


def make(path, outcomes, entries=ENTRIES, strategies=STRATEGIES):
    study = Study(path)
    study.save_splits(entries)
    study.allocate(strategies)
    with study.writing({"of": path.name}) as writer:
        writer.write(*outcomes)
    return study


def every_outcome():
    return [
        outcome(of, name.name, repeat, fold, probabilities=name.name == "svc")
        for of in ENTRIES
        for name in STRATEGIES
        for repeat in range(of.split.n_repeats)
        for fold in range(of.split.n_folds)
    ]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(owners=st.lists(st.sets(st.integers(0, 2)), min_size=12, max_size=12))
def test_parts_make_the_whole(tmp_path_factory, owners):
    folder = tmp_path_factory.mktemp("merge")
    outcomes = every_outcome()
    some = [one for one, owner in zip(outcomes, owners, strict=True) if owner]
    whole = make(folder / "whole.h5", some)
    parts = [
        make(
            folder / f"{k}.h5",
            [one for one, owner in zip(outcomes, owners, strict=True) if k in owner],
            ENTRIES[:: 1 - 2 * (k == 1)],
            STRATEGIES,
        )
        for k in range(3)
    ]
    merged = merge_studies([part.path for part in parts], folder / "merged.h5")
    for name in whole.datasets:
        assert_same_block(merged.block(name), whole.block(name))
        key = str
        assert sorted(merged.details(name), key=key) == sorted(whole.details(name), key=key)
    assert merged.strategies == whole.strategies
    ran = [f"{k}.h5" for k in range(3) if any(k in owner for owner in owners)]
    assert [run["of"] for run in merged.runs] == ran
    assert merged.id != parts[0].id


def test_repeats_strategies_and_datasets_of_any(tmp_path):
    short, long = entry("iris"), entry("iris", n_repeats=3)
    one = make(tmp_path / "1.h5", [outcome(short, "tree")], [short], STRATEGIES[:1])
    two = make(tmp_path / "2.h5", [outcome(long, "svc", repeat=2)], [long], STRATEGIES[1:])
    three = make(tmp_path / "3.h5", [], [entry("wine")], [strategy("knn")])
    for order in ([one, two, three], [two, one, three]):
        merged = merge_studies([s.path for s in order], tmp_path / f"{order[0].path.stem}m.h5")
        assert set(merged.datasets) == {"iris", "wine"}
        assert {s.name for s in merged.strategies} == {"tree", "svc", "knn"}
        block = merged.block("iris")
        assert block.status.shape == (2, 3, 2)
        assert block.done[block.strategies.index("tree"), 0, 0]
        assert block.done[block.strategies.index("svc"), 2, 0]
        assert block.done.sum() == 2


def test_a_cell_that_is_done_wins_over_one_that_failed(tmp_path):
    iris = ENTRIES[0]
    failed = make(tmp_path / "1.h5", [outcome(iris, "tree", status=Status.TIMEOUT)])
    done = make(tmp_path / "2.h5", [outcome(iris, "tree", seed=4)])
    for k, order in enumerate(([failed, done], [done, failed])):
        merged = merge_studies([s.path for s in order], tmp_path / f"m{k}.h5")
        assert merged.block("iris").status[0, 0, 0] == Status.DONE
        (told,) = merged.details("iris")
        assert (told["status"], told["reason"], told["best_params"]) == ("done", "", {"C": 4})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda p: make(p, [outcome(ENTRIES[0], "tree", seed=2)]),
         r"2\.h5: tree on iris \(repeat 0, fold 0\) is done with other predictions .* 3 rows\)"),
        (lambda p: make(p, [], [entry("iris", n_folds=3)]),
         r"1\.h5 and .*2\.h5: dataset 'iris' has another split in each"),
        (lambda p: make(p, [], [entry("iris", n_repeats=2, fingerprint="x")]),
         r"dataset 'iris' has another content in each"),
        (lambda p: make(p, [], strategies=[strategy("tree", version=1)]),
         r"2\.h5: strategy 'tree': its parameters are not those"),
    ],
    ids=["predictions", "split", "content", "parameters"],
)  # fmt: skip
def test_contradictions_are_errors_and_leave_nothing(tmp_path, other, message):
    one = make(tmp_path / "1.h5", [outcome(ENTRIES[0], "tree", seed=1)])
    two = other(tmp_path / "2.h5")
    with pytest.raises(StudyError, match=message) as raised:
        merge_studies([one.path, two.path], tmp_path / "m.h5")
    assert "\n" not in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.h5", "2.h5"]


def test_what_cannot_be_merged_is_told(tmp_path):
    one = make(tmp_path / "1.h5", [])
    with pytest.raises(StudyError, match="nothing to merge; name two"):
        merge_studies([one.path], tmp_path / "m.h5")
    with pytest.raises(StudyError, match=r"1\.h5: exists, and merging makes a new study"):
        merge_studies([one.path, one.path], one.path)
    with pytest.raises(StoreError, match="no such file"):
        merge_studies([one.path, tmp_path / "none.h5"], tmp_path / "m.h5")


def _hold(path, begun, go_on):
    with Study(path).writing():
        begun.set()
        go_on.wait(30)


def test_a_study_that_is_written_to_is_not_merged(tmp_path):
    one, two = make(tmp_path / "1.h5", []), make(tmp_path / "2.h5", [])
    context = multiprocessing.get_context("fork")
    begun, go_on = context.Event(), context.Event()
    writer = context.Process(target=_hold, args=(two.path, begun, go_on))
    writer.start()
    assert begun.wait(30)
    try:
        with pytest.raises(StudyError, match=rf"2\.h5: process {writer.pid} is writing to it"):
            merge_studies([one.path, two.path], tmp_path / "m.h5")
    finally:
        go_on.set()
        writer.join(30)


def test_models_come_along(tmp_path):
    iris = ENTRIES[0]
    studies = []
    for k, name in enumerate(("tree", "svc")):
        path = tmp_path / f"{k}.h5"
        told = outcome(iris, name)
        record = write_model(models_folder(path), Cell("iris", name), name.encode(), ".pickle")
        studies.append(make(path, [_with(told, model=record)]))
    merged = merge_studies([study.path for study in studies], tmp_path / "m.h5")
    files = sorted(p.parent.name for p in models_folder(merged.path).rglob("r0-f0.*"))
    assert files == ["svc", "tree"]


def _with(one, **details):
    from dataclasses import replace

    return replace(one, details={**one.details, **details})


def test_damage_is_not_merged(tmp_path):
    one = make(tmp_path / "1.h5", [outcome(ENTRIES[0], "tree")])
    two = make(tmp_path / "2.h5", [])
    content = bytearray(one.path.read_bytes())
    content[-3000] ^= 1
    one.path.write_bytes(content)
    with pytest.raises(StoreError):
        merge_studies([one.path, two.path], tmp_path / "m.h5")
    assert np.array_equal(two.block("iris").status, np.zeros((2, 2, 2)))
