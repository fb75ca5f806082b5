"""What ``mlaut plan`` tells before a run: reasons, time, room; and that it changes nothing."""

import json

import numpy as np
import pytest

from mlaut.errors import StudyError, UnusableWarning
from mlaut.experiments import plan_study, run_study
from mlaut.experiments.following.forecast import _effects as effects
from mlaut.experiments.following.forecast import expected_seconds, make_forecast
from mlaut.experiments.plans.plan import make_plan
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status

STUDY = """
[data]
collection = "starter"
datasets = ["iris", "zoo"]

[split]
scheme = "kfold(3)"

[strategies]
names = ["GaussianNaiveBayes", "BaselineClassifier"]

[run]
n_jobs = 1
"""


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def reasons(preview):
    return [(row["strategy"], row["because"], row["todo"]) for row in preview.plan.why()]


def test_a_study_that_is_not_there_yet_is_planned_without_making_it(study_file):
    preview = plan_study(study_file)
    assert (preview.plan.n_cells, preview.plan.n_todo) == (12, 12)
    assert {because for _, because, _ in reasons(preview)} == {"new strategy"}
    assert [path.name for path in study_file.parent.iterdir()] == ["study.toml"]
    assert "12 cells, 0 done, 12 to do" in str(preview)
    assert "time: not known, because no cell has run yet" in str(preview)
    json.dumps(preview.to_dict())


def test_a_finished_study_is_planned_with_what_is_added(study_file):
    run_study(study_file, engine="inline", verbose=0)
    finished = plan_study(study_file)
    assert finished.plan.n_todo == 0
    assert {because for _, because, _ in reasons(finished)} == {"done"}
    assert str(finished).endswith("12 cells, 12 done, 0 to do")
    study_file.write_text(
        STUDY.replace('"zoo"]', '"zoo", "wine"]')
        .replace("kfold(3)", "repeated_kfold(3, 2)")
        .replace('"BaselineClassifier"]', '"BaselineClassifier", "Bernoulli_Naive_Bayes"]')
    )
    before = {path: path.read_bytes() for path in study_file.parent.iterdir()}
    preview = plan_study(study_file)
    assert {path: path.read_bytes() for path in study_file.parent.iterdir()} == before
    rows = {(row[0], row[1]): row[2] for row in reasons(preview)}
    assert rows["GaussianNaiveBayes", "new dataset"] == 6
    assert rows["GaussianNaiveBayes", "new repeats"] == 6
    assert rows["BernoulliNaiveBayes", "new strategy"] == 18
    run_study(study_file, engine="inline", verbose=0)
    now = study_file.with_name("study.h5").stat().st_blocks * 512
    assert now == pytest.approx(preview.forecast.bytes_then, rel=0.25)


def test_another_split_would_be_refused(study_file):
    run_study(study_file, engine="inline", verbose=0)
    study_file.write_text(STUDY.replace("kfold(3)", "kfold(4)"))
    preview = plan_study(study_file)
    assert preview.plan.n_todo == 0
    assert "would be refused: dataset 'iris': it is split already" in str(preview)


def seen_study(tmp_path, seconds):
    """A study of one fold a dataset in which cells took some seconds; NaN: not run."""
    study = StudyStore(tmp_path / "study.h5")
    split = Split(np.array([[0, 0, -1, -1]], dtype=np.int16), "by hand")
    truth = np.array([0, 1, 0, 1], dtype=np.int32)
    entries = [
        SplitEntry(f"d{d}", f"/d{d}", CLASSIFICATION, f"f{d}", ("a", "b"), truth, split)
        for d in range(len(seconds))
    ]
    study.save_splits(entries)
    names = [f"s{s}" for s in range(len(seconds[0]))]
    study.allocate([StrategyEntry(name, name) for name in names])
    with study.writing() as writer:
        for d, s in np.argwhere(~np.isnan(seconds)).tolist():
            details = {"started": 0.0, "elapsed": seconds[d][s], "peak_memory": 1}
            cell = Cell(f"d{d}", f"s{s}")
            writer.write(Outcome(cell, Status.DONE, truth[:2], details=details))
    return study, dict.fromkeys(study.datasets, names)


