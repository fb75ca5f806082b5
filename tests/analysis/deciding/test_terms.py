"""The terms of an analysis: what is possible, stored before the first result, and changed later."""

import numpy as np
import pytest

import mlaut
from mlaut.analysis.deciding.terms import (
    Chosen,
    check_analysis,
    chosen_now,
    differences,
    fewest_datasets,
    store_analysis,
)
from mlaut.errors import AnalysisError, StudyError
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.records import CLASSIFICATION, Analysis, Cell, Outcome, Split, Status

KNOWN = {"strategies": ["A", "B"], "tasks": [CLASSIFICATION]}


@pytest.fixture
def study(tmp_path):
    """Return a study of two strategies on one dataset, without results."""
    made = StudyStore(tmp_path / "s.h5")
    truth, split = np.zeros(4, dtype=np.int32), Split(np.array([[0, 0, -1, -1]], np.int16), "h")
    made.save_splits([SplitEntry("d", "/d", CLASSIFICATION, "f", ("n", "y"), truth, split)])
    made.allocate([StrategyEntry("A", "a"), StrategyEntry("B", "b")])
    return made


def run(study):
    with study.writing({"started": "2026-01-02T03:04:05+00:00"}) as writer:
        done = np.zeros(2, dtype=np.int32)
        writer.write(Outcome(Cell("d", "A", 0, 0), Status.DONE, done, seed=0))


def test_the_fewest_datasets_are_those_of_the_smallest_p_value():
    for k in (2, 5, 30):
        n, pairs = fewest_datasets(k, Analysis(test="t")), k * (k - 1) / 2
        assert 2 * 0.5**n * pairs <= 0.05 < 2 * 0.5 ** (n - 1) * pairs
        assert fewest_datasets(k, Analysis()) == 6  # jointly: 2 / 2^6 for any number of pairs
    assert fewest_datasets(9, Analysis(question="control: A")) == 9
    assert fewest_datasets(2, Analysis(least=12)) == 12
    assert fewest_datasets(2, Analysis(alpha=0.0625)) == 5  # 2 / 2^5 is exactly the level


def test_defaults_are_filled_in_and_stored_before_the_first_result(study):
    stored = store_analysis(study, analysis=Analysis(), title="Trees", **KNOWN)
    assert (stored.metric, stored.test, stored.missing) == (
        "accuracy",
        "signed rank",
        "failures last",
    )
    run(study)
    chosen = Chosen.of(study)
    assert chosen.analysis == stored
    assert chosen.title == "Trees"
    assert chosen.when.endswith(", before the first result")
    assert chosen.changes == ()
    assert len(study.runs) == 1  # an analysis is no run
    store_analysis(study, analysis=stored, **KNOWN)
    assert len(study.analyses) == 1  # nothing has changed


def test_changes_after_results_are_known_are_named(study):
    store_analysis(study, analysis=Analysis(metric="mcc"), **KNOWN)
    store_analysis(study, analysis=Analysis(metric="accuracy"), **KNOWN)
    run(study)
    assert Chosen.of(study).changes == ()
    store_analysis(study, analysis=Analysis(metric="accuracy", alpha=0.01), **KNOWN)
    chosen = Chosen.of(study)
    assert chosen.analysis.alpha == 0.01
    (change,) = chosen.changes
    assert change.endswith(", when 1 results were known: alpha from 0.05 to 0.01")
    read = chosen.read_with(metric="rmse")
    assert read.analysis.test == "trinomial"  # the default of the new metric
    assert read.changes[-1] == (
        "changed for this report, when the results were known: metric from accuracy to rmse, "
        "test from signed rank to trinomial"
    )
    assert chosen.read_with(metric="accuracy") == chosen
    unknown = Chosen(Analysis(metric="of another program", test="sign"), "before the results")
    assert unknown.read_with(metric="mcc").analysis.test == "sign"


def test_an_analysis_chosen_late_says_so(study):
    run(study)
    store_analysis(study, analysis=Analysis(), **KNOWN)
    assert Chosen.of(study).when.endswith(", when 1 results were known")
    assert chosen_now().when == "chosen after the scores were known"


