"""Two runs beside each other: the tests by hand, what counts as the same, and the two levels."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from mlaut_boards import same_results
from mlaut_boards.rerun import environment_differences
from scipy import stats

from mlaut import Study
from mlaut.analysis import Results
from mlaut.cli import cli
from mlaut.errors import AnalysisError
from mlaut.estimators import Generic_Estimator
from mlaut.files_io import StudyStore

OLD = pd.DataFrame(
    np.random.default_rng(0).uniform(0.5, 0.8, (20, 3)), [f"d{i}" for i in range(20)], list("ABC")
)


def run(table, metric="accuracy", **how):
    return Results.from_table(table, metric=metric, **how)


def changed(mean=0.0, sd=0.01, seed=1):
    return run(OLD + np.random.default_rng(seed).normal(mean, sd, OLD.shape))


def test_one_strategy_has_the_p_values_of_two_one_sided_t_tests():
    new = changed().select(strategies=["A"])
    row = same_results(run(OLD), new, rope=0.008).frame.loc["A"]
    d = (new.scores["A"] - OLD["A"]).to_numpy()
    below = stats.ttest_1samp(d, -0.008, alternative="greater").pvalue
    above = stats.ttest_1samp(d, 0.008, alternative="less").pvalue
    assert row["p same"] == pytest.approx(max(below, above), rel=1e-9)
    interval = stats.ttest_1samp(d, 0).confidence_interval(0.9)
    assert row[["low", "high"]].tolist() == pytest.approx(interval, rel=1e-9)
    far = changed(mean=0.02).select(strategies=["A"])
    row = same_results(run(OLD), far, rope=0.008).frame.loc["A"]
    d = (far.scores["A"] - OLD["A"]).to_numpy()
    assert row["p differs"] == pytest.approx(stats.ttest_1samp(d, 0.008).pvalue, rel=1e-9)
    assert row["p same"] > 0.99


def test_all_strategies_are_the_same_if_each_is_and_one_that_differs_is_enough():
    found = same_results(run(OLD), changed(sd=0.005))
    assert found.answer == "same"
    assert found.sentence() == (
        "Same. Of 3 strategies, the same within 0.01 of accuracy: 3; different by more: 0; "
        "undecided: 0."
    )
    found = same_results(run(OLD), changed(mean=[0, 0, -0.05]))
    assert found.frame["answer"].tolist() == ["same", "same", "differs"]
    assert found.answer == "differs"
    wide = same_results(run(OLD), changed(sd=0.05))
    assert wide.answer == "cannot tell"
    assert set(wide.frame["answer"]) == {"cannot tell"}
    one = same_results(run(OLD), changed(sd=0.01).select(strategies=["A"]))
    three = same_results(run(OLD), changed(sd=0.01))
    assert three.frame.loc["A", "p same"] > one.frame.loc["A", "p same"]  # Holm
    assert three.frame.loc["A", "power"] < one.frame.loc["A", "power"]


def test_sources_are_the_units():
    source = {name: f"s{i // 4}" for i, name in enumerate(OLD.index)}
    few = same_results(run(OLD).with_clusters(source), changed(sd=0.001))
    assert set(few.frame["answer"]) == {"cannot tell"}  # five sources
    assert "5 sources: claims about new ones need at least 6" in few.notes
    source = {name: f"s{i // 2}" for i, name in enumerate(OLD.index)}
    new = changed().with_clusters(source)
    row = same_results(run(OLD), new).frame.loc["B"]
    means = (new.scores["B"] - OLD["B"]).to_numpy().reshape(10, 2).mean(axis=1)
    assert row["p same"] < 0.05
    assert row["low"] == pytest.approx(stats.ttest_1samp(means, 0).confidence_interval(0.9).low)


def test_equal_scores_are_the_same_and_the_note_says_what_may_still_change():
    found = same_results(run(OLD), run(OLD + 1e-13))
    assert found.answer == "same"
    assert found.frame["changed"].tolist() == [0, 0, 0]
    assert "no score has changed; those of up to 14% of new sources still may" in found.notes
    few = same_results(run(OLD[:2]), run(OLD[:2]))
    assert few.answer == "same"
    assert found.frame[["p same", "p differs", "power"]].isna().all(axis=None)
    other = same_results(run(OLD), run(OLD.assign(B=OLD["B"] + 0.1)))
    assert other.frame["answer"].tolist() == ["same", "differs", "same"]
    assert other.frame["p same"].isna().tolist() == [True, False, True]
    note = "no score of A, C has changed; those of up to 14% of new sources still may"
    assert note in other.notes
    assert few.sentence().startswith("Same on these datasets. Of 3 strategies, the same within")


def test_a_score_that_one_run_lacks_is_no_rerun_that_is_the_same():
    holes = OLD.copy()
    holes.loc["d3", "B"] = np.nan
    found = same_results(run(OLD), run(holes))
    assert found.frame["answer"].tolist() == ["same", "cannot tell", "same"]
    assert found.frame.loc["B", "datasets"] == 19
    assert "datasets with a score in one run only: B (1)" in found.notes
    assert same_results(run(holes), run(holes)).answer == "same"


def test_only_what_is_in_both_runs_counts():
    found = same_results(run(OLD), run(OLD[["C", "A"]].iloc[2:].assign(D=0.5)))
    assert list(found.frame.index) == ["A", "C"]
    assert found.frame["datasets"].tolist() == [18, 18]
    assert "not compared, of the old run: B, d0, d1" in found.notes
    assert "not compared, of the new run: D" in found.notes
    marks = [replace(run(OLD), fingerprints=(mark,) + ("x",) * 19) for mark in "ab"]
    assert "the data differ: d0" in same_results(*marks).notes


def test_the_variance_from_run_to_run_comes_from_repeats_where_there_are_any():
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product([OLD.index, range(200)], names=["dataset", "repeat"])
    level = np.repeat(OLD.to_numpy(), 200, axis=0)
    sds = [0.0, 0.01, 0.02]
    runs = [
        run(pd.DataFrame(level + rng.normal(0, sds, level.shape), index, OLD.columns))
        for _ in range(2)
    ]
    found = same_results(*runs)
    np.testing.assert_allclose(found.frame["run to run"], sds, rtol=0.03)
    assert found.notes[-1] == "run to run: of a cell, by repeats and folds"
    found = same_results(run(OLD), changed(sd=0.01))
    spread = (changed(sd=0.01).scores - OLD).std() / np.sqrt(2)
    np.testing.assert_allclose(found.frame["run to run"], spread)
    assert found.notes[-1].startswith("run to run: by datasets, without common repeats")
    mixed = same_results(run(OLD), runs[1])  # one run has repeats
    assert mixed.notes[-1].startswith("run to run: by datasets")


def test_a_metric_with_another_unit_on_each_dataset_has_ratios():
    errors = OLD * np.logspace(-3, 5, 20)[:, None]
    found = same_results(run(errors, "rmse"), run(errors * [1, 1.001, 1.05], "rmse"))
    assert found.frame["answer"].tolist() == ["same", "same", "differs"]
    assert found.frame.loc["C", "difference"] == pytest.approx(np.log(1.05))
    assert found.rope == 0.01
    with pytest.raises(AnalysisError, match="a score is not above 0: choose another metric"):
        same_results(run(errors, "rmse"), run(errors * 0, "rmse"))


def test_bad_input_is_answered_in_one_line():
    cost = run(OLD, "cost", greater_is_better=False)
    with pytest.raises(AnalysisError, match=r"cost has no usual region: give rope \(--rope\)"):
        same_results(cost, cost)
    assert same_results(cost, cost, rope=0).answer == "same"
    percent = run(100 * OLD, "accuracy", greater_is_better=True)
    with pytest.raises(AnalysisError, match="accuracy has other units in one of the runs"):
        same_results(run(OLD), percent)
    with pytest.raises(AnalysisError, match="runs by accuracy and cost: choose one metric"):
        same_results(run(OLD), cost)
    for other in (OLD.add_prefix("my "), OLD.rename(index="my {}".format)):
        with pytest.raises(AnalysisError, match="no strategy has a score on the same dataset in"):
            same_results(run(OLD), run(other))
    with pytest.raises(AnalysisError, match="rope = -1 is not a number of 0 or more"):
        same_results(run(OLD), run(OLD), rope=-1)


def test_false_answers_are_as_rare_as_the_level_says():
    """Reruns of three related strategies; errors peak at the edge of the region, .01."""
    rng = np.random.default_rng(4)
    false = {"same": 0, "differs": 0}
    for _ in range(120):
        noise = rng.normal(0, 0.01, (20, 1)) + rng.normal(0, 0.01, OLD.shape)
        answers = set(same_results(run(OLD), run(OLD + noise + 0.01)).frame["answer"])
        false = {answer: n + (answer in answers) for answer, n in false.items()}
    assert max(false.values()) <= 12  # 6 of 120 are the level; more than 12 have p = .007


def test_the_power_is_that_of_a_strategy_that_has_not_changed():
    rng = np.random.default_rng(5)
    one, said, same = run(OLD[["A"]]), [], 0
    for _ in range(100):
        new = run(OLD[["A"]] + rng.normal(0, 0.015, (20, 1)))
        frame = same_results(one, new).frame
        said.append(frame.loc["A", "power"])
        same += frame.loc["A", "answer"] == "same"
    assert same / 100 == pytest.approx(np.mean(said), abs=0.12)
    assert 0.3 < same / 100 < 0.9


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    from sklearn.tree import DecisionTreeClassifier

    folder = tmp_path_factory.mktemp("reruns")
    for seed, name in enumerate(("old", "new")):
        study = Study(folder / f"{name}.h5", seed=0)
        study.add_datasets(["starter/iris", "starter/zoo"])
        tree = Generic_Estimator(DecisionTreeClassifier(max_depth=1 + seed), name="tree")
        options = {"split": "kfold(3)", "engine": "inline", "verbose": 0, "threads": 1 + seed}
        study.run(["GaussianNaiveBayes", tree], **options)
    return folder


def test_the_environments_of_two_studies_are_compared(studies):
    old, new = (StudyStore(studies / f"{name}.h5") for name in ("old", "new"))
    rows = environment_differences(old, new)
    assert [row["what"] for row in rows] == ["strategy tree", "threads"]
    assert rows[1] == {"what": "threads", "old": "1", "new": "2"}
    assert environment_differences(old, old) == []


def test_the_command_takes_studies_and_tables(studies):
    call = CliRunner().invoke
    old, new = str(studies / "old.h5"), str(studies / "new.h5")
    done = call(cli, ["study", "same", old, new])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Cannot tell. Of 2 strategies, the same within 0.01 of accuracy")
    assert "strategy tree" in done.output
    Study(old).results().scores.to_csv(studies / "old.csv")
    done = call(
        cli, ["study", "same", str(studies / "old.csv"), new, "--metric", "accuracy", "--json"]
    )
    found = json.loads(done.output)
    assert [row["answer"] for row in found["strategies"]] == ["same", "cannot tell"]
    assert found["environments"] == []
    assert found["rope"] == 0.01
    done = call(cli, ["same", old, new])
    assert "same' is now 'mlaut study same'" in done.output
