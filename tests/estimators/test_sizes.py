"""Strategies say before they run what they cannot do in reasonable time."""

import pytest

from mlaut.errors import StrategyError
from mlaut.estimators import REGISTRY, Generic_Estimator, SizeLimit, as_strategies
from mlaut.estimators.sizes import as_size_limit


def svc(**parameters):
    return as_strategies("SVC")[0].set_params(**parameters)


def test_a_kernel_method_refuses_half_a_million_rows():
    reason = str(svc().too_large(500_000, 20, 2))
    assert reason.startswith("500,000 training rows, more than its limit of ")
    assert reason.endswith("(size_limit=None lifts it)")
    assert svc().too_large(1000, 20, 2) is None


@pytest.mark.parametrize("limit", [None, False, {}, {"rows": 500_000}, SizeLimit(rows=10**6)])
def test_a_limit_can_be_changed_and_lifted(limit):
    assert svc(size_limit=limit).too_large(500_000, 20, 2) is None


def test_a_limit_is_no_part_of_what_a_strategy_is():
    assert svc(size_limit=7).fingerprint() == svc().fingerprint()
    assert svc(size_limit=7).describe()["size_limit"] == {"rows": 7}


def test_classes_count_where_each_costs():
    limit = SizeLimit(values=1000, per_class=True)
    assert limit.exceeded(100, 10, 2) is None
    assert limit.exceeded(100, 10, 0) is None
    assert str(limit.exceeded(100, 10, 3)).startswith(
        "3,000 training values (100 rows x 10 columns x 3"
    )
    assert SizeLimit(values=1000).exceeded(100, 10, 3) is None


def test_other_estimators_have_no_limit_unless_given():
    from sklearn.svm import SVC

    assert Generic_Estimator(SVC()).too_large(10**9, 10**6, 2) is None
    limited = Generic_Estimator(SVC(), properties={"size_limit": {"values": 10}})
    assert str(limited.too_large(6, 2, 2)).startswith(
        "12 training values (6 rows x 2 columns), more"
    )


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"valuse": 3}, "strategy 'SVC': size_limit has no key 'valuse'; did you mean 'values'"),
        ("many", "strategy 'SVC': size_limit 'many' is not a limit; give a SizeLimit"),
        (True, "size_limit True is not a limit"),
    ],
)
def test_what_is_no_limit_is_refused(limit, message):
    with pytest.raises(StrategyError, match=message):
        as_size_limit(limit, "SVC")


def test_limits_of_the_default_strategies_grow_with_what_they_can_do():
    everything = {s.name: s for s in as_strategies([spec.name for spec in REGISTRY.search("all")])}
    ordinary = {name: s.too_large(2_000, 50, 10) for name, s in everything.items()}
    assert {name: why for name, why in ordinary.items() if why} == {}
    huge = {name for name, s in everything.items() if s.too_large(10**8, 100, 2)}
    no_limit = {
        *("BaselineClassifier", "BaselineRegressor", "GaussianNaiveBayes", "BernoulliNaiveBayes"),
        *("LogisticRegression", "PassiveAggressiveClassifier"),
        *("RidgeRegression", "Lasso", "LassoLars"),
    }
    assert everything.keys() - huge == no_limit
    deep, thin = (
        everything[f"NN-{stem}_lr001"].size_limit.rows
        for stem in ("12-layer_wide_with_dropout", "4-layer_thin_dropout")
    )
    assert 10_000 < deep < thin / 50
