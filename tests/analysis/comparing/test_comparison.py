"""All of it for all pairs at once."""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    bayesian_sign_test,
    compare,
    decision_plot,
    mean_estimates,
    t_test,
    treat_missing,
    wilcoxon_test,
)
from mlaut.analysis.comparing.compare import PAIR_TESTS
from mlaut.analysis.importers import read_automlbenchmark
from mlaut.analysis.methods.frequentist import pair_groups
from mlaut.analysis.pairwise import adjust
from mlaut.errors import AnalysisError, MissingCellsError


@pytest.fixture(scope="module")
def found(mlaut2018):
    return compare(mlaut2018, control="SVC")


def test_what_was_found_in_sentences(found):
    assert found.sentences() == (
        "Over 121 datasets RandomForestClassifier has the lowest mean misclassification, 0.1627 "
        "[0.1387, 0.19], scenario (c).",
        "Average ranks differ (Friedman, p = 1.4e-148): RandomForestClassifier is best with 2.492, "
        "and differs from all others by the signed rank test.",
        "At level 0.05 of all claims together these differ: 33 of 36 pairs by the paired "
        "t-test, 31 of 36 pairs by the signed rank test, 30 of 36 pairs by the trinomial test.",
    )
    assert found.sentence() == " ".join(found.sentences())


def test_the_leading_test_decides_all_groups(found, mlaut2018):
    """Nemenyi's test, whose result for a pair depends on the others, leads only where asked."""
    assert found.leading == "signed rank"
    assert found.groups == pair_groups(found.leading_pairs, found.ranks.frame.index)
    assert found.groups[0] == ("SVC", "BaggingClassifier")
    nemenyi = compare(mlaut2018, test="Nemenyi", n_samples=0)
    assert nemenyi.groups[0] == ("RandomForestClassifier", "SVC", "BaggingClassifier")
    ranks = nemenyi.ranks.frame["average_rank"]
    assert all(np.ptp(ranks[list(g)]) < nemenyi.critical_difference for g in nemenyi.groups)
    assert "not shown to differ from SVC and BaggingClassifier by Nemenyi's test" in (
        nemenyi.sentence()
    )
    for one in (found, nemenyi):
        letters = one.grouped()["groups"]
        shared = bool(set(letters["RandomForestClassifier"]) & set(letters["SVC"]))
        assert shared == any({"RandomForestClassifier", "SVC"} <= set(g) for g in one.groups)
        assert one.leading_pairs.name in one.to_latex()
    pool = "whether two strategies differ depends on which others are compared"
    assert [name for name in found.tables() if pool in str(found.tables()[name].notes)] == [
        *("Nemenyi", "Conover", "Siegel")
    ]
    assert not any(
        pool in n for n in compare(mlaut2018.select(strategies=["SVC", "BaselineClassifier"])).notes
    )
    with pytest.raises(AnalysisError, match="test 'Nemeny' is not known; did you mean 'Nemenyi'"):
        compare(mlaut2018, test="Nemeny")
    with pytest.raises(AnalysisError, match="the t-test cannot lead, since not every strategy has"):
        compare(Results.from_table(UNITS, metric="rmse"), test="t")


def test_tests_that_contradict_each_other_say_so():
    """A wins often and by little, B rarely and by much."""
    rng = np.random.default_rng(0)
    often = rng.random(100) < 0.68
    gains = np.where(often, -rng.uniform(0.001, 0.002, 100), rng.uniform(0.1, 0.2, 100))
    table = pd.DataFrame({"A": 0.5 + gains, "B": 0.5, "C": 0.9 + 0.01 * rng.random(100)})
    found = compare(table, metric="misclassification", n_samples=0)
    assert found.sentences()[1].endswith(
        "A is best with 1.39, but B is better by the signed rank test."
    )
    assert found.notes[0].startswith("A is better than B by sign, trinomial, ")
    assert ", and worse by t, signed rank: one wins more often, the other by more" in found.notes[0]
    few = pd.DataFrame({"A": [0.1] * 6, "B": [0.2] * 6, "C": [0.0] * 3 + [0.9] * 3})
    few += np.arange(6)[:, None] / 100 * [1, 1.1, 1]
    seen = compare(few, metric="misclassification", test="sign", correction="none", n_samples=0)
    assert seen.notes[0] == (
        "Friedman's test shows no difference and the sign test 1: the former compares the ranks of "
        "all strategies, the latter one pair at a time"
    )


