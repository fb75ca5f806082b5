"""Results of other programs, from files in their forms; every number here is made up.

The form is that of openml/automlbenchmark (``amlb/results.py``, ``reports/results_*.csv``).
"""

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, read_results
from mlaut.analysis.importers import read_automlbenchmark
from mlaut.errors import AnalysisError, DataError, MlautError


def error_of(call, *arguments, error=AnalysisError, **named):
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    return text


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# ----------------------------------------------------------- AutoML benchmark

AMLB = """\
id,task,framework,constraint,fold,type,result,metric,mode,version,params,app_version,utc,duration,\
training_duration,predict_duration,models_count,seed,info,acc,auc,balacc,logloss
openml.org/t/3913,kc2,RandomForest,1h8c,0,binary,0.80,auc,local,1.2,,dev,2025-01-01T00:00:00,9.5,\
8.5,0.5,100,1,,0.7,0.80,0.6,0.5
openml.org/t/3913,kc2,RandomForest,1h8c,1,binary,0.90,auc,local,1.2,,dev,2025-01-01T00:00:00,9.5,\
7.5,0.5,100,2,,0.8,0.90,0.7,0.4
openml.org/t/3913,kc2,flaml,1h8c,0,binary,0.85,auc,local,1.2,,dev,2025-01-01T00:00:00,9.5,\
6.5,0.5,100,1,,0.75,0.85,0.6,0.5
openml.org/t/3913,kc2,flaml,1h8c,1,binary,,auc,local,1.2,,dev,2025-01-01T00:00:00,9.5,\
,,,2,"TimeoutError: over  3600 s",,,,
openml.org/t/59,iris,RandomForest,1h8c,0,multiclass,-0.12,neg_logloss,local,1.2,,dev,\
2025-01-01T00:00:00,9.5,5.5,0.5,100,1,,0.95,,0.95,0.12
openml.org/t/59,iris,RandomForest,1h8c,1,multiclass,-0.02,neg_logloss,local,1.2,,dev,\
2025-01-01T00:00:00,9.5,4.5,0.5,100,2,,1.0,,1.0,0.02
openml.org/t/59,iris,flaml,1h8c,0,multiclass,-0.10,neg_logloss,local,1.2,,dev,\
2025-01-01T00:00:00,9.5,3.5,0.5,100,1,,0.9,,0.9,0.10
openml.org/t/59,iris,flaml,1h8c,1,multiclass,-0.04,neg_logloss,local,1.2,,dev,\
2025-01-01T00:00:00,9.5,2.5,0.5,100,2,,1.0,,1.0,0.04
"""


@pytest.fixture
def amlb(tmp_path):
    return write(tmp_path / "results.csv", AMLB)


def test_what_each_task_of_the_automl_benchmark_optimised(amlb):
    results = read_automlbenchmark(amlb)
    assert isinstance(results, Results)
    assert (results.datasets, results.strategies) == (("kc2", "iris"), ("RandomForest", "flaml"))
    assert results.metric.greater_is_better
    np.testing.assert_allclose(results.cells[1, :, 0], [[-0.12, -0.02], [-0.10, -0.04]])
    assert results.notes == (
        "not one metric for all tasks (auc on 1, neg_logloss on 1): ranks and signs compare, "
        "means do not",
    )
    assert results.missing.to_dict("records") == [
        {
            "dataset": "kc2",
            "strategy": "flaml",
            "repeat": 0,
            "fold": 1,
            "reason": "TimeoutError: over 3600 s",
        }
    ]
    assert results.seconds[1, 0, 0].tolist()[1][1:] == [4.5, 0.5]


def test_one_metric_of_the_automl_benchmark(amlb):
    results = read_automlbenchmark(amlb, "acc")
    assert results.metric.name == "accuracy"
    assert results.scores["RandomForest"].tolist() == pytest.approx([0.75, 0.975])
    losses = read_automlbenchmark(amlb, "logloss")
    assert losses.metric.name == "log_loss"
    assert not losses.metric.greater_is_better
    auc = read_automlbenchmark(amlb, "auc")
    assert auc.datasets == ("kc2",)
    assert auc.notes == ("auc is on none of these tasks, left out: iris",)


def test_constraints_and_reruns_of_the_automl_benchmark(tmp_path, amlb):
    again = pd.read_csv(amlb).iloc[[3]].assign(result=0.88, info="")
    other = pd.read_csv(amlb).assign(constraint="4h8c")
    pd.concat([pd.read_csv(amlb), again, other]).to_csv(tmp_path / "more.csv", index=False)
    message = error_of(read_automlbenchmark, tmp_path / "more.csv")
    assert message.endswith("has several: 1h8c, 4h8c; choose by constraint=")
    results = read_automlbenchmark(tmp_path / "more.csv", constraint="1h8c")
    assert results.cells[0, 1, 0].tolist() == [0.85, 0.88]
    assert results.notes[1] == (
        "1 cells have an earlier run, for example flaml on kc2: the last one counts"
    )
    joined = read_automlbenchmark([amlb, amlb])
    assert joined.notes[1].startswith("8 cells have an earlier run")


