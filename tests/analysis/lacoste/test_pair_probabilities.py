from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from contexts import MULTIPLE

from mlaut.analysis.methods.lacoste.pair_probabilities import (
    BETTER,
    error_counts,
    poisson_binomial_from_probabilities,
    poisson_binomial_pairs,
    poisson_binomial_test,
    probabilities_by_dataset,
)
from mlaut.analysis.methods.lacoste.risk import prob_better_classifier
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError
from mlaut.records import Block, Split

TABLE_6 = pd.read_csv(Path(__file__).parents[1] / "data" / "lacoste2012_table6.csv", index_col=0)


@pytest.mark.parametrize(
    ("pair", "printed", "expected"),
    [("svm_ann", 0.72, 0.7197), ("ann_parzen", 0.88, 0.8764), ("parzen_ada", 0.52, 0.5253)],
)
def test_table_2_from_the_probabilities_of_table_6(pair, printed, expected):
    # Lacoste, Laviolette & Marchand (2012). The p_i are rounded: parzen-ada allows .511 to .538.
    result = poisson_binomial_from_probabilities(TABLE_6[pair], pair.split("_"))
    better = next(iter(result.probabilities.values()))
    assert better == pytest.approx(expected, abs=5e-5)
    assert better == pytest.approx(printed, abs=0.006)
    assert result.n == 22


@pytest.mark.parametrize(("offset", "expected"), [(10, 0.985346), (1, 0.957372)])
def test_svm_against_parzen_from_the_counts_of_table_5(offset, expected):
    # Printed as .99; the columns of Table 5 are k + 10, not k + 1 as its header says.
    h, g = (MULTIPLE.alphas[:, :2] - offset).T
    result = poisson_binomial_from_probabilities(prob_better_classifier(h, g)[0])
    assert result.probabilities["P(A better)"] == pytest.approx(expected, abs=5e-7)


def _losses(kind: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    sizes = rng.integers(20, 60, size=6)
    draw = {
        "zero-one": lambda n: rng.random((4, n)) < 0.3,
        "absolute": lambda n: rng.random((4, n)),
    }
    return {f"d{i}": draw[kind](n).astype(float) for i, n in enumerate(sizes)}


@pytest.mark.parametrize(
    ("kind", "method"), [("zero-one", "Theorem 4.1"), ("absolute", "Bayesian bootstrap")]
)
def test_all_pairs_at_once_are_the_pairs_one_by_one(kind, method):
    names = ["A", "B", "C", "D"]
    given = probabilities_by_dataset(_losses(kind, np.random.default_rng(0)), names)
    pairs = poisson_binomial_pairs(given)
    assert given.method == method
    np.testing.assert_allclose(given.better + given.better.transpose(1, 0, 2), 1)
    for a, b in pairs.pairs:
        one = poisson_binomial_from_probabilities(
            given.better[names.index(a), names.index(b)], [a, b]
        )
        assert list(one.probabilities.values()) == pytest.approx(
            [pairs.table(BETTER).loc[a, b], pairs.table(BETTER).loc[b, a]]
        )
        assert one.statistic == pytest.approx(pairs.statistics.loc[a, b])
        assert one.effect.value == pytest.approx(pairs.table("share of datasets").loc[a, b])


def test_the_counter_example_of_figure_2_is_reported_as_a_cycle():
    # Lacoste, Laviolette & Marchand (2012), Figure 2: risks .1 .2 .3 / .3 .1 .2 / .2 .3 .1.
    risks = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]]
    losses = {}
    for name, row in zip("abc", risks, strict=True):
        losses[name] = [np.repeat([1.0, 0.0], [int(1000 * r), 1000 - int(1000 * r)]) for r in row]
    pairs = poisson_binomial_pairs(probabilities_by_dataset(losses, ["A", "B", "C"]))
    assert pairs.notes == ("no order: A > B > C > A (weakest link 0.69)",)


