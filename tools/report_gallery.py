"""Write six reports of real results: python tools/report_gallery.py FOLDER (two minutes of CPU).

`docs/conf.py` writes them beside the documentation when it is built, and makes its page of them.
"""

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from mlaut import Study
from mlaut.analysis import published
from mlaut.cli.runs import run_file
from mlaut.report import Report, make_report, write_report

CLASSIFIERS = [
    "BaselineClassifier",
    ("naive Bayes", GaussianNB()),
    ("Bernoulli Bayes", BernoulliNB()),
    ("logistic regression", LogisticRegression(max_iter=5000)),
    ("neighbours", KNeighborsClassifier()),
    ("tree", DecisionTreeClassifier(random_state=0)),
    ("forest", RandomForestClassifier(random_state=0)),
]
REGRESSORS = [
    ("baseline (mean)", DummyRegressor()),
    ("ridge", RidgeCV()),
    ("neighbours", KNeighborsRegressor()),
    ("forest", RandomForestRegressor(random_state=0)),
    ("boosting", HistGradientBoostingRegressor(random_state=0)),
]
IN_UNITS = ["auto-mpg", "concrete-strength", "servo"]


def _demo(folder: Path) -> Report:
    study = folder / "study.toml"
    study.write_bytes(files("mlaut").joinpath("demo.toml").read_bytes())
    with contextlib.redirect_stdout(io.StringIO()):
        run_file(study)
    return make_report(folder / "study.h5")


def _study(
    folder: Path, names: list[str], strategies: Any, task: str, *, metric: str = "", **options: Any
) -> Study:
    study = Study(folder / "study.h5")
    if metric:
        study.analysis(metric=metric)  # before the first result
    study.add_datasets([f"starter/{name}" for name in names] or "starter", task=task)
    study.run(strategies, verbose=0, **options)
    return study


def _one(folder: Path) -> Report:
    names = ["statlog-vehicle"]
    return _study(folder, names, CLASSIFIERS, "Classification", split="kfold(10)").report()


def _units(folder: Path) -> Report:
    options = {"split": "kfold(5)", "metric": "rmse"}
    return _study(folder, IN_UNITS, REGRESSORS, "Regression", **options).report()


def _many(_: Path) -> Report:
    results = published("delgado2014")
    return make_report(results.select(strategies=results.strategies[:120]))


def _race(folder: Path) -> Report:
    return _study(folder, [], CLASSIFIERS, "Classification", race={}).report()


def _failures(_: Path) -> Report:
    names = ["parRF_caret", "svm_C", "svmPoly_caret", "svmlight_C", "rbf_matlab", "knn_caret"]
    names += ["Bagging_RandomForest_weka", "NaiveBayesSimple_weka", "lda_R", "ZeroR_weka"]
    return make_report(published("delgado2014").select(strategies=names))


REPORTS: dict[str, tuple[str, Callable[[Path], Report]]] = {
    "demo": ("Nine classifiers on 25 datasets: `mlaut demo`", _demo),
    "one-dataset": ("Seven classifiers on one dataset, in ten folds", _one),
    "units": ("Five regressors on three datasets: errors in units", _units),
    "many": ("120 published classifiers on 121 datasets (Fernandez-Delgado et al., 2014)", _many),
    "race": ("A race of seven classifiers", _race),
    "failures": ("Ten of the published classifiers, some of which failed often", _failures),
}

PAGE = """\
# Gallery of reports

Six pages of real results, made with this documentation: each is one file, which works offline and
may be sent.
[How to read the report](../read-the-report.md) explains them.

{reports}
"""


def page() -> str:
    """Return the page that links the reports."""
    lines = (
        f'- <a href="../reports/{name}.html">{title}</a>' for name, (title, _) in REPORTS.items()
    )
    return PAGE.format(reports="\n".join(lines))


def write_reports(folder: Path) -> None:
    """Write the reports that the folder lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, make) in REPORTS.items():
        target = folder / f"{name}.html"
        if not target.exists():
            with tempfile.TemporaryDirectory() as place:
                write_report(make(Path(place)), target)
            print(f"{target}: {title}")  # noqa: T201


if __name__ == "__main__":
    write_reports(Path(sys.argv[1]))
