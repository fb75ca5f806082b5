"""Bad input to everything public: an error of one line or a defined answer, never nan, never p = 0.

Every public function is in one of the registries here; a new one has to be added.
"""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from everything import analysis, called_in_own_tests, functions, installed
from matplotlib.figure import Figure

from mlaut.analysis import Results, pairwise
from mlaut.analysis.common.display import Shown
from mlaut.analysis.methods import frequentist, lacoste
from mlaut.errors import AnalysisError, MissingCellsError
from mlaut.records import TRAIN_ONLY, Status

# ------------------------------------------------------------ tests of results

OF_RESULTS = installed(
    {
        "average_ranks": {},
        "bayesian_sign_test": {"rope": 0.01},
        "bayesian_signed_rank_test": {"n_samples": 200},
        "bonferroni_dunn_test": {"control": "A"},
        "box_plot": {},
        "compare": {"n_samples": 200},
        "conover_test": {},
        "correlated_t_datasets": {"rope": 0.01},
        "critical_difference_diagram": {},
        "cv_differences": {"pair": ["A", "B"]},
        "cv_test_datasets": {"df": 3},
        "dataset_estimates": {"method": "wilson"},
        "elo_ratings": {"n_samples": 20},
        "error_counts": {"first": "A", "second": "B"},
        "friedman_test": {},
        "hierarchical_test": {"pair": ["A", "B"]},
        "interquartile_means": {"n_samples": 20},
        "kendalls_w": {},
        "mcnemar_test": {"dataset": "d0"},
        "mean_estimates": {"method": "t"},
        "multi_comparison": {},
        "nemenyi_test": {},
        "performance_profile": {},
        "poisson_binomial_test": {},
        "post_hoc_test": {},
        "probability_of_best": {"n_samples": 200},
        "quade_test": {},
        "rank_table": {},
        "ranksum_test": {},
        "unpaired_t_test": {},
        "retrained_estimates": {},
        "retrained_mean_estimates": {},
        "scale_free_table": {},
        "sign_test": {},
        "t_test": {},
        "treat_missing": {},
        "trinomial_test": {},
        "under_treatments": {"comparison": analysis.t_test},
        "wilcoxon_test": {},
    }
)
ONE_REPEAT = {"error_counts", "mcnemar_test"}
# what needs neither two datasets nor two strategies
OF_ONE_DATASET = {
    "box_plot", "compare", "correlated_t_datasets", "cv_differences", "cv_test_datasets",
    "dataset_estimates", "error_counts", "mcnemar_test", "poisson_binomial_test",
    "retrained_estimates", "retrained_mean_estimates", "treat_missing",
}  # fmt: skip
OF_ONE_STRATEGY = {
    "box_plot", "dataset_estimates", "mean_estimates",
    "retrained_estimates", "retrained_mean_estimates", "treat_missing",
}  # fmt: skip
UNDEFINED = {"conover_test", "hierarchical_test"}  # where nothing varies; they say so
OF_GAPS = {"box_plot", "dataset_estimates", "under_treatments"}


