"""The multilevel model: Student's t, analysis of variance, MixedLM, gaps, scales, coverage."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from mlaut.analysis import Results, load_result, save_result
from mlaut.analysis.methods.multilevel import multilevel_model
from mlaut.errors import AnalysisError, MissingCellsError


def simulated(rng, n, k, folds, effects=0.0, over_datasets=0.02, noise=0.02):
    """Return losses by (dataset, fold) and strategy, with levels of datasets and of folds."""
    effects = effects + over_datasets * rng.normal(size=(n, 1, k))
    levels = rng.normal(0.3, 0.1, (n, 1, 1)) + rng.normal(0, 0.03, (n, folds, 1))
    return effects, effects + levels + noise * rng.normal(size=(n, folds, k))


def table(values):
    """Return values, shape (N, F, K), as a table by dataset and fold."""
    index = pd.MultiIndex.from_product(
        [range(values.shape[0]), range(values.shape[1])], names=["dataset", "fold"]
    )
    names = [f"S{i}" for i in range(values.shape[2])]
    return pd.DataFrame(values.reshape(len(index), -1), index, names)


def fitted(values, independent_folds=False, **options):
    sizes = {"n_test": 1, "n_train": 10**9} if independent_folds else {}
    results = Results.from_table(table(values), greater_is_better=False, **sizes)
    return multilevel_model(results, **options)


def test_two_strategies_without_folds_by_hand():
    """With its priors the posterior of a mean difference is Student's t with N - 2 df."""
    d = np.array([0.3, -0.1, 0.4, 0.2, 0.5, 0.1, 0.3, 0.0, 0.6, 0.2])
    found = fitted(np.stack([d, np.zeros(10)], axis=1)[:, None], n_samples=20_000).pairs
    n, scale = 10, np.sqrt(((d - d.mean()) ** 2).sum() / (10 * 8))
    posterior = student(n - 2, d.mean(), scale)
    assert found.value("difference", "S0", "S1") == pytest.approx(d.mean(), abs=0.003)
    for end, at in (("low", 0.025), ("high", 0.975)):
        ours = found.value(f"difference {end}", "S0", "S1")
        assert ours == pytest.approx(posterior.ppf(at), abs=0.01)
    ours = found.value("P(column better)", "S0", "S1")
    assert ours == pytest.approx(posterior.sf(0), abs=0.003)


def test_spreads_are_those_of_the_analysis_of_variance():
    """200 datasets say so much that posterior and moments agree to a few per cent."""
    rng = np.random.default_rng(0)
    effects = 0.05 * rng.normal(size=4)
    _, y = simulated(rng, 200, 4, 5, effects)
    means = y.mean(axis=1)
    rest = y - means[:, None] - y.mean(axis=2, keepdims=True) + y.mean((1, 2), keepdims=True)
    of_fold = (rest**2).sum() / (200 * 4 * 3)
    away = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    of_dataset = (away**2).sum() / (199 * 3) - of_fold / 5
    found = fitted(y, independent_folds=True, n_samples=2000)
    ours = found.spread["standard deviation"] ** 2
    assert ours["strategy x fold"] == pytest.approx(of_fold, rel=0.02)
    assert ours["strategy x dataset"] == pytest.approx(of_dataset, rel=0.03)
    by_hand = means.mean(axis=0) - means.mean()
    assert found.strategies["effect"].sort_index().to_numpy() == pytest.approx(by_hand, abs=3e-4)


