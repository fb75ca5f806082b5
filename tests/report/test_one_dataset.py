"""Reports on one dataset, from a study with groups to a page; and on few datasets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mlaut import Study
from mlaut.report import make_report
from mlaut.report.page import as_html
from mlaut.report.writing import as_json, methods_of_report

LEARNERS = {
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(random_state=0),
    "dummy": DummyClassifier(),
}


def study_of(path, names=("ward",), rows=120, **how):
    study, rng = Study(path), np.random.default_rng(0)
    for name in names:
        X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc"))
        ill = np.where(X["a"] + rng.normal(scale=0.7, size=rows) > 0, "yes", "no")
        table = X.assign(patient=np.arange(rows) // 15, ill=ill)
        study.add_datasets(table, name=name, target="ill", roles={"group": "patient"})
    study.run(LEARNERS, engine="inline", verbose=0, **how)
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return study_of(tmp_path_factory.mktemp("one") / "study.h5", split="group_kfold(8)")


def test_every_form_of_a_report_says_the_same(study):
    report = study.report(metric=["roc_auc", "log_loss"])
    answer = study.compare("roc_auc").decision().answer()
    assert answer.startswith("For new data like ward, use logistic")
    assert " ".join(str(report).split()).count(answer) == 1
    assert answer in as_json(report)
    assert "The claims" not in str(methods_of_report(report))
    assert "{nadeau2003}" in methods_of_report(report).template
    page = as_html(report)
    assert "Are its probabilities right" in page
    assert "Where its errors are" in page


def test_errors_by_group_come_from_the_table_beside_the_study(study):
    section = study.report(metric="roc_auc").sections[0]
    where = section.tables["where the errors are"]
    assert (where["test rows"] == 15).all()
    assert len(where) == 8
    study.datasets_path.rename(study.datasets_path.with_suffix(".away"))
    try:
        assert "where the errors are" not in make_report(study.path).sections[0].tables
    finally:
        study.datasets_path.with_suffix(".away").rename(study.datasets_path)


def test_the_intervals_of_a_page_are_from_one_place(study):
    section = study.report(metric="log_loss").sections[0]
    ends = ["low", "high"]
    frame = section.decision.frame
    by_scenario = section.estimates["(b)"].frame.loc[frame.index, ends]
    pd.testing.assert_frame_equal(frame[ends], by_scenario, check_names=False)
    table = section.tables["estimates by dataset"].loc["ward"].loc[frame.index, ends]
    np.testing.assert_allclose(table.to_numpy(dtype=float), frame[ends].to_numpy(dtype=float))


def test_few_datasets_are_told_together_and_each_for_itself(tmp_path):
    study = study_of(tmp_path / "two.h5", ["north", "south"], split="group_kfold(8)")
    section = study.report(metric="roc_auc").sections[0]
    assert section.headline[0].startswith("Too few datasets to be sure (2")
    each = section.tables["each dataset"]
    assert list(each.index) == ["north", "south"]
    for name, answer in each["answer"].items():
        assert answer.startswith(f"For new data like {name}, use logistic")
