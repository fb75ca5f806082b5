"""Multiple imputation: regression by hand, Rubin's rules by hand, refusals, units, levels."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlaut.analysis import (
    Results,
    bayesian_sign_test,
    friedman_test,
    nemenyi_test,
    sign_test,
    t_test,
    wilcoxon_test,
)
from mlaut.analysis.methods.multilevel import multiple_imputation
from mlaut.analysis.methods.multilevel.imputation import _filled_in
from mlaut.errors import AnalysisError
from mlaut.records import Status

NAMES = list("ABCD")


def with_gaps(n=20, gaps=5, seed=0, scale=0.03):
    """Return losses of four strategies, of which D lacks some; D resembles C."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, 4))
    noise[:, 3] = 0.8 * noise[:, 2] + 0.6 * noise[:, 3]
    losses = 0.4 + scale * noise + 0.02 * np.arange(4) + rng.uniform(-0.2, 0.2, (n, 1))
    losses[:gaps, 3] = np.nan
    return pd.DataFrame(losses, columns=NAMES, index=[f"d{i}" for i in range(n)])


def of(table, metric="error"):
    return Results.from_table(table, metric=metric)


def test_drawn_losses_are_those_of_a_regression_on_the_other_strategies():
    """On 300 datasets it is least squares of the contrasts, with the spread of the residuals."""
    table = with_gaps(n=300, gaps=30)
    drawn = np.stack([one.losses["D"][:30] for one in _filled_in(of(table), "loss", 80, 0)])
    known, gaps = table.iloc[30:], table.iloc[:30]
    design = [np.column_stack([np.ones(len(x)), x["A"] - x["C"], x["B"] - x["C"]])
              for x in (known, gaps)]  # fmt: skip
    slopes, squares, *_ = np.linalg.lstsq(design[0], known["D"] - known["C"], rcond=None)
    expected = gaps["C"] + design[1] @ slopes
    sd = float(np.sqrt(squares[0] / (len(known) - 3)))
    # 80 draws: the mean of one cell varies by sd / 9, and 30 of them by less than 4 times that
    assert np.abs(drawn.mean(axis=0) - expected).max() < 4.5 * sd / 9
    assert (drawn - expected.to_numpy()).std() == pytest.approx(sd, rel=0.05)


def test_p_values_and_intervals_follow_rubins_rules():
    results = of(with_gaps())
    every = [t_test(one) for one in _filled_in(results, "loss", 20, 0)]
    found = multiple_imputation(results, t_test)
    z = np.array([stats.norm.isf(x.value("p_value", "A", "D") / 2) * x.value("better", "A", "D")
                  for x in every])  # fmt: skip
    b = 1.05 * z.var(ddof=1)
    df = 19 * (1 + 1 / b) ** 2
    t = z.mean() / np.sqrt(1 + b)
    assert found.value("p_value", "A", "D") == pytest.approx(2 * stats.t.sf(abs(t), df))
    assert found.value("t", "A", "D") == pytest.approx(t)
    assert found.value("missing information", "A", "D") == pytest.approx(b / (1 + b))
    key = "mean difference"
    d, low = (np.array([x.value(key + end, "A", "D") for x in every]) for end in ("", " low"))
    half = np.sqrt(np.mean((d - low) ** 2) + stats.norm.ppf(0.975) ** 2 * 1.05 * d.var(ddof=1))
    assert found.value(key, "A", "D") == pytest.approx(d.mean())
    assert found.value(f"{key} low", "A", "D") == pytest.approx(d.mean() - half)
    turned = found.value(f"{key} high", "D", "A")
    assert turned == pytest.approx(-found.value(f"{key} low", "A", "D"))


def test_the_test_of_all_by_hand():
    """Li, Meng, Raghunathan & Rubin 1991, equations 2.2 and 2.17."""
    results = of(with_gaps())
    squares = stats.chi2.isf(
        [friedman_test(one).p_value for one in _filled_in(results, "loss", 20, 0)], 3
    )
    r = 1.05 * np.sqrt(squares).var(ddof=1)
    statistic = (squares.mean() / 3 - 21 / 19 * r) / (1 + r)
    found = multiple_imputation(results, friedman_test)
    assert found.statistic == pytest.approx(statistic)
    assert found.df == (3.0, pytest.approx(3 ** (-3 / 20) * 19 * (1 + 1 / r) ** 2))
    assert found.p_value == pytest.approx(stats.f.sf(statistic, *found.df))