def test_a_table_with_a_metric_is_compared_as_the_results_of_it():
    table = pd.DataFrame(np.random.default_rng(0).uniform(0.5, 1, (8, 3)), columns=list("ABC"))
    of_results = compare(Results.from_table(table, metric="accuracy"))
    assert compare(table, metric="accuracy").to_frame().equals(of_results.to_frame())
    own = compare(table, metric="mine", greater_is_better=False)
    assert "lowest mean mine" in own.sentence()
    with pytest.raises(AnalysisError, match=r"give metric='accuracy', or another one"):
        compare(table)
    with pytest.raises(AnalysisError, match=r"did you mean 'accuracy'|direction of 'acuracy'"):
        compare(table, metric="acuracy")
    with pytest.raises(AnalysisError, match=r"these results are of accuracy: metric and"):
        compare(of_results.results, metric="mcc")


def test_probabilities_of_many_pairs_do_not_read_as_corrected(found):
    assert "probability" not in found.sentence()
    (note,) = [note for note in found.notes if "not corrected for 36 pairs" in note]
    assert note.startswith("Bayesian sign, Bayesian signed rank: probabilities are not corrected")
    assert found.bayesian["Bayesian sign"].sentence() == (
        "Bayesian sign test of 9 strategies on misclassification (121 datasets): surest of 36 "
        "pairs, not corrected for their number, is BaggingClassifier better than "
        "BaselineClassifier with probability 1, scenario (c)."
    )


def test_the_probability_of_one_pair_is_said_as_it_is(mlaut2018):
    two = mlaut2018.select(strategies=["SVC", "BaggingClassifier"])
    pairs = bayesian_sign_test(two)
    p = pairs.table("P(row better)").max(axis=None)
    assert pairs.sentence().endswith(f"with probability {p:.4g}, scenario (c).")
    assert "corrected" not in " ".join((pairs.sentence(), *pairs.notes))


def test_every_part_is_that_of_its_own_function(found, mlaut2018):
    raw = t_test(mlaut2018).to_frame()["p_value"]
    frame = found.to_frame()
    assert frame[("t", "p (unadjusted)")].equals(raw)
    assert frame[("t", "p_value")].to_numpy() == pytest.approx(adjust(raw.to_numpy(), "holm"))
    signed = wilcoxon_test(mlaut2018).to_frame()
    assert frame[("signed rank", "rank-biserial correlation")].equals(
        signed["rank-biserial correlation"]
    )
    assert found.portmanteau["Friedman F"].statistic == pytest.approx(131.5435, abs=5e-5)
    assert found.critical_difference == pytest.approx(1.0921, abs=5e-5)
    assert len(frame) == 36
    assert list(found.tables()) == [
        "estimates (c)", "ranks", "Friedman F", "Friedman chi2", "Quade",
        *(name for name in PAIR_TESTS if name != "Poisson binomial"),  # it needs test points
        "control",
    ]  # fmt: skip


