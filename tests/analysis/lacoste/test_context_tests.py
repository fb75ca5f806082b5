import numpy as np
import pytest
from contexts import (
    BIMODAL,
    CONTEXT_TESTS,
    MULTIPLE,
    SINGLE,
    Context,
    Draws,
    Roc,
    auc_table,
    judge_on_context,
)
from scipy import stats
from table_tests import lacoste_sign_test, lacoste_signed_rank_test

from mlaut.errors import AnalysisError


def test_where_differences_are_not_symmetric_the_signed_rank_test_is_worse_than_chance():
    # Lacoste, Laviolette & Marchand (2012), section 6.4: .334; the other two above .8.
    rocs = judge_on_context(BIMODAL, n_datasets=14, n_points=100_001, n_repetitions=100_000)
    assert rocs["signed rank"].auc == pytest.approx(0.334, abs=0.01)
    assert rocs["sign"].auc > 0.8
    assert rocs["poisson binomial"].auc > 0.8
    assert all(roc.auc_error < 0.01 for roc in rocs.values())


@pytest.mark.parametrize("context", [SINGLE, MULTIPLE], ids=lambda c: c.name)
def test_the_poisson_binomial_test_beats_the_sign_test(context):
    # Figures 3 and 4.
    table = auc_table(context, [5, 21], 1001, n_repetitions=10_000).frame
    assert (table["poisson binomial"] > table["sign"] + 0.015).all()
    assert (table.loc[(21, 1001)] > table.loc[(5, 1001)])[["sign", "poisson binomial"]].all()


def test_more_test_points_help_up_to_a_limit():
    # Figure 5.
    table = auc_table(MULTIPLE, 21, [11, 1001, 100_001], n_repetitions=5_000).frame
    assert table["poisson binomial"].is_monotonic_increasing
    assert table["poisson binomial"].iloc[-1] < 0.99


def test_answers_are_those_of_the_single_tests():
    draws = MULTIPLE.draw(200, 12, seed=0)
    sign, rank = CONTEXT_TESTS["sign"](draws), CONTEXT_TESTS["signed rank"](draws)
    t = CONTEXT_TESTS["paired t"](draws)
    d = (draws.only_b - draws.only_a) / draws.n
    for j in range(200):
        one = lacoste_sign_test((d[j] > 0).sum(), (d[j] < 0).sum())
        assert sign[1][j] == pytest.approx(1 - one.p_value)
        assert rank[1][j] == pytest.approx(1 - lacoste_signed_rank_test(d[j]).p_value)
        assert t[1][j] == pytest.approx(1 - stats.ttest_1samp(d[j], 0).pvalue)


def _roc(test, **kwargs):
    return judge_on_context(MULTIPLE, 5, 101, {"own": test}, **kwargs)["own"]


def test_a_test_of_ones_own_and_what_is_counted():
    def oracle(draws: Draws):
        sure = np.linspace(0, 1, len(draws.a_is_better))
        truth = np.where(draws.a_is_better, 1, -1)
        return np.where(sure > 0.25, truth, -truth), sure

    roc = _roc(oracle, n_repetitions=400)
    assert roc.auc == 1
    assert (roc.right[-1], roc.wrong[-1]) == (300, 100)
    assert roc.right[roc.thresholds > 0.5][-1] == 200
    assert roc.wrong[roc.thresholds > 0.5][-1] == 0


def test_auc_and_its_error_are_those_of_mann_and_whitney():
    rng = np.random.default_rng(0)

    def noisy(draws: Draws):
        right = rng.random(len(draws.a_is_better)) < 0.7
        truth = np.where(draws.a_is_better, 1, -1)
        sure = np.round(rng.random(len(right)) + 0.3 * right, 1)
        seen["right"], seen["wrong"] = sure[right], sure[~right]
        return np.where(right, truth, -truth), sure

    seen: dict[str, np.ndarray] = {}
    roc = _roc(noisy, n_repetitions=500)
    known = stats.mannwhitneyu(seen["right"], seen["wrong"]).statistic
    assert roc.auc == pytest.approx(known / (len(seen["right"]) * len(seen["wrong"])))
    areas = []
    for _ in range(300):
        x, y = (rng.choice(seen[k], len(seen[k])) for k in ("right", "wrong"))
        areas.append(stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)))
    assert roc.auc_error == pytest.approx(np.std(areas), rel=0.15)


def test_a_test_that_never_errs_has_area_1_and_an_unknown_error():
    roc = Roc("x", "y", np.array([0.9]), np.array([5]), np.array([0]), 5)
    assert (roc.auc, roc.auc_error) == (1, 0.5)


def test_blocks_do_not_change_what_is_counted(monkeypatch):
    monkeypatch.setattr("contexts._BLOCK", 500)
    roc = judge_on_context(SINGLE, 5, tests=["sign"], n_repetitions=1050)["sign"]
    assert roc.n_repetitions == 1050
    assert 900 < roc.right[-1] + roc.wrong[-1] <= 1050


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: judge_on_context(SINGLE, 5, tests=["signd"]), "did you mean 'sign'"),
        (lambda: judge_on_context(SINGLE, 0), "must be at least 1"),
        (lambda: judge_on_context(SINGLE, 5, 0), "must be at least 1"),
        (
            lambda: judge_on_context(
                Context("even", np.ones((1, 3)), np.ones(1), np.array([50])), 5
            ),
            "neither strategy is better in context 'even'",
        ),
        (
            lambda: judge_on_context(
                SINGLE, 5, tests={"mute": lambda d: (np.zeros(len(d.n)), np.zeros(len(d.n)))}
            ),
            "test 'mute' prefers neither strategy",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(AnalysisError, match=message):
        call()