def sets_of_folds(repeats):
    """Return the fold of each of 40 rows: two folds, others in every repeat, or half of them."""
    if repeats == 1:
        return np.where(np.arange(40) < 20, 0, TRAIN_ONLY)[None]
    return np.stack([np.roll(np.arange(40) // 20, 5 * repeat) for repeat in range(repeats)])


@pytest.fixture
def study(make_block):
    """Make results of a study from what is wrong: bool, shape (N, K, R, 40)."""

    def make(wrong, strategies="ABC", failed=False):
        blocks = []
        for place, table in enumerate(np.asarray(wrong, dtype=int)):
            k, repeats, _ = table.shape
            n_folds = 1 if repeats == 1 else 2
            status = np.full((k, repeats, n_folds), Status.DONE, dtype=np.uint8)
            status[-1, 0, 0] = Status.ERROR if failed and place == 0 else Status.DONE
            blocks.append(
                make_block(
                    np.zeros(40, dtype=int),
                    table,
                    sets_of_folds(repeats),
                    dataset=f"d{place}",
                    strategies=tuple(strategies[:k]),
                    status=status,
                )
            )
        return Results.from_blocks(blocks, "error")

    return make


def usual(repeats, n_datasets=5, k=3):
    rng = np.random.default_rng(0)
    return rng.random((n_datasets, k, repeats, 40)) < np.array([0.25, 0.3, 0.35])[:k, None, None]


def constant(repeats):
    """Make one more error of B than of A, and of C than of B, in every fold."""
    wrong = np.zeros((5, 3, repeats, 40), dtype=bool)
    for repeat, folds in enumerate(sets_of_folds(repeats)):
        for fold in (0, 1):
            rows = np.flatnonzero(folds == fold)
            for place in range(5):
                for strategy in range(3):
                    wrong[place, strategy, repeat, rows[: 2 * place + strategy]] = True
    return wrong


def call(name, results):
    how = OF_RESULTS[name]
    return getattr(analysis, name)(results, **how)


def check(value, name):
    """Numbers are defined, or something is said; p-values and probabilities always are."""
    if isinstance(value, Figure):
        value.draw_without_rendering()
        return
    if isinstance(value, tuple):
        for part in value:
            check(part, name)
        return
    if not isinstance(value, Shown):
        assert np.isfinite(np.asarray(value, dtype=float)).all(), name
        return
    shown = [value.sentence(), value.to_latex()] if hasattr(value, "sentence") else []
    for text in [*shown, repr(value), value._repr_html_()]:
        assert text
        assert not re.search(r"\bnan\b", text, re.IGNORECASE), text
    frame = value.to_frame()
    for label, column in frame.items():
        key = label[-1] if isinstance(label, tuple) else str(label)
        if pd.api.types.is_numeric_dtype(column) and key[:2] in ("p_", "p ", "P("):
            assert column.notna().all(), (name, label)
            assert column.between(0, 1).all(), (name, label)
            assert key.startswith("P(") or (column > 0).all(), (name, label)
        elif pd.api.types.is_float_dtype(column) and not np.isfinite(column).all():
            assert value.notes_text(), (name, label)


def shows_itself(value):
    """Every result is frozen, and a table, data, LaTeX and a sentence; tests say what they test."""
    if not isinstance(value, Shown):
        return
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.scenario = "(d)"
    assert "<table" in value._repr_html_()
    assert isinstance(value.to_frame(), pd.DataFrame)
    assert value.to_latex().startswith("\\begin{tab")
    assert value.sentence().endswith(".") or isinstance(value, analysis.Estimate)
    if isinstance(value, analysis.TestResult | analysis.Pairwise | analysis.ResultTable):
        assert value.name
        assert value.source
        assert value.scenario in ("(a)", "(b)", "(c)")
    if isinstance(value, analysis.TestResult | analysis.Pairwise):
        assert len(value.null.split()) > 3


def one_line(error, *words):
    assert "\n" not in str(error)
    assert len(str(error)) < 400
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize("name", OF_RESULTS)
class TestOfResults:
    """Every public function of results, with every kind of bad input."""

    def repeats(self, name):
        return 1 if name in ONE_REPEAT else 2

    def test_good_input(self, name, study):
        value = call(name, study(usual(self.repeats(name))))
        check(value, name)
        shows_itself(value)

    def test_missing_cells(self, name, study):
        results = study(usual(self.repeats(name)), failed=True)
        if name in OF_GAPS:
            check(call(name, results), name)
        elif name == "mcnemar_test" or name == "error_counts":
            results = study(usual(1), failed=True).select(strategies=["A", "C"])
            with pytest.raises(MissingCellsError) as error:
                getattr(analysis, name)(
                    results,
                    **({"dataset": "d0"} if "mc" in name else {"first": "A", "second": "C"}),
                )
            one_line(error.value)
        elif name in {"cv_differences", "hierarchical_test"}:
            with pytest.raises(MissingCellsError) as error:
                getattr(analysis, name)(results, pair=("A", "C"))
            one_line(error.value, "missing=")
        else:
            with pytest.raises(MissingCellsError) as error:
                call(name, results)
            one_line(error.value, "missing=")

    def test_one_dataset(self, name, study):
        results = study(usual(self.repeats(name), n_datasets=1))
        if name in OF_ONE_DATASET:
            check(call(name, results), name)
            return
        with pytest.raises(AnalysisError) as error:
            call(name, results)
        one_line(error.value, "dataset")

    def test_one_strategy(self, name, study):
        results = study(usual(self.repeats(name), k=1))
        if name in OF_ONE_STRATEGY:
            check(call(name, results), name)
            return
        with pytest.raises(AnalysisError) as error:
            call(name, results)
        one_line(error.value)

    def degenerate(self, name, results):
        """Return a defined answer, or say that there is none."""
        if name in UNDEFINED:
            with pytest.raises(AnalysisError) as error:
                call(name, results)
            one_line(error.value)
        else:
            check(call(name, results), name)

    def test_identical_strategies(self, name, study):
        wrong = usual(self.repeats(name))
        wrong[:, 1:] = wrong[:, :1]
        self.degenerate(name, study(wrong))

    def test_identical_losses_on_all_datasets(self, name, study):
        wrong = np.zeros((5, 3, self.repeats(name), 40), dtype=bool)
        wrong[..., ::4] = True
        self.degenerate(name, study(wrong))

    def test_constant_differences(self, name, study):
        self.degenerate(name, study(constant(self.repeats(name))))

    def test_a_table_in_place_of_results(self, name):
        table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.3]})
        with pytest.raises(AnalysisError) as error:
            call(name, table)
        one_line(error.value, "what its scores are", "metric='accuracy'")


