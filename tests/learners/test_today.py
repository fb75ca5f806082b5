"""The strategies of the collection "Today", with the packages that they need."""

from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import ParameterSampler, train_test_split
from sklearn.pipeline import make_pipeline

from mlaut import Data, Generic_Estimator, Orchestrator
from mlaut.data import from_frame
from mlaut.estimators import DataShape, as_strategies
from mlaut.estimators.catalogue.registry import _is_installed
from mlaut.experiments.cells.fold_models import new_model
from mlaut.files_io import StudyStore
from mlaut.records import Status

pytestmark = pytest.mark.filterwarnings(
    "ignore:Missing values detected",
    "ignore:For multiclass",
    # what RealMLP's libraries say of each other, and of tables that only torch could write to
    "ignore:.torch.jit.script.:DeprecationWarning",
    "ignore:.isinstance.treespec:FutureWarning",
    "ignore:The given NumPy array is not writable",
)

LEARNERS = ("XGBoost", "LightGBM", "CatBoost", "ExplainableBoosting", "RealMLP")
NAMES = [f"{name}{kind}" for name in LEARNERS for kind in ("Classifier", "Regressor")]
SMALL = {
    "xgboost": {"estimator__n_estimators": 20},
    "lightgbm": {"estimator__n_estimators": 20},
    "catboost": {"estimator__iterations": 20},
    "interpret-core": {"max_rounds": 5, "outer_bags": 2, "n_jobs": 1},
    "pytabkit": {"n_epochs": 40, "n_threads": 1},
}


def small(name):
    (strategy,) = as_strategies(name)
    package = strategy.metadata.package
    if not _is_installed(package):
        pytest.skip(f"{package} is not installed")
    return strategy.set_params(params=SMALL[package], random_state=0)


def table(n=90):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(n, 3)), columns=["a", "size [m]", "c:"])
    frame["kind"] = np.array(["u", "v", "w"])[np.arange(n) % 3]
    frame.loc[3, "a"] = np.nan
    frame.loc[5, "kind"] = None
    return frame, frame["c:"] + (frame["kind"] == "u") + generator.normal(size=n) / 2


def target_of(strategy, numbers):
    if strategy.tasks == ("Regression",):
        return numbers.to_numpy()
    return np.array(["low", "middle", "high"])[np.digitize(numbers, [-0.5, 0.5])]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_with_text_and_gaps_in_a_study(name, tmp_path):
    strategy = small(name)
    features, numbers = table()
    dataset = from_frame(features.assign(y=target_of(strategy, numbers)), "y", name="mixed")
    setup = Data()
    input_io, out_io = (setup.open_hdf5(tmp_path / file, "a") for file in ("in.h5", "study.h5"))
    input_io.save_datasets([dataset])
    setup.split_datasets(input_io, out_io, scheme="holdout")
    Orchestrator(input_io, out_io).run([strategy], verbose=0)
    block = StudyStore(out_io.path).block("mixed")
    assert (block.status[0] == Status.DONE).all(), StudyStore(out_io.path).details("mixed")
    _, test = block.split.rows(0, 0)
    found, truth = block.predictions[0, 0, test], block.truth[test]
    if strategy.tasks == ("Regression",):
        assert np.corrcoef(found, truth)[0, 1] > 0.4
    else:
        assert (found == truth).mean() > 0.4


@pytest.mark.parametrize("name", NAMES)
def test_candidates_of_the_space_are_fitted(name):
    strategy = small(name)
    features, numbers = table()
    fixed, target = strategy.params, target_of(strategy, numbers)
    for drawn in ParameterSampler(strategy.metadata.search_space, 2, random_state=0):
        fitted = strategy.set_params(params={**drawn, **fixed}).fit(features, target)
        assert len(fitted.predict(features)) == len(features)
    assert strategy.takes_weights() is strategy.metadata.weights


def test_catboost_gets_the_categories_as_its_own_call_does():
    catboost = pytest.importorskip("catboost")
    strategy = small("CatBoostRegressor")
    features, numbers = table()
    fitted = strategy.fit(features, numbers)
    stopped = fitted.estimator_.steps[-1][1]
    texts = features.assign(kind=features["kind"].fillna(""))
    held = stopped.validation_rows_
    known = np.setdiff1d(np.arange(len(features)), held)
    seed = stopped.estimator.get_params()["random_state"]
    own = catboost.CatBoostRegressor(
        iterations=20,
        learning_rate=0.05,
        verbose=False,
        allow_writing_files=False,
        random_seed=seed,
    )
    own.fit(
        texts.iloc[known],
        numbers[known],
        cat_features=["kind"],
        eval_set=catboost.Pool(texts.iloc[held], numbers[held], cat_features=["kind"]),
        early_stopping_rounds=stopped.rounds,
    )
    np.testing.assert_array_equal(fitted.predict(features), own.predict(texts))