def test_probabilities_stand_beside_the_p_values(found, mlaut2018):
    exact = bayesian_sign_test(mlaut2018).to_frame()["P(row better)"]
    assert found.to_frame()[("Bayesian sign", "P(row better)")].equals(exact)
    shown = found.display_frame()
    assert "P(first better) Bayesian signed rank" in shown
    assert "P(equivalent) Bayesian sign" not in shown  # there is no region: it is 0
    with_region = compare(mlaut2018, rope=0.01, n_samples=0)
    assert "P(equivalent) Bayesian sign" in with_region.display_frame()
    assert list(with_region.bayesian) == ["Bayesian sign"]
    same = compare(mlaut2018, seed=0).bayesian["Bayesian signed rank"]
    other = compare(mlaut2018, seed=1).bayesian["Bayesian signed rank"]
    drawn = found.bayesian["Bayesian signed rank"]
    assert drawn.table("P(row better)").equals(same.table("P(row better)"))
    assert not drawn.table("P(row better)").equals(other.table("P(row better)"))


def test_the_poisson_binomial_test_of_a_study_counts_its_test_points(make_block):
    rng = np.random.default_rng(0)
    blocks = []
    for name in ("iris", "wine", "sonar"):
        truth = rng.integers(0, 2, 40)
        said = [np.where(rng.random(40) < p, 1 - truth, truth) for p in (0.1, 0.4)]
        folds = np.zeros(40)
        blocks.append(make_block(truth, said, folds, dataset=name, strategies=("A", "B")))
    results = Results.from_blocks(blocks, "accuracy")
    found = compare(results, n_samples=0)
    assert list(found.bayesian) == ["Bayesian sign", "Poisson binomial"]
    assert found.bayesian["Poisson binomial"].value("P(row better)", "A", "B") > 0.9
    aggregate = compare(Results.from_blocks(blocks, "f1"), n_samples=0)
    assert list(aggregate.bayesian) == ["Bayesian sign"]


def test_it_shows_itself(found):
    page, text = found._repr_html_(), repr(found)
    for word in ("RandomForestClassifier", "p signed rank", "critical difference 1.09209"):
        assert word in page
        assert word in text
    assert "against SVC" in page
    assert found.to_latex() == found.paper_table()


def test_scenario_a_where_the_point_losses_are_known():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7], "B": [0.8, 0.7, 0.75]})
    results = Results.from_table(table, metric="accuracy", n_test=100)
    assert list(compare(results).estimates) == ["(c)", "(a)"]


def test_no_difference_is_said(losses):
    rng = np.random.default_rng(0)
    base = rng.uniform(size=20)
    results = losses({name: base + rng.normal(0, 0.1, 20) for name in "ABC"})
    said = compare(results).sentences()
    assert "Friedman's test does not show that average ranks differ" in said[1]
    assert "0 of 3 pairs" in said[2]


def test_choices(mlaut2018, losses):
    found = compare(mlaut2018, alpha=0.01, correction="shaffer", zeros="zsplit", confidence=0.9)
    assert found.correction == "shaffer"
    assert any("ranked and shared by both sides" in note for note in found.notes)
    assert found.pairs["t"].confidence == 0.9
    gap = losses({"A": [0.1, 0.2, np.nan], "B": [0.2, 0.3, 0.1]})
    with pytest.raises(MissingCellsError):
        compare(gap)
    assert any("left out" in note for note in compare(gap, missing="drop datasets").notes)
    with pytest.raises(AnalysisError, match="did you mean 'holm'"):
        compare(mlaut2018, correction="hoolm")


def test_identical_strategies_and_constant_differences(losses):
    results = losses({"A": [0.1] * 5, "B": [0.1] * 5, "C": [0.2] * 5})
    frame = compare(results).to_frame()
    for test in ("t", "signed rank", "sign", "trinomial", "Nemenyi"):
        assert frame.loc[("A", "B"), (test, "p_value")] == 1.0
        assert 0 < frame.loc[("A", "C"), (test, "p_value")] <= 1.0


# ------------------------------------------- scales, ties and directions


UNITS = pd.DataFrame(
    {"A": [1.0, 2e6, 0.03, 5.0, 7.0, 9.0], "B": [2.0, 1e6, 0.04, 6.0, 8.0, 11.0]},
    index=["cars", "houses", "soil", "wine", "sea", "sky"],
)