@pytest.mark.parametrize("test", [t_test, wilcoxon_test, sign_test, nemenyi_test])
def test_numbers_stay_in_their_ranges_and_pairs_without_gaps_as_they_are(test):
    table = with_gaps()
    found, whole = multiple_imputation(table, test, metric="error"), test(of(table.iloc[:, :3]))
    if test is not nemenyi_test:  # whose ranks depend on D
        for key in ("p_value", "better"):
            assert found.value(key, "A", "B") == whole.value(key, "A", "B")
        assert found.value("missing information", "A", "B") == 0
    for key, values in found.to_frame().items():
        if "share" in key or key == "p_value":
            assert values.between(0, 1).all()
        if key.startswith(("rank-biserial", "mean difference")):
            assert values.between(-1, 1).all()
    assert any("20 draws of 5 missing cells of D, on the loss scale" in x for x in found.notes)
    assert any("supposed to be missing at random" in note for note in found.notes)
    assert found.source.endswith("Rubin 1987; Licht 2010")


def test_without_gaps_it_is_the_test_itself():
    results = of(with_gaps(gaps=0))
    found, plain = multiple_imputation(results, t_test), t_test(results)
    pd.testing.assert_frame_equal(found.to_frame(), plain.to_frame())


def test_one_sided_p_values_are_those_of_half_the_question():
    results = of(with_gaps())
    better, both = (
        multiple_imputation(results, lambda one, side=side: t_test(one, alternative=side))
        for side in ("better", "two-sided")
    )
    p, opposite = better.value("p_value", "A", "D"), better.value("p_value", "D", "A")
    assert p + opposite == pytest.approx(1)
    assert 2 * min(p, opposite) == pytest.approx(both.value("p_value", "A", "D"))


def test_probabilities_are_means():
    results = of(with_gaps())
    every = [bayesian_sign_test(one) for one in _filled_in(results, "loss", 20, 0)]
    found = multiple_imputation(results, bayesian_sign_test)
    p = [found.value(f"P({side} better)", "A", "D") for side in ("row", "column")]
    mean = np.mean([x.value("P(row better)", "A", "D") for x in every])
    assert p[0] == pytest.approx(mean)
    assert sum(p) + found.value("P(equivalent)", "A", "D") == pytest.approx(1)


def test_losses_are_drawn_in_the_range_of_the_metric():
    table = with_gaps(scale=0.5).clip(0, 1)
    for one in _filled_in(of(table), "loss", 20, 0):
        assert one.losses.to_numpy().min() >= 0
        assert one.losses.to_numpy().max() <= 1
        assert one.imputed.sum() == 5


def test_a_scale_of_its_own_and_units_that_differ():
    """The draws of a dataset in another unit are the same draws in that unit."""
    table = with_gaps() + 1
    unit = 10.0 ** np.random.default_rng(1).integers(-6, 7, (len(table), 1))
    plain, other = (
        _filled_in(of(x, "rmse"), "normalised", 2, 0)[1].losses for x in (table, unit * table)
    )
    assert other.to_numpy() == pytest.approx(unit * plain.to_numpy(), rel=1e-6)
    found = multiple_imputation(unit * table, wilcoxon_test, scale="normalised", metric="rmse")
    assert 0 < found.value("p_value", "A", "D") < 1
    with pytest.raises(AnalysisError, match="choose scale='rank' or 'normalised'"):
        multiple_imputation(unit * table, wilcoxon_test, metric="rmse")
    logit = _filled_in(of(with_gaps()), "logit", 20, 0)
    assert np.mean([one.losses["D"].iloc[:5] for one in logit]) == pytest.approx(
        np.mean([one.losses["D"].iloc[:5] for one in _filled_in(of(with_gaps()), "loss", 20, 0)]),
        abs=0.02,
    )


