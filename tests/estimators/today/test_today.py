"""The collection "Today": what it says of itself, and what happens without its packages."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ParameterSampler

from mlaut.errors import OptionalPackageError
from mlaut.estimators import REGISTRY, as_strategies
from mlaut.estimators.catalogue import registry as installed
from mlaut.estimators.libraries.native import category_arguments, coding_of
from mlaut.estimators.preparing.preprocessing import Preprocessor

TODAY = as_strategies("Today")
OWN = [strategy for strategy in TODAY if strategy.metadata.package == "scikit-learn"]
SMALL = {"n_estimators": 5, "max_iter": 5}


def table(n=60):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(n, 3)), columns=["a", "size [m]", "c"])
    frame["kind"] = np.array(["u", "v", "w"])[np.arange(n) % 3]
    frame.loc[3, "a"] = np.nan
    frame.loc[5, "kind"] = None
    return frame, frame["c"] + (frame["kind"] == "u")


def test_the_collection_is_selected_by_its_name_only():
    names = {spec.name for spec in REGISTRY.search("Today")}
    assert names == {strategy.name for strategy in TODAY}
    for word in ("all", "Ensemble_methods", "Neural_Networks", "Classification"):
        assert not names & {spec.name for spec in REGISTRY.search(word)}
    assert "XGBoostClassifier" in {spec.name for spec in REGISTRY.search(tasks="Classification")}


def test_metadata_is_searched():
    found = {spec.name for spec in REGISTRY.search("Today", early_stopping=True, weights=True)}
    assert found == {
        f"{learner}{kind}"
        for learner in ("XGBoost", "LightGBM", "CatBoost", "ExplainableBoosting")
        for kind in ("Classifier", "Regressor")
    }


def test_weights_are_known_of_all_and_threads_of_those_that_use_them():
    assert {spec.name for spec in REGISTRY.search("Cluster", weights=False)} == {
        "K_Neighbours",
        "K_Neighbours_Regressor",
    }
    found = {spec.name for spec in REGISTRY.search("Ensemble_methods", threads=False)}
    assert found == {"GradientBoostingClassifier", "GradientBoostingRegressor"}


@pytest.mark.parametrize("strategy", TODAY, ids=lambda strategy: strategy.name)
def test_every_space_names_its_publication(strategy):
    assert re.search(r"\(20\d\d\)", strategy.metadata.source)
    assert strategy.metadata.search_space
    assert strategy.param_grid is None


@pytest.mark.parametrize("strategy", OWN, ids=lambda strategy: strategy.name)
def test_candidates_of_a_space_are_fitted(strategy):
    features, numbers = table()
    target = numbers if strategy.tasks == ("Regression",) else np.where(numbers > 0, "yes", "no")
    small = {k: v for k, v in SMALL.items() if k in strategy.build().get_params()}
    for drawn in ParameterSampler(strategy.metadata.search_space, 2, random_state=0):
        fitted = strategy.set_params(params={**drawn, **small}, random_state=0)
        assert fitted.fit(features, target).predict(features).shape == (60,)
    assert strategy.takes_weights() is strategy.metadata.weights


def test_the_description_has_the_space_and_its_source():
    words = as_strategies("HistGradientBoostingClassifier_today")[0].describe()
    assert words["search_space"]["max_leaf_nodes"] == "Integers(low=3, high=2047, log=True)"
    assert "Auto-Sklearn 2.0" in words["source"]
    assert words["takes"]["categories"] is words["takes"]["weights"] is True


def test_a_missing_package_is_one_line(monkeypatch):
    monkeypatch.setattr(installed, "_is_installed", lambda _: False)
    (strategy,) = as_strategies("LightGBMClassifier")
    with pytest.raises(OptionalPackageError) as error:
        strategy.fingerprint()
    assert str(error.value) == (
        "strategy 'LightGBMClassifier' needs lightgbm, which is not installed here: "
        "pip install 'mlaut[lightgbm]', or leave it out"
    )


def test_categories_as_text_keep_gaps_as_a_category_of_their_own():
    features, _ = table(6)
    prepared = Preprocessor(categories="text")
    made = prepared.fit_transform(features)
    assert made["kind"].tolist() == ["u", "v", "w", "u", "v", ""]
    assert prepared.transform(pd.DataFrame({**features, "kind": "new"}))["kind"][0] == "new"
    assert prepared.text_columns(features) == ["kind"]
    assert prepared.describe()["categories"] == "kept as text; a gap is the empty text"


def test_only_a_table_with_texts_names_them_to_the_learner():
    features, _ = table()
    (model,) = (s.assemble() for s in as_strategies("ExtraTreesClassifier"))
    assert category_arguments(model, features) == {}
    model.steps[0] = ("preprocessing", Preprocessor(categories="text"))
    assert category_arguments(model, features) == {"estimator__cat_features": ["kind"]}
    assert category_arguments(model, features[["c"]]) == {}
    assert coding_of(model.steps[-1][1]) is None
