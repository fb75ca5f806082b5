"""Datasets that have sources: the source is the unit of claims, or a statistic refuses."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import (
    Results,
    average_ranks,
    compare,
    elo_ratings,
    friedman_test,
    mean_estimates,
    nemenyi_test,
    probability_of_best,
    read_results,
    treat_missing,
)
from mlaut.analysis.sources.flips import joint_test
from mlaut.errors import AnalysisError
from mlaut.report import make_report


def table(sources=12, each=3, **worse):
    """Return accuracies with a column of sources, whose datasets share their differences."""
    rng = np.random.default_rng(0)
    of_source = np.repeat(np.arange(sources), each)
    shared = rng.normal(0, 0.02, (sources, len(worse)))[of_source]
    noise = rng.normal(0, 0.01, (sources * each, len(worse)))
    frame = pd.DataFrame(0.8 - np.array([*worse.values()]) + shared + noise, columns=[*worse])
    frame.index = pd.Index([f"d{i}" for i in range(len(frame))], name="dataset")
    return frame.assign(source=[f"s{i}" for i in of_source])


FRAME = table(A=0.0, B=0.01, C=0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Results.from_table(FRAME, metric="accuracy"),
        lambda: Results.from_table(
            FRAME.rename(columns={"source": "site"}), metric="accuracy", clusters="site"
        ),
        lambda: (
            compare(
                FRAME.drop(columns="source"), metric="accuracy", clusters=FRAME["source"]
            ).results
        ),
        lambda: Results.from_long(
            FRAME.reset_index().melt(["dataset", "source"], var_name="strategy"),
            value="value",
            metric="accuracy",
        ),
    ],
    ids=["column", "named column", "series", "long"],
)
def test_labels_come_from_a_column_or_a_mapping_and_travel(make):
    results = make()
    assert results.strategies == ("A", "B", "C")
    of = dict(zip(results.datasets, results.clusters, strict=True))
    assert of == FRAME["source"].to_dict()
    assert results.select(datasets=["d4", "d0"]).clusters == ("s1", "s0")


def test_labels_are_read_from_files_and_survive_missing_cells(tmp_path):
    holes = FRAME.copy()
    holes.iloc[0, 0] = np.nan
    path = tmp_path / "t.csv"
    holes.rename(columns={"source": "site"}).reset_index().to_csv(path, index=False)
    results = treat_missing(read_results(path, "accuracy", clusters="site"), "drop datasets")
    assert results.clusters == tuple(FRAME["source"][1:])
    report = make_report(path, "accuracy", clusters="site")
    assert "36 datasets (rows, named by `dataset`) of 12 sources (`site`)" in str(report)
    assert "1 of 36 datasets left out: not run by all" in str(report)


def test_labels_that_do_not_fit_are_refused():
    results = Results.from_table(FRAME.drop(columns="source"), metric="accuracy")
    with pytest.raises(AnalysisError, match="no source for d1"):
        results.with_clusters({"d0": "a"})
    with pytest.raises(AnalysisError, match="all 36 datasets come from one source"):
        average_ranks(results.with_clusters(dict.fromkeys(results.datasets, "a")))
    folds = pd.concat([FRAME.assign(fold=f, source=f"s{f}") for f in (0, 1)])
    with pytest.raises(AnalysisError, match="'d0' has two sources"):
        Results.from_table(folds.set_index("fold", append=True), metric="accuracy")


def test_the_source_is_the_unit_of_every_claim():
    found, plain = compare(FRAME, metric="accuracy"), FRAME.drop(columns="source")
    means = plain.groupby(FRAME["source"]).mean()
    one_each = Results.from_table(means, metric="accuracy")
    pd.testing.assert_frame_equal(
        found.estimates["(c)"].frame.astype(float),
        mean_estimates(one_each, as_scores=True).frame.astype(float),
    )
    losses = found.results.losses.to_numpy()
    first, second = np.triu_indices(3, 1)
    joint = joint_test(losses[:, first] - losses[:, second], found.results.source, shift=0.5)
    p = found.leading_pairs.to_frame()["p_value"]
    np.testing.assert_array_equal(p, joint.adjusted)
    assert set(found.pairs) == {"t", "signed rank", "sign"}
    assert not found.portmanteau
    assert not found.bayesian
    twice = pd.concat([FRAME, FRAME.rename("{}x".format)])  # copies within the sources
    again = compare(twice, metric="accuracy")
    expected = probability_of_best(found.results).frame
    pd.testing.assert_frame_equal(probability_of_best(again.results).frame, expected)
    assert again.leading_pairs.to_frame()["p_value"].iloc[0] > 0.2


def test_a_decision_counts_sources_in_both_ways():
    decision = compare(FRAME, metric="accuracy").decision()
    assert decision.named("avoid") == ("C",)
    assert "on 36 datasets of 12 sources" in decision.title()
    assert "by flips of whole sources" in decision.details()[0]
    uneven = compare(FRAME.iloc[1:], metric="accuracy").decision().frame
    means = FRAME.iloc[1:].groupby("source").mean().mean()  # each source once, as the mean has it
    np.testing.assert_allclose(uneven["difference"][["B", "C"]], means[["B", "C"]] - means["A"])
    np.testing.assert_allclose(uneven["mean accuracy"][["B", "C"]], means[["B", "C"]])
    ways = [check.how.words for check in decision.checks]
    assert ways[-2:] == ["counting each source once", "counting each dataset once"]
    few = compare(table(sources=5, A=0.0, B=0.2), metric="accuracy").decision()
    assert not few.decided
    assert few.answer() == (
        "Too few sources to be sure (5, and at least 6 are needed). If you must choose now, use A. "
        "It is first on all 5 sources. B has accuracy 0.2 below A on average. "
        "Other datasets may have another "
        "order."
    )
    rmse = compare(FRAME, metric="rmse").decision()
    assert rmse.chosen.analysis.test == "sign"


@pytest.mark.parametrize("statistic", [friedman_test, nemenyi_test, elo_ratings])
def test_what_takes_datasets_as_independent_refuses(statistic):
    with pytest.raises(AnalysisError, match="these 36 come from 12 sources"):
        statistic(Results.from_table(FRAME, metric="accuracy"))
    with pytest.raises(AnalysisError, match="the test 'Nemenyi' takes datasets as independent"):
        compare(FRAME, metric="accuracy", test="Nemenyi")


def test_a_decision_names_the_fewest_sources_that_it_rests_on():
    frame = pd.DataFrame({"A": [0.9] * 8 + [0.7] * 6, "B": [0.8] * 14})
    frame.index = [f"solar/{i // 2}{'ab'[i % 2]}" for i in range(14)]
    found = compare(frame, metric="accuracy").decision()
    assert len(found.without) == 3
    assert found.certainty()[1].endswith("A stays first if any 2 datasets are left out.")
    few = replace(found, without=found.without[:1])
    shaky = f"First place is shaky: without dataset {few.without[0]}, B leads."
    assert few.caveats() == (shaky,)
    other = replace(few, frame=few.frame.assign(verdict=["use", "avoid"]))
    assert other.caveats() == (f"{other.doubt}.",) == (f"Without {few.without[0]} B leads.",)
    labelled = compare(frame.assign(source=[n[:-1] for n in frame.index]), metric="accuracy")
    assert labelled.decision().without == ("solar/0", "solar/1")
    frame.index = [f"{'solar' if i % 2 else 'm4'}/{i}" for i in range(14)]
    related = compare(frame, metric="accuracy").decision().related
    assert related.startswith("14 of 14 datasets may be related, by their names (")
    assert not labelled.decision().hint
