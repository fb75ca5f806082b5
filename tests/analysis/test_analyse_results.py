"""AnalyseResults: MLaut's names, on a study and on errors from elsewhere."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import (
    AnalyseResults,
    Results,
    adjust_pairs,
    bayesian_signed_rank_test,
    decide,
    nemenyi_test,
)
from mlaut.analysis.methods.bayes import correlated_t_datasets
from mlaut.analysis.methods.frequentist import mcnemar_test
from mlaut.analysis.methods.lacoste import poisson_binomial_test
from mlaut.analysis.pairwise import adjust
from mlaut.analysis.scores import ScoreAccuracy
from mlaut.errors import AnalysisError, MissingCellsError, StudyError
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, Cell, Outcome, Split, Status

ERRORS = {"A": [0.1, 0.2, 0.3, 0.2, 0.15], "B": [0.2, 0.4, 0.35, 0.3, 0.2], "C": [0.5] * 5}


class Strategy:
    """As far as the analysis needs to know one."""

    def __init__(self, name):
        self.name = name


@pytest.fixture
def study(tmp_path):
    """Two strategies on three datasets of two groups; one cell failed."""
    study = StudyStore(tmp_path / "study.h5")
    rng = np.random.default_rng(0)
    folds = np.r_[np.full(10, -1), np.zeros(10)].astype(np.int16)[None]
    truth = rng.integers(0, 2, 20).astype(np.int32)
    study.save_splits(
        SplitEntry(name, f"/{group}/{name}", CLASSIFICATION, name, ("n", "y"), truth, Split(folds))
        for name, group in (("iris", "uci"), ("wine", "uci"), ("zoo", "openml"))
    )
    study.allocate([StrategyEntry("tree", "g"), StrategyEntry("svm", "h")])
    with study.writing() as writer:
        for i, name in enumerate(("iris", "wine", "zoo")):
            right = truth[10:].copy()
            wrong = right.copy()
            wrong[: i + 1] = 1 - wrong[: i + 1]
            writer.write(
                Outcome(Cell(name, "tree"), Status.DONE, right, seconds=(1.0, 2.0 + i, 0.5)),
                Outcome(Cell(name, "svm"), Status.ERROR, reason="boom")
                if name == "zoo"
                else Outcome(Cell(name, "svm"), Status.DONE, wrong, seconds=(0.0, 1.0, 0.1)),
            )
    return study


def test_errors_of_a_study(study):
    analyse = AnalyseResults(
        hdf5_output_io=study,
        hdf5_input_io=None,
        input_h5_original_datasets_group="uci/",
        output_h5_predictions_group="experiments/predictions/",
    )
    per_estimator, per_dataset, table = analyse.prediction_errors(
        metric=ScoreAccuracy(), estimators=[Strategy("svm"), Strategy("tree")]
    )
    assert list(table.index) == ["iris", "wine"]
    assert list(table.columns) == list(per_estimator) == ["svm", "tree"]
    assert per_estimator["svm"].tolist() == [0.1, 0.2]
    assert per_dataset["wine"]["svm"] == table.loc["wine", "svm"] == 0.2
    assert analyse.average_and_std_error(per_estimator, scenario="(a)").loc["svm", "average"] == (
        pytest.approx(0.15)
    )


def test_a_missing_cell_is_told_and_treated_as_chosen(study):
    analyse = AnalyseResults(study)
    errors, _, table = analyse.prediction_errors("accuracy")
    assert np.isnan(table.loc["zoo", "svm"])
    with pytest.raises(MissingCellsError, match=r"1 of 6 cells .* \(1 error\): strategies svm"):
        analyse.t_test(errors)
    tests, _ = AnalyseResults(study, missing="tree").t_test(errors)
    assert "1 missing cell of svm got the loss of tree" in tests["tree", "svm"].notes
    assert AnalyseResults(study.path, missing="drop datasets").ranks(errors).shape == (2, 4)


def test_training_times(study):
    table = AnalyseResults(study).average_training_time()
    assert table.loc["tree", "training"] == pytest.approx(4.0)
    assert table.loc["tree", "std_error"] == pytest.approx(np.std([3, 4, 5], ddof=1) / np.sqrt(3))
    assert table.loc["svm", ["training", "fitting", "predicting", "datasets"]].tolist() == [
        1.0, 1.0, 0.1, 2,
    ]  # fmt: skip
    assert list(AnalyseResults(study).average_training_time("svm").index) == ["svm"]


@pytest.mark.parametrize(
    "estimators",
    ["svm", ["svm"], Strategy("svm"), [("svm", None)], {"svm": None}, (s for s in ["svm"])],
)
def test_estimators_are_named_in_many_ways(study, estimators):
    errors, _, _ = AnalyseResults(study).prediction_errors("accuracy", estimators)
    assert list(errors) == ["svm"]


def test_what_a_word_for_several_chose_and_no_run_tried_is_left_out(study):
    errors, *_ = AnalyseResults(study).prediction_errors("accuracy", ["svm", _other("Baseline")])
    assert list(errors) == ["svm"]
    with pytest.raises(AnalysisError, match="strategy 'other'"):
        AnalyseResults(study).prediction_errors("accuracy", ["svm", _other("")])


def _other(word):
    """Return a strategy that was not run; ``word`` chose it, or, if empty, its own name did."""
    return SimpleNamespace(name="other", chosen_by=word)


def test_bad_choices(study, tmp_path):
    with pytest.raises(AnalysisError, match="'experiments/predictions/', not in 'elsewhere/'"):
        AnalyseResults(study, output_h5_predictions_group="elsewhere/")
    with pytest.raises(StudyError, match="group 'pmlb/', only from 'openml/', 'uci/'"):
        AnalyseResults(study, None, "pmlb/").prediction_errors("accuracy")
    with pytest.raises(AnalysisError, match=r"strategy 'smv' .* did you mean 'svm'\?"):
        AnalyseResults(study).prediction_errors("accuracy", ["smv"])
    with pytest.raises(
        AnalysisError, match="there is no study to read: AnalyseResults needs hdf5_output_io"
    ):
        AnalyseResults().prediction_errors("accuracy")


@pytest.mark.parametrize("method", ["t_test", "average_and_std_error", "plot_boxcharts"])
def test_an_unknown_option_is_answered_in_one_line(method):
    with pytest.raises(AnalysisError, match=rf"unknown option 'eror' of {method}; did you mean"):
        getattr(AnalyseResults(), method)(ERRORS, eror=1)


def test_t_test_table():
    tests, table = AnalyseResults().t_test(ERRORS)
    assert list(table.columns) == [(s, p) for s in "ABC" for p in ("t_stat", "p_val")]
    expected = stats.ttest_rel(ERRORS["A"], ERRORS["B"])
    assert table.loc["A", ("B", "t_stat")] == pytest.approx(expected.statistic)
    assert table.loc["B", ("A", "p_val")] == pytest.approx(expected.pvalue)
    assert tests["A", "B"].p_value == table.loc["A", ("B", "p_val")]
    assert list(tests) == [("A", "B"), ("A", "C"), ("B", "C")]


def test_the_other_pairwise_tests():
    analyse = AnalyseResults()
    raw, corrected = analyse.t_test(ERRORS)[1], analyse.t_test_with_bonferroni_correction(ERRORS)[1]
    assert corrected.loc["A", ("B", "p_val")] == pytest.approx(3 * raw.loc["A", ("B", "p_val")])
    assert analyse.wilcoxon_test(ERRORS)[1].loc["A", ("B", "p_val")] == 0.0625
    one_sided = analyse.wilcoxon_test(ERRORS, alternative="better")[1]
    assert one_sided.loc["A", ("B", "p_val")] == 0.03125
    assert analyse.sign_test(ERRORS)[1].loc["A", ("B", "p_val")] == 0.0625
    assert analyse.sign_test(ERRORS, ties="drop")[0]["A", "B"].name == "Sign test"
    assert analyse.sign_test(ERRORS)[0]["A", "B"].name == "Trinomial test"
    rank_sum = analyse.ranksum_test(ERRORS)[1].loc["A", ("B", "p_val")]
    assert rank_sum == stats.mannwhitneyu(ERRORS["A"], ERRORS["B"]).pvalue


def test_the_bayesian_tests_of_pairs():
    analyse = AnalyseResults()
    tests, table = analyse.bayesian_sign_test(ERRORS, rope=0.01)
    assert list(table.columns) == [(s, p) for s in "ABC" for p in ("p_better", "p_equivalent")]
    assert table.columns.names == ["against", "error"]
    assert tests["A", "B"].probabilities["P(row better)"] == table.loc["A", ("B", "p_better")]
    _, table = analyse.bayesian_signed_rank_test(ERRORS, rope=0.01, seed=3)
    known = bayesian_signed_rank_test(pd.DataFrame(ERRORS), metric="error", rope=0.01, seed=3)
    assert table.xs("p_better", axis="columns", level=1).equals(known.table("P(row better)"))


def test_the_poisson_binomial_test_of_a_study(study):
    analyse = AnalyseResults(study, missing="drop datasets")
    errors, _, _ = analyse.prediction_errors("accuracy")
    tests, table = analyse.poisson_binomial_test(errors)
    known = poisson_binomial_test(errors.results.select(datasets=["iris", "wine"]))
    assert table.loc["tree", ("svm", "p_better")] == known.value("P(row better)", "tree", "svm")
    assert tests["tree", "svm"].statistic_name == "expected wins"
    with pytest.raises(AnalysisError, match="come from a table, which has no single test points"):
        AnalyseResults().poisson_binomial_test(ERRORS)


def test_the_correlated_t_test_of_folds():
    index = pd.MultiIndex.from_product([["iris", "wine"], range(5)])
    losses = pd.DataFrame(np.random.default_rng(0).random((10, 2)), index, ["A", "B"])
    results = Results.from_table(losses, greater_is_better=False)
    tests, table = AnalyseResults().correlated_t_test(results, rope=0.1)
    assert table.equals(correlated_t_datasets(results, rope=0.1).frame)
    assert list(tests) == list(table.index) == [("iris", "A", "B"), ("wine", "A", "B")]
    assert tests["wine", "A", "B"].effect.value == table.loc["wine", "expected difference"].item()


@pytest.mark.parametrize("test", ["use all data", "k-fold", "resampling"])
def test_tests_on_cross_validation_have_sides_and_are_corrected(test):
    index = pd.MultiIndex.from_product([["iris", "wine"], range(5), range(2)])
    losses = np.random.default_rng(0).random((20, 3)) + np.array([0, 0.2, 0.6])
    if test == "resampling":
        index, losses = pd.MultiIndex.from_product([["iris", "wine"], range(10), [0]]), losses
    losses = pd.DataFrame(losses, index, list("ABC"))
    results, analyse = Results.from_table(losses, greater_is_better=False), AnalyseResults()
    _, both = analyse.cv_test(results, test=test, df="default")
    one = {s: analyse.cv_test(results, test=test, df="default", alternative=s)[1]["p_value"]
           for s in ("better", "worse")}  # fmt: skip
    assert (one["better"] + one["worse"]).tolist() == pytest.approx([1] * 6)
    smaller = np.minimum(one["better"], one["worse"])
    assert both["p_value"].tolist() == pytest.approx((2 * smaller).tolist())
    assert (one["better"] < one["worse"]).equals(both["mean difference"] < 0)
    tests, table = analyse.cv_test(results, test=test, df="default", correction="holm")
    known = adjust(both["p_value"].to_numpy(), "holm")
    assert table["p_value"].tolist() == pytest.approx(known.tolist())
    assert [tests[row].p_value for row in table.index] == table["p_value"].tolist()
    assert tests["iris", "A", "C"].statistic == table.loc[("iris", "A", "C"), "statistic"]


def test_mcnemar_s_test_of_a_study_has_sides_and_is_corrected(study):
    analyse = AnalyseResults(study, missing="drop datasets")
    errors, _, _ = analyse.prediction_errors("accuracy")
    tests, table = analyse.mcnemar_test(errors, "wine")
    known = mcnemar_test(errors.results.select(datasets=["iris", "wine"]), "wine")
    assert table.loc["tree", ("svm", "p_val")] == known.p_values.loc["tree", "svm"]
    assert table.loc["tree", ("svm", "wrong alone")] == known.statistics.loc["tree", "svm"]
    _, one = analyse.mcnemar_test(errors, "wine", alternative="better", correction="bonferroni")
    sides = one.loc["tree", ("svm", "p_val")], one.loc["svm", ("tree", "p_val")]
    assert 2 * min(sides) == pytest.approx(tests["tree", "svm"].p_value)


def test_a_classifier_class_by_class(study):
    analyse = AnalyseResults(study)
    table = analyse.contingency_table(Strategy("svm"), "wine")
    assert (table.to_numpy().sum(), np.trace(table)) == (10, 8)
    assert (table.index.name, table.columns.name) == ("true", "predicted")
    with pytest.raises(AnalysisError, match="'svm' is a strategy: give the strategy, then the"):
        analyse.contingency_table("wine", "svm")
    with pytest.raises(AnalysisError, match="'svm' has no probabilities on dataset 'wine'"):
        analyse.plot_cumulative_gain("svm", "wine", "y")


def test_tests_of_all(mlaut2018):
    analyse = AnalyseResults()
    tests, table = analyse.friedman_test(mlaut2018)
    assert table.loc["F"].tolist() == [
        pytest.approx(131.5435, abs=5e-5), 8.0, 960.0, tests["F"].p_value,
    ]  # fmt: skip
    assert table.loc["chi2", "df1"] == 8.0
    ours = nemenyi_test(mlaut2018).p_values
    pd.testing.assert_frame_equal(analyse.nemenyi(mlaut2018), ours, atol=1e-11)
    assert analyse.ranks(mlaut2018).index[0] == "RandomForestClassifier"
    assert (
        analyse.compare(mlaut2018).portmanteau["Friedman F"].statistic
        == table.loc["F", "statistic"]
    )


def test_cohens_d_is_paired():
    d = AnalyseResults().cohens_d(ERRORS)
    difference = np.subtract(ERRORS["A"], ERRORS["B"])
    assert d.loc["A", "B"] == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert d.loc["B", "A"] == -d.loc["A", "B"]


def test_averages():
    frame = AnalyseResults().average_and_std_error(ERRORS, method="t")
    assert list(frame.columns) == ["average", "std_error", "low", "high"]
    assert frame.loc["A", "std_error"] == pytest.approx(stats.sem(ERRORS["A"]))


def test_figures(mlaut2018):
    assert AnalyseResults().plot_boxcharts(mlaut2018).axes
    assert AnalyseResults().plot_critical_difference(ERRORS).axes


def test_errors_come_in_many_forms():
    analyse, frame = AnalyseResults(), pd.DataFrame(ERRORS)
    expected = analyse.t_test(ERRORS)[1]
    for errors in (frame, Results.from_table(frame, greater_is_better=False)):
        assert analyse.t_test(errors)[1].equals(expected)
    series = {name: pd.Series(values) for name, values in ERRORS.items()}
    assert analyse.t_test(series)[1].equals(expected)


def test_changed_errors_are_taken_as_they_are(study):
    analyse = AnalyseResults(study)
    errors, _, _ = analyse.prediction_errors("accuracy")
    assert "1 error" in str(_raised(analyse, errors))
    errors["svm"] = errors["svm"].fillna(0.3)
    assert analyse.t_test(errors)[0]["tree", "svm"].metric == "error"


def _raised(analyse, errors):
    with pytest.raises(MissingCellsError) as raised:
        analyse.t_test(errors)
    return raised.value


def test_bad_errors():
    with pytest.raises(AnalysisError, match="A has 2, B has 1"):
        AnalyseResults().t_test({"A": [1.0, 2.0], "B": [1.0]})
    with pytest.raises(AnalysisError, match="not ndarray"):
        AnalyseResults().t_test(np.ones((3, 2)))


def test_it_says_what_it_analyses(study):
    assert repr(AnalyseResults()) == "AnalyseResults of errors from elsewhere (there is no study)"
    assert repr(AnalyseResults(study)) == (
        f"AnalyseResults of {study.path}: 2 strategies on 3 datasets; missing='raise'"
    )
    assert repr(AnalyseResults(study, None, "uci/", missing="worst")) == (
        f"AnalyseResults of {study.path}: 2 strategies on 2 datasets from 'uci/'; missing='worst'"
    )


def test_every_table_of_errors_has_the_name_of_the_loss(study):
    """Errors of accuracy are 1 - accuracy, and every table that shows them has that name."""
    analyse = AnalyseResults(study, missing="drop datasets")
    errors, per_dataset, table = analyse.prediction_errors("accuracy")
    assert table.columns.name == "1 - accuracy"
    assert str(table).startswith("1 - accuracy")
    assert repr(errors).startswith("1 - accuracy, lower is better:\n")
    assert errors["svm"].name == "1 - accuracy of svm"
    assert per_dataset["wine"].name == "1 - accuracy on wine"
    assert analyse.average_and_std_error(errors).columns.name == "1 - accuracy"
    assert analyse.t_test(errors)[1].columns.names == ["against", "1 - accuracy"]
    assert analyse.cohens_d(errors).columns.name == "d of 1 - accuracy"
    label = analyse.plot_boxcharts(errors).axes[0].get_xlabel()
    assert label == "accuracy on 2 datasets"
    assert analyse.results("accuracy").scores.loc["wine", "svm"] == 0.8


def test_notes_on_means_stay_with_the_table():
    table = pd.DataFrame({"A": [1.0, 2e6], "B": [2.0, 1e6]})
    frame = AnalyseResults().average_and_std_error(Results.from_table(table, metric="rmse"))
    assert any("means over datasets do not compare" in note for note in frame.attrs["notes"])
    assert frame.columns.name == "rmse, in unlike units"


def test_boxes_show_scores_that_were_seen_alone(study):
    errors, _, _ = AnalyseResults(study).prediction_errors("accuracy")
    axes = AnalyseResults(study, missing="failures last").plot_boxcharts(errors).axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["svm (1 missing)", "tree"]
    (dots,) = (line for line in axes.lines if line.get_marker() == ".")
    assert np.unique(np.round(dots.get_ydata()), return_counts=True)[1].tolist() == [2, 3]


FOUR = pd.DataFrame(
    np.random.default_rng(3).uniform(np.array([0, 0.02, 0.1, 0.2]), 0.6, (12, 4)),
    columns=list("ABCD"),
)


@pytest.mark.parametrize(
    "name", ["t_test", "wilcoxon_test", "sign_test", "unpaired_t_test", "ranksum_test"]
)
@pytest.mark.parametrize("alternative", ["two-sided", "better"])
def test_every_test_of_pairs_is_corrected(name, alternative):
    test = getattr(AnalyseResults(), name)
    plain, _ = test(FOUR, alternative=alternative)
    tests, table = test(FOUR, alternative=alternative, correction="holm")
    pairs = [pair for pair in plain if pair[0] < pair[1]]
    known = adjust(np.array([plain[pair].p_value for pair in pairs]), "holm")
    assert [tests[pair].p_value for pair in pairs] == pytest.approx(known)
    assert table.loc["A", ("D", "p_val")] == tests["A", "D"].p_value
    for given in (plain, test(FOUR, alternative=alternative)):
        for correct in (adjust, adjust_pairs):
            assert correct(given, "holm").pair("A", "D").p_value == tests["A", "D"].p_value


@pytest.mark.parametrize("name", ["nemenyi", "conover", "siegel"])
def test_tests_of_ranks_are_those_of_scikit_posthocs(name):
    import scikit_posthocs

    theirs = getattr(scikit_posthocs, f"posthoc_{name}_friedman")(FOUR.to_numpy()).to_numpy()
    found = getattr(AnalyseResults(), name)(FOUR)
    off = ~np.eye(4, dtype=bool)
    assert found.to_numpy()[off] == pytest.approx(theirs[off])
    if name != "nemenyi":
        upper = np.triu_indices(4, 1)
        corrected = getattr(AnalyseResults(), name)(FOUR, correction="bonferroni").to_numpy()
        assert corrected[upper] == pytest.approx(np.minimum(6 * theirs[upper], 1))
        assert adjust(found, "bonferroni").to_numpy()[upper] == pytest.approx(corrected[upper])


def test_what_is_no_test_of_pairs_is_told():
    with pytest.raises(AnalysisError, match="returns, not list"):
        adjust_pairs([0.1], "holm")
    _, table = AnalyseResults().t_test(FOUR)
    with pytest.raises(AnalysisError, match="a row and a column for each strategy"):
        adjust(table, "holm")
    with pytest.raises(AnalysisError, match="adjust takes a table of p-values"):
        adjust_pairs(AnalyseResults().conover(FOUR), "holm")
    for correct in (adjust, adjust_pairs):
        with pytest.raises(AnalysisError, match="has probabilities, no p-values: see decide"):
            correct(AnalyseResults().bayesian_sign_test(FOUR), "holm")


def test_claims_from_a_bayesian_test():
    tests, table = AnalyseResults().bayesian_sign_test(FOUR)
    better = table.xs("p_better", axis="columns", level=1)
    for given in (tests, (tests, table), tests.pairwise):
        assert decide(given).frame.equals(decide(better).frame)
    assert set(decide(tests, threshold=0.85).claims) == {
        (a, b) for a in better for b in better if better.loc[a, b] >= 0.85
    }
    with pytest.raises(AnalysisError, match="one of false_share, false_number and threshold"):
        decide(tests, 0.1, threshold=0.85)
    with pytest.raises(AnalysisError, match="a Bayesian test of all pairs returns, not Paired t"):
        decide(AnalyseResults().t_test(FOUR))


def test_the_best_alone_are_drawn_and_boxes_are_in_the_order_of_figure_5():
    analyse = AnalyseResults()
    drawn = analyse.plot_critical_difference(FOUR, top=2).axes[0]
    assert sum(text.get_text()[:3] in ("A  ", "B  ", "C  ", "D  ") for text in drawn.texts) == 2
    skewed = {"steady": [0.2, 0.2, 0.2], "fails once": [0.1, 0.1, 0.9]}
    labels = analyse.plot_boxcharts(skewed).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["fails once", "steady"]
    labels = analyse.plot_boxcharts(skewed, order="median", top=1).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["fails once"]
