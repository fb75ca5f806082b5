"""A run on real datasets: right, resumable, and unmoved by what strategies do."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from comparing import arrays, assert_same
from learners import Deed, Hostile, Random, Traced
from pandas.testing import assert_frame_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut import Data, Orchestrator
from mlaut.errors import RunInterrupted, StoreError, StrategyError, StudyError, TimeIsOver
from mlaut.estimators import as_strategies
from mlaut.experiments.workers.process import GuardedProcess
from mlaut.files_io import FilesIO, StudyStore
from mlaut.records import Status

HERE = Path(__file__).parents[1]


@pytest.fixture
def orchestrator(databases):
    input_io, out_io = databases
    names, paths = Data().list_datasets(hdf5_io=input_io, hdf5_group="tables")
    Data().split_datasets(
        hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths, scheme="kfold(3)", seed=1
    )
    return Orchestrator(input_io, out_io, names, "tables")


def test_accuracies_are_those_of_cross_val_score(orchestrator):
    """The oracle: scikit-learn on the same splits and seeds."""
    strategies = {
        "tree": DecisionTreeClassifier(random_state=3),
        "forest": RandomForestClassifier(n_estimators=5, random_state=4),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    summary = orchestrator.run(strategies, n_jobs=2, verbose=0)
    assert (summary.n_cells, summary.n_done, summary.complete) == (27, 27, True)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    for name in study.datasets:
        block, entry = study.block(name), study.load_split(name)
        dataset = orchestrator.hdf5_input_io.load_dataset(entry.path)
        X, y = dataset.features, dataset.labels.to_numpy()
        for position, strategy in enumerate(block.strategies):
            stored = [
                (block.predictions[position, 0, test] == block.truth[test]).mean()
                for _, test in block.split
            ]
            expected = cross_val_score(strategies[strategy], X, y, cv=list(block.split))
            assert stored == expected.tolist()


@pytest.mark.parametrize(
    ("splitter", "in_order"),
    [
        (KFold(4), True),
        (KFold(4, shuffle=True, random_state=5), True),
        (StratifiedKFold(4, shuffle=True, random_state=5), True),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=5), True),
        (ShuffleSplit(4, random_state=5), False),
        (StratifiedShuffleSplit(4, random_state=5), False),
    ],
    ids=["k-fold", "shuffled", "stratified", "repeated", "hold-outs", "stratified hold-outs"],
)
def test_a_seeded_forest_is_that_of_cross_val_score(databases, splitter, in_order):
    """On k folds with the splitter itself; otherwise on the rows of the split, in their order."""
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/wine"], scheme=splitter)
    forest = RandomForestClassifier(n_estimators=3, random_state=4)
    Orchestrator(input_io, out_io).run(forest, engine="inline", verbose=0)
    block = StudyStore(out_io.path).block("wine")
    stored = [
        (block.predictions[0, repeat, test] == block.truth[test]).mean()
        for repeat in range(block.split.n_repeats)
        for _, test in (block.split.rows(repeat, fold) for fold in range(block.split.n_folds))
    ]
    dataset = input_io.load_dataset("tables/wine")
    X, y = dataset.features, dataset.labels.to_numpy()
    rows = splitter if in_order else list(block.split)
    assert stored == cross_val_score(forest, X, y, cv=rows).tolist()
    for (train, test), given in zip(block.split, splitter.split(X, y), strict=True):
        assert [train.tolist(), test.tolist()] == [sorted(part) for part in given]


def test_workers_order_and_engine_change_no_bit(databases, orchestrator, tmp_path):
    input_io, _ = databases
    strategies = ["GaussianNaiveBayes", Random(), RandomForestClassifier(n_estimators=5)]
    orchestrator.run(strategies, n_jobs=2, verbose=0)
    reference = arrays(StudyStore(orchestrator.hdf5_output_io.path))
    for n_jobs, engine in ((1, "local"), (1, "inline")):
        out_io = Data().open_hdf5(tmp_path / f"{engine}-{n_jobs}.h5", mode="a")
        paths = input_io.list_datasets("tables")[1][::-1]
        Data().split_datasets(
            hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths, scheme="kfold(3)", seed=1
        )
        Orchestrator(input_io, out_io).run(strategies, n_jobs=n_jobs, engine=engine, verbose=0)
        assert_same(arrays(StudyStore(out_io.path)), reference)


def test_an_interrupt_that_what_runs_has_swallowed_stops_the_run_after_its_cell(orchestrator):
    def swallows():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(RunInterrupted, match="stopped after 1 of 9 cells; all of them are stored"):
        orchestrator.run(Deed(swallows, fold=None), engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    assert sum((study.status(name) == Status.DONE).sum() for name in study.datasets) == 1


def test_a_cell_that_failed_by_an_interrupt_is_run_again(orchestrator):
    def fails():
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise SystemError("returned a result with an exception set")

    with pytest.raises(RunInterrupted, match=r"^stopped before the first of 9 cells had ended"):
        orchestrator.run(Deed(fails, fold=None), engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    assert not sum(study.status(name).sum() for name in study.datasets)


@pytest.mark.parametrize(
    ("number", "kind", "code"),
    [
        (signal.SIGHUP, RunInterrupted, 130),
        (signal.SIGUSR1, TimeIsOver, 75),
        (signal.SIGUSR2, TimeIsOver, 75),
        (signal.SIGXCPU, TimeIsOver, 75),
    ],
)
def test_signals_of_batch_systems_stop_a_run_and_say_whether_its_time_is_over(
    orchestrator, number, kind, code
):
    before = signal.signal(number, signal.SIG_DFL)  # nohup would ignore SIGHUP
    try:
        with pytest.raises(RunInterrupted, match="stopped before the first of 9 cells") as told:
            orchestrator.run(
                Deed(partial(signal.raise_signal, number), fold=1), engine="inline", verbose=0
            )
    finally:
        signal.signal(number, before)
    assert type(told.value) is kind
    assert told.value.exit_code == code
    assert ("the time of the job is over" in str(told.value)) == (code == 75)


def test_a_hangup_that_nohup_ignores_stops_no_run(orchestrator):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        done = orchestrator.run(
            Deed(partial(signal.raise_signal, signal.SIGHUP), fold=None), engine="inline", verbose=0
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    assert done.n_done == 9


SCRIPT = """
    import sys
    sys.path.insert(0, {here!r})
    from learners import Random, Traced
    from mlaut import Data, Orchestrator
    data = Data()
    orchestrator = Orchestrator(data.open_hdf5({input!r}), data.open_hdf5({output!r}, mode="a"))
    print(orchestrator.run([Traced({trace!r}, seconds=0.05), Random()], n_jobs=2, verbose=0))