GOOD = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.1, 0.4]}


@pytest.mark.parametrize(
    ("table", "how", "words"),
    [
        (GOOD | {"B": [0.2, np.inf, 0.4]}, {}, "infinite"),
        (GOOD | {"B": [0.2, -np.inf, 0.4]}, {}, "infinite"),
        (GOOD, {"greater_is_better": None}, "what its scores are"),
        (GOOD | {"B": ["a", "b", "c"]}, {}, "B"),
        ({}, {}, ""),
    ],
)
def test_tables_that_are_none(table, how, words, losses):
    with pytest.raises(AnalysisError) as error:
        losses(table, **how)
    one_line(error.value, words)


def test_doubled_names(losses):
    table = pd.DataFrame(GOOD)
    for doubled in (
        table.set_axis(["A", "A"], axis=1),
        table.set_axis(["iris", "wine", "iris"], axis=0),
    ):
        with pytest.raises(AnalysisError) as error:
            losses(doubled)
        one_line(error.value, str(doubled.columns[0] if doubled.columns[1] == "A" else "iris"))


# ------------------------------------------------------------- tests of arrays

ARRAYS = {
    "bootstrap_prob_better": {},
    "correlated_t_probabilities": {"rope": 0.01},
    "correlated_t_test": {"rope": 0.01},
    "cv_interval": {},
    "cv_p_values": {"df": 3},
    "cv_statistic": {"df": 3},
    "cv_test": {"df": 3},
    "sign_posterior": {"n_samples": 50},
    "signed_rank_posterior": {"n_samples": 50},
    "sign_probabilities": {"rope": 0.01},
    "signed_rank_probabilities": {"n_samples": 50},
}


@pytest.mark.parametrize("name", ARRAYS)
class TestOfArrays:
    """Every public function of differences."""

    def call(self, name, values):
        return getattr(analysis, name)(np.asarray(values, dtype=float), **ARRAYS[name])

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_what_is_no_number(self, name, bad):
        with pytest.raises(AnalysisError) as error:
            self.call(name, [0.1, bad, 0.2, -0.1])
        one_line(error.value)

    def test_nothing(self, name):
        with pytest.raises(AnalysisError) as error:
            self.call(name, [])
        one_line(error.value)

    @pytest.mark.parametrize("value", [0.0, 0.1, -0.1])
    def test_differences_that_do_not_vary(self, name, value):
        found = self.call(name, [value] * 8)
        if name == "cv_statistic":
            assert found[0] == (0 if value == 0 else np.copysign(np.inf, value))
            return
        check(found, name)
        if name == "cv_p_values":
            assert 0 < found <= 1


# -------------------------------------------------------------- tests of counts

COUNTS = [
    lambda bad: lacoste.risk_posterior(bad, 10),
    lambda bad: lacoste.langford_bounds(bad, 10),
    lambda bad: lacoste.prob_better_classifier(bad, 3),
    lambda bad: frequentist.mcnemar_p(bad, 3),
]
PROBABILITIES = [
    lacoste.poisson_binomial_pmf,
    lacoste.poisson_binomial_probability,
    lacoste.poisson_binomial_share,
    lacoste.poisson_binomial_from_probabilities,
    lambda p: pairwise.adjust(np.array(p), "holm"),
]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1, 2.5])
def test_what_is_no_count(count, bad):
    with pytest.raises(AnalysisError) as error:
        count(bad)
    one_line(error.value)


@pytest.mark.parametrize("of", PROBABILITIES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1, 1.1])
def test_what_is_no_probability(of, bad):
    with pytest.raises(AnalysisError) as error:
        of([0.5, bad])
    one_line(error.value)


# ---------------------------------------------------------------- all are there

HERE = {"adjust", "langford_bounds", "mcnemar_p", "poisson_binomial_from_probabilities",
        "poisson_binomial_pmf", "poisson_binomial_probability", "poisson_binomial_share",
        "prob_better_classifier", "published", "risk_posterior"}  # fmt: skip


def test_no_public_function_is_forgotten():
    """A function is in a list of this file, or a test of its own calls it."""
    here = {*OF_RESULTS, *ARRAYS, *HERE}
    assert here <= functions()
    assert functions() - here <= called_in_own_tests()
