"""A study file, and a made-up folder in the layout of Delgado's archive with names of his."""

import numpy as np
import pytest
from mlaut_boards.placing import protocols
from sklearn.ensemble import RandomForestClassifier

STUDY = """
[data]
input = "input.h5"
folder = "archive"
[strategies]
names = ["K_Neighbours", "BaselineClassifier"]
[strategies.parameters.K_Neighbours]
param_grid = { n_neighbors = [1, 5, 25] }
params = { weights = "uniform" }
[run]
engine = "inline"
"""

_NAMES = ("iris", "wine", "zoo", "glass")


def _write_archive(folder, names=_NAMES, n=60, seed=0):
    """Write datasets with two noisy classes, four independent folds and halves for tuning."""
    rng = np.random.default_rng(seed)
    for name in names:
        at = folder / name
        at.mkdir(parents=True, exist_ok=True)
        classes = np.arange(n) % 2
        values = rng.normal(classes[:, None] * 1.5, 1, (n, 3)).round(3)
        lines = ["\tf1\tf2\tf3\tclase"]
        rows = zip(values.tolist(), classes.tolist(), strict=True)
        lines += ["\t".join(map(str, (i, *row, c))) for i, (row, c) in enumerate(rows, start=1)]
        (at / f"{name}_R.dat").write_text("\n".join(lines) + "\n")
        (at / f"{name}.txt").write_text(f"fich1= {name}_R.dat\n")
        (at / "conxuntos.dat").write_text(_pair(rng, n, n // 2))
        (at / "conxuntos_kfold.dat").write_text("".join(_pair(rng, n, n // 4) for _ in range(4)))
    return folder


@pytest.fixture
def with_a_test_set(study, tmp_path):
    """Return the study file with one more dataset, whose table for testing is another file."""
    at = _write_archive(tmp_path / "archive", names=("monks-1",), n=40) / "monks-1"
    (at / "conxuntos_kfold.dat").unlink()
    lines = (at / "monks-1_R.dat").read_text().splitlines(keepends=True)
    (at / "monks-1_R.dat").unlink()
    (at / "monks-1_train_R.dat").write_text("".join(lines[:31]))
    (at / "monks-1_test_R.dat").write_text("".join([lines[0], *lines[31:]]))
    (at / "monks-1.txt").write_text("fich1= monks-1_train_R.dat\nfich2= monks-1_test_R.dat\n")
    (at / "conxuntos.dat").write_text(
        " ".join(map(str, range(0, 30, 2))) + "\n" + " ".join(map(str, range(1, 30, 2))) + "\n"
    )
    text = study.read_text().replace('"archive"', '"archive"\ndatasets = ["monks-1", "zoo"]')
    study.write_text(text)
    return study


def _pair(rng, n, n_test):
    order = rng.permutation(n)
    parts = np.sort(order[n_test:]), np.sort(order[:n_test])
    return "".join(" ".join(map(str, part)) + " \n" for part in parts)


@pytest.fixture
def study(tmp_path, monkeypatch):
    # the real check grows four forests of 500 trees a dataset, a second each
    monkeypatch.setattr(protocols, "CHECKS", {"rforest_R": RandomForestClassifier(3)})
    _write_archive(tmp_path / "archive")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def nine(study, tmp_path):
    """Return the study file with nine datasets, of which a budget takes some."""
    _write_archive(tmp_path / "archive", names=("ecoli", "pima", "yeast", "seeds", "car"))
    study.write_text(study.read_text().replace("[1, 5, 25]", "[1, 5]"))
    return study


@pytest.fixture
def one_fails(nine, tmp_path):
    """Return the study file with a strategy that fails on one of the nine datasets."""
    # 40 neighbours are too many for the 23 training rows of one dataset
    _write_archive(tmp_path / "archive", names=("seeds",), n=30)
    text = nine.read_text().replace("n_neighbors = [1, 5]", 'weights = ["uniform"]')
    nine.write_text(text.replace('weights = "uniform"', "n_neighbors = 40"))
    return nine
