"""The store of outcomes: what is written is read, also where its structure grows or changes."""

import contextlib
import dataclasses
import errno
import os
import re
import subprocess
import sys
import zlib

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_study import MemoryStudy
from studies import assert_same_block, broken_off, entry, outcome, strategy

from mlaut.analysis import Results
from mlaut.errors import StoreError, StudyError, StudyLockedError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.outcomes.traces import pack_trace
from mlaut.files_io.safe_files import seal
from mlaut.files_io.safe_files.hdf5 import accept_changes, rewrite_h5
from mlaut.files_io.studies import study_layout
from mlaut.files_io.studies.study_layout import arrays_of
from mlaut.records import REGRESSION, Cell, Status, Trace


def test_what_is_written_is_read(study):
    iris, cpu = study.load_split("iris"), study.load_split("cpu")
    with study.writing({"threads": 1}) as writer:
        writer.write(outcome(iris, "svc", fold=1), outcome(cpu, "tree"))
        writer.write(outcome(iris, "tree", status=Status.TIMEOUT, seed=3))
    block = study.block("iris")
    expected = outcome(iris, "svc", fold=1)
    test = iris.split.rows(0, 1)[1]
    np.testing.assert_array_equal(block.predictions[1, 0, test], expected.predictions)
    np.testing.assert_array_equal(block.probabilities[1, 0, test], expected.probabilities)
    assert block.status.tolist() == [[[Status.TIMEOUT, 0]], [[0, Status.DONE]]]
    assert block.classes == ("no", "yes", "ü")
    assert [run["threads"] for run in study.runs] == [1]
    assert study.block("cpu").probabilities is None
    failed = next(d for d in study.details("iris") if d["strategy"] == "tree")
    assert (failed["status"], failed["reason"]) == ("timeout", "timeout of seed 3")
    assert not study.journal_path.exists()


def test_predictions_as_a_table_have_labels(study):
    iris, cpu = study.load_split("iris"), study.load_split("cpu")
    good, numbers = outcome(iris, "svc", fold=1), outcome(cpu, "tree")
    with study.writing() as writer:
        writer.write(good, numbers)
    table = FilesIO(study.path).load_predictions_for_dataset("iris")
    assert table.index.names == ["repeat", "fold", "row"]
    assert table.columns.tolist() == ["truth", "tree", "svc"]
    names = np.array(iris.classes)
    assert table["truth"].xs(0, level="repeat").droplevel("fold").sort_index().tolist() == (
        names[iris.truth].tolist()
    )
    assert table.loc[(0, 1), "svc"].tolist() == names[good.predictions].tolist()
    assert table.loc[(0, 0), "svc"].isna().all()
    assert table["tree"].isna().all()
    of_cpu = FilesIO(study.path).load_predictions_for_dataset("cpu")
    assert of_cpu.loc[(0, 0), "tree"].tolist() == numbers.predictions.tolist()
    assert of_cpu.loc[(0, 1), "tree"].isna().all()