def test_lightgbm_gets_the_categories_as_its_own_call_does():
    lightgbm = pytest.importorskip("lightgbm")
    strategy = small("LightGBMClassifier").set_params(random_state=3)
    features, numbers = table()
    target = target_of(strategy, numbers)
    codes = np.unique(target, return_inverse=True)[1]
    fitted = strategy.fit(features, target)
    stopped = fitted.estimator_.steps[-1][1]
    renamed = features.assign(kind=features["kind"].astype("category"))
    renamed.columns = ["a", "size  m ", "c ", "kind"]
    rows = train_test_split(
        np.arange(90), test_size=0.2, stratify=codes, random_state=stopped.random_state
    )
    known, held = map(np.sort, rows)
    own = lightgbm.LGBMClassifier(**stopped.estimator.get_params()).fit(
        renamed.iloc[known],
        codes[known],
        eval_X=renamed.iloc[held],
        eval_y=codes[held],
        callbacks=[lightgbm.early_stopping(stopped.rounds, verbose=False)],
    )
    np.testing.assert_array_equal(fitted.predict_proba(features), own.predict_proba(renamed))


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("lightgbm:LGBMRegressor", {"n_estimators": 5, "verbosity": -1, "n_jobs": 1}),
        ("xgboost:XGBRegressor", {"n_estimators": 5, "enable_categorical": True, "n_jobs": 1}),
        (
            "catboost:CatBoostRegressor",
            {"iterations": 5, "verbose": 0},
        ),
    ],
)
def test_learners_of_users_get_categories_as_they_are(path, settings):
    pytest.importorskip(path.partition(":")[0])
    if "catboost" in path:
        settings = {**settings, "allow_writing_files": False}
    model = resolve_name(path)(**settings)
    features, numbers = table()
    found = Generic_Estimator(model).fit(features, numbers)
    own = clone(model)
    if "catboost" in path:
        features = features.assign(kind=features["kind"].fillna(""))
        own.fit(features, numbers, cat_features=["kind"])
    else:
        renamed = features.assign(kind=features["kind"].astype("category"))
        features = renamed.set_axis(["a", "size", "c", "kind"], axis=1)
        own.fit(features, numbers)
    np.testing.assert_array_equal(found.predict(table()[0]), own.predict(features))


def seeds(model):
    return {name: v for name, v in model.get_params().items() if "random_s" in name}


def test_catboost_gets_the_seed_of_the_cell():
    catboost = pytest.importorskip("catboost")
    own = {"iterations": 20, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    features, numbers = table()
    features, numbers = features[["c:"]], numbers.to_numpy()
    unset = catboost.CatBoostRegressor(**own)
    one, other = (
        Generic_Estimator(unset).set_params(random_state=seed).fit(features, numbers)
        for seed in (1, 2)
    )
    drawn = one.estimator_.steps[-1][1].get_params()["random_state"]
    expected = catboost.CatBoostRegressor(**own, random_seed=drawn).fit(features, numbers)
    np.testing.assert_array_equal(one.predict(features), expected.predict(features))
    assert (one.predict(features) != other.predict(features)).any()
    (listed,) = as_strategies("CatBoostRegressor")
    voting = Generic_Estimator(VotingRegressor([("a", unset)]))
    for strategy in (listed, Generic_Estimator(unset), voting):
        model, shape = strategy.assemble(random_state=7), DataShape(10, 2, 0)
        assert any(name.endswith("random_state") for name in seeds(model))
        assert seeds(new_model(strategy, shape, 7, 1)[0]) == seeds(model)
    kept = Generic_Estimator(catboost.CatBoostRegressor(**own, random_seed=3))
    assert list(seeds(kept.assemble(random_state=7)).values()) == [3]
    assert "seeds" in voting.made_of()
    assert "seeds" not in kept.made_of()


def test_a_network_of_skorch_has_parameters_that_begin_with_an_underscore():
    skorch, torch = pytest.importorskip("skorch"), pytest.importorskip("torch")
    net = skorch.NeuralNetClassifier(torch.nn.LazyLinear, module__out_features=2)
    assert Generic_Estimator(make_pipeline(net)).identity()


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_gets_the_seed_of_the_cell(name):
    strategy = small(name).set_params(random_state=None)
    one, same, other = (seeds(strategy.assemble(random_state=seed)) for seed in (1, 1, 2))
    assert one == same
    learner = [n for n in one if "preprocessing" not in n and not n.startswith("estimator__cv")]
    assert learner
    assert not any(one[n] is None or one[n] == other[n] for n in learner)