"""


@pytest.mark.parametrize(
    "stop",
    [
        signal.SIGINT,
        *(pytest.param(n, marks=pytest.mark.slow) for n in (signal.SIGKILL, signal.SIGTERM)),
    ],
)
def test_interrupted_run_resumes_with_the_same_arrays(orchestrator, databases, tmp_path, stop):
    input_io, out_io = databases
    trace = tmp_path / "trace"
    program = textwrap.dedent(SCRIPT).format(
        here=str(HERE), input=str(input_io.path), output=str(out_io.path), trace=str(trace)
    )
    script = tmp_path / "script.py"  # unguarded by __main__, as users write them
    script.write_text(program)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored by nohup
    )
    study = StudyStore(out_io.path)
    while not trace.exists() or len(trace.read_text().splitlines()) < 4:
        time.sleep(0.005)
        assert process.poll() is None, process.communicate()
    process.send_signal(stop)
    told = process.communicate(timeout=300)[1]
    if stop == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert "make the same call again to go on" in told.splitlines()[-1]
        assert not study.journal_path.exists()
    study.settle()
    done = int(sum((study.status(name)[0] == Status.DONE).sum() for name in study.datasets))
    assert 1 <= done < 9
    trace.unlink()
    strategies = [Traced(str(trace), seconds=0.05), Random()]
    again = Orchestrator(input_io, out_io).run(strategies, n_jobs=2, verbose=0)
    assert "18 of 18 cells done" in str(again)
    assert len(trace.read_text().splitlines()) == 9 - done
    interrupted = arrays(study)

    fresh = Data().open_hdf5(tmp_path / "fresh.h5", mode="a")
    Data().split_datasets(
        hdf5_in=input_io,
        hdf5_out=fresh,
        dataset_paths=input_io.list_datasets("tables")[1],
        scheme="kfold(3)",
        seed=1,
    )
    Orchestrator(input_io, fresh).run([Traced(str(trace)), Random()], engine="inline", verbose=0)
    assert_same(arrays(StudyStore(fresh.path)), interrupted)
    trace.unlink()
    finished = Orchestrator(input_io, out_io).run(strategies, verbose=0)
    assert (finished.n_before, dict(finished.counts)) == (18, {})
    assert not trace.exists()


@pytest.mark.parametrize(
    ("deed", "status", "reason"),
    [
        ("raise", Status.ERROR, "RuntimeError: no such luck"),
        ("short", Status.ERROR, r"predict returned shape \(1,\) for"),
        ("nan", Status.ERROR, "nan"),
        ("loop", Status.TIMEOUT, "took longer than 1.5 s"),
        ("sleep_in_c", Status.TIMEOUT, "took longer than 1.5 s"),
        ("children", Status.TIMEOUT, "took longer than 1.5 s"),
        ("allocate", Status.MEMORY, "MemoryError"),
        ("segfault", Status.CRASHED, "was killed by SIGSEGV"),
        ("kill", Status.CRASHED, "was killed by SIGKILL"),
        ("leave", Status.CRASHED, "ended with exit code 0"),
    ],
)
def test_failing_strategy_is_a_row_with_a_status(
    databases, deed, status, reason, monkeypatch, tmp_path
):
    monkeypatch.setenv("TEST_OF_CELLS", str(tmp_path))
    deadline = GuardedProcess.deadline.fget

    def of_the_bad(process):
        """No limit for the good one, which might be over it on a busy machine."""
        bad = process.busy and process._due[0].batch.name == "bad"
        return deadline(process) if bad else float("inf")

    monkeypatch.setattr(GuardedProcess, "deadline", property(of_the_bad))
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    summary = Orchestrator(input_io, out_io, ["iris"]).run(
        {"bad": Hostile(deed), "good": Random()},
        n_jobs=1,
        timeout=1.5 if status is Status.TIMEOUT else None,
        memory="150MB",
        verbose=0,
    )
    assert summary.counts == {Status.DONE: 1, status: 1}
    assert not summary.complete
    study = StudyStore(out_io.path)
    (told,) = (d for d in study.details("iris") if d["strategy"] == "bad")
    assert told["status"] == status.word
    assert summary.reasons[0][0] == f"bad: {status.word}: {told['reason']}"
    assert re.search(reason, told["reason"])
    assert not _sleepers(tmp_path)
    again = Orchestrator(input_io, out_io, ["iris"]).run(
        {"bad": Hostile(deed), "good": Random()}, n_jobs=1, verbose=0
    )
    assert (again.counts, again.failed_before) == ({}, 1)
    assert "1 cell failed in earlier runs and was not tried again" in str(again)


def _sleepers(tmp_path):
    """Processes that the hostile learner of this test has started and that are still there."""
    found, mark = [], f"TEST_OF_CELLS={tmp_path}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_sleeper = b"time.sleep(3600)" in (folder / "cmdline").read_bytes()
            if is_sleeper and mark in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_failed_cells_are_tried_again_on_request(orchestrator, tmp_path):
    missing = tmp_path / "nowhere" / "trace"
    strategies = {"traced": Traced(str(missing)), "random": Random()}
    first = orchestrator.run(strategies, engine="inline", verbose=0)
    assert first.counts == {Status.DONE: 9, Status.ERROR: 9}
    why = orchestrator.plan(strategies).why()
    assert [(row["strategy"], row["cells"], row["because"]) for row in why] == [
        ("traced", 9, "failed before: error (not tried again)"),
        ("random", 9, "done"),
    ]
    missing.parent.mkdir()
    second = orchestrator.run(strategies, engine="inline", retry={"traced": ["error"]}, verbose=0)
    assert (second.counts, second.complete) == ({Status.DONE: 9}, True)
    assert (second.failed_before, "earlier runs" in str(second)) == (0, False)
    with pytest.raises(
        StudyError, match="retry 'eror': not the status of a failed cell; did you mean 'error'"
    ):
        orchestrator.run(strategies, retry=["eror"])


def test_failures_that_are_not_tried_again_are_counted(orchestrator, tmp_path):
    """The run tries 9 of 18 failures again, so 9 earlier failures are left."""
    strategies = {name: Traced(str(tmp_path / "nowhere" / name)) for name in ("a", "b")}
    first = orchestrator.run(strategies, engine="inline", verbose=0)
    assert (first.counts, first.failed_before) == ({Status.ERROR: 18}, 0)
    second = orchestrator.run(strategies, engine="inline", retry={"a": ["error"]}, verbose=0)
    assert (second.counts, second.failed_before) == ({Status.ERROR: 9}, 9)
    assert "9 cells failed in earlier runs and were not tried again" in str(second)
    third = orchestrator.run(strategies, engine="inline", retry=["error"], verbose=0)
    assert (third.counts, third.failed_before) == ({Status.ERROR: 18}, 0)


def test_warnings_seconds_and_chosen_parameters_are_stored(orchestrator):
    orchestrator.dts_names = ["wine"]
    orchestrator.run({"warns": Hostile("warn"), "knn": "K_Neighbours"}, engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    by_name = {(d["strategy"], d["fold"]): d for d in study.details("wine")}
    assert by_name["warns", 0]["warnings"] == ["UserWarning: mind the gap (3 times)"]
    assert set(by_name["knn", 2]["best_params"]) == {"n_neighbors", "p"}
    assert 0.9 < by_name["knn", 2]["tuning_score"] <= 1
    assert by_name["knn", 0]["peak_memory"] > 2**20
    seconds = study.block("wine").seconds
    assert (seconds[1] > 0).all()
    assert (seconds[0, ..., 0] == 0).all()
    (run,) = study.runs
    assert run["threads"] == 1
    assert run["versions"]["scikit-learn"]


def test_changed_parameters_are_refused_and_named(orchestrator):
    orchestrator.run(
        {"tree": DecisionTreeClassifier(max_depth=2, random_state=0)}, engine="inline", verbose=0
    )
    before = arrays(StudyStore(orchestrator.hdf5_output_io.path))
    changed = {"tree": DecisionTreeClassifier(max_depth=3, random_state=0)}
    with pytest.raises(StudyError, match=r"'tree' was run with other .*max_depth: 2 -> 3"):
        orchestrator.run(changed, engine="inline", verbose=0)
    assert_same(arrays(StudyStore(orchestrator.hdf5_output_io.path)), before)
    summary = orchestrator.run(changed, overwrite_predictions=True, engine="inline", verbose=0)
    assert summary.counts == {Status.DONE: 9}
    assert orchestrator.run(changed, engine="inline", verbose=0).counts == {}


def test_a_family_gives_what_fits_the_data(orchestrator):
    summary = orchestrator.run("Baseline", engine="inline", verbose=0)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    assert summary.complete
    assert [entry.name for entry in study.strategies] == ["BaselineClassifier"]
    with pytest.raises(StrategyError, match="strategy 'BaselineRegressor' is for Regression"):
        orchestrator.run(["Baseline", "BaselineRegressor"], verbose=0)


def test_added_strategy_runs_alone(orchestrator, tmp_path):
    trace = str(tmp_path / "trace")
    orchestrator.run(Traced(trace), engine="inline", verbose=0)
    summary = orchestrator.run([Traced(trace), Random()], engine="inline", verbose=0)
    assert (summary.n_before, summary.counts) == (9, {Status.DONE: 9})
    assert len(Path(trace).read_text().splitlines()) == 9


def test_models_are_saved_and_predict_again(orchestrator):
    strategies = ["GaussianNaiveBayes", ("own tree", DecisionTreeClassifier())]
    orchestrator.run(strategies, save_models=True, engine="inline", verbose=0)
    predicted = orchestrator.predict_all(trusted=True)
    for names in ("own tree", ["own tree"]):
        of_tree = predicted[predicted["strategy"] == "own tree"].reset_index(drop=True)
        assert_frame_equal(orchestrator.predict_all(names, trusted=True), of_tree)
    assert orchestrator.predict_all([strategies[1], "GaussianNaiveBayes"], trusted=True).equals(
        predicted
    )
    with pytest.raises(StrategyError, match=r"no strategy of the study .* 'no tree'; did you mean"):
        orchestrator.predict_all(["no tree"], trusted=True)
    with pytest.raises(StrategyError, match="'SVC'; it has GaussianNaiveBayes, own tree"):
        orchestrator.predict_all(["SVC"], trusted=True)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    assert len(predicted) == 2 * sum(len(study.load_split(n).truth) for n in study.datasets)
    for name in study.datasets:
        block = study.block(name)
        for position in range(len(block.strategies)):
            strategy = block.strategies[position]  # noqa: F841 - named in the query
            of_cell = predicted.query("dataset == @name and strategy == @strategy")
            labels = np.asarray(block.classes)[block.predictions[position, 0, of_cell["row"]]]
            assert (of_cell["prediction"].to_numpy() == labels).all()
    model = next(study.path.parent.glob("study.h5.models/iris/GaussianNaiveBayes/*"))
    model.write_bytes(model.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="not the model that the study recorded"):
        orchestrator.predict_all(trusted=True)


def test_cells_that_were_done_without_a_model_are_named(orchestrator):
    strategies = ["GaussianNaiveBayes", "BaselineClassifier"]
    assert orchestrator.run(strategies[0], engine="inline", verbose=0).n_unsaved == 0
    done = orchestrator.run(strategies, engine="inline", verbose=0, save_models=True)
    assert done.n_unsaved == done.n_before > 0
    assert f"{done.n_before} cells done before without a saved model; save_models" in str(done)
    assert done.to_dict()["without_model"] == done.n_before
    assert orchestrator.save_models(engine="inline") == done.n_before
    assert orchestrator.run(strategies, engine="inline", verbose=0, save_models=True).n_unsaved == 0


def test_a_study_that_is_open_for_reading_is_not_run(orchestrator):
    orchestrator.hdf5_output_io = FilesIO(orchestrator.hdf5_output_io.path, mode="r")
    for write in (orchestrator.run, orchestrator.save_models):
        with pytest.raises(StoreError, match="opened with mode='r', which only reads"):
            write("GaussianNaiveBayes", n_jobs=1)


def test_a_database_that_is_not_open_and_a_group_without_datasets_are_refused(orchestrator):
    io, out = orchestrator.hdf5_input_io, orchestrator.hdf5_output_io
    with pytest.raises(StoreError, match=r"'input.h5' is no open database: open it with mlaut"):
        Orchestrator("input.h5", out)
    with pytest.raises(StudyError, match="no dataset came from the group 'foo/', only from '"):
        Orchestrator(io, out, None, "foo/").run("GaussianNaiveBayes")
    with pytest.raises(StrategyError, match="no strategy to run: name one or more"):
        orchestrator.run([])


def test_predicting_again_without_models_says_how(orchestrator):
    orchestrator.run("GaussianNaiveBayes", engine="inline", verbose=0)
    with pytest.raises(StudyError, match="run with save_models=True"):
        orchestrator.predict_all(trusted=True)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"modelling_strategies": Ridge()}, StrategyError, "'Ridge' is for Regression, and the"),
        ({"modelling_strategies": [Random(), Random()]}, StrategyError, "called 'Random'"),
        ({"modelling_strategies": "K_Neighbors"}, StrategyError, "did you mean 'K_Neighbours'"),
        ({"n_jobs": 0}, StudyError, "n_jobs 0"),
        ({"threads": 0}, StudyError, "threads 0: must be a whole number"),
        ({"timeout": "soon"}, StudyError, "timeout 'soon'"),
        ({"memory": "-1GB"}, StudyError, "memory '-1GB'"),
        ({"engine": "spark"}, StudyError, "engine 'spark'"),
    ],
    ids=["task", "twice", "typo", "n_jobs", "threads", "timeout", "memory", "engine"],
)
def test_bad_request_is_one_line_and_changes_nothing(orchestrator, arguments, error, message):
    arguments = {"modelling_strategies": Random(), "verbose": 0, **arguments}
    orchestrator.run({"kept": Random()}, engine="inline", verbose=0)
    before = arrays(StudyStore(orchestrator.hdf5_output_io.path))
    with pytest.raises(error, match=message) as raised:
        orchestrator.run(**arguments)
    assert "\n" not in str(raised.value)
    assert_same(arrays(StudyStore(orchestrator.hdf5_output_io.path)), before)


def test_changed_dataset_is_refused(orchestrator):
    iris = orchestrator.hdf5_input_io.load_dataset("tables/iris")
    frame = iris.frame.copy()
    frame.iloc[0, 0] += 1
    orchestrator.hdf5_input_io.save_pandas_dataset(
        frame, "tables", {"class_name": iris.target, "dataset_name": "iris"}, overwrite=True
    )
    with pytest.raises(StudyError, match="dataset 'iris': its content is not the one that this"):
        orchestrator.run(Random(), verbose=0)
    (row,) = (row for row in orchestrator.plan(Random()).why() if not row["todo"])
    assert (row["cells"], row["datasets"]) == (3, "iris")
    assert row["because"].startswith("data changed: ")


def test_planning_changes_nothing_and_says_what_a_run_does(orchestrator):
    study = orchestrator.hdf5_output_io.path
    before = study.read_bytes()
    plan = orchestrator.plan({"tree": DecisionTreeClassifier(), "random": Random()})
    assert (plan.n_cells, plan.n_todo) == (18, 18)
    assert {row["because"] for row in plan.why()} == {"new strategy"}
    assert study.read_bytes() == before
    assert [path.name for path in study.parent.glob("study.h5*")] == ["study.h5"]


def test_repeats_added_to_a_finished_study_run_alone(orchestrator, tmp_path):
    trace = tmp_path / "trace"
    orchestrator.run(Traced(str(trace)), engine="inline", verbose=0)
    before = arrays(StudyStore(orchestrator.hdf5_output_io.path))
    paths = orchestrator.hdf5_input_io.list_datasets("tables")[1]
    Data().split_datasets(
        orchestrator.hdf5_input_io,
        orchestrator.hdf5_output_io,
        paths,
        scheme="repeated_kfold(3, 2)",
        seed=1,
    )
    trace.unlink()
    summary = orchestrator.run(Traced(str(trace)), engine="inline", verbose=0)
    assert (summary.n_before, summary.counts) == (9, {Status.DONE: 9})
    assert len(trace.read_text().splitlines()) == 9
    after = arrays(StudyStore(orchestrator.hdf5_output_io.path))
    for name, (status, predictions, _) in before.items():
        np.testing.assert_array_equal(after[name][0][:, :1], status)
        np.testing.assert_array_equal(after[name][1][:, :1], predictions)
        assert (after[name][0] == Status.DONE).all()


def test_dataset_without_split_is_refused(orchestrator):
    orchestrator.dts_names = ["iris", "diabetes"]
    with pytest.raises(StudyError, match="no split of diabetes; call"):
        orchestrator.run(Random(), verbose=0)


def test_progress_in_a_log_is_plain_lines(orchestrator, capsys):
    orchestrator.run({"bad": Hostile("raise")}, engine="inline", verbose=2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == (
        "mlaut: bad on breast_cancer (repeat 0, fold 0): error: RuntimeError: no such luck"
    )
    assert lines[-1].startswith("mlaut: 9/9 cells (100%), 9 failed, 0:0")


def test_threads_of_workers_are_bounded(orchestrator):
    """The environment of the process that started the run is as it was."""
    before = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    orchestrator.run(Random(), n_jobs=1, verbose=0)
    assert {name: os.environ.get(name) for name in before} == before


@pytest.mark.parametrize(
    ("name", "before", "told"),
    [
        ("BaselineClassifier", {"strategy": "most_frequent"}, "strategy: most_frequent -> prior"),
        ("SVC", {"max_iter": -1}, "max_iter: -1 -> 1000000"),
    ],
)
def test_a_default_that_has_changed_goes_on_with_what_it_was(databases, name, before, told):
    """What the strategies were before they changed is what these parameters make of them."""
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    orchestrator = Orchestrator(input_io, out_io)
    grid = {"param_grid": {"C": [1.0], "gamma": [0.1]}} if name == "SVC" else {}
    (old,), (new,) = as_strategies(name), as_strategies(name)
    old.set_params(params=before, **grid)
    orchestrator.run(old, engine="inline", verbose=0)
    with pytest.raises(StudyError, match=rf"{told}\); restore them, give it a new name, or pass"):
        orchestrator.run(new.set_params(**grid), engine="inline", verbose=0)
    assert orchestrator.run(old, engine="inline", verbose=0).counts == {}


def test_a_fit_that_is_cut_off_leaves_a_warning(databases):
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    (svc,) = as_strategies("SVC")
    svc.set_params(params={"max_iter": 2}, param_grid={"C": [1.0, 10.0]}, cv=2)
    Orchestrator(input_io, out_io).run(svc, engine="inline", verbose=0)
    (told,) = StudyStore(out_io.path).details("iris")
    assert any("Solver terminated early (max_iter=2)" in text for text in told["warnings"])