def test_folds_that_there_are_narrow_what_is_drawn():
    """Nine of ten folds leave little to draw, and none of ten folds much."""
    rng = np.random.default_rng(0)
    n, folds = 20, 10
    effects = rng.normal(0, 0.05, (n, 1, 4))
    losses = 0.4 + effects + rng.normal(0, 0.02, (n, folds, 4))
    few, none = losses.copy(), losses.copy()
    few[0, 0, 3], none[0, :, 3] = np.nan, np.nan
    index = pd.MultiIndex.from_product([range(n), [0], range(folds)])
    spread = []
    for x in (few, none):
        results = of(pd.DataFrame(x.reshape(-1, 4), index, NAMES))
        drawn = [one.losses.loc["0", "D"] for one in _filled_in(results, "loss", 40, 0)]
        spread.append(np.std(drawn))
        assert abs(np.mean(drawn) - losses[0, :, 3].mean()) < 4 * max(spread[-1], 0.005)
    assert spread[0] < 0.01
    assert spread[1] > 3 * spread[0]


def test_what_is_not_missing_at_random_is_refused(make_block):
    blocks = []
    for place in range(4):
        status = np.full((3, 1, 1), Status.DONE, dtype=np.uint8)
        status[2] = Status.ERROR if place == 1 else Status.DONE
        wrong = np.eye(3, 10, dtype=int)[:, None]
        names = {"dataset": f"d{place}", "strategies": tuple("ABC"), "status": status}
        blocks.append(make_block(np.zeros(10, int), wrong, np.zeros((1, 10), int), **names))
    results = Results.from_blocks(blocks, "error")
    with pytest.raises(AnalysisError, match=r"1 cells of C .*a failure is not missing at random"):
        multiple_imputation(results, t_test)


def test_other_refusals():
    table = with_gaps()
    with pytest.raises(AnalysisError, match="n_samples must be 2 or more"):
        multiple_imputation(table, t_test, metric="error", n_samples=1)
    with pytest.raises(AnalysisError, match="ranks are no losses"):
        multiple_imputation(table, t_test, metric="error", scale="rank")
    with pytest.raises(AnalysisError, match="which float is not"):
        multiple_imputation(table, lambda x: float(x.losses.mean().min()), metric="error")
    with pytest.raises(AnalysisError, match="at least 3 datasets"):
        multiple_imputation(table.iloc[4:6], t_test, metric="error")


@pytest.mark.slow
def test_its_level():
    """About 5 % of the t-tests with gaps reject, in 60 null tables of 20 datasets."""
    rejected = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(size=(20, 4))
        table = pd.DataFrame(noise, columns=NAMES)
        table.loc[table["A"] > 0.5, "D"] = np.nan
        found = multiple_imputation(
            table, t_test, metric="loss", greater_is_better=False, seed=seed
        )
        rejected += [found.value("p_value", x, "D") <= 0.05 for x in "ABC"]
    assert 0.005 < np.mean(rejected) < 0.11


def test_awkward_tables():
    """Scales from 1e-12 to 1e12, ties, equal columns, two strategies: p-values, and no warning."""
    rng = np.random.default_rng(4)
    for case in range(8):
        n, k = rng.integers(3, 8), 2 if case < 3 else rng.integers(3, 7)
        values = rng.integers(0, 4, (n, k)) * 10.0 ** rng.integers(-12, 13, (n, 1))
        values[:, 1] = values[:, 0] if case % 3 == 0 else values[:, 1]
        table = pd.DataFrame(values).add_prefix("s")
        table.iloc[0, 1] = np.nan
        found = multiple_imputation(
            table, sign_test, metric="rmse", scale="normalised", n_samples=2, seed=case
        )
        p = found.to_frame()["p_value"]
        assert ((p > 0) & (p <= 1)).all()
        whole = multiple_imputation(
            table, friedman_test, metric="rmse", scale="normalised", n_samples=2, seed=case
        )
        assert 0 < whole.p_value <= 1
