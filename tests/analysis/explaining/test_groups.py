"""Groups of datasets: scikit-learn's silhouettes, planted groups, and none in one population."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from mlaut.analysis import dataset_groups, load_result, save_result
from mlaut.analysis.explaining.groups import _cut
from mlaut.errors import AnalysisError


def grouped(losses, **how):
    table = pd.DataFrame(losses, columns=[*"ABCDEFGH"[: losses.shape[1]]])
    return dataset_groups(table, **{"metric": "loss", "greater_is_better": False} | how)


def planted(n=30, apart=2.0, seed=0):
    """Make two thirds of datasets on which A to C are worse, and a third on which D to F are."""
    losses = np.random.default_rng(seed).normal(size=(n, 6))
    losses[: 2 * n // 3, :3] += apart
    losses[2 * n // 3 :, 3:] += apart
    return losses


def test_cuts_and_silhouettes_are_scikit_learns():
    ranks = planted().argsort(axis=1).argsort(axis=1) + 1.0
    cuts, silhouettes = _cut(ranks, 5)
    for n_groups, labels, each in zip(range(2, 6), cuts, silhouettes, strict=True):
        theirs = AgglomerativeClustering(n_groups).fit_predict(ranks)
        assert adjusted_rand_score(labels, theirs) == 1
        assert each == pytest.approx(silhouette_samples(ranks, labels))
        assert (np.diff(np.bincount(labels)[1:]) <= 0).all()


def test_planted_groups_are_found():
    found = grouped(planted())
    assert found.tried == 2
    assert found.p_value == 0.005
    assert (found.frame["group"] == np.repeat([1, 2], [20, 10])).all()
    assert (found.ranks.loc[["A", "B", "C"], "group 1"] > 4).all()
    assert (found.ranks.loc[["A", "B", "C"], "group 2"] < 3).all()
    assert "30 datasets, scenario (c): 2 groups (mean silhouette" in found.sentence()
    assert "group 2 (10 datasets)" in found.to_markdown()


def test_one_population_has_no_groups():
    shared = np.random.default_rng(0).normal(size=(40, 1))
    losses = np.random.default_rng(1).normal(size=(40, 6)) + np.arange(6)
    losses[:, :3] += shared  # strategies that are alike
    found = grouped(losses)
    assert (found.frame["group"] == 1).all()
    assert found.ranks.columns.to_list() == ["all"]
    assert "no groups are found" in found.sentence()


def test_two_strategies_have_no_groups():
    assert grouped(planted()[:, [0, 5]], n_samples=19).p_value == 1


def test_names_units_and_order_do_not_matter():
    losses = planted()
    whole = grouped(losses).frame["group"]
    order = np.random.default_rng(1).permutation(30)
    unit = 10.0 ** np.random.default_rng(2).integers(-9, 9, (30, 1))
    turned = grouped((losses + 9)[order][:, ::-1] * unit[order]).frame["group"]
    assert (turned.to_numpy() == whole.to_numpy()[order]).all()


def test_false_groups():
    """At 10 %, 30 studies without groups have some in 3 +- 1.6; 10 are 4 standard errors more."""
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        losses = rng.normal(size=(20, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
        found += grouped(losses, n_samples=19, most=4, alpha=0.1, seed=seed).p_value <= 0.1
    assert found < 10


def test_saved_and_loaded(tmp_path):
    found = grouped(planted(), n_samples=19)
    save_result(found, tmp_path / "g.json")
    assert load_result(tmp_path / "g.json").sentence() == found.sentence()


def test_bad_input():
    with pytest.raises(AnalysisError, match="3 datasets have no groups: it needs 4 datasets"):
        grouped(planted(3))
    with pytest.raises(AnalysisError, match="most must be 2 or more"):
        grouped(planted(), most=1)
