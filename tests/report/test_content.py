"""What a report says: the numbers of the analysis, whatever the study lacks."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_up import made_up_study

from mlaut import Study
from mlaut.analysis import Results, compare, mean_estimates, treat_missing
from mlaut.cli import main
from mlaut.errors import AnalysisError
from mlaut.files_io import StudyStore
from mlaut.records import REGRESSION
from mlaut.report import content, make_report
from mlaut.report.drawing import figures, pictures
from mlaut.report.explorer.packing import Packer
from mlaut.report.explorer.views import view
from mlaut.report.page import as_html
from mlaut.report.tables import pair_table
from mlaut.report.terminal import as_text

NAMES = ["good", "middling", "poor"]
SETS = [f"set {i}" for i in range(8)]


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    return made_up_study(tmp_path_factory.mktemp("study") / "s.h5", NAMES, SETS, folds=2)


def test_numbers_are_those_of_the_analysis(complete):
    section = make_report(complete).sections[0]
    results = Results.from_study(complete, "accuracy")
    comparison = compare(results)
    assert section.title == "accuracy of 3 strategies on 8 datasets"
    assert section.sentences == comparison.sentences()
    summary = section.tables["summary"]
    assert summary.index[0] == comparison.ranks.frame.index[0]
    expected = mean_estimates(results, as_scores=True).frame
    np.testing.assert_array_equal(summary["mean accuracy"], expected["value"][summary.index])
    np.testing.assert_array_equal(summary["low (c)"], expected["low"][summary.index])
    pd.testing.assert_frame_equal(section.tables["pairs"], comparison.to_frame())
    assert list(section.estimates) == ["(a)", "(b)", "(c)"]
    pd.testing.assert_frame_equal(
        section.tables["intervals"].loc["(c)"], comparison.estimates["(c)"].frame
    )
    np.testing.assert_allclose(summary["training seconds"][NAMES], [0.01, 0.013, 0.0169])


def test_people_read_the_metric_in_its_own_direction(complete):
    section = make_report(complete).sections[0]
    scores = Results.from_study(complete, "accuracy").scores
    assert "the highest mean accuracy, 0.9" in section.sentences[0]
    for table in section.estimates.values():
        assert table.metric == "accuracy"
        np.testing.assert_allclose(table.frame["value"], scores.mean()[table.frame.index])
        assert (table.frame["low"] <= table.frame["value"]).all()
        assert (table.frame["value"] <= table.frame["high"]).all()
    pairs = pair_table(section.comparison).loc[("good", "poor")]
    expected = (scores["good"] - scores["poor"]).mean()
    assert pairs["mean difference of accuracy"] == pytest.approx(expected)
    assert pairs["low"] <= pairs["mean difference of accuracy"] <= pairs["high"]
    assert np.sign(pairs["Cohen's d"]) == np.sign(expected)
    shown = section.tables["estimates by dataset"].loc[("set 3", "good")]
    assert shown["low"] <= scores.loc["set 3", "good"] <= shown["high"]
    assert "1 - accuracy" not in " ".join(section.sentences[:1])


def test_the_explorer_says_what_an_interval_of_one_dataset_is_of(complete, tmp_path):
    of_folds = view(make_report(complete).sections[0], Packer())
    assert (of_folds["scenario"], of_folds["of"]) == ("(b)", "re-trained on the seen sources")
    single = made_up_study(tmp_path / "s.h5", NAMES, SETS)
    of_models = view(make_report(single).sections[0], Packer())
    assert of_models["of"] == "the fitted models re-used on the seen sources"


def test_state_says_what_was_run(complete):
    state = make_report(complete).state
    assert state.lines[0] == "48 cells: 48 done."
    assert state.studied() == (
        "Studied: 8 datasets for classification, 40 rows, 2 classes; scored by 2 folds; 3 "
        "strategies, none tuned."
    )
    assert state.lines[1] == "Last run 2026-01-02T03:04:05+00:00 on any: mlaut 0."
    assert state.partial == ""
    assert set(state.tables) == {"datasets", "strategies", "runs"}
    row = state.tables["datasets"].loc["set 0"]
    assert (row["rows"], row["classes"], row["folds"], row["done"]) == (40, 2, 2, 6)
    assert state.tables["strategies"].loc["good", "class"] == "package.good"


def test_one_test_set_says_nothing_of_training_again(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS)
    assert list(make_report(study).sections[0].estimates) == ["(a)", "(c)"]


def test_failures_are_told_and_conclusions_examined(tmp_path):
    failed = [("set 0", "good"), ("set 1", "good")]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=failed, folds=2)
    report = make_report(study)
    assert report.state.partial == ""
    row = report.state.tables["failures"].loc["good"]
    assert (row["status"], row["cells"], row["datasets"]) == ("error", 4, "set 0, set 1")
    section = report.sections[0]
    assert section.title == "accuracy of 3 strategies on 8 datasets"
    assert "4 missing cells of good got a loss just above the largest seen there" in section.notes
    assert section.robustness.n_missing == 4
    assert section.sentences[-1] == section.robustness.sentence()
    assert list(section.robustness.frame)[:2] == ["failures last", "drop datasets"]
    assert section.tables["missing cells"]["counts as"].tolist() == ["last"] * 4


def test_a_strategy_without_a_time_is_not_drawn_by_its_time(tmp_path, draw_only):
    """Times are on a logarithmic axis, which has no 0."""
    draw_only("times")
    study = made_up_study(tmp_path / "s.h5", NAMES, [f"set {i}" for i in range(6)])
    section = make_report(study).sections[0]
    assert pictures(replace(section), "p")["times"].alternative.endswith("on: good.")
    section.tables["summary"].loc["good", "training seconds"] = 0.0
    assert "good" not in pictures(section, "p")["times"].alternative


def crowned(section):
    """Return who leads in each sentence on the best."""
    found = [re.search(r"(\S+) has the (best|highest|lowest)", s) for s in section.sentences]
    return {one[1] for one in found if one}


def test_failures_never_make_a_strategy_look_better(tmp_path, draw_only):
    """The best of all failed on 12 of 18 datasets: it is last there, and it leads nothing."""
    sets = [f"set {i}" for i in range(18)]
    whole = make_report(made_up_study(tmp_path / "whole.h5", NAMES, sets, folds=2)).sections[0]
    assert crowned(whole) == {"good"}
    failed = [(name, "good") for name in sets[:12]]
    study = made_up_study(tmp_path / "s.h5", NAMES, sets, failed=failed, folds=2)
    section = make_report(study).sections[0]
    assert re.match(
        r"Over 18 datasets \(no accuracy of good on 12 datasets: there they count as last\) "
        r"(middling|poor) has the best average rank, ",
        section.sentences[0],
    )
    assert re.match(
        r"Of the 2 strategies without missing cells (middling|poor) has the highest mean accuracy,",
        section.sentences[1],
    )
    assert crowned(section) <= {"middling", "poor"}
    summary = section.tables["summary"]
    assert summary["average rank"]["good"] == pytest.approx(summary["average rank"].max())
    assert summary["datasets without accuracy"].to_dict() == {"good": 12, "middling": 0, "poor": 0}
    assert np.isnan(summary.loc["good", "mean accuracy"])
    assert section.tables["losses"]["good"].isna().sum() == 12
    draw_only("scores", "times")
    drawn = pictures(section, "p")
    assert re.search(r", those that lack datasets last: .*, good 0", drawn["scores"].alternative)
    assert drawn["times"].caption.endswith("Without a mean accuracy, and not shown: good.")
    others = Results.from_study(study, "accuracy", strategies=["middling", "poor"])
    expected = mean_estimates(others, method="t", as_scores=True).frame["value"]
    np.testing.assert_array_equal(summary.loc[expected.index, "mean accuracy"], expected)


def test_datasets_left_out_stand_in_the_first_sentence(tmp_path):
    sets = [f"set {i}" for i in range(17)]
    failed = [(name, "good") for name in sets[:12]]
    study = made_up_study(tmp_path / "s.h5", NAMES, sets, failed=failed)
    assert make_report(study, missing="drop datasets").sections[0].sentences[:2] == (
        "Too few datasets to be sure (5, and at least 6 are needed). If you must choose now, use "
        "good. It is first by average rank, and on 3 of 5 datasets. Other datasets may have "
        "another order.",
        "12 of 17 datasets left out: no accuracy of good on 12 datasets.",
    )


def test_a_strategy_that_failed_everywhere_is_named_and_stops_nothing(tmp_path):
    failed = [(name, "poor") for name in SETS]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=failed)
    section = make_report(study).sections[0]
    assert section.sentences[0].startswith(
        "Over 8 datasets (1 of 3 strategies left out: no accuracy of poor anywhere) "
    )
    assert list(section.results.strategies) == NAMES[:2]
    assert not section.robustness.not_applied


def test_what_was_not_run_is_no_failure(tmp_path):
    """Two datasets wait for a strategy, which failed on a third."""
    waiting = [("set 6", "good"), ("set 7", "good")]
    study = made_up_study(
        tmp_path / "s.h5", NAMES, SETS, failed=[("set 0", "good")], not_run=waiting
    )
    section = make_report(study).sections[0]
    assert section.sentences[0].startswith(
        "Over 6 datasets (2 of 8 datasets left out: not run by all; no accuracy of good on 1 "
        "dataset: there they count as last) "
    )
    told = section.tables["missing cells"].set_index("dataset")["counts as"].to_dict()
    assert told == {"set 0": "last", "set 6": "left out", "set 7": "left out"}


def test_errors_in_units_of_the_target_have_ranks_and_no_means(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, task=REGRESSION, folds=2)
    section = make_report(study, "rmse").sections[0]
    assert section.sentences[0].startswith("Over 8 datasets good has the best average rank, 1.")
    assert section.sentences[1] == (
        "Means over datasets do not compare (rmse: it is in the unit of each dataset's target)."
    )
    assert section.estimates == {}
    assert list(section.tables["summary"]) == [
        "average rank", "rank std error (c)", "rank low (c)", "rank high (c)", "training seconds",
    ]  # fmt: skip
    assert "mean" not in " ".join(pair_table(section.comparison).columns)
    drawn = figures(section)
    assert not {"scores", "intervals"} & set(drawn)
    _, caption, _ = drawn["times"]
    assert "average rank" in caption


def test_bounds_are_left_out_aloud_where_they_would_take_too_long(tmp_path, monkeypatch):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=[("set 0", "good")])
    assert "best for the first" in make_report(study).sections[0].robustness.frame
    monkeypatch.setattr("mlaut.report.content._MOST_TESTS", 5)  # two runs of three pairs are 6
    section = make_report(study).sections[0]
    assert list(section.robustness.frame) == ["failures last", "drop datasets"]
    assert any("too many pairs to examine" in note for note in section.notes)


def test_a_fallback_stands_in_and_every_cell_that_it_fills_is_flagged(tmp_path):
    gaps = [("set 0", "poor"), ("set 3", "poor")]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=gaps)
    before = StudyStore(study.path).block("set 0").status
    section = make_report(study, missing="middling").sections[0]
    flagged = section.tables["missing cells"]
    assert flagged[["dataset", "strategy"]].to_numpy().tolist() == [list(gap) for gap in gaps]
    scores = Results.from_study(study, "accuracy")
    k = scores.strategies.index("middling")
    expected = [scores.cells[0, k, 0, 0], scores.cells[3, k, 0, 0]]
    assert flagged["imputed"].tolist() == expected
    assert "2 missing cells of poor got the loss of middling" in section.notes
    assert int(section.results.imputed.sum()) == 2
    assert section.results.select(strategies=["good"]).imputed.sum() == 0
    np.testing.assert_array_equal(StudyStore(study.path).block("set 0").status, before)


def test_a_study_file_names_the_fallback(tmp_path, capsys):
    made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=[("set 0", "poor")])
    file = tmp_path / "study.toml"
    file.write_text('[study]\noutput = "s.h5"\n[report]\nmissing = "middling"')
    main(["report", str(file), "--format", "full"])
    assert "1 missing cell of poor got the loss of middling" in capsys.readouterr().out
    main(["report", str(file), "--missing", "drop datasets", "--format", "full"])
    assert "1 of 8 datasets left out for missing cells: set 0" in capsys.readouterr().out


def test_a_treatment_that_is_chosen_is_used(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=[("set 0", "good")])
    section = make_report(study, missing="worst").sections[0]
    expected = treat_missing(Results.from_study(study, "accuracy"), "worst")
    pd.testing.assert_frame_equal(section.tables["losses"], expected.losses)
    with pytest.raises(AnalysisError, match="missing 'wurst' is neither"):
        make_report(study, missing="wurst")


def test_failures_never_lift_a_strategy_where_nothing_can_be_tested(tmp_path):
    failed = [(name, "poor") for name in SETS[1:]]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, failed=failed)
    section = make_report(study, missing="drop datasets").sections[0]
    assert section.comparison is None
    assert "7 of 8 datasets left out: no accuracy of poor on 7 datasets." in " ".join(
        section.headline
    )
    everything = [(name, other) for name in SETS[:1] for other in NAMES if other != "poor"]
    study = made_up_study(tmp_path / "none.h5", NAMES, SETS, failed=[*failed, *everything])
    section = make_report(study, missing="drop datasets").sections[0]
    assert section.sentences[0].startswith("Nothing can be compared yet: every one of the 8")
    summary = section.tables["summary"]
    assert summary["datasets"].to_dict()["poor"] == 1
    assert summary.index[-1] == "poor"


def test_a_partial_study_says_so(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, not_run=[("set 7", "poor")])
    report = make_report(study)
    assert report.state.partial == (
        "PARTIAL: 1 of 24 cells were not run yet; what follows may change."
    )
    assert report.state.partial in str(report)
    assert report.sections[0].title.endswith("on 7 datasets")
    assert report.sections[0].decision.steps()[0].to_do.startswith("Run the rest of the study")
    assert report.sections[0].decision.provisional


def test_a_study_that_has_just_begun_compares_nothing(tmp_path):
    not_run = [(name, "poor") for name in SETS] + [(name, "middling") for name in SETS[1:]]
    not_run += [("set 0", "good")]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, not_run=not_run)
    section = make_report(study).sections[0]
    assert section.comparison is None
    assert section.sentences[0].startswith("Nothing can be compared yet: every one of the 8 data")
    summary = section.tables["summary"]
    assert list(summary.columns) == ["datasets", "mean accuracy", "training seconds"]
    assert summary["datasets"].to_dict() == {"good": 7, "middling": 1}


def test_one_strategy(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES[:1], SETS)
    section = make_report(study).sections[0]
    assert section.sentences == ("One strategy has no other to be compared with.",)
    assert "pairs" not in section.tables
    scores = Results.from_study(study, "accuracy").scores
    np.testing.assert_allclose(section.tables["summary"]["mean accuracy"][NAMES[:1]], scores.mean())
    assert "(a)" in section.estimates


def test_one_dataset_has_a_first_screen(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS[:1])
    section = make_report(study).sections[0]
    assert section.title == f"accuracy of 3 strategies on {SETS[0]}"
    assert section.decision.scenario in section.estimates
    assert f"For new data like {SETS[0]}, " in section.headline[0]
    assert {"pairs of one dataset", "confusion", "decision"} <= set(section.tables)
    assert "pairs" not in section.tables
    pairs = section.tables["pairs of one dataset"]
    assert list(pairs.columns[1:4]) == ["low", "high", "p"]


def test_regression_has_its_own_metric(tmp_path):
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, task=REGRESSION)
    section = make_report(study).sections[0]
    assert section.title == "r2 of 3 strategies on 8 datasets"
    assert section.tables["summary"].index[0] == "good"
    assert section.tables["estimates by dataset"]["low"].notna().all()  # by the delta method


def test_a_study_without_results(tmp_path):
    study = made_up_study(
        tmp_path / "s.h5", NAMES, SETS, not_run=[(s, n) for s in SETS for n in NAMES]
    )
    with pytest.raises(AnalysisError, match="none of 24 cells is done; run the study first"):
        make_report(StudyStore(study.path))


def test_what_opens_a_study_opens_its_report(complete):
    from mlaut import AnalyseResults, Data

    opened = Data().open_hdf5(complete.path, mode="r")
    assert AnalyseResults(opened).study.path == complete.path
    assert str(make_report(opened)) == str(make_report(complete.path))


def test_warnings_of_fits_are_told(tmp_path, draw_only):
    draw_only()
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, folds=2, warned=["middling", "poor"])
    report = make_report(study)
    text = as_text(report)
    assert "32 cells warned in fitting: see the table of warnings." in text
    (told,) = report.sections[0].cautions
    assert told.why.startswith("middling and poor warned in 16 of 16 fits (")
    assert told.to_do == "Look into the warnings of middling and poor, and run again."
    assert not told.of_choice
    assert content._warned("ConvergenceWarning: lbfgs failed", "3 of 9 fits") == (
        "did not converge in 3 of 9 fits",
        "Scale the data for {}, or raise max_iter",
    )
    table = report.state.tables["warnings"]
    texts = (
        "TuningWarning: 3 tuning folds instead of 5: the rarest class has few rows",
        "TuningWarning: not tuned: too few rows for two folds",
    )
    each = [table.loc[["poor"]].assign(warning=text) for text in texts]
    for warned, told in ((each[:1], []), (each, ["poor warned in 16 of 16 fits (not tuned"])):
        tables = {**report.state.tables, "warnings": pd.concat(warned)}
        found = content._cautions(report.sections[0], replace(report.state, tables=tables))
        assert [step.why[: len(text)] for step, text in zip(found, told, strict=True)] == told
    assert list(table.index) == ["middling", "poor"]
    assert table.loc["poor"].to_dict() == {
        "cells": 16,
        "datasets": "set 0, set 1, set 2 and 5 more",
        "warning": "FitFailedWarning: 0 fits of 80 failed",
    }
    assert "FitFailedWarning: 0 fits of 80 failed" in text
    page = as_html(report)
    assert "<h3>Warnings of fits</h3>" in page
    assert "FitFailedWarning: 0 fits of 80 failed" in page


def test_a_strategy_that_was_tried_on_nothing_stands_in_the_first_sentence(tmp_path):
    waiting = [(name, "poor") for name in SETS]
    study = made_up_study(tmp_path / "s.h5", NAMES, SETS, not_run=waiting)
    first = make_report(study).sections[0].sentences[0]
    assert first.startswith("Over 8 datasets (poor left out: tried on none) good has the highest")


CHOICES = {
    "without": ({"without": "poor"}, ["good", "middling"], SETS, "strategy poor"),
    "only": ({"only": ["good", "poor"]}, ["good", "poor"], SETS, "strategy middling"),
    "datasets": ({"datasets": SETS[:7]}, NAMES, SETS[:7], "dataset set 7"),
    "why": ({"without": {"poor": "gone"}}, ["good", "middling"], SETS, "strategy poor (gone)"),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_a_report_on_a_part_says_first_what_it_leaves_out(complete, choice):
    terms, strategies, datasets, left_out = CHOICES[choice]
    report = make_report(complete, **terms)
    assert f"Left out of this report: {left_out}." in str(report).splitlines()[1]
    whole = Results.from_study(complete, "accuracy")
    expected = compare(whole.select(strategies=strategies, datasets=datasets))
    assert report.sections[0].sentences == expected.sentences()
    assert sorted(report.state.tables["strategies"].index) == sorted(strategies)
    table = make_report(whole.scores, "accuracy", **terms)
    assert list(table.sections[0].scored.strategies) == strategies
    assert left_out in table.state.left_out


def test_a_choice_is_of_what_is_there(complete):
    for terms in ({"only": "god"}, {"without": "god"}):
        with pytest.raises(AnalysisError, match="strategy 'god' is not in these results"):
            make_report(complete, **terms)
    with pytest.raises(AnalysisError, match="leaves nothing to report on"):
        make_report(complete, without=NAMES)


STUDY_FILE = """
[study]
output = "{path}"
[strategies]
names = ["GaussianNaiveBayes"]
[report]
{section}
"""


@pytest.mark.parametrize(
    ("section", "options", "left_out"),
    [
        ("", [], "strategy SVC (study.toml does not name it)"),
        ("", ["--only", "SVC"], "strategy GaussianNaiveBayes"),
        (
            'only = ["SVC"]\ndatasets = ["set 0"]',
            [],
            "strategy GaussianNaiveBayes, dataset set 1",
        ),
    ],
)
def test_a_strategy_that_the_study_file_dropped_is_left_out(
    tmp_path, capsys, section, options, left_out
):
    study = made_up_study(tmp_path / "s.h5", ["GaussianNaiveBayes", "SVC"], SETS[:2], folds=2)
    file = tmp_path / "study.toml"
    file.write_text(STUDY_FILE.format(path=study.path, section=section))
    main(["report", str(file), *options])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"Left out of this report: {left_out}."
    assert lines[0].startswith("Comparison: accuracy of 1 strategy on ")
    main(["report", str(study.path)])
    assert "Left out" not in capsys.readouterr().out


def test_folds_of_groups_are_told_in_words(tmp_path):
    study = Study(tmp_path / "study.h5")
    table = pd.DataFrame({"x": range(40), "who": [row // 4 for row in range(40)], "y": [0, 1] * 20})
    study.add_datasets(table, name="visits", target="y", roles={"group": "who"})
    study.run(["GaussianNaiveBayes"], split="group_kfold(2)", engine="inline", verbose=0)
    assert "scored by 2 folds of groups; 1 classifier" in " ".join(str(study.report()).split())


@pytest.mark.parametrize(
    ("split", "words"),
    [
        ("repeated_kfold(2, 3)", "2 folds 3 times"),
        ("repeated_holdout(1/3, 3)", "holding out 1/3 of the rows 3 times"),
    ],
)
def test_repeats_of_the_split_are_told(tmp_path, split, words):
    study = Study(tmp_path / "study.h5")
    study.add_datasets("starter/iris")
    study.run(["BaselineClassifier"], split=split, engine="inline", verbose=0)
    assert f"scored by {words}; 1 strategy" in study.report().state.studied()


def test_a_metric_need_not_suit_the_datasets_that_are_not_chosen(tmp_path):
    study = Study(tmp_path / "study.h5")
    names = ["ionosphere", "haberman-survival", "wine", "servo"]
    study.add_datasets([f"starter/{name}" for name in names])
    strategies = ["GaussianNaiveBayes", "BaselineClassifier", "BaselineRegressor"]
    study.run(strategies, split="kfold(2)", engine="inline", verbose=0)
    with pytest.raises(AnalysisError, match="f1 is for two classes, and dataset 'wine' has 3"):
        study.report(metric="f1")
    report = study.report(metric="f1", datasets=names[:2])
    assert [section.scored.datasets for section in report.sections] == [(*names[:2],)]
    first = str(report)
    assert "Left out of this report: dataset servo, dataset wine." in first
    assert "Studied: 2 datasets for classification" in first
    assert "rows; scored by 2 folds" in str(study.report(datasets=["servo"]))