def test_details_are_read_while_a_run_writes(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(outcome(iris, "svc", seed=7))
        program = (
            "import sys; from mlaut.files_io import StudyStore; s = StudyStore(sys.argv[1]); print("
        )
        program += "s.details('iris')[0]['best_params'], s.status('iris').tolist())"
        told = subprocess.run(
            [sys.executable, "-c", program, study.path], capture_output=True, text=True, check=True
        )
    assert told.stdout.strip() == "{'C': 7} [[[0, 0]], [[1, 0]]]"


def test_growing_keeps_every_outcome(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(*(outcome(iris, "svc", fold=f, seed=5) for f in range(2)))
    before = study.block("iris")
    study.save_splits([entry("wine")])
    study.allocate([strategy("knn")])
    study.save_splits([entry("iris", n_repeats=3)])
    after = study.block("iris")
    assert after.strategies == ("tree", "svc", "knn")
    assert after.status.shape == (3, 3, 2)
    np.testing.assert_array_equal(after.predictions[:2, :1], before.predictions)
    np.testing.assert_array_equal(after.probabilities[:2, :1], before.probabilities)
    assert after.status.sum() == 2
    assert study.details("iris")[0]["best_params"] == {"C": 5}
    assert study.status("wine").shape == (1, 1, 2)


def test_cells_are_told_by_their_status(study):
    with study.writing() as writer:
        writer.write(outcome(study.load_split("iris"), "svc", fold=1))
    done = [Cell("iris", "svc", 0, 1)]
    assert [*study.cells(Status.DONE)] == done
    others = [*study.cells(Status.MISSING)]
    assert {cell.dataset for cell in others} == {"iris", "cpu"}
    assert not {*done} & {*others}
    assert len([*study.cells(Status.DONE, Status.MISSING)]) == len(others) + 1


def test_a_split_is_read_once_for_each_seal_of_its_file(study, monkeypatch):
    read, whole = [], study_layout._entry_of
    monkeypatch.setattr(study_layout, "_entry_of", lambda *of: read.append(of[1]) or whole(*of))
    monkeypatch.setattr(seal, "_read", {})
    first = study.load_split("iris")
    assert len(study.statuses()) == len(study.load_splits()) == len(list(study.all_details())) == 2
    assert sorted(read) == ["cpu", "iris"]
    with pytest.raises(ValueError, match="read-only"):  # all who read the file share it
        first.truth[0] = 1
    study.allocate([strategy("forest")])
    study.store_analysis({"analysis": {}})
    assert {**study.load_splits()}.keys() == {"iris", "cpu"}
    assert len(read) == 2  # these changes leave splits as they are
    study.save_splits([entry("iris", fingerprint="other")], replace=True)
    assert study.load_split("iris").fingerprint == "other"
    both = [study_layout._size_of(study.load_split(name)) for name in ("cpu", "iris")]
    # What was read is forgotten where it is too much together, and not kept where one is too much.
    for most, n_read in ((sum(both), 2), (max(both), 4), (min(both) - 1, 4)):
        for name, value in (("_MOST_READ", most), ("_read", {}), ("_read_bytes", [0])):
            monkeypatch.setattr(seal, name, value)
        read.clear()
        for _ in range(2):
            study.load_split("iris"), study.load_split("cpu")
        assert len(read) == n_read
    assert seal._read == {}


def test_same_structure_again_leaves_the_file_alone(study):
    before = study.path.stat().st_ino
    study.save_splits([entry("iris")])
    study.allocate([strategy("tree")])
    assert study.path.stat().st_ino == before


def test_changed_strategy_is_refused_until_it_is_replaced(study):
    iris, cpu = study.load_split("iris"), study.load_split("cpu")
    with study.writing() as writer:
        writer.write(outcome(iris, "svc"), outcome(cpu, "svc"), outcome(iris, "tree"))
    with pytest.raises(StudyError, match=r"'svc': its parameters are not those .* new name, or"):
        study.allocate([strategy("svc", version=1)])
    assert study.block("iris").done.sum() == 2
    study.allocate([strategy("svc", version=1)], {"iris": ["svc"]}, replace=True)
    assert study.block("iris").done.ravel().tolist() == [True, False, False, False]
    assert not study.block("cpu").done.any()
    assert [d["strategy"] for d in study.details("iris")] == ["tree"]
    assert study.strategies[1].identity == {"class": "svc", "C": 1}


def test_changed_rows_or_split_are_refused_until_they_are_replaced(study):
    with study.writing() as writer:
        writer.write(outcome(study.load_split("iris"), "svc"))
    with pytest.raises(StudyError, match="'iris': its content is not the one"):
        study.save_splits([entry("iris", fingerprint="other")])
    with pytest.raises(
        StudyError, match=r"split already, and otherwise \(kfold\(2\) -> kfold\(3\)\)"
    ):
        study.save_splits([entry("iris", n_folds=3)])
    assert study.block("iris").done.sum() == 1
    study.save_splits([entry("iris", n_folds=3)], replace=True)
    assert study.block("iris").done.sum() == 0
    assert study.status("iris").shape == (2, 1, 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cell": ("tree", 0, 2)}, "1 repeats of 2 folds"),
        ({"cell": ("forest", 0, 0)}, "no such strategy"),
        ({"predictions": np.zeros(2, np.int32)}, r"shape \(2,\) where the split needs \(3,\)"),
        ({"predictions": None}, "predictions belong to a cell that is done"),
        ({"status": Status.MISSING}, "needs a status"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_outcome_that_does_not_fit_changes_nothing(study, change, message):
    iris = study.load_split("iris")
    good = outcome(iris, "tree")
    if "cell" in change:
        name, repeat, fold = change["cell"]
        change = {"cell": dataclasses.replace(good.cell, strategy=name, repeat=repeat, fold=fold)}
    with pytest.raises(StudyError, match=message), study.writing() as writer:
        writer.write(outcome(iris, "svc"), dataclasses.replace(good, **change))
    assert study.status("iris").sum() == 0


def test_a_file_that_was_removed_is_noticed_by_the_first_outcome_behind_a_sync(study):
    iris, moved = study.load_split("iris"), study.path.with_name("moved.h5")
    with study.writing() as writer:
        writer.write(outcome(iris, "svc"))
        writer._journal.sync()  # as the clock does
        study.path.rename(moved)
        with pytest.raises(StoreError, match=r"study\.h5: the file was removed or replaced while"):
            writer.write(outcome(iris, "svc", fold=1))
        moved.rename(study.path)
    assert study.status("iris").tolist() == [[[0, 0]], [[1, 0]]]


@pytest.mark.parametrize("how", ["forgotten", "mended"])
def test_a_cell_that_is_missing_has_no_seconds(study, how):
    """Those that it had stay in the file: only its status is cleared."""
    of = entry("iris")
    with study.writing({}) as writer:
        for fold in (0, 1):
            writer.write(outcome(of, "svc", fold=fold))
        if how == "forgotten":
            writer.forget("iris", ["svc"], np.array([[[True, False]]]))
    if how == "mended":
        with rewrite_h5(study.path) as file:
            file["experiments/predictions/iris/seconds"][1, 0, 0, 0] = 99.0
        study.mend()
    block = study.block("iris")
    assert block.status.tolist() == [[[0, 0]], [[0, Status.DONE]]]
    assert block.seconds[1, 0, 1].tolist() == [0.5, 1.0, 1.0]
    assert np.isnan(block.seconds[0]).all()
    assert np.isnan(block.seconds[1, 0, 0]).all()


def test_forgotten_cells_are_missing_again(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(*(outcome(iris, "svc", fold=f) for f in range(2)))
    with study.writing() as writer:
        writer.forget("iris", ["svc"], np.array([[[True, False]]]))
    assert study.status("iris").tolist() == [[[0, 0]], [[0, 1]]]
    assert (study.block("iris").predictions[1, 0, iris.split.rows(0, 0)[1]] == -1).all()
    assert [d["fold"] for d in study.details("iris")] == [1]


def test_second_writer_is_refused_and_told_who_writes(study):
    program = "import sys; from mlaut.files_io import StudyStore; "
    program += "StudyStore(sys.argv[1]).writing().__enter__()"
    with study.writing():
        told = subprocess.run(
            [sys.executable, "-c", program, study.path], capture_output=True, text=True
        )
    assert f"process {os.getpid()} on" in told.stderr.splitlines()[-1]
    assert told.stderr.splitlines()[-1].startswith("mlaut.errors.StudyLockedError")
    lock = study.path.with_name("study.h5.lock")
    assert not lock.exists()
    lock.write_text('{"pid": 1}')  # as a dead process leaves it
    with study.writing() as writer:
        writer.write(outcome(study.load_split("iris"), "svc"))
    assert study.status("iris").sum() == 1


def test_structure_cannot_change_under_a_writer(study):
    program = "import sys; from mlaut.files_io import StudyStore, StrategyEntry; "
    program += "StudyStore(sys.argv[1]).allocate([StrategyEntry('new', 'x')])"
    with study.writing() as writer:
        told = subprocess.run(
            [sys.executable, "-c", program, study.path], capture_output=True, text=True
        )
        writer.write(outcome(study.load_split("iris"), "svc"))
    assert StudyLockedError.__name__ in told.stderr
    assert study.status("iris").sum() == 1


@pytest.mark.parametrize("version", [None, "one", "2", [1, 2], -1, 0])
def test_a_study_without_a_format_is_damaged(study, version):
    with h5py.File(study.path, "r+") as file:
        del file.attrs["study_format"]
        if version is not None:
            file.attrs["study_format"] = version
    accept_changes(study.path)
    with pytest.raises(
        StoreError, match=r"study\.h5: damaged where a study was expected"
    ) as raised:
        study.block("iris")
    assert "\n" not in str(raised.value)


def test_adding_a_strategy_writes_each_array_once(tmp_path, monkeypatch):
    """HDF5 takes 0.1 ms a call: with one for each strategy, the next one took seconds."""
    study = StudyStore(tmp_path / "study.h5")
    study.save_splits([entry("iris")])
    study.allocate([strategy(f"s{number}") for number in range(50)])
    calls, write = [], h5py.Dataset.__setitem__
    monkeypatch.setattr(h5py.Dataset, "__setitem__", lambda *a: (calls.append(a), write(*a))[1])
    study.allocate([strategy("new")])
    assert len(calls) <= 7  # status, checksum, seed, seconds, usage, predictions, probabilities
    assert len(study.strategies) == 51


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_text("a,b\n1,2\n"), "not an HDF5 file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-200]), "truncated HDF5 file"),
        (lambda path: path.unlink(), "no such file"),
        (lambda path: (path.unlink(), path.mkdir()), "is a folder"),
        (lambda path: h5py.File(path, "w").close(), "no study in this file"),
    ],
    ids=["text", "truncated", "absent", "folder", "empty"],
)
def test_file_that_is_no_study_is_one_line(study, spoil, message):
    spoil(study.path)
    with pytest.raises((StoreError, StudyError), match=f"study.h5: .*{message}") as raised:
        study.block("iris")
    assert "\n" not in str(raised.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_output_is_refused(study):
    study.path.chmod(0o444)
    with pytest.raises(StoreError, match="no permission"):
        study.allocate([strategy("new")])


def test_read_only_folder_is_explained(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("mlaut.files_io.safe_files.lock.os.open", refuse)  # root may write anywhere
    with pytest.raises(StoreError, match=r"study\.h5: no permission while taking its lock"):
        StudyStore(tmp_path / "study.h5").save_splits([entry("iris")])


NAMES = ["a", "b/c", "ü"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("split"), st.sampled_from(NAMES), st.integers(1, 3)),
        st.tuples(
            st.just("allocate"), st.sampled_from(["s", "t"]), st.integers(0, 1), st.booleans()
        ),
        st.tuples(
            st.just("write"),
            st.sampled_from(NAMES),
            st.sampled_from(["s", "t"]),
            st.integers(0, 2),
            st.integers(0, 1),
            st.sampled_from([Status.DONE, Status.ERROR, Status.SKIPPED]),
            st.integers(0, 9),
            st.booleans(),
        ),
        st.tuples(st.just("read"), st.sampled_from(NAMES)),
        st.tuples(st.just("forget"), st.sampled_from(NAMES), st.integers(0, 2**6)),
    ),
    max_size=14,
)


def _apply(study, step):
    kind, *args = step
    if kind == "split":
        name, repeats = args
        study.save_splits([entry(name, n_repeats=repeats, task=_task(name))])
    elif kind == "allocate":
        name, version, replace = args
        study.allocate([strategy(name, version)], replace=replace)
    elif kind == "write":
        dataset, name, repeat, fold, status, seed, breaks_off = args
        with contextlib.suppress(StoreError), study.writing() as writer:
            writer.write(outcome(study.load_split(dataset), name, repeat, fold, status, seed))
            if breaks_off:
                raise StoreError("as when the disk is full: the journal stays")
    elif kind == "forget":
        dataset, bits = args
        status = study.status(dataset)
        cells = np.array([bits >> i & 1 for i in range(status.size)], dtype=bool)
        with study.writing() as writer:
            names = study.block(dataset).strategies
            writer.forget(dataset, names, cells.reshape(status.shape))
    else:
        study.block(args[0])


def _task(name):
    return REGRESSION if name == "ü" else "Classification"


def _attempt(study, step):
    try:
        _apply(study, step)
    except (StudyError, IndexError) as error:
        return type(error).__name__
    return "ok"


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_store_agrees_with_its_twin_in_memory(tmp_path_factory, steps):
    disk = StudyStore(tmp_path_factory.mktemp("twin") / "study.h5")
    memory = MemoryStudy()
    for study in (disk, memory):
        study.save_splits([entry("a")])
    for step in steps:
        assert _attempt(disk, step) == _attempt(memory, step), step
        for name, (_, status) in memory.statuses().items():
            np.testing.assert_array_equal(
                StudyStore(disk.path).status(name), status, err_msg=str(step)
            )
        if step[0] == "read" and step[1] in memory.datasets:
            assert_same_block(disk.block(step[1]), memory.block(step[1]))
    assert sorted(disk.datasets) == sorted(memory.datasets)
    assert disk.strategies == memory.strategies
    for dataset in disk.datasets:
        if memory.block(dataset).strategies:
            assert_same_block(disk.block(dataset), memory.block(dataset))
            assert _sorted(disk.details(dataset)) == _sorted(memory.details(dataset))


def _sorted(details):
    return sorted(
        (d["strategy"], d["repeat"], d["fold"], d["status"], d["reason"], d["seed"])
        for d in details
    )


def test_parts_of_a_dataset_give_the_scores_of_the_whole(study, monkeypatch):

    iris = study.load_split("iris")
    study.allocate([strategy("knn")])
    with study.writing() as writer:
        writer.write(*(outcome(iris, "svc", fold=f, seed=5) for f in range(2)))
        writer.write(outcome(iris, "tree", fold=1), outcome(iris, "knn", status=Status.ERROR))
    whole = Results.from_study(study, "accuracy")
    monkeypatch.setattr("mlaut.files_io.studies.study_reader.PART", 1)
    parts = [block.strategies for block in study.parts(["iris"])]
    assert parts == [("tree",), ("svc",), ("knn",)]
    found = Results.from_study(study, "accuracy")
    np.testing.assert_array_equal(found.cells, whole.cells)
    np.testing.assert_array_equal(found.seconds, whole.seconds)
    assert (found.strategies, found.reasons) == (whole.strategies, whole.reasons)


def test_several_strategies_with_other_parameters_are_replaced_at_once(tmp_path):
    study, names = StudyStore(tmp_path / "study.h5"), ("tree", "svc", "new")
    study.save_splits([entry("iris")])
    study.allocate(list(map(strategy, names)))
    with study.writing() as writer:
        writer.write(*(outcome(study.load_split("iris"), name) for name in names))
    study.allocate([strategy(name, 1) for name in names[:2]], replace=True)
    assert study.status("iris")[:, 0, 0].tolist() == [Status.MISSING, Status.MISSING, Status.DONE]


# ------------------------------------------------------------- what a study says of itself


def test_a_study_shows_itself_as_a_table(study):
    shown = study._repr_html_()
    assert "study.h5: study of 2 datasets" in shown
    assert "Strategies: tree, svc" in shown
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in shown.split("<tr>")[2:]]
    assert cells[0] == ["cpu", "Regression", "5", "", "1", "2"]
    assert cells[1] == ["iris", "Classification", "6", "3", "1", "2"]
    empty = StudyStore(study.path.with_name("empty.h5"))
    empty.save_splits([entry("iris")])
    assert "Strategies: none yet" in empty._repr_html_()


def test_datasets_of_a_group_are_those_that_came_from_it(study):
    study.save_splits([dataclasses.replace(entry("wine"), path="/groups/wine")])
    assert list(study.load_splits("group/")) == ["cpu", "iris"]
    assert list(study.load_splits("/")) == ["cpu", "iris", "wine"]
    with pytest.raises(
        StudyError, match="no dataset came from the group '/g', only from 'group/', 'groups/'"
    ):
        study.load_splits("/g")


def test_a_dataset_that_the_study_does_not_have_is_told(study):
    for call in (study.load_split, study.block, study.details):
        with pytest.raises(
            StudyError,
            match=r"dataset 'irsi': no split of it in .*study\.h5; did you mean 'iris'\?",
        ):
            call("irsi")
        with pytest.raises(StudyError, match=r"study\.h5; run the study on it first, or call Data"):
            call("late")


def test_results_of_several_versions_of_a_library_are_named(study):
    assert study.mixed_versions() == ""
    for version in ("1.6", "1.7", "1.6"):
        run = {"versions": {"scikit-learn": version, "numpy": version, "torch": None}}
        with study.writing(run) as writer:
            writer.write(outcome(study.load_split("iris"), "svc"))
    assert study.mixed_versions() == "results of scikit-learn 1.6 and 1.7 are in one study"
    assert study.mixed_versions({"scikit-learn": "1.8", "keras": "3"}) == (
        "results of scikit-learn 1.6, 1.7 and 1.8 are in one study"
    )


def of_search(of, name, seed, **more):
    ones = np.ones(2, np.float32)
    trace = Trace("grid", ({"C": seed}, {"C": 9}), np.eye(2), ones, ones, np.arange(2))
    return dataclasses.replace(outcome(of, name, seed=seed), trace=pack_trace(trace), **more)


def test_traces_and_warnings_are_read_from_the_file_and_from_the_journal(study):
    iris = study.load_split("iris")
    with study.writing() as writer:
        writer.write(of_search(iris, "svc", 1, details={"warnings": ["slow"]}))
        writer.write(outcome(iris, "tree", fold=1))
        for _ in range(2):  # an outcome that replaces another
            found = dict(study.traces())
            assert found["cpu"] == {}
            assert {at: t.params[0]["C"] for at, t in found["iris"].items()} == {("svc", 0, 0): 1}
            assert list(study.warnings()) == [("iris", "svc", ["slow"])]
    broken_off(study, of_search(iris, "svc", 2), outcome(iris, "tree"))
    for _ in range(2):
        found = dict(study.traces(["iris"]))["iris"]
        assert {at: trace.params[0]["C"] for at, trace in found.items()} == {("svc", 0, 0): 2}
        assert list(study.warnings()) == []
        study.settle()


@pytest.mark.parametrize("trace", [b"nonsense", zlib.compress(b"\xff\xff\xff\xff"), b"x"])
def test_a_trace_that_is_none_is_damage(study, trace):
    one = dataclasses.replace(outcome(study.load_split("iris"), "svc"), trace=trace)
    with study.writing() as writer:
        writer.write(one)
    assert study.details("iris")[0]["best_params"] == {"C": 1}
    with pytest.raises(StoreError, match="damaged where a study was expected"):
        list(study.traces())


@pytest.mark.parametrize(
    ("details", "message"),
    [
        ({"warnings": [3]}, "a warning of a cell is no text"),
        ({"traceback": ["x"]}, "traceback of a cell is of type list"),
    ],
)
def test_a_record_of_a_cell_with_values_of_other_types_is_damage(study, details, message):
    with study.writing() as writer:
        writer.write(dataclasses.replace(outcome(study.load_split("iris"), "svc"), details=details))
    with pytest.raises(StoreError, match=rf"study\.h5: damaged where a study .*{message}"):
        study.details("iris")
    assert study.status("iris").sum() == 1


def test_a_reader_of_a_run_that_ends_meanwhile_reads_the_file_again(study):
    """The reader has opened a torn study, and the journal that explains it is gone."""
    iris = study.load_split("iris")
    broken_off(study, outcome(iris, "svc", seed=3))
    with h5py.File(study.path, "r+") as file:  # as a power cut leaves it
        file["experiments/predictions/iris/seed"][1, 0, 0] = 99
    begun = []

    def read(arrays):
        found, torn = arrays.block()
        if not begun:
            begun.append(torn.sum())
            study.settle()
        return found, torn

    with study.reading() as file:
        block = study.whole_cells(arrays_of(file, "iris"), read)
    assert begun == [1]
    assert_same_block(block, study.block("iris"))
    assert block.done.sum() == 1


@pytest.mark.parametrize(
    ("more", "change"), [({}, "rows in other folds"), ({"seed": 1}, "seed 0 -> 1")]
)
def test_a_split_of_other_rows_is_refused_although_its_scheme_is_the_same(study, more, change):
    known = study.load_split("iris")
    split = dataclasses.replace(known.split, folds=1 - known.split.folds, **more)
    with pytest.raises(StudyError, match=rf"otherwise \(kfold\(2\), {change}\); keep the stored"):
        study.save_splits([dataclasses.replace(known, split=split)])
