from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from contexts import MULTIPLE

from mlaut.analysis.methods.lacoste.pair_probabilities import (
    BETTER,
    _one_dataset,
    error_counts,
    poisson_binomial_from_probabilities,
    poisson_binomial_pairs,
    poisson_binomial_test,
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


@pytest.mark.parametrize("kind", [bool, float])
def test_all_pairs_at_once_are_the_pairs_one_by_one(kind):
    names, rng = ("A", "B", "C", "D"), np.random.default_rng(0)
    losses = [rng.random((4, n)) for n in (20, 30, 40)]
    losses = [x if kind is float else (x < 0.3).astype(float) for x in losses]
    better = np.stack([_one_dataset(table, 1.0) for table in losses], axis=-1)
    np.testing.assert_allclose(better + better.transpose(1, 0, 2), 1)
    pairs = poisson_binomial_pairs(better, names)
    for a, b in pairs.pairs:
        one = poisson_binomial_from_probabilities(better[names.index(a), names.index(b)], [a, b])
        assert list(one.probabilities.values()) == pytest.approx(
            [pairs.table(BETTER).loc[a, b], pairs.table(BETTER).loc[b, a]]
        )
        assert one.statistic == pytest.approx(pairs.statistics.loc[a, b])
        assert one.effect.value == pytest.approx(pairs.table("share of datasets").loc[a, b])


def test_the_counter_example_of_figure_2_is_reported_as_a_cycle():
    # Lacoste, Laviolette & Marchand (2012), Figure 2: risks .1 .2 .3 / .3 .1 .2 / .2 .3 .1.
    risks = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]]
    counts = [[(int(1000 * r), 1000 - int(1000 * r)) for r in row] for row in risks]
    losses = [np.array([np.repeat([1.0, 0.0], c) for c in row]) for row in counts]
    better = np.stack([_one_dataset(table, 1.0) for table in losses], axis=-1)
    pairs = poisson_binomial_pairs(better, ("A", "B", "C"))
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


def test_what_is_shown():
    result = poisson_binomial_from_probabilities([1 - 2.0**-7], ["A", "B"])
    assert result.notes == ("one dataset says little of a context",)
    assert "share of datasets on which A is better" in result.sentence()
    with pytest.raises(AnalysisError, match="are not two names"):
        poisson_binomial_from_probabilities([0.5], ["A", "A"])