def test_times_come_from_the_nearest_that_was_seen(tmp_path):
    nan = np.nan
    study, wanted = seen_study(tmp_path, [[1, 10, nan], [3, nan, nan], [nan, nan, nan]])
    plan = make_plan(study, wanted, {})
    seconds, basis = expected_seconds(plan, study)
    assert seconds[0][:2].tolist() == [1, 10]
    assert seconds[1][1] == pytest.approx(30)  # ten times s0, on the slower dataset
    assert seconds[2][1] / seconds[2][0] == pytest.approx(10)
    assert basis[1].tolist() == [
        "the same strategy on the same dataset",
        "the same strategy on other datasets",
        "other strategies",
    ]
    made = make_forecast(plan, study.path, n_workers=2)
    assert made.cells == 6
    assert sum(made.basis.values()) == 6
    assert made.wall_seconds == made.seconds / 2
    assert (
        f"{made.basis['other strategies']} cells estimated from the times of other strategies"
        in str(made)
    )
    assert made.bytes_now == study.path.stat().st_blocks * 512
    assert 0 < made.bytes_then - made.bytes_now < 2000  # the cells that are missing
    assert made.fits


def test_effects_of_strategies_and_datasets_are_found_where_they_add_up():
    generator = np.random.default_rng(0)
    of_strategy, of_dataset = generator.normal(size=6), generator.normal(size=8)
    logs = of_dataset[:, None] + of_strategy
    logs[generator.random(logs.shape) < 0.4] = np.nan
    logs[3], logs[:, 2] = np.nan, np.nan
    strategies, datasets = effects(logs)
    assert np.isnan(strategies[2])
    assert np.isnan(datasets[3])
    known = np.ones((8, 6), dtype=bool)
    known[3], known[:, 2] = False, False
    found = (datasets[:, None] + strategies)[known]
    np.testing.assert_allclose(found, (of_dataset[:, None] + of_strategy)[known], atol=1e-3)


def test_datasets_by_reference_are_planned_without_storing_them(study_file):
    references = 'datasets = ["starter/iris", "starter/zoo"]'
    study_file.write_text(
        STUDY.replace('collection = "starter"\ndatasets = ["iris", "zoo"]', references)
    )
    assert plan_study(study_file).plan.n_todo == 12
    assert [path.name for path in study_file.parent.iterdir()] == ["study.toml"]


def test_all_mistakes_of_a_study_file_are_told_at_once(study_file):
    study_file.write_text(
        STUDY.replace("kfold(3)", "kfold(1)").replace("Gaussian", "Gausian").replace("zoo", "zo0")
        + 'timeout = "10x"\nmemory = "much"\nretry = "timout"\nengine = "locl"\n'
    )

    def check(file, strategies, tasks):
        assert file.path == study_file
        assert strategies == []
        raise StudyError("of the caller")

    with pytest.raises(StudyError, match=r"study\.toml: 8 mistakes: \(1\)") as told:
        plan_study(study_file, check=check)
    assert "\n" not in str(told.value)
    for text in ("did you mean 'GaussianNaiveBayes'", "timeout '10x'", "memory 'much'",
                 "engine 'locl'", "retry 'timout'", "n_folds 1", "no dataset 'zo0'",
                 "of the caller"):  # fmt: skip
        assert text in str(told.value)


def test_one_mistake_is_told_as_it_is(study_file):
    study_file.write_text(STUDY + 'retry = "timout"\n')
    with pytest.raises(StudyError, match=r"^retry 'timout': not the status of a failed cell"):
        plan_study(study_file)
    study_file.write_text(STUDY + "threads = -3\n")
    with pytest.raises(StudyError, match=r"^threads -3: must be a whole number"):
        plan_study(study_file)


def test_rows_that_occur_twice_are_pointed_out(study_file):
    preview = plan_study(study_file)
    # pandas counts the same: frame.duplicated(keep=False)
    assert preview.to_dict()["repeated_rows"] == {"iris": 5, "zoo": 61}
    line = "a fold may train and test on the same: zoo 61 of 101, iris 5 of 150"
    assert line in str(preview)


def test_a_shard_of_a_race_is_a_mistake_as_in_a_run(study_file):
    study_file.write_text(f"{STUDY}\n[race]\n")
    with pytest.raises(StudyError, match="a race decides on the results of all cells, which no sh"):
        plan_study(study_file, shard="1/2")


def test_a_dataset_that_is_named_beside_another_task_is_left_out_aloud(study_file):
    both = '["starter/iris", "starter/servo"]\ntask = "Regression"'
    names = STUDY.replace('collection = "starter"\n', "").replace('["iris", "zoo"]', both)
    both_names = '"GaussianNaiveBayes", "BaselineClassifier"'
    study_file.write_text(names.replace(both_names, '"BaselineRegressor"'))
    with pytest.warns(UnusableWarning, match=r"left out: .*iris: \[data\] has task = 'Regression'"):
        preview = plan_study(study_file)
    assert [planned.entry.name for planned in preview.plan.datasets] == ["servo"]