@pytest.mark.parametrize("metric", ["rmse", "mse", "mae", "squared", "quantile"])
def test_errors_in_units_of_the_target_have_no_mean_and_no_t_test(metric):
    results = Results.from_table(UNITS, metric=metric)
    found = compare(results)
    assert found.estimates == {}
    assert "t" not in found.pairs
    assert {"signed rank", "sign", "trinomial", "Nemenyi", "Conover", "Siegel"} <= {*found.pairs}
    name = results.metric.name
    why = f"{name}: it is in the unit of each dataset's target"
    assert found.sentences()[0].startswith("Over 6 datasets A has the best average rank, 1.167 [")
    assert found.sentences()[1] == f"Means over datasets do not compare ({why})."
    assert found.notes[0].startswith(
        f"means over datasets do not compare ({why}), so there is no mean and no t-test; the signed"
    )
    assert "t-test" not in found.sentence()
    assert found.leading == "trinomial"
    assert "mean difference" not in " ".join(found.display_frame())


def test_who_asks_for_a_mean_gets_it_with_the_note():
    results = Results.from_table(UNITS, metric="rmse")
    note = (
        "means over datasets do not compare (rmse: it is in the unit of each dataset's target): "
        "take ranks"
    )
    assert note in t_test(results).notes
    assert note in mean_estimates(results).notes
    assert mean_estimates(results).frame.loc["A", "value"] == UNITS["A"].mean()
    one = results.select(datasets=["cars"])
    assert one.incomparable == ""
    accuracy = Results.from_table(pd.DataFrame({"A": [0.9, 0.8], "B": [0.7, 0.8]}), metric="r2")
    assert t_test(accuracy).notes == ()


def test_metrics_that_differ_between_datasets_have_no_mean(tmp_path):
    """AUC and log loss in one table, as the AutoML benchmark has it."""
    rows = [
        (task, framework, fold, metric, value)
        for task, metric, values in (
            ("kc2", "auc", (0.8, 0.85)),
            ("car", "neg_logloss", (-0.3, -0.2)),
            ("cmc", "neg_logloss", (-0.9, -0.8)),
        )
        for framework, value in zip(("forest", "tuned"), values, strict=True)
        for fold in (0, 1)
    ]
    columns = ["task", "framework", "fold", "metric", "result"]
    results = read_automlbenchmark(pd.DataFrame(rows, columns=columns))
    found = compare(results)
    assert found.sentences()[:4] == (
        "Over 3 datasets tuned has the best average rank, 1 [1, 1.861], scenario (c).",
        "Means over datasets do not compare (result: tasks have metrics of their own).",
        "Friedman's test does not show that average ranks differ (p = 0.25).",
        "At level 0.05 of all claims together these differ: 0 of 1 pairs by the trinomial test.",
    )
    assert found.estimates == {}
    assert {"sign", "trinomial", "Nemenyi", "Siegel"} <= {*found.pairs}
    assert not {"t", "signed rank", "Conover"} & {*found.pairs}
    assert list(found.bayesian) == ["Bayesian sign"]
    assert list(found.portmanteau) == ["Friedman F", "Friedman chi2"]
    assert "only the signs of differences compare" in " ".join(found.notes_text())
    related = compare(results.with_clusters({"kc2": "a", "car": "b", "cmc": "b"}))
    assert (list(related.pairs), related.leading) == (["sign"], "sign")
    decided = found.decision(least=1, alpha=0.5)
    assert decided.leader == "tuned"
    assert not {"ratio", "difference"} & set(decided.frame)
    with pytest.raises(AnalysisError, match="'signed rank' cannot be used here"):
        found.decision(test="signed rank", alpha=0.5)
    decision_plot(decided, results)


