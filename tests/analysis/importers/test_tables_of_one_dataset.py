"""Tables of one dataset: metrics in columns or rows, with and without repeats."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import read, refused

from mlaut.analysis import compare, read_results
from mlaut.report import make_report, write_report

ONE = pd.DataFrame(
    {
        "model": ["ResNet50", "ViT-B", "Swin-T"],
        "paper": ["x", "y", "z"],
        "accuracy": [76.1, 81.2, 81.5],
        "f1": [75.0, 80.3, 80.2],
        "params": [25.6, 86.6, 28.3],
    }
)
RUNS = pd.DataFrame(
    {
        "model": list("AAABBBCCC"),
        "seed": [0, 1, 2] * 3,
        "accuracy": [0.812, 0.823, 0.815, 0.801, 0.793, 0.804, 0.702, 0.711, 0.706],
    }
)
TURNED = "metric,XGBoost,LightGBM,Ridge\nmae,1,2,3\nrmse,5,4,6\nmape,.1,.2,.3\n"


def test_one_score_of_each_is_an_order_without_a_verdict(tmp_path):
    results = read(tmp_path, ONE)
    assert results.how_read == (
        "Read: 1 dataset (no column names it); 3 strategies (`model`); `accuracy` as it stands in "
        "percent, divided by 100; not used: `paper`, `f1`, `params`."
    )
    report = make_report(results)
    for ending in ("html", "md", "json"):
        write_report(report, tmp_path / f"r.{ending}")
    content = json.loads((tmp_path / "r.json").read_text("utf-8"))["sections"][0]
    first = "On this dataset Swin-T is first of 3 strategies, with accuracy 0.815, 0.003 before ViT"
    assert content["headline"][0].startswith(first)
    assert [round(x["difference"], 3) for x in content["strategies"]] == [0.0, -0.003, -0.054]
    for ending in ("html", "md"):
        text = (tmp_path / f"r.{ending}").read_text("utf-8")
        assert not any(x in text for x in ("Undecided", ">undecided"))
        assert "so nothing tells how much of a difference is chance" in text


def test_several_metrics_are_asked_about_and_one_is_taken(tmp_path):
    asked = refused(tmp_path, ONE, "")
    assert "it has several metrics (accuracy, f1), so say which one" in asked
    assert "--metric accuracy; or mlaut report" in asked
    assert read(tmp_path, ONE.drop(columns="f1"), "").metric.name == "accuracy"
    assert "metrics of one dataset" in refused(tmp_path, ONE.drop(columns="params"), "mcc")


def test_the_index_that_pandas_writes_is_no_dataset(tmp_path):
    results = read(tmp_path, RUNS[["model", "accuracy"]].iloc[[1, 4, 8]])
    assert results.how_read.endswith("`accuracy` as it stands; not used: `unnamed`.")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["iris", "wine", "mnist"], "rows are of one strategy, so there is nothing to compare"),
        (["x", "y", "z"], "it is unclear whether `name` names strategies, on one dataset"),
    ],
)
def test_rows_that_are_datasets_or_may_be_are_not_strategies(names, told, tmp_path):
    table = pd.DataFrame({"name": names, "accuracy": [0.8, 0.7, 0.9]})
    assert told in refused(tmp_path, table)
    chosen = {"columns": {"strategy": "name"}}
    assert len(read(tmp_path, table, **chosen).strategies) == 3
    assert "are of one strategy" in refused(tmp_path, table.rename(columns={"name": "dataset"}))
    sized = table.assign(**{"Params (M)": [1.5, 2, 3]})
    assert (names[0] == "iris") or len(read(tmp_path, sized).strategies) == 3


def test_another_column_of_numbers_may_be_a_dataset_and_is_asked_about(tmp_path):
    table = ONE[["model", "accuracy"]].assign(shifted=[70.5, 75.25, 76])
    called = table.rename(columns={"accuracy": "acc"})
    asked = refused(tmp_path, called)
    assert "`acc` is the metric of one dataset, if `shifted` are no datasets" in asked
    chosen = {"strategy": "rows", "score": "acc"}
    assert "not used: `shifted`" in read(tmp_path, called, columns=chosen).how_read
    assert len(read(tmp_path, called.assign(shifted=50)).datasets) == 1  # a constant
    assert "not used: `shifted`" in read(tmp_path, table).how_read  # called as the metric


def test_rows_may_be_metrics_and_columns_strategies(tmp_path):
    results = read(tmp_path, TURNED, "rmse", name="t.csv")
    assert results.scores.iloc[0].to_dict() == {"XGBoost": 5, "LightGBM": 4, "Ridge": 6}
    assert results.how_read == (
        "Read: 1 dataset (no column names it); 3 strategies (columns); row `rmse` as rmse; "
        "not used: `mae`, `mape`."
    )
    assert "so say which one" in refused(tmp_path, TURNED, "", name="t.csv")
    plain = TURNED.replace("XGBoost,LightGBM,Ridge", "a,b,c")
    asked = refused(tmp_path, plain, "rmse", name="t.csv")
    assert asked.endswith("--metric rmse --columns strategy=columns")
    chosen = {"columns": {"strategy": "columns"}}
    assert read(tmp_path, plain, "rmse", name="t.csv", **chosen).strategies == ("a", "b", "c")
    known = TURNED.replace("XGBoost,LightGBM,Ridge", "MNIST,CIFAR-10,ImageNet")
    assert "its columns look like datasets" in refused(tmp_path, known, "rmse", name="t.csv")


def test_rows_may_be_repeats_and_columns_strategies(tmp_path):
    table = RUNS.pivot_table(index="seed", columns="model", values="accuracy").reset_index()
    assert "--columns strategy=columns" in refused(tmp_path, table)
    results = read(tmp_path, table, columns={"strategy": "columns"})
    assert results.cells.shape == (1, 3, 3, 1)
    known = table.rename(columns=dict(zip("ABC", ["XGBoost", "Ridge", "SVM"], strict=True)))
    assert read(tmp_path, known).strategies == ("XGBoost", "Ridge", "SVM")
    assert "repeats (`seed`) of one strategy" in refused(tmp_path, RUNS[["seed", "accuracy"]][:3])


def test_seeds_are_paired_and_runs_are_not(tmp_path):
    paired = compare(read(tmp_path, RUNS)).decision()
    assert paired.answer() == (
        "No clear winner: A and B may be best. If you must choose now, use A. Avoid C (accuracy "
        "0.11 below A)."
    )
    text = paired.sentence()
    assert "By a t-test of repeats, paired by their numbers, with 3 repeats of each" in text
    assert ",," not in " ".join(paired.details())
    assert "such as other seeds, not for other rows and other datasets" in text
    assert "over further repeats on these rows is 0" in paired.details()[0]
    assert paired.frame["spread"].tolist() == pytest.approx(
        RUNS.groupby("model")["accuracy"].std().tolist()
    )
    results = read(tmp_path, RUNS.rename(columns={"seed": "run"}))
    shuffled = RUNS.rename(columns={"seed": "run"}).assign(run=[2, 0, 1, 0, 1, 2, 1, 2, 0])
    both = [compare(x) for x in (results, read(tmp_path, shuffled))]
    assert "By a t-test of runs with 3 repeats" in both[0].decision().sentence()
    assert "Welch's t-test of runs" in both[0].decision().details()[0]
    p = [x.leading_pairs.p_values.to_numpy() for x in both]
    np.testing.assert_allclose(*p)


def test_means_are_of_the_repeats_that_are_there(tmp_path):
    results = read(tmp_path, RUNS.drop(index=[4, 7, 8]))
    assert "means of the repeats that are there (B: 2 of 3 repeats; C: 1 of 3" in results.how_read
    decision = make_report(results).sections[0].decision
    assert "By a t-test of runs" in decision.sentence()
    assert "C is left out: it has one repeat, and a test needs two" in decision.sentence()
    assert decision.frame["mean accuracy"].tolist() == pytest.approx([0.8166667, 0.8025], rel=1e-6)


def test_one_table_of_several_datasets_counts_before_those_of_one(tmp_path):
    many = "# All\n\n|Model|iris|wine|\n|-|-|-|\n|a|.8|.7|\n|b|.7|.6|\n"
    one = "\n# Sizes\n\n|Model|Score|F1|\n|-|-|-|\n|a|.8|.7|\n|b|.7|.6|\n"
    results = read(tmp_path, many + one, name="t.md")
    assert len(results.datasets) == 2
    assert "tables of the file other than 'All' (1)" in results.how_read
    assert len(read_results(ONE, "accuracy").datasets) == 1


def test_few_datasets_with_repeats_say_what_each_shows():
    rng = np.random.default_rng(0)
    rows = [
        (dataset, model, run, round(0.7 + shift * sign + 0.02 * rng.standard_normal(), 4))
        for dataset, sign in (("a", 1), ("b", -1), ("c", 0))
        for model, shift in (("X", 0), ("Y", 0.05))
        for run in range(10)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "model", "run", "accuracy"])
    (section,) = make_report(read_results(table)).sections
    headline = " ".join(section.headline)
    assert [each.cells for each in section.decision.each[:2]] == [
        ("a", "Y", "", "X"),
        ("b", "X", "", "Y"),
    ]
    assert "Too few datasets to be sure (3" in headline
    assert "For data like a: use Y. Avoid X" in headline
    assert "For data like b: use X. Avoid Y" in headline
    assert (
        " may be best" in headline.partition("For data like c: ")[2]
    )  # it shows nothing, and is told


def test_the_paragraph_on_methods_says_what_was_done(tmp_path):
    text = str(compare(read(tmp_path, RUNS)).methods())
    assert ", with 3 repeats of each strategy; the claims are of scenario (b), more repeats" in text
    assert "paired by their numbers (Student 1908), two-sided, with Holm's correction" in text
    assert "Probabilities" not in text
    assert "; each has one score, so nothing is claimed." in str(
        compare(read(tmp_path, ONE)).methods()
    )


def test_metrics_with_an_unknown_column_among_them_are_no_datasets(tmp_path):
    table = ONE.assign(AUC=[0.8, 0.9, 0.85], **{"Time Taken": [0.1, 0.2, 0.4]})
    assert "it has several metrics (accuracy, f1, AUC), so say which one" in refused(
        tmp_path, table.drop(columns=["paper", "params"]), ""
    )


def test_resamples_of_caret_are_folds_of_one_dataset(tmp_path):
    names = [f"{model}~{metric}" for model in ("rf", "svm") for metric in ("Accuracy", "Kappa")]
    values = np.random.default_rng(0).uniform(0.5, 0.9, (20, 4)).round(3)
    table = pd.DataFrame(values, columns=names)
    table.insert(0, "id", [f"Fold{fold:02}.Rep{rep}" for rep in (1, 2) for fold in range(10)])
    assert "several metrics (accuracy, kappa)" in refused(tmp_path, table, "")
    results = read(tmp_path, table, "accuracy")
    assert (results.strategies, len(results.datasets)) == (("rf", "svm"), 1)
    assert "means of 20 folds (`id`)" in results.how_read


FOLDS = {"forest": [0.9, 0.95, 0.91, 0.9, 0.93], "net": [0.8, 0.81, 0.85, 0.88, 0.9]}


def test_rows_without_names_are_asked_about_and_both_answers_are_read(tmp_path):
    table = pd.DataFrame(FOLDS)
    message = refused(tmp_path, table)
    assert "are they folds or repeats of one dataset, or datasets?" in message
    for answer in ("--columns fold=rows", "--columns dataset=rows"):
        assert answer in message
    folds, datasets = (read(tmp_path, table, columns={x: "rows"}) for x in ("fold", "dataset"))
    assert (folds.cells.shape, len(datasets.datasets)) == ((1, 2, 1, 5), 5)
    assert "Friedman" not in compare(folds).sentence()
    repeats = read_results(FOLDS, "accuracy", columns={"repeat": "rows"})
    assert repeats.cells.shape == (1, 2, 5, 1)


def cross_validated(scores):
    """Return what `sklearn.model_selection.cross_validate` returns."""
    times = {"fit_time": np.full(5, 0.1), "score_time": np.full(5, 0.01)}
    return {**times, **{name: np.array(values) for name, values in scores.items()}}


def test_results_of_cross_validate_are_its_test_scores_by_fold():
    one = {name: cross_validated({"test_score": scores}) for name, scores in FOLDS.items()}
    results = read_results(one, "accuracy", columns={"strategy": "columns"})
    assert results.how_read.endswith("(`fold`); not used: `fit_time`, `score_time`.")
    assert results.strategies == ("forest", "net")
    assert results.cells.shape == (1, 2, 1, 5)
    several = {
        name: cross_validated(
            {"test_f1": np.zeros(5), "test_accuracy": scores, "train_accuracy": scores}
        )
        for name, scores in FOLDS.items()
    }
    assert read_results(several, "accuracy").fold_losses.equals(results.fold_losses)
    frames = pd.concat({x: pd.DataFrame(y) for x, y in several.items()}, names=["model"])
    assert read_results(frames.reset_index(), "accuracy").cells.shape == (1, 2, 1, 5)
    on_two = read_results({"iris": several, "wine": several}, "accuracy")
    assert (on_two.datasets, on_two.cells.shape) == (("iris", "wine"), (2, 2, 1, 5))


def test_logistic_regression_with_few_different_scores_is_no_learning_rate_in_silence(tmp_path):
    table = pd.DataFrame({"dataset": ["iris", "wine", "glass", "zoo"], "LR": [0.9, 0.8, 0.9, 0.8]})
    table = table.assign(RF=[0.93, 0.83, 0.92, 0.81], SVM=[0.95, 0.85, 0.94, 0.82])
    message = refused(tmp_path, table)
    assert "`LR` may be no scores by the name, and look like the others" in message
    assert "score=LR+RF+SVM" in message


def test_a_log_of_one_run_has_nothing_to_compare(tmp_path):
    log = pd.DataFrame({"Wall time": [1.7e9, 1.8e9], "Step": [1, 2], "Value": [0.5, 0.6]})
    assert "so there is none to compare" in refused(tmp_path, log)


def test_a_seed_in_a_nested_configuration_is_a_repeat(tmp_path):
    runs = RUNS.rename(columns={"model": "model.name", "seed": "trainer.seed"})
    assert "means of 3 repeats (`trainer.seed`)" in read(tmp_path, runs).how_read


def test_strategies_of_one_run_each_are_told_in_one_phrase(tmp_path):
    rows = [
        (f"net {k}", run, 0.5 + k / 50 + run / 99)
        for k in range(6)
        for run in range(1 + 2 * (k > 2))
    ]
    table = pd.DataFrame(rows, columns=["model", "run", "accuracy"])
    sentence = make_report(read(tmp_path, table)).sections[0].decision.sentence()
    assert "net 0, net 1, net 2 are left out: each has one repeat, and a test needs two" in sentence
