"""The runner of all tests of pairs: tables, one pair, and a new test in one function."""

import inspect

import numpy as np
import pandas as pd
import pytest
from everything import analysis

from mlaut.analysis import Pairwise, Results, TestResult, compare
from mlaut.analysis.common import blocks
from mlaut.analysis.comparing.compare import PAIR_TESTS
from mlaut.analysis.methods.bayes.sign_tests import bayesian_sign_test, bayesian_signed_rank_test
from mlaut.analysis.methods.frequentist.paired_tests import sign_test, t_test, wilcoxon_test
from mlaut.analysis.methods.frequentist.ranks import joint_signed_rank_test
from mlaut.analysis.pairwise.effects import Effect
from mlaut.analysis.pairwise.pairs import paired_losses
from mlaut.analysis.pairwise.runner import PairStatistics, odd, pair_test
from mlaut.errors import AnalysisError, MissingCellsError

TABLE = pd.DataFrame(
    np.random.default_rng(0).uniform(0.5, 1, (9, 4)).round(2), columns=list("ABCD")
)
RESULTS = Results.from_table(TABLE, metric="accuracy")
TESTS = {
    "t_test": {},
    "wilcoxon_test": {"zeros": "pratt"},
    "sign_test": {"alternative": "better"},
    "trinomial_test": {},
    "ranksum_test": {},
    "unpaired_t_test": {},
    "nemenyi_test": {"confidence": 0.9},
    "post_hoc_test": {"confidence": 0.9},
    "conover_test": {},
    "bayesian_sign_test": {"rope": 0.01},
    "bayesian_signed_rank_test": {"n_samples": 100},
}


def _same(one, other):
    assert one.name == other.name
    assert one.notes == other.notes
    assert one.to_frame().equals(other.to_frame())


@pytest.mark.parametrize("name", TESTS)
def test_a_table_with_its_metric_is_as_good_as_results(name):
    test, how = getattr(analysis, name), TESTS[name]
    _same(test(TABLE, metric="accuracy", **how), test(RESULTS, **how))
    own = test(TABLE, metric="mine", greater_is_better=True, **how)
    assert own.metric == "-mine"
    with pytest.raises(AnalysisError, match="these results are of accuracy: metric and"):
        test(RESULTS, metric="mcc", **how)
    with pytest.raises(
        AnalysisError, match="a table does not say what its scores are: give metric"
    ):
        test(TABLE, **how)


@pytest.mark.parametrize("name", TESTS)
def test_one_pair_is_the_pair_of_all_pairs(name):
    test, how = getattr(analysis, name), TESTS[name]
    every, one = test(RESULTS, **how), test(RESULTS, pair=("C", "A"), **how)
    assert isinstance(every, Pairwise)
    assert isinstance(one, TestResult)
    expected = every.pair("C", "A")
    assert one.strategies == ("C", "A")
    for key in ("statistic", "p_value", "ties", "probabilities"):
        if getattr(expected, key) is not None:
            assert getattr(one, key) == pytest.approx(getattr(expected, key), rel=1e-12)
    for effect, known in zip(one.effects, expected.effects, strict=True):
        numbers, method = (effect.value, effect.low, effect.high), effect.method
        assert method == known.method
        assert numbers == pytest.approx(
            (known.value, known.low, known.high), rel=1e-12, nan_ok=True
        )


def test_a_pair_alone_needs_only_its_own_cells():
    gaps = TABLE.assign(D=TABLE["D"].where(TABLE.index > 3))
    found = analysis.wilcoxon_test(gaps, metric="accuracy", pair=("A", "B"))
    assert found.p_value == analysis.wilcoxon_test(RESULTS).p_values.loc["A", "B"]
    for test in (analysis.wilcoxon_test, analysis.nemenyi_test):  # ranks depend on all strategies
        with pytest.raises(MissingCellsError, match="strategies D"):
            test(gaps, metric="accuracy", pair=("A", "D"))
    with pytest.raises(MissingCellsError, match="strategies D"):
        analysis.nemenyi_test(gaps, metric="accuracy", pair=("A", "B"))


@pytest.mark.parametrize("pair", [("A",), ("A", "A"), ("A", "B", "C"), "A", 3, ("A", "E")])
def test_a_pair_is_two_names_of_strategies(pair):
    with pytest.raises(AnalysisError, match=r"pair = |strategy 'E' is not in these results"):
        analysis.t_test(RESULTS, pair=pair)


def test_losses_are_prepared_once_and_read_only():
    prepared = paired_losses(RESULTS)
    analysis.t_test(RESULTS)
    assert paired_losses(RESULTS) is prepared
    for values in (prepared.losses, prepared.differences, prepared.ranks, prepared.snapped):
        with pytest.raises(ValueError, match="read-only"):
            values[0, 0] = 1.0


