"""Merging studies: every outcome of any, and contradictions are errors."""

import contextlib
import errno
import hashlib
import itertools
import multiprocessing
import os
import shutil
import signal
import sys

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from studies import assert_same_block, entry, outcome, strategy

from mlaut.errors import StoreError, StudyError
from mlaut.files_io import StudyStore, merge_studies
from mlaut.files_io.outcomes.study_records import USAGE
from mlaut.files_io.safe_files.hdf5 import read_h5
from mlaut.files_io.studies.models import is_recorded, models_folder, write_model
from mlaut.files_io.studies.study_checks import problems_of
from mlaut.records import REGRESSION, Cell, Status

ENTRIES = [entry("iris", n_repeats=2), entry("cpu", n_rows=5, task=REGRESSION)]
STRATEGIES = [strategy("tree"), strategy("svc")]


def make(path, outcomes, entries=ENTRIES, strategies=STRATEGIES):
    study = StudyStore(path)
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


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


@pytest.mark.parametrize("newer", [0, 1])
def test_a_cell_of_both_is_that_of_the_version_that_stores_more_numbers(
    tmp_path, monkeypatch, newer
):
    paths = [tmp_path / f"{k}.h5" for k in range(2)]
    for k, path in enumerate(paths):
        one = outcome(ENTRIES[1], "tree")
        one.details.update(started=float(k), elapsed=2.5, peak_memory=10, cores=4, energy=7.0)
        with monkeypatch.context() as version:
            if k == newer:
                for module in ("studies.study_arrays", "outcomes.study_records", "outcomes.packs"):
                    fields = (*USAGE, "cores", "energy")
                    version.setattr(f"mlaut.files_io.{module}.USAGE", fields)
            make(path, [one])
    merged = merge_studies(paths, tmp_path / "merged.h5")
    with read_h5(merged.path) as file:
        usage = file["experiments/predictions/cpu/usage"]
        stored = dict(zip(usage.attrs["fields"].split(", "), usage[0, 0, 0].tolist(), strict=True))
    told = {"started": newer, "elapsed": 2.5, "peak_memory": 10, "cores": 4, "energy": 7}
    assert {name: stored[name] for name in told} == told
    assert [row["started"] for row in merged.details("cpu")] == [newer]
    assert [*problems_of(merged)] == [*problems_of(StudyStore(paths[0]))]


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


def test_of_cells_that_are_done_the_one_with_its_details_is_taken(tmp_path):
    """A power cut may leave what the arrays hold of a cell, without its details and its model."""
    bare, whole = outcome(ENTRIES[0], "tree"), outcome(ENTRIES[0], "tree")
    bare.details.clear()
    failed = outcome(ENTRIES[0], "tree", status=Status.TIMEOUT)
    studies = [make(tmp_path / f"{k}.h5", [one]) for k, one in enumerate([failed, bare, whole])]
    for k, order in enumerate(itertools.permutations(studies)):
        (told,) = merge_studies([s.path for s in order], tmp_path / f"m{k}.h5").details("iris")
        assert (told["status"], told["reason"], told["best_params"]) == ("done", "", {"C": 1})


def test_a_cell_that_failed_elsewhere_leaves_no_details_to_one_that_is_done(tmp_path):
    bare = outcome(ENTRIES[0], "tree")
    bare.details.clear()
    failed = outcome(ENTRIES[0], "tree", status=Status.TIMEOUT)
    paths = [make(tmp_path / f"{k}.h5", [one]).path for k, one in enumerate([failed, bare])]
    for order in (paths, paths[::-1]):
        merged = merge_studies(order, tmp_path / f"m{order[0].stem}.h5")
        assert merged.details("iris") == StudyStore(paths[1]).details("iris")


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


def shard(path, number, outcomes):
    study = StudyStore(path)
    study.save_splits(ENTRIES)
    study.allocate(STRATEGIES)
    with study.writing({"engine": "inline", "shard": number}) as writer:
        writer.write(*outcomes)
    return path


def test_shards_of_different_numbers_are_refused_and_merged_ones_are_whole(tmp_path):
    first, *others = every_outcome()
    one = shard(tmp_path / "1.h5", "1/2", [first])
    two = shard(tmp_path / "2.h5", "2/2", others)
    three = shard(tmp_path / "3.h5", "3/3", [first])
    with pytest.raises(
        StudyError, match=r"1\.h5 holds shard 1/2, and .*3\.h5 shard 3/3: the numbers of shards dif"
    ):
        merge_studies([one, two, three], tmp_path / "m.h5")
    merged = merge_studies([one, two], tmp_path / "m.h5")
    assert (StudyStore(one).shard, merged.shard) == ("1/2", "")
    assert all((status == Status.DONE).all() for _, status in merged.statuses().values())
    assert not merge_studies([merged.path, three], tmp_path / "all.h5").shard