def test_pairs_of_errors_in_the_units_of_targets_are_counted_by_signs():
    found = compare(Results.from_table(UNITS, metric="rmse"))
    assert "signed rank" in found.pairs
    assert "signed rank" not in " ".join(found.sentences())


def test_equal_strategies_are_called_equal():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7, 0.6, 0.9], "C": [0.5, 0.4, 0.3, 0.4, 0.1]})
    both = Results.from_table(table.assign(B=table["A"])[["A", "B"]], metric="accuracy")
    assert compare(both).sentences()[:2] == (
        "Over 5 datasets A and B have the same mean accuracy, 0.78 [0.5876, 0.8982], scenario (c).",
        "Friedman's test does not show that average ranks differ (p = 1).",
    )
    three = Results.from_table(table.assign(B=table["A"])[["A", "B", "C"]], metric="accuracy")
    found = compare(three)
    assert found.notes[0] == "A and B are equal to the last digit on each dataset"
    said = found.sentences()
    assert said[0].startswith("Over 5 datasets A and B share the highest mean accuracy, 0.78 [")
    assert "A and B are best with 1.5 among all 3, and differ from all others" in said[1] or (
        "A and B are best with 1.5 among all 3, not shown to differ from C" in said[1]
    )


def test_means_that_differ_by_rounding_noise_are_tied_and_real_ones_are_not():
    table = pd.DataFrame({"A": [0.1, 0.2, 0.3], "B": [0.3, 0.1, 0.2], "C": [0.1, 0.2, 0.301]})
    said = compare(Results.from_table(table, metric="misclassification")).sentences()[0]
    assert said.startswith("Over 3 datasets A and B share the lowest mean misclassification, 0.2 ")
    far = table.assign(D=[1e9, 0.1, 0.1])  # one huge value makes no tie of the others
    said = compare(Results.from_table(far, greater_is_better=False)).sentences()[0]
    assert "A and B share the lowest mean loss" in said


def test_scores_are_shown_in_their_own_direction():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7, 0.75], "B": [0.6, 0.7, 0.5, 0.6]})
    found = compare(Results.from_table(table, metric="roc_auc"))
    assert found.sentences()[0].startswith(
        "Over 4 datasets A has the highest mean roc_auc, 0.7875 ["
    )
    assert found.estimates["(c)"].metric == "roc_auc"
    assert found.estimates["(c)"].frame["value"].round(4).to_dict() == {"A": 0.7875, "B": 0.6}
    effect = found.effect("t", "mean difference").loc[("A", "B")]
    assert effect["value"] == pytest.approx(0.1875)
    assert effect["low"] < effect["value"] < effect["high"]
    assert found.display_frame()["mean difference of roc_auc"].iloc[0] == "0.1875"
    assert found.effect("trinomial", "share better").loc[("A", "B"), "value"] == 1.0
    losses = compare(Results.from_table(1 - table, metric="misclassification"))
    assert losses.effect("t", "mean difference").loc[("A", "B"), "value"] == pytest.approx(-0.1875)