def test_help_names_what_every_test_takes():
    for test in PAIR_TESTS.values():
        takes = inspect.signature(test).parameters
        assert {"results", "pair", "metric", "greater_is_better"} <= set(takes)
        assert ("alternative" in takes) == test.test.one_sided
        assert test.__doc__.count("pair : (str, str), optional") == 1
        assert test.__doc__.index("Parameters") < test.__doc__.index("pair : (str, str)")


def test_a_new_test_is_one_function_and_one_entry(monkeypatch):
    @pair_test(name="Largest difference above {least}", null="none", source="here", one_sided=True)
    def largest_test(results, *, least=0.0):
        """Test the largest difference."""
        largest = paired_losses(results).differences.max(axis=0)
        return PairStatistics(
            tables={"statistic": odd(largest)},
            p=lambda side: np.full(
                len(largest), {"two-sided": 0.5, "less": 0.2, "greater": 0.8}[side]
            ),
            effects={"largest": Effect.point(largest)},
        )

    found = largest_test(RESULTS, least=0.1, alternative="better")
    assert found.name == "Largest difference above 0.1"
    assert found.alternative == "the first is better"
    assert list(found.tables) == [
        "statistic", "p_value", "better", "largest", "largest low", "largest high",
    ]  # fmt: skip
    assert (found.p_values.loc["A", "B"], found.p_values.loc["B", "A"]) == (0.2, 0.8)
    monkeypatch.setitem(PAIR_TESTS, "largest", largest_test)
    compared = compare(RESULTS, n_samples=0, correction="bonferroni")
    assert compared.pairs["largest"].p_values.loc["A", "B"] == 1.0
    assert "p largest" in compared.display_frame()


def test_a_comparison_has_the_tests_of_its_table():
    found = compare(RESULTS, n_samples=50)
    assert [*found.pairs, *found.bayesian] == [
        name for name in PAIR_TESTS if name != "Poisson binomial"  # it needs test points
    ]  # fmt: skip
    assert "p (unadjusted)" not in found.pairs["Nemenyi"].tables
    with pytest.raises(AnalysisError, match="unknown option 'zeroes' of compare; did you mean"):
        compare(RESULTS, zeroes="pratt")


@pytest.mark.parametrize("name", TESTS)
def test_an_advantage_above_0_means_that_the_first_is_better(name):
    table = TABLE.assign(A=TABLE["A"] + 0.5, D=TABLE["D"] - 0.5)  # A is best, D is worst, always
    table.loc[8, "D"] = table.loc[8, "C"] + 0.01  # else all datasets would agree
    found = getattr(analysis, name)(
        table, metric="mine", greater_is_better=True, **(TESTS[name] | {"rope": 0.0})
        if "rope" in TESTS[name] else TESTS[name],
    )  # fmt: skip
    advantages = found.advantages()
    assert {*found.effects} <= {*advantages}
    for effect in found.effects:
        assert advantages.loc[("A", "D"), effect] > 0
        turned = -(found.table(effect) - (0.5 if "share" in effect or "P(" in effect else 0.0))
        sign = -1 if "share" in effect or "P(" in effect else 1
        assert advantages.loc[("A", "B"), effect] == sign * turned.loc["A", "B"]
        if f"{effect} low" in advantages:
            low, high = (advantages[f"{effect} {end}"] for end in ("low", "high"))
            assert (low <= advantages[effect]).all()
            assert (advantages[effect] <= high).all()


def test_pairs_in_blocks_have_the_numbers_of_all_at_once(monkeypatch):
    generator = np.random.default_rng(3)
    losses = generator.uniform(size=(12, 7)).round(2)
    losses[:, 3] = losses[:, 2]
    table = pd.DataFrame(losses, columns=list("ABCDEFG"))

    def numbers():
        results = Results.from_table(table, greater_is_better=False)
        made = [
            t_test(results),
            wilcoxon_test(results, zeros="zsplit", alternative="better"),
            sign_test(results),
            joint_signed_rank_test(results),
            bayesian_sign_test(results, rope=0.05),
            bayesian_signed_rank_test(results, rope=0.05, n_samples=300),
        ]
        return {(pairs.name, name): pairs.table(name) for pairs in made for name in pairs.tables}

    whole = numbers()
    monkeypatch.setattr(blocks, "_BLOCK", 4)
    few, many = (blocks.blocks(np.empty((12, 21)), times) for times in (1, blocks.MANY))
    assert (len(few), len(many)) == (10, 4)
    for key, found in numbers().items():
        np.testing.assert_allclose(found, whole[key], rtol=1e-12, err_msg=str(key))