def test_an_interrupted_study_takes_in_its_journal_before_it_is_merged(tmp_path):
    one, two = make(tmp_path / "1.h5", []), make(tmp_path / "2.h5", [])
    with contextlib.suppress(StoreError), one.writing() as writer:
        writer.write(outcome(ENTRIES[0], "tree"))
        raise StoreError("no room")  # which leaves the journal
    assert one.journal_path.exists()
    merged = merge_studies([one.path, two.path], tmp_path / "m.h5")
    assert not one.journal_path.exists()
    (told,) = merged.details("iris")
    assert (told["strategy"], told["best_params"]) == ("tree", {"C": 1})


def test_strategies_in_another_order_and_large_blocks_in_parts(tmp_path, monkeypatch):
    names = [strategy(name) for name in "abcdef"]
    of = entry("iris", n_rows=12)
    told = [
        outcome(of, one.name, 0, fold, seed=k) for k, one in enumerate(names) for fold in (0, 1)
    ]
    whole = make(tmp_path / "whole.h5", told, [of], names)
    parts = [make(tmp_path / f"{k}.h5", told[k::3], [of], names[k:] + names[:k]) for k in range(3)]
    one_strategy = 12 * (4 + 3 * 4)  # bytes of its predictions and probabilities
    monkeypatch.setattr("mlaut.files_io.studies.study_merge.PART", 2 * one_strategy)
    merged = merge_studies([part.path for part in parts], tmp_path / "m.h5")
    assert_same_block(merged.block("iris"), whole.block("iris"))
    assert merged.details("iris") == whole.details("iris")


def _hold(path, begun, go_on):
    with StudyStore(path).writing():
        begun.set()
        go_on.wait(30)


def test_strategies_that_two_studies_lack_at_the_same_place_are_not_taken_for_each_other(tmp_path):
    """Merged: tree, middle, svc; the second study has tree, other, svc. Found by a history."""
    of = entry("iris")
    names = ("tree", "middle", "svc"), ("tree", "other", "svc")
    cells = [("middle", 0)], [(name, fold) for name in names[1] for fold in range(2)]
    parts = [
        make(
            tmp_path / f"{k}.h5",
            [outcome(of, name, fold=fold, seed=len(name)) for name, fold in cells[k]],
            [of],
            [strategy(name) for name in names[k]],
        )
        for k in range(2)
    ]
    merged = merge_studies([part.path for part in parts], tmp_path / "merged.h5")
    block, known = merged.block("iris"), parts[1].block("iris")
    assert block.strategies == ("tree", "middle", "svc", "other")
    assert block.done[:, 0].tolist() == [[True, True], [True, False], [True, True], [True, True]]
    for name in names[1]:
        at, there = block.strategies.index(name), known.strategies.index(name)
        np.testing.assert_array_equal(block.predictions[at], known.predictions[there])


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


def two_with_models(folder):
    """Make two studies of one strategy each, with a model of every cell."""
    iris, studies = entry("iris", n_rows=30), []
    for name in ("tree", "svc"):
        path, told = folder / f"{name}.h5", []
        for fold in range(2):
            content = f"{name} {fold}".encode() * 1000
            record = write_model(models_folder(path), Cell("iris", name, 0, fold), content, ".m")
            told.append(_with(outcome(iris, name, 0, fold), model=record))
        studies.append(make(path, told, [iris]))
    return [study.path for study in studies]


