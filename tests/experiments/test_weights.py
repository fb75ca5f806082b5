"""Weights of rows in fits and metrics, equal to a loop by hand."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sm
from sklearn import config_context
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mlaut import Data, Generic_Estimator, Orchestrator, Results
from mlaut.analysis import MLautScore
from mlaut.analysis.methods.lacoste.pair_probabilities import has_point_losses
from mlaut.data import from_frame
from mlaut.errors import AnalysisError, StrategyError
from mlaut.experiments import verify_study
from mlaut.files_io import StudyStore, merge_studies
from mlaut.records import Status

N = 90
GENERATOR = np.random.default_rng(2)
X = GENERATOR.normal(size=(N, 3))
WEIGHTS = GENERATOR.integers(0, 5, N) + GENERATOR.random(N)
CODES = (X[:, 0] + GENERATOR.normal(size=N) > 0).astype(int) + (X[:, 1] > 0.5)
CLASSES = np.array(["a", "b", "c"])[CODES]
NUMBERS = X @ [1.0, 2.0, 0.5] + GENERATOR.normal(size=N)
CV = KFold(4, shuffle=True, random_state=3)


def orchestrator(tmp_path, target, roles=None):
    columns = dict(zip("abc", X.T, strict=True))
    frame = pd.DataFrame({**columns, "w": WEIGHTS, "y": target})
    data = Data()
    input_io = data.open_hdf5(tmp_path / "in.h5", "a")
    out_io = data.open_hdf5(tmp_path / "study.h5", "a")
    roles = {"weight": "w"} if roles is None else roles
    input_io.save_datasets([from_frame(frame, "y", name="d", roles=roles)])
    data.split_datasets(input_io, out_io, scheme=CV)
    return Orchestrator(input_io, out_io)


def run(tmp_path, target, strategies, **options):
    run = orchestrator(tmp_path, target)
    summary = run.run(strategies, engine="inline", verbose=0, **options)
    assert summary.n_done == summary.n_cells
    return run.hdf5_output_io.path


CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=KFold(3)
    ),
}


def by_hand(model, target, method="predict", argument="sample_weight"):
    """Return what a model predicts for each row, fitted with weights in a plain loop."""
    found = []
    for train, test in CV.split(X):
        model.fit(X[train], target[train], **{argument: WEIGHTS[train]})
        found.append((test, getattr(model, method)(X[test])))
    return found


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_and_metrics_weigh_rows_as_a_loop_by_hand(tmp_path, name):
    path = run(tmp_path, CLASSES, [(name, CLASSIFIERS[name])])
    argument = "logisticregression__sample_weight" if name == "pipeline" else "sample_weight"
    labels = by_hand(CLASSIFIERS[name], CLASSES, argument=argument)
    shares = by_hand(CLASSIFIERS[name], CLASSES, "predict_proba", argument)
    metrics = {
        "accuracy": (sm.accuracy_score, {}, labels),
        "misclassification": (sm.zero_one_loss, {}, labels),
        "balanced_accuracy": (sm.balanced_accuracy_score, {}, labels),
        "mcc": (sm.matthews_corrcoef, {}, labels),
        "f1_macro": (sm.f1_score, {"average": "macro"}, labels),
        "log_loss": (sm.log_loss, {}, shares),
        "jaccard_macro": (sm.jaccard_score, {"average": "macro"}, labels),
    }
    for metric, (function, options, given) in metrics.items():
        found = Results.from_study(path, metric).cells[0, 0, 0]
        if metric == "log_loss":
            given = [(test, np.clip(share, np.finfo(np.float32).eps, 1)) for test, share in given]
            expected = [
                -np.average(
                    np.log(
                        share[np.arange(len(test)), np.searchsorted(list("abc"), CLASSES[test])]
                    ),
                    weights=WEIGHTS[test],
                )
                for test, share in given
            ]
        else:
            expected = [
                function(CLASSES[test], out, sample_weight=WEIGHTS[test], **options)
                for test, out in given
            ]
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=metric)


def routed():
    """Return a search whose scaler, classifier and score request weights."""
    with config_context(enable_metadata_routing=True):
        scale = StandardScaler().set_fit_request(sample_weight=True)
        fit = LogisticRegression().set_fit_request(sample_weight=True)
        score = sm.make_scorer(sm.accuracy_score).set_score_request(sample_weight=True)
    grid = {"logisticregression__C": [1e-3, 1e-2, 0.1, 1]}
    return GridSearchCV(make_pipeline(scale, fit), grid, cv=KFold(2), scoring=score)


def test_weights_reach_the_parts_of_a_model_that_request_them(tmp_path):
    path = run(tmp_path, CLASSES, [("routed", routed())])
    found = Results.from_study(path, "accuracy").cells[0, 0, 0]
    with config_context(enable_metadata_routing=True):
        labels = by_hand(routed(), CLASSES)
    expected = [
        sm.accuracy_score(CLASSES[test], out, sample_weight=WEIGHTS[test]) for test, out in labels
    ]
    np.testing.assert_allclose(found, expected)
    # without requests, the scaler and the score of the search get no weights
    plain = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()), routed().param_grid, cv=KFold(2)
    )
    others = by_hand(plain, CLASSES, argument="logisticregression__sample_weight")
    assert any((a != b).any() for (_, a), (_, b) in zip(labels, others, strict=True))


def test_the_area_under_the_curve_weighs_rows_as_scikit_learn(tmp_path):
    target = np.where(X[:, 0] + X[:, 1] ** 2 > 0.4, "p", "n")
    model = DecisionTreeClassifier(max_depth=2, random_state=0)  # few leaves, so marks are tied
    path = run(tmp_path, target, [("tree", model)])
    expected = [
        sm.roc_auc_score(target[test], shares[:, 1], sample_weight=WEIGHTS[test])
        for test, shares in by_hand(model, target, "predict_proba")
    ]
    np.testing.assert_allclose(Results.from_study(path, "roc_auc").cells[0, 0, 0], expected)
    # scikit-learn's own scorer of the same score
    again = Results.from_study(path, "average_precision").cells[0, 0, 0]
    expected = [
        sm.average_precision_score(target[test] == "p", shares[:, 1], sample_weight=WEIGHTS[test])
        for test, shares in by_hand(model, target, "predict_proba")
    ]
    np.testing.assert_allclose(again, expected, rtol=1e-6)


REGRESSORS = {
    "ridge": Ridge(),
    "boosting": HistGradientBoostingRegressor(max_iter=5, random_state=0),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_and_metrics_weigh_rows_as_a_loop_by_hand(tmp_path, name):
    path = run(tmp_path, NUMBERS, [(name, REGRESSORS[name])])
    given = by_hand(REGRESSORS[name], NUMBERS)
    for metric, function in {
        "mae": sm.mean_absolute_error,
        "mse": sm.mean_squared_error,
        "rmse": sm.root_mean_squared_error,
        "r2": sm.r2_score,
        "neg_median_absolute_error": lambda *a, **k: -sm.median_absolute_error(*a, **k),
    }.items():
        expected = [
            function(NUMBERS[test], out, sample_weight=WEIGHTS[test]) for test, out in given
        ]
        found = Results.from_study(path, metric).cells[0, 0, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=metric)


def test_tuned_strategies_and_scaled_targets_are_fitted_with_weights(tmp_path):
    tree = DecisionTreeRegressor(random_state=0)
    tuned = Generic_Estimator(
        tree, name="tuned", param_grid={"max_depth": [2, 4]}, cv=KFold(3), normalize_labels=True
    )
    path = run(tmp_path, NUMBERS, [tuned])
    block = StudyStore(path).block("d")
    for train, test in CV.split(X):
        mean, std = NUMBERS[train].mean(), NUMBERS[train].std()
        search = GridSearchCV(tree, {"max_depth": [2, 4]}, cv=KFold(3))
        search.fit(X[train], (NUMBERS[train] - mean) / std, sample_weight=WEIGHTS[train])
        np.testing.assert_allclose(
            block.predictions[0, 0, test], search.predict(X[test]) * std + mean
        )


def test_workers_get_the_weights(tmp_path):
    tree = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    inline = StudyStore(run(tmp_path / "a", CLASSES, tree)).block("d")
    local = orchestrator(tmp_path / "b", CLASSES)
    local.run(tree, n_jobs=1, verbose=0)
    found = StudyStore(local.hdf5_output_io.path).block("d")
    np.testing.assert_array_equal(found.predictions, inline.predictions)


def test_weights_change_predictions_and_scores_but_the_role_ignore_does_not(tmp_path):
    tree = [("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    weighted = run(tmp_path / "w", CLASSES, tree)
    ignored = orchestrator(tmp_path / "i", CLASSES, {"ignore": ["w"]})
    ignored.run(tree, engine="inline", verbose=0)
    assert StudyStore(ignored.hdf5_output_io.path).block("d").weights is None
    np.testing.assert_array_equal(StudyStore(weighted).block("d").weights, WEIGHTS)
    one, other = StudyStore(weighted).block("d"), StudyStore(ignored.hdf5_output_io.path).block("d")
    assert (one.predictions != other.predictions).any()
    plain = [
        tree[0][1].fit(X[train], CLASSES[train]).predict(X[test]) for train, test in CV.split(X)
    ]
    found = [np.array(other.classes)[other.predictions[0, 0, test]] for _, test in CV.split(X)]
    assert all((a == b).all() for a, b in zip(found, plain, strict=True))


def test_strategies_without_weights_are_refused_before_the_run(tmp_path):
    run = orchestrator(tmp_path, CLASSES)
    strategies = [("5-NN", KNeighborsClassifier()), ("tree", DecisionTreeClassifier())]
    message = (
        "dataset 'd' has weights, and fit takes no sample_weight in 5-NN; leave it out, or give "
        "the column of weights the role ignore"
    )
    (refusal,) = run.plan(strategies).refusals
    assert str(refusal) == message
    with pytest.raises(StrategyError, match="takes no sample_weight in 5-NN"):
        run.run(strategies, engine="inline", verbose=0)
    assert not (StudyStore(run.hdf5_output_io.path).statuses()["d"][1] == Status.DONE).any()


class ScoreOwn(MLautScore):
    """Aggregate of a user, which knows nothing of weights."""

    name, task, greater_is_better, bounds = "own", "Classification", True, (0, 1)

    def calculate(self, truth, predictions):
        return float(np.mean(truth == predictions))


def test_what_counts_test_points_is_refused_for_weighted_datasets(tmp_path):
    names = [("tree", DecisionTreeClassifier()), ("bag", BaggingClassifier(n_estimators=2))]
    path = run(tmp_path, CLASSES, names)
    with pytest.raises(AnalysisError, match="own takes no weights, and dataset 'd' has weights"):
        Results.from_study(path, ScoreOwn())
    results = Results.from_study(path, "accuracy")
    with pytest.raises(AnalysisError, match="or a dataset has weights"):
        _ = results.standard_errors
    with pytest.raises(AnalysisError, match="count each point once"):
        results.points("d")
    assert not has_point_losses(results)  # so that `compare` and reports leave scenario (a) out


def test_a_study_keeps_its_weights_when_it_is_opened_merged_and_verified(tmp_path):
    one = run(tmp_path / "a", CLASSES, [("tree", DecisionTreeClassifier(random_state=0))])
    again = orchestrator(tmp_path / "b", CLASSES)
    again.run([("stump", DecisionTreeClassifier(max_depth=1))], engine="inline", verbose=0)
    merge_studies([one, again.hdf5_output_io.path], tmp_path / "both.h5")
    np.testing.assert_array_equal(StudyStore(tmp_path / "both.h5").block("d").weights, WEIGHTS)
    assert verify_study(one).ok