def _blocks(n_repeats: int) -> list[Block]:
    rng = np.random.default_rng(1)
    blocks = []
    for name in ("iris", "wine"):
        truth = rng.integers(0, 2, 40).astype(np.int32)
        folds = np.stack([rng.permutation(np.arange(40) % 4) for _ in range(n_repeats)])
        wrong = rng.random((2, n_repeats, 40)) < np.array([0.1, 0.4])[:, None, None]
        blocks.append(
            Block(
                dataset=name,
                task="Classification",
                fingerprint=name,
                strategies=("forest", "tree"),
                classes=("no", "yes"),
                truth=truth,
                split=Split(folds.astype(np.int16)),
                status=np.ones((2, n_repeats, 4), dtype=np.uint8),
                predictions=np.where(wrong, 1 - truth, truth).astype(np.int32),
                probabilities=None,
                seconds=np.zeros((2, n_repeats, 4, 3)),
            )
        )
    return blocks


def test_a_study_is_compared_by_its_test_points():
    blocks = _blocks(n_repeats=1)
    pairs = poisson_binomial_test(Results.from_blocks(blocks, "accuracy"))
    p = []
    for block in blocks:
        forest, tree = (block.predictions[:, 0] != block.truth)[:, None]
        p.append(prob_better_classifier((forest & ~tree).sum(), (tree & ~forest).sum())[0])
    known = poisson_binomial_from_probabilities(p, ["forest", "tree"])
    assert pairs.table(BETTER).loc["forest", "tree"] == known.probabilities["P(forest better)"]
    assert any("count as one model" in note for note in pairs.notes)


def test_errors_of_a_study_are_counted():
    blocks = _blocks(n_repeats=1)
    results = Results.from_blocks(blocks, "accuracy")
    h, g, n = error_counts(results, "tree", "forest")
    tree, forest = (blocks[1].predictions[i, 0] != blocks[1].truth for i in (1, 0))
    assert (h[1], g[1], n[1]) == ((tree & ~forest).sum(), (forest & ~tree).sum(), 40)
    with pytest.raises(AnalysisError, match="there are 3 repeats, and a test point counts once"):
        error_counts(Results.from_blocks(_blocks(n_repeats=3), "accuracy"), "tree", "forest")


def test_repeats_are_averaged_and_said():
    pairs = poisson_binomial_test(Results.from_blocks(_blocks(n_repeats=3), "misclassification"))
    assert pairs.table(BETTER).loc["forest", "tree"] > 0.8
    assert any("averaged over the repeats" in note for note in pairs.notes)
    assert (pairs.n, pairs.metric, pairs.scenario) == (2, "misclassification", "(c)")


@pytest.mark.parametrize(
    ("losses", "names", "message"),
    [
        ({}, ["A", "B"], "no dataset is given"),
        ({"d": [[0, 1]]}, ["A"], "1 strategy is given"),
        ({"d": [[0, 1], [1, 0]]}, ["A", "A"], "strategy 'A' is named twice"),
        (
            {"d": [[0, 1], [1, 0]]},
            ["A", "B", "C"],
            r"shape \(2, 2\); expected \(3",
        ),
        ({"d": [[0, 1], [1, np.nan]]}, ["A", "B"], "losses of 'B' on dataset 'd' are missing"),
        (
            {"d": [[0, 1], [1, np.inf]]},
            ["A", "B"],
            "are missing or infinite",
        ),
    ],
)
def test_bad_losses_are_named(losses, names, message):
    with pytest.raises(AnalysisError, match=message):
        probabilities_by_dataset(losses, names)


def test_what_is_shown():
    given = probabilities_by_dataset({"d": [[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]}, ["A", "B"])
    assert given.to_frame().loc["d", ("A", "B")] == 1 - 2.0**-7
    assert given.sentence() == (
        "1 pairs of models on each of 1 datasets: probabilities that the first is better, "
        "not corrected for the number of comparisons, scenario (a)."
    )
    result = poisson_binomial_from_probabilities(given.better[0, 1], ["A", "B"])
    assert result.notes == ("one dataset says little of a context",)
    assert "share of datasets on which A is better" in result.sentence()
