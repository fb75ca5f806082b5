"""Strategies that are run by the protocol of a published benchmark."""

import numpy as np
import pytest
from mlaut_boards.placing.archive import tuning_split
from mlaut_boards.placing.protocols import BENCHMARK, CHECKS, ByDataset, Protocol
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from mlaut.analysis import Results, published
from mlaut.data import load_folder
from mlaut.errors import AnalysisError, DataError, StudyError
from mlaut.estimators import DataShape, as_strategies
from mlaut.files_io import StudyStore


def by_hand(folder, name, candidates):
    """Return the number of neighbours that the halves choose, and the accuracies on the folds."""
    (dataset,) = load_folder(folder, names=[name])
    X = dataset.frame.drop(columns="clase").to_numpy()
    y = dataset.frame["clase"].to_numpy()

    def accuracy(split, repeat, k):
        train, test = split.rows(repeat, 0)
        scaler = StandardScaler().fit(X[train])
        model = KNeighborsClassifier(k).fit(scaler.transform(X[train]), y[train])
        return float((model.predict(scaler.transform(X[test])) == y[test]).mean())

    halves = tuning_split(folder, name)
    best = max(candidates, key=lambda k: accuracy(halves, 0, k))  # the first of equal ones
    return best, [accuracy(dataset.split, repeat, best) for repeat in range(4)]


def test_parameters_are_chosen_on_the_halves_and_scored_on_the_folds(study, tmp_path):
    protocol = Protocol(study)
    path = protocol.run(verbose=0)
    assert path == tmp_path / "study.delgado2014.h5"
    assert [one.name for one in protocol.strategies] == ["K_Neighbours", "BaselineClassifier"]
    assert protocol.same == {"rforest_R (again)": "rforest_R"}
    results = Results.from_study(path, "accuracy")
    assert results.cells.shape == (4, 3, 4, 1)  # four repeats of one fold each
    chosen = set()
    for i, name in enumerate(results.datasets):
        best, accuracies = by_hand(tmp_path / "archive", name, [1, 5, 25])
        chosen.add(best)
        np.testing.assert_allclose(results.cells[i, 0, :, 0], accuracies)
    assert len(chosen) > 1  # else one choice for all datasets would pass too
    tuning = StudyStore(tmp_path / "study.delgado2014-tuning.h5")
    assert [entry.name for entry in tuning.strategies] == [f"K_Neighbours {i}" for i in range(3)]
    before = path.read_bytes()
    assert Protocol(study).run(verbose=0) == path  # it goes on: nothing is left
    assert path.read_bytes() == before
    study.write_text(study.read_text().replace("[1, 5, 25]", "[3]"))
    with pytest.raises(StudyError, match="K_Neighbours"):  # other choices under the same name
        Protocol(study).run(verbose=0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('folder = "archive"', 'collection = "starter"', "names no folder; name your copy"),
        ("[run]", '[split]\nscheme = "kfold(5)"\n[run]', "the splits of delgado2014 are fixed"),
        ("[run]", '[tuning]\nsearch = "random(2)"\n[run]', "the benchmark tries a list of cand"),
        ('folder = "archive"', 'folder = "archive"\ndatasets = ["iris"]', "1 datasets of delgado"),
    ],
)
def test_study_files_that_do_not_fit_are_refused(study, old, new, message):
    study.write_text(study.read_text().replace(old, new))
    with pytest.raises(StudyError, match=message):
        Protocol(study).run(verbose=0)


def test_what_is_missing_is_named(study, tmp_path):
    with pytest.raises(AnalysisError, match=r"check 'rforest'.*did you mean 'rforest_R'"):
        Protocol(study, check=["rforest"])
    (tmp_path / "archive" / "zoo" / "conxuntos.dat").unlink()
    with pytest.raises(DataError, match=r"zoo/conxuntos\.dat: no such file"):
        Protocol(study).run(verbose=0)


def test_a_dataset_with_a_test_set_is_tuned_within_its_training_table(with_a_test_set):
    path = Protocol(with_a_test_set, check=[]).run(verbose=0)
    results = Results.from_study(path, "accuracy")
    assert results.datasets == ("monks-1", "zoo")
    assert np.isfinite(results.cells).sum(axis=(2, 3)).tolist() == [[1, 1], [4, 4]]
    split = StudyStore(path).load_splits()["monks-1"].split
    assert [len(rows) for rows in split.rows(0, 0)] == [30, 10]
    halves = tuning_split(with_a_test_set.parent / "archive", "monks-1")
    assert (halves.folds[0, 30:] == -2).all()  # the test table has no part in tuning


def test_parameters_by_dataset_reach_the_model_and_the_identity():
    (plain,) = as_strategies("K_Neighbours")
    fixed = ByDataset(plain, {"zoo": {"n_neighbors": 7}})

    def neighbours(strategy, dataset):
        model = strategy.assemble(DataShape(50, 3, 2, dataset))
        return model.get_params()["estimator__n_neighbors"]

    assert (neighbours(fixed, "zoo"), neighbours(fixed, "iris")) == (7, 5)
    assert fixed.identity() != ByDataset(plain, {"zoo": {"n_neighbors": 9}}).identity()
    assert fixed.identity() == ByDataset(*as_strategies({"x": plain}), fixed.chosen).identity()
    assert (fixed.name, fixed.tasks) == (plain.name, plain.tasks)
    assert "once for each dataset" in fixed.describe()["tuning"]


def test_strategies_of_the_check_are_of_the_benchmark():
    assert set(CHECKS) <= set(published(BENCHMARK).strategies)
