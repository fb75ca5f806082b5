"""Folds of the user's own in a strategy get the groups of the rows, as in a loop by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlaut import Generic_Estimator, Study
from mlaut.data import from_frame
from mlaut.experiments import plan_study
from mlaut.files_io import StudyStore

pytestmark = pytest.mark.filterwarnings("ignore:dataset .*. 18 of 18 groups")
N = 90
GENERATOR = np.random.default_rng(3)
X = GENERATOR.normal(size=(N, 3))
GROUPS = GENERATOR.permutation(np.arange(N) // 5)
WEIGHTS = GENERATOR.uniform(1, 3, N)
LABELS = np.where(X[:, 0] + GENERATOR.normal(size=N) > 0, "p", "n")
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 5]}


class OwnFolds:
    def get_n_splits(self, X=None, y=None, groups=None):
        return 2

    def split(self, X, y=None, groups=None):
        return GroupKFold(2).split(X, y, groups)


PLAIN = {
    "search": (GridSearchCV(TREE, GRID, cv=GroupKFold(3)), "groups"),
    "own": (GridSearchCV(TREE, GRID, cv=OwnFolds()), "groups"),
    "pipeline": (
        make_pipeline(StandardScaler(), GridSearchCV(TREE, GRID, cv=LeaveOneGroupOut())),
        "gridsearchcv__groups",
    ),
    "nested": (
        make_pipeline(StandardScaler(), make_pipeline(GridSearchCV(TREE, GRID, cv=GroupKFold(2)))),
        "pipeline__gridsearchcv__groups",
    ),
}


def studied(tmp_path, strategies, roles):
    study = Study(tmp_path / "study.h5")
    columns = dict(zip("abc", X.T, strict=True))
    frame = pd.DataFrame({**columns, "w": WEIGHTS, "g": GROUPS, "y": LABELS})
    study.add_datasets(from_frame(frame, "y", name="d", roles=roles))
    strategies = [
        it if isinstance(it, Generic_Estimator) else Generic_Estimator(it, name=name)
        for name, it in strategies.items()
    ]
    study.run(strategies, split=KFold(3), engine="inline", verbose=0)
    store = StudyStore(study.path)
    return store, store.block("d")


@pytest.mark.parametrize("weight", ["weight", "ignore"])
def test_searches_and_pipelines_predict_as_a_loop_by_hand(tmp_path, weight):
    models = {name: model for name, (model, _) in PLAIN.items()}
    _, block = studied(tmp_path, models, {"group": "g", weight: "w"})
    for name, (model, argument) in PLAIN.items():
        for train, test in KFold(3).split(X):
            more = {argument: GROUPS[train]}
            if weight == "weight":
                more[argument.replace("groups", "sample_weight")] = WEIGHTS[train]
            found = model.fit(X[train], LABELS[train], **more).predict(X[test])
            stored = np.array(block.classes)[block.predictions[block.strategies.index(name), 0]]
            assert (stored[test] == found).all(), name


def test_tuning_with_folds_of_groups_and_estimators_that_route(tmp_path):
    calibrated = CalibratedClassifierCV(TREE, cv=GroupKFold(3))
    more = {"param_grid": GRID, "cv": GroupKFold(3)}
    strategies = {
        "calibrated": calibrated,
        "tuned": Generic_Estimator(TREE, name="tuned", **more),
    }
    _, block = studied(tmp_path, strategies, {"group": "g", "ignore": ["w"]})
    assert (block.status == 1).all()
    _, test = block.split.rows(0, 0)
    train = np.setdiff1d(np.arange(N), test)
    with config_context(enable_metadata_routing=True):
        calibrated.fit(X[train], LABELS[train], groups=GROUPS[train])
    np.testing.assert_allclose(
        block.probabilities[0, 0, test], calibrated.predict_proba(X[test]), atol=1e-6
    )


def test_without_groups_the_line_names_the_way_out(tmp_path):
    strategies = {"own": PLAIN["search"][0], "tree": TREE}
    store, block = studied(tmp_path, strategies, {"ignore": ["g", "w"]})
    (reason,) = {details["reason"] for details in store.details("d") if details.get("reason")}
    assert "give a column of the dataset the role group, or leave cv out" in reason
    assert block.status[1].ravel().tolist() == [1, 1, 1]


def test_the_plan_says_what_folds_of_groups_get(tmp_path):
    for name in ("one", "two"):
        frame = pd.DataFrame({"a": X[:, 0], "g": GROUPS, "y": LABELS})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "own.py").write_text(
        "from sklearn.model_selection import GridSearchCV, GroupKFold\n"
        "from sklearn.tree import DecisionTreeClassifier\n"
        "search = GridSearchCV(DecisionTreeClassifier(), {'max_depth': [1]}, cv=GroupKFold(3))\n"
        "strategies = [('search', search), ('tree', DecisionTreeClassifier())]\n"
    )
    (tmp_path / "study.toml").write_text(
        f"[data]\nfolder = '{tmp_path}'\n[data.roles]\ntarget = 'y'\n[data.roles.one]\n"
        "group = 'g'\n[strategies]\nfile = 'own.py'\n[split]\nscheme = 'kfold(3)'\n"
    )
    said = [row["because"] for row in plan_study(tmp_path / "study.toml").plan.why()]
    line = "its own folds get the role group; fails without a column of that role: two"
    assert said == ["new strategy", line, "new strategy"]