def test_old_forms_of_the_automl_benchmark(tmp_path):
    text = "id,task,framework,fold,result,mode,version,duration,seed,info,acc,auc,logloss\n"
    text += "openml.org/t/3,kr,auto,0,0.9,aws,1,5.0,1,,0.8,0.9,\n"
    old = write(tmp_path / "old.csv", text)
    message = error_of(read_automlbenchmark, old)
    assert message.endswith("is not known; name a column of scores, as in metric='auc'")
    assert read_automlbenchmark(old, "auc").scores.loc["kr", "auto"] == 0.9
    loss = pd.DataFrame(
        {
            "task": ["a", "a", "b", "b"],
            "framework": ["x", "y"] * 2,
            "fold": 0,
            "result": [0.5, 0.7, 0.9, 0.8],
            "metric": ["logloss"] * 2 + ["auc"] * 2,
        }
    )
    assert read_automlbenchmark(loss).scores.loc["a"].tolist() == [-0.5, -0.7]
    alone = read_automlbenchmark(loss[:2])
    assert (alone.metric.name, alone.losses.loc["a"].tolist()) == ("log_loss", [0.5, 0.7])


def test_what_is_no_table_of_the_automl_benchmark_is_refused(tmp_path, amlb):
    path = write(tmp_path / "x.csv", "task,framwork,fold\na,b,0\n")
    message = error_of(read_automlbenchmark, path)
    assert message == (
        f"{path}: no table of the AutoML benchmark: it has no column 'framework'; "
        "did you mean 'framwork'?"
    )
    assert "x.csv: no such file" in error_of(
        read_automlbenchmark, tmp_path / "no/x.csv", error=DataError
    )
    message = error_of(read_automlbenchmark, amlb, "auk")
    assert message == "the table of the AutoML benchmark has no scores 'auk'; did you mean 'auc'?"
    empty = write(tmp_path / "e.csv", "task,framework,fold\n")
    assert "table of the AutoML benchmark without a row" in error_of(read_automlbenchmark, empty)


# -------------------------------------------------------------------- damaged files


def test_a_damaged_file_is_read_or_refused_in_one_line(amlb):
    content = amlb.read_bytes()
    generator = np.random.default_rng(0)
    messages = []
    for _ in range(30):
        at, size = generator.integers(len(content)), generator.integers(1, 30)
        other = generator.choice(list(b",'\"\n0123456789abc{}[]?- "), generator.integers(0, 6))
        amlb.write_bytes(content[:at] + bytes(other.tolist()) + content[at + size :])
        try:
            read_automlbenchmark(amlb)
        except MlautError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in text for text in messages)


# ---------------------------------------------------------------- any other table


def test_a_table_of_a_known_program_is_known_by_its_columns(amlb):
    assert read_results(amlb).scores.equals(read_automlbenchmark(amlb).scores)
    assert read_results(amlb, "acc").metric.name == "accuracy"


def test_wide_and_long_tables_are_the_same_results(tmp_path):
    wide = pd.DataFrame(
        {"Dataset": ["a", "a", "b", "b"], "fold": [1, 2, 1, 2], "x": [0.1, 0.2, 0.3, 0.4]}
    ).assign(y=lambda t: t["x"] / 2)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long = wide.melt(["Dataset", "fold"], var_name="strategy", value_name="error rate")
    long.to_csv(tmp_path / "long.csv", index=False)
    first = read_results(tmp_path / "wide.csv", "error rate", greater_is_better=False)
    second = read_results(tmp_path / "long.csv", "error rate", greater_is_better=False)
    assert first.cells.shape == (2, 2, 1, 2)
    assert first.fold_losses.equals(second.fold_losses)


def test_tables_that_are_unclear_are_refused(tmp_path):
    path = write(tmp_path / "t.csv", "x,y\n0.1,0.2\n")
    assert "t.csv: no column names its rows" in error_of(read_results, path, "accuracy")
    path = write(tmp_path / "l.csv", "dataset,strategy,u,q\na,x,0.1,0.2\n")
    assert "unclear which of u, q has the accuracy" in error_of(read_results, path, "accuracy")
    path = write(tmp_path / "m.csv", "dataset,x\na,0.1\n")
    assert "the direction of 'mine' is not known" in error_of(read_results, path, "mine")
    assert "m.csv: a table does not say what its scores are" in error_of(read_results, path)