def test_cells_that_count_as_last_have_ranks_and_no_mean():
    """Failing costs little in the mean, since all losses are alike: by ranks it does not pay."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(0.1, 0.001, (18, 3)), columns=["xgb", "forest", "tree"])
    table.loc[12:, "xgb"] = 0.01
    table.loc[:11, "xgb"] = np.nan
    results = Results.from_table(table, metric="misclassification")
    filled = treat_missing(results, "failures last")
    assert filled.losses.mean().idxmin() == "xgb"
    found = compare(filled)
    assert found.sentences()[0].startswith(
        "Over 18 datasets (no misclassification of xgb on 12 datasets: there they count as last) "
    )
    assert "xgb has the" not in found.sentence()
    assert found.mean_strategies == ("forest", "tree")
    assert found.pairs["t"].strategies == ("forest", "tree")
    frame = found.to_frame()
    assert len(frame) == 3
    assert np.isnan(frame.loc[("xgb", "tree"), ("t", "p_value")])
    assert found.display_frame().loc[("xgb", "tree"), "p t"] == "-"
    assert "means and t-tests are of the 2 strategies without missing cells" in found.notes[0]


def test_a_mean_that_one_dataset_rules_says_so():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7, 0.6, 0.8], "B": [0.8, 0.7, -1e9, 0.5, 0.6]})
    notes = compare(Results.from_table(table, metric="r2")).notes
    assert notes[0] == (
        "the mean of B rests on 2 (r2 -1e+09), which weighs more than all other datasets together: "
        "take ranks"
    )
    assert not any("A rests on" in note for note in notes)


def test_a_matrix_of_pairs_points_the_way_of_the_metric():
    table = pd.DataFrame({"A": [0.9, 0.8, 0.7, 0.75], "B": [0.6, 0.7, 0.5, 0.6]})
    scores = compare(Results.from_table(table, metric="accuracy"))
    losses = compare(Results.from_table(1 - table, metric="misclassification"))
    shown = scores.in_own_direction("signed rank")
    assert shown.metric == "accuracy"
    assert shown.value("rank-biserial correlation", "A", "B") == 1.0
    assert shown.value("better", "A", "B") == 1.0
    assert shown.statistics.loc["A", "B"] == -scores.pairs["signed rank"].statistics.loc["A", "B"]
    own = losses.in_own_direction("signed rank")
    assert own.value("rank-biserial correlation", "A", "B") == -1.0
    assert own.value("better", "A", "B") == 1.0


@pytest.mark.parametrize(
    ("whole", "told"),
    [
        (
            ["A"],
            "only one strategy has all its cells, so there is no t-test, nor a mean of the others",
        ),
        ([], "no strategy has all its cells, so there is no t-test, nor a mean of the others"),
    ],
)
def test_ranks_alone_where_hardly_any_strategy_has_all_its_cells(whole, told):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.uniform(size=(6, 3)), columns=list("ABC"))
    for place, name in enumerate(n for n in "ABC" if n not in whole):
        table.loc[place, name] = np.nan
    found = compare(Results.from_table(table, metric="accuracy"), missing="failures last")
    assert found.mean_strategies == tuple(whole)
    assert found.notes[0].startswith(told)
    assert "t" not in found.pairs
    assert "mean" not in found.sentence()
    assert len(found.display_frame()) == 3


WIDE = pd.DataFrame(
    {"svm": [0.9, 0.8, 0.7, 0.6], "forest": [0.8, 0.85, 0.75, 0.5]},
    index=pd.Index(["iris", "wine", "glass", "zoo"], name="dataset"),
)


def test_any_form_of_the_scores_is_compared_as_the_same_table(tmp_path):
    long = WIDE.reset_index().melt("dataset", var_name="model", value_name="accuracy")
    WIDE.to_csv(tmp_path / "scores.csv")
    series = long.set_index(["dataset", "model"])["accuracy"]
    sentence = compare(WIDE, metric="accuracy").sentence()
    forms = (long, series, WIDE.T.to_dict(), long.to_dict("records"), tmp_path / "scores.csv")
    for form in forms:
        found = compare(form, metric="accuracy")
        assert found.sentence() == sentence
        assert "Note: Read: 4 datasets" in str(found)
    sources = {name: name[0] for name in WIDE.index}
    clustered = compare(long, metric="accuracy", clusters=sources)
    assert (
        clustered.results.clusters
        == compare(WIDE, metric="accuracy", clusters=sources).results.clusters
    )


def test_a_table_that_lies_the_other_way_is_not_compared_in_silence():
    with pytest.raises(AnalysisError, match=r"look like strategies by their names.*give table\.T"):
        compare(WIDE.T, metric="accuracy")
    turned = compare(Results.from_table(WIDE.T, metric="accuracy"))
    assert set(turned.results.datasets) == {"svm", "forest"}