def contents(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _merge_and_die(sources, output, after, report):
    """Merge, and be killed at the given line of the code that changes files; tell the last."""
    watched, seen = ("study_merge.py", "models.py", "hdf5.py", "seal.py", "system_errors.py"), 0

    def trace(frame, event, _):
        nonlocal seen
        if not frame.f_code.co_filename.endswith(watched):
            return None
        if event == "line":
            seen += 1
            if seen == after:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    merge_studies(sources, output)
    sys.settrace(None)
    report.send(seen)


def merged_until(sources, output, after):
    """Merge in a process of its own, killed after so many lines; None where it was killed."""
    context = multiprocessing.get_context("fork")
    listens, tells = context.Pipe(duplex=False)
    process = context.Process(target=_merge_and_die, args=(sources, output, after, tells))
    process.start()
    tells.close()
    process.join()
    return None if process.exitcode == -signal.SIGKILL else listens.recv()


def assert_whole(output):
    merged = StudyStore(output)
    assert list(problems_of(merged)) == []
    assert merged.block("iris").done.all()
    records = [record["model"] for record in merged.details("iris")]
    assert len(records) == 4
    assert all(is_recorded(models_folder(output), record) for record in records)


@pytest.mark.parametrize("n_kills", [5, pytest.param(120, marks=pytest.mark.slow)])
def test_a_merge_that_is_killed_leaves_all_or_nothing_and_can_be_made_again(tmp_path, n_kills):
    sources = two_with_models(tmp_path)
    before = contents(tmp_path)
    merge_studies(sources, tmp_path / "first.h5")  # what was checked once is not checked again
    (tmp_path / "whole").mkdir()  # as empty as the folder of those that are killed
    n_lines = merged_until(sources, tmp_path / "whole" / "m.h5", -1)
    assert len(contents(models_folder(tmp_path / "whole" / "m.h5"))) == 4
    found, lived = [], 0
    for after in np.linspace(1, n_lines, n_kills, dtype=int).tolist():
        output = tmp_path / "killed" / "m.h5"
        output.parent.mkdir()
        lived += merged_until(sources, output, after) is not None
        found.append((output.exists(), models_folder(output).exists()))
        if not output.exists():
            merge_studies(sources, output)
        assert_whole(output)
        if not found[-1][0]:  # the merge that was made again has cleaned up
            assert {path.name for path in output.parent.iterdir()} == {"m.h5", "m.h5.models"}
        shutil.rmtree(output.parent)
    assert (True, False) not in found
    assert lived <= 1 + n_kills // 50  # the number of lines differs by a few from time to time
    if n_kills > 100:
        assert {(False, False), (False, True), (True, True)} == set(found)
    assert before.items() <= contents(tmp_path).items()


def test_other_models_in_the_way_are_left_alone(tmp_path):
    sources = two_with_models(tmp_path)
    folder = models_folder(tmp_path / "m.h5")
    folder.mkdir()
    (folder / "mine").write_text("mine")
    with pytest.raises(
        StudyError, match=r"m\.h5\.models: exists, without a study, and holds other"
    ):
        merge_studies(sources, tmp_path / "m.h5")
    assert (folder / "mine").read_text() == "mine"
    assert not (tmp_path / "m.h5").exists()


def test_a_merge_that_fails_after_its_models_are_placed_takes_them_away(tmp_path):
    sources = two_with_models(tmp_path)
    (tmp_path / "m.h5.lock").unlink(missing_ok=True)
    (models_folder(sources[1]) / "iris/svc/r0-f0.m").write_bytes(b"another")
    with pytest.raises(StoreError, match="not the model that the study recorded"):
        merge_studies(sources, tmp_path / "m.h5")
    assert not [path for path in tmp_path.iterdir() if "m.h5" in path.name]


@pytest.mark.parametrize("link", [False, True])
def test_a_study_cannot_make_merge_write_elsewhere(tmp_path, link):
    """The study of the issue: its record names a file outside of its folder."""
    payload = tmp_path / "payload"
    payload.write_bytes(b"payload")
    record = {
        "file": "link" if link else "../payload",
        "sha256": hashlib.sha256(b"payload").hexdigest(),
    }
    iris = entry("iris")
    hostile = make(tmp_path / "1.h5", [_with(outcome(iris, "tree"), model=record)], [iris])
    models_folder(hostile.path).mkdir()
    if link:
        (models_folder(hostile.path) / "link").symlink_to(payload)
    other = make(tmp_path / "2.h5", [], [iris])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "payload").write_bytes(b"of the user")
    with pytest.raises(StoreError, match="lies outside of this folder"):
        merge_studies([hostile.path, other.path], tmp_path / "out" / "m.h5")
    assert contents(tmp_path / "out") == {"payload": hashlib.sha256(b"of the user").hexdigest()}


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


def test_the_same_merge_again_changes_nothing_and_another_is_refused(tmp_path):
    sources = two_with_models(tmp_path)
    output = tmp_path / "m.h5"
    merge_studies(sources, output)
    before = contents(tmp_path)
    if h5py.version.hdf5_version_tuple >= (2, 0):  # before, a file has the second of each group
        assert merge_studies(sources, output).path == output
        assert contents(tmp_path) == before
    other = make(tmp_path / "other.h5", [], [entry("wine")]).path
    (tmp_path / "text.h5").write_text("mine")
    before = contents(tmp_path)
    for several, target in (([*sources, other], output), (sources, tmp_path / "text.h5")):
        with pytest.raises(StudyError, match=f"{target.name}: exists, and merging makes a new"):
            merge_studies(several, target)
        assert contents(tmp_path) == before


def test_two_cells_with_different_models_of_one_name_are_refused(tmp_path):
    """As a study of unknown source may have them: the names that MLaut gives differ."""
    iris, paths = entry("iris"), [tmp_path / "1.h5", tmp_path / "2.h5"]
    for k, path in enumerate(paths):
        cell = Cell("iris", "tree", 0, 0)
        record = write_model(models_folder(path), cell, b"%d" % k, ".m")
        make(path, [_with(outcome(iris, "tree", fold=k), model=record)], [iris])
    with pytest.raises(StudyError, match="two cells have different models of one name; leave one"):
        merge_studies(paths, tmp_path / "m.h5")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("m.h5")]


@pytest.mark.parametrize(("fails", "is_there"), [("make_seal", False), ("fsync_folder", True)])
def test_models_stay_exactly_where_the_merged_study_is_there(
    tmp_path, monkeypatch, fails, is_there
):
    """The disk fails when the models are placed: before the study has its name, or after."""
    sources = two_with_models(tmp_path)

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(f"mlaut.files_io.safe_files.hdf5.{fails}", fail)
        with pytest.raises(StoreError, match=r"m\.h5: cannot be used while .*Input/output error"):
            merge_studies(sources, tmp_path / "m.h5")
    assert (tmp_path / "m.h5").exists() == models_folder(tmp_path / "m.h5").exists() == is_there
    merge_studies(sources, tmp_path / "m.h5")
    assert_whole(tmp_path / "m.h5")