def test_what_is_stored_stays_unless_it_is_replaced(study):
    store_analysis(study, analysis=Analysis(test="sign"), title="T", **KNOWN)
    assert store_analysis(study, analysis=Analysis(), keep=True, **KNOWN).test == "sign"
    assert store_analysis(study, analysis=Analysis(), **KNOWN).test == "signed rank"
    assert Chosen.of(study).title == "T"


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"question": "worst"}, "question 'worst' is not known"),
        ({"question": "control: C"}, "strategy 'C' is not in these results"),
        ({"metric": "acuracy"}, "metric 'acuracy'"),
        ({"metric": "r2"}, "metric 'r2' suits no dataset"),
        ({"secondary": ("nix",)}, "metric 'nix'"),
        ({"test": "wilcoxn"}, "test 'wilcoxn' is not known"),
        ({"alpha": 5}, "alpha = 5 is not between 0 and 1"),
        ({"rope": -1.0}, "rope = -1.0 is not a number of 0 or more"),
        ({"least": -1}, "least = -1 is not a number of 0 or more"),
        ({"missing": "wurst"}, "missing 'wurst' is neither a treatment nor a strategy"),
    ],
)
def test_terms_that_are_not_possible_are_named(terms, message):
    with pytest.raises(AnalysisError) as caught:
        check_analysis(Analysis(**terms), **KNOWN)
    assert message in str(caught.value)


def test_all_mistakes_are_named_at_once():
    with pytest.raises(AnalysisError, match=r"alpha = 2 .*; test 'x'"):
        check_analysis(Analysis(alpha=2, test="x"))
    with pytest.raises(AnalysisError, match="another unit on each dataset"):
        check_analysis(Analysis(metric="rmse", rope=0.1))


@pytest.mark.parametrize("damage", [{"analysis": {"alpha": "a"}}, {"title": 3}, {"analysis": 1}])
def test_a_damaged_record_is_named(study, damage):
    store_analysis(study, analysis=Analysis(), **KNOWN)
    study.store_analysis({**study.analyses[0], "id": "other", **damage})
    with pytest.raises(StudyError, match="the stored analysis has no valid"):
        Chosen.of(study)


def test_a_study_file_and_a_study_store_it(tmp_path):
    study = mlaut.Study(tmp_path / "s.h5")
    study.analysis("Two", question="control: BaselineClassifier")
    study.add_datasets(["starter/iris", "starter/zoo"])
    study.run(["BaselineClassifier", "GaussianNaiveBayes"], engine="inline", verbose=0)
    chosen = Chosen.of(StudyStore(study.path))
    assert chosen.analysis.question == "control: BaselineClassifier"
    assert chosen.analysis.metric == "accuracy"
    assert chosen.when.endswith("before the first result")
    compared = study.compare()
    assert compared.chosen == chosen
    assert compared.decision().answer() == (
        "Too few datasets to be sure (2, and at least 6 are needed). If you must choose now, use "
        "GaussianNaiveBayes. It is first on both datasets. Other datasets may have another order."
    )
    report = study.report(alpha=0.01)
    assert report.title == "Two"
    assert report.sections[0].decision.certainty()[0] == (
        f"Planned, but changed: the way to compare was {chosen.when}."
    )


def test_a_default_that_is_not_written_out_is_no_change():
    stored = Chosen(Analysis(metric="accuracy", test="signed rank"), "chosen before")
    assert stored.read_with(**vars(Analysis())).changes == ()
    assert stored.read_with(test="", metric="accuracy", rope=0.0).changes == ()
    signs = Chosen(Analysis(metric="accuracy", test="sign"), "chosen before")
    (change,) = signs.read_with(test="").changes
    assert change.endswith("test from sign to signed rank")


def test_a_term_is_stored_and_read_by_its_default_alone(study):
    terms = {"rope": 1, "least": 9, "secondary": ("mcc",), "clusters": {"d": "ecg"}}
    store_analysis(study, analysis=Analysis(**terms), **KNOWN)
    (record,) = study.analyses
    assert record["analysis"] | {"secondary": ["mcc"]} == record["analysis"]
    assert Chosen.of(study).analysis == Analysis("best", "accuracy", test="signed rank", **terms)
    del record["analysis"]["clusters"]  # studies of before this term came do not have it
    study.store_analysis({**record, "id": "older"})
    assert Chosen.of(study).analysis.clusters == {}


def test_changed_terms_are_named_with_their_values():
    after = Analysis(rope=0.02, least=12, clusters={"a": "x", "b": "x"}, test="t")
    assert differences(Analysis(), after) == (
        "test from the default to t, rope from 0 to 0.02, least from 0 to 12, clusters from none "
        "to 1 source of 2 datasets"
    )
    assert differences(after, after) == ""