def test_effects_and_errors_of_mixedlm():
    """statsmodels' REML with a random effect of strategy x dataset, on folds without a level."""
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(3)
    _, y = simulated(rng, 40, 2, 4, np.array([0.0, 0.02]))
    y = y - y.mean(axis=2, keepdims=True) + rng.normal(0.3, 0.05, (40, 1, 1))
    y = y + rng.normal(0, 0.02 / np.sqrt(2), (40, 4, 1))  # what the common level took away
    long = table(y).stack().rename("y").reset_index().rename(columns={"level_2": "s"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = {"s": "0 + C(s)"}
        fit = smf.mixedlm("y ~ C(s)", long, groups="dataset", re_formula="1", vc_formula=parts)
        fit = fit.fit(reml=True)
    ours = fitted(y, independent_folds=True).pairs
    low, mid, high = (ours.value(f"difference{e}", "S1", "S0") for e in (" low", "", " high"))
    error = fit.bse["C(s)[T.S1]"]
    assert mid == pytest.approx(fit.params["C(s)[T.S1]"], abs=0.1 * error)
    assert (high - low) / 2 / error == pytest.approx(student(38).ppf(0.975), rel=0.06)


def test_seen_datasets_have_only_the_noise_of_folds():
    """Scenario (b): the corrected variance of Nadeau and Bengio, over the seen datasets."""
    rng = np.random.default_rng(1)
    effects, y = simulated(rng, 60, 3, 10, over_datasets=0.2)
    found = fitted(y)
    seen, new = found.seen_pairs, found.pairs
    assert (seen.scenario, new.scenario) == ("(b)", "(c)")
    width = [x.value("difference high", "S0", "S1") - x.value("difference low", "S0", "S1")
             for x in (seen, new)]  # fmt: skip
    by_hand = 2 * 1.96 * np.sqrt(2 * 0.02**2 * (1 / 10 + 1 / 9) / 60)
    assert width[0] == pytest.approx(by_hand, rel=0.1)
    assert width[1] > 10 * width[0]
    truth = effects.mean(axis=0)[0, 1] - effects.mean(axis=0)[0, 0]
    assert seen.value("difference", "S1", "S0") == pytest.approx(truth, abs=by_hand)
    single = fitted(y[:, :1])
    assert single.seen_pairs is None
    assert "seen effect" not in single.strategies
    assert "strategy x fold" not in single.spread.index


def test_effects_shrink_where_strategies_hardly_differ():
    rng = np.random.default_rng(5)
    _, y = simulated(rng, 6, 8, 3, over_datasets=0.05)
    means = y.mean(axis=1) - y.mean(axis=(1, 2))[:, None]
    found = fitted(y, n_samples=1000)
    ours = found.strategies["effect"].sort_index()
    assert (ours**2).sum() < 0.5 * (means.mean(axis=0) ** 2).sum()
    assert ((found.by_dataset.to_numpy()) ** 2).sum() < (means**2).sum()
    assert ours.sum() == pytest.approx(0, abs=1e-12)


def test_levels_and_units_change_nothing_else():
    rng = np.random.default_rng(6)
    _, y = simulated(rng, 8, 3, 4)
    plain = fitted(y, rope=0.01, n_samples=400).pairs.to_frame()
    moved = fitted(y + rng.normal(0, 0.1, (8, 4, 1)), rope=0.01, n_samples=400).pairs.to_frame()
    larger = fitted(y * 1e9, rope=1e7, n_samples=400).pairs.to_frame()
    assert np.allclose(moved, plain, atol=1e-9)
    of_loss = plain.columns.str.startswith("difference")
    assert np.allclose(larger.loc[:, of_loss] / 1e9, plain.loc[:, of_loss], atol=1e-9)
    assert np.allclose(larger.loc[:, ~of_loss], plain.loc[:, ~of_loss], atol=1e-9)


def test_a_wild_strategy_hardly_affects_the_others():
    """Pooled variances would make the interval of the two good strategies some 5 times as wide."""
    rng = np.random.default_rng(7)
    _, y = simulated(rng, 30, 3, 5, np.array([0.0, 0.02, 0.3]))
    wild = y.copy()
    wild[..., 2] += 0.5 * rng.normal(size=(30, 1))
    ends = ("difference low", "difference high")
    few, many = (
        np.array([fitted(x, n_samples=1000).pairs.value(end, "S0", "S1") for end in ends])
        for x in (y, wild)
    )
    assert many == pytest.approx(few, abs=0.25 * (few[1] - few[0]))


def test_gaps_that_depend_on_another_strategy():
    """B fails where A is bad. The means of what is there are biased by .008; the model is not."""
    rng = np.random.default_rng(8)
    n = 150
    alike = 0.02 * rng.normal(size=(n, 1))
    y = 0.3 + np.hstack([alike, alike + 0.003 * rng.normal(size=(n, 1)), np.zeros((n, 1))])
    y = y[:, None] + 0.002 * rng.normal(size=(n, 3, 3))
    missing = y[:, 0, 0] > 0.31
    y[missing, :, 1] = np.nan
    with pytest.raises(MissingCellsError):
        fitted(y)
    found = fitted(y, missing="left out", n_samples=1000)
    truth = np.nanmean(y[:, :, 2]) - (0.3 + alike.mean())
    naive = np.nanmean(y[:, :, 2]) - np.nanmean(y[:, :, 1])
    ours = found.seen_pairs.value("difference", "S2", "S1")
    assert naive - truth > 0.006
    assert ours == pytest.approx(truth, abs=0.001)
    assert any("missing cells are left out" in note for note in found.notes)


def test_single_folds_may_be_missing():
    rng = np.random.default_rng(9)
    _, y = simulated(rng, 20, 3, 6, np.array([0.0, 0.02, 0.05]))
    full = fitted(y, n_samples=1000).pairs.to_frame()["difference"]
    holes = np.where(rng.random(y.shape) < 0.15, np.nan, y)
    some = fitted(holes, missing="left out", n_samples=1000).pairs.to_frame()["difference"]
    assert some.to_numpy() == pytest.approx(full.to_numpy(), abs=0.006)


@pytest.mark.parametrize(
    ("alone", "message"),
    [
        ([(0, [0, 1], [2, 3]), (0, [2, 3], [0, 1])], r"not all of its strategies \(S0, S1, S2, S3"),
        ([(slice(None), slice(None), [3])], "'S3' shares no fold with another strategy"),
        ([(slice(1, None), slice(None), [1, 2, 3])], "at least 3 datasets .* and there are 1"),
    ],
)
def test_what_cannot_be_compared(alone, message):
    _, y = simulated(np.random.default_rng(0), 4, 4, 4)
    for dataset, folds, strategies in alone:
        part = y[dataset]
        part[..., np.arange(4)[folds][:, None] if dataset == 0 else folds, strategies] = np.nan
    with pytest.raises(AnalysisError, match=message):
        fitted(y, missing="left out")


def test_scales():
    rng = np.random.default_rng(2)
    _, y = simulated(rng, 12, 3, 4, np.array([0.0, 0.02, 0.1]))
    units = 10.0 ** rng.integers(-6, 7, (12, 1, 1))
    ranks = fitted(y * units, scale="rank", n_samples=400)
    assert ranks.strategies["effect"].sort_index().sum() == pytest.approx(0, abs=1e-9)
    by_hand = (y.argsort(axis=2).argsort(axis=2) + 1.0).mean(axis=(0, 1)) - 2
    assert ranks.strategies["effect"].sort_index().to_numpy() == pytest.approx(by_hand, abs=0.15)
    normalised = [fitted(x, scale="normalised", n_samples=400) for x in (y, y * units)]
    assert np.allclose(*(x.strategies.to_numpy() for x in normalised), atol=1e-8)
    assert normalised[0].scale in normalised[0].pairs.null


def test_log_odds():
    errors = np.random.default_rng(0).binomial(20, [0.1, 0.3], (8, 5, 2)) / 20
    given = {"metric": "error", "n_test": 20, "n_train": 10**9}
    found = multilevel_model(Results.from_table(table(errors), **given), scale="logit")
    odds = np.log((20 * errors + 0.5) / (20 * (1 - errors) + 0.5)).mean(axis=(0, 1))
    ours = found.pairs.value("difference", "S1", "S0")
    assert ours == pytest.approx(odds[1] - odds[0], abs=0.02)
    with pytest.raises(AnalysisError, match="end of its range are infinite: give n_test"):
        multilevel_model(table(errors), metric="error", scale="logit")
    with pytest.raises(AnalysisError, match="log odds need a loss with two bounds"):
        multilevel_model(table(errors), metric="rmse", scale="logit")
    with pytest.raises(AnalysisError, match=r"cannot be added .* choose scale='rank'"):
        multilevel_model(table(errors), metric="rmse")
    with pytest.raises(AnalysisError, match="scale 'ranks' is not known; did you mean 'rank'"):
        multilevel_model(table(errors), metric="error", scale="ranks")


def test_probabilities_and_shares():
    """A large sample: the share of new datasets is that of the normal distribution over them."""
    rng = np.random.default_rng(4)
    _, y = simulated(rng, 400, 2, 2, np.array([0.0, 0.02]), noise=0.001)
    found = fitted(y, rope=0.01, n_samples=800).pairs
    d = np.diff(y.mean(axis=1), axis=1)
    shares = (d > 0.01).mean(), (np.abs(d) <= 0.01).mean()
    names = "share better", "share equivalent"
    assert [found.value(x, "S0", "S1") for x in names] == pytest.approx(shares, abs=0.04)
    p = [found.value(f"P({x})", "S0", "S1") for x in ("row better", "equivalent", "column better")]
    assert sum(p) == pytest.approx(1)
    assert p[0] > 0.99


def test_equal_strategies_are_equal():
    found = fitted(np.full((5, 2, 3), 0.3), n_samples=80)
    assert (found.pairs.to_frame()["P(equivalent)"] == 1).all()
    assert (found.pairs.to_frame()["share equivalent"] == 1).all()
    assert found.strategies["P(best)"].to_list() == pytest.approx([1 / 3] * 3)
    assert "no two strategies differ on any fold" in found.notes


def test_awkward_tables():
    rng = np.random.default_rng(11)
    for _ in range(6):
        n, k, folds = rng.integers(3, 8), rng.integers(2, 7), rng.integers(1, 4)
        y = rng.integers(0, 4, (n, folds, k)) * 10.0 ** rng.integers(-12, 13, (n, 1, 1))
        for scale in ("loss", "rank", "normalised"):
            frame = fitted(y.astype(float), scale=scale, n_samples=8).pairs.to_frame()
            assert np.isfinite(frame.to_numpy()).all()


def test_it_is_saved_and_loaded(tmp_path):
    _, y = simulated(np.random.default_rng(0), 4, 3, 2)
    found = fitted(y, n_samples=80)
    save_result(found, tmp_path / "found.json")
    loaded = load_result(tmp_path / "found.json")
    assert repr(loaded) == repr(found)
    assert loaded.seen_pairs.to_frame().equals(found.seen_pairs.to_frame())
    assert loaded.by_dataset.equals(found.by_dataset)


def test_the_same_seed_and_another():
    _, y = simulated(np.random.default_rng(0), 6, 3, 3)
    same = [fitted(y, n_samples=80, seed=s).strategies for s in (1, 1, 2)]
    assert same[0].equals(same[1])
    assert not same[0].equals(same[2])


@pytest.mark.parametrize(
    ("n", "least", "most"),
    [(12, 0.65, 0.95), pytest.param(150, 0.75, 0.88, marks=pytest.mark.slow)],
)
def test_coverage(n, least, most):
    """Intervals of level 80 % in both scenarios; measured levels has more kinds of results."""
    rng, inside = np.random.default_rng(0), []
    for seed in range(n):
        effects = 0.02 * rng.normal(size=4)
        of_datasets, y = simulated(rng, 8, 4, 4, effects)
        found = fitted(y, independent_folds=True, n_samples=160, confidence=0.8, seed=seed)
        for pairs, truth in (
            (found.pairs, effects),
            (found.seen_pairs, of_datasets.mean(axis=(0, 1))),
        ):
            d = (truth[:, None] - truth)[np.triu_indices(4, 1)]
            frame = pairs.to_frame()
            inside.append(frame["difference low"].le(d) & frame["difference high"].ge(d))
    # two standard errors of the six dependent pairs of a simulation, and what the prior adds
    for scenario in (0, 1):
        assert least < np.mean(inside[scenario::2]) < most


@pytest.mark.slow
def test_a_large_study_is_fast():
    """The time is checked by hand; here the size, and that errors of Monte Carlo are small."""
    _, y = simulated(np.random.default_rng(0), 121, 30, 10, np.linspace(0, 0.1, 30))
    found = fitted(y, n_samples=1000)
    assert found.pairs.to_frame()["Monte Carlo error"].max() < 0.05
    assert found.strategies.index[0] == "S0"


def test_differences_that_depend_on_each_other_exactly_are_named():
    """They make the model shrink everything, even where one strategy wins on each dataset."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal([0.2, 0.3, 0.4], 0.02, (6, 3)), columns=["A", "B", "C"])
    usual = multilevel_model(table, metric="error", n_samples=400)
    assert not any("depend on each other exactly" in note for note in usual.pairs.notes)
    twice = multilevel_model(table.assign(D=table["A"]), metric="error", n_samples=400)
    assert any("leave such strategies out" in note for note in twice.pairs.notes)
