"""Results of other programs, from files in their forms; every number here is made up.

The forms are those of openml/automlbenchmark (``amlb/results.py``, ``reports/results_*.csv``),
openml/openml-python (``evaluations``, ``runs/run.py``) and
sktime/sktime (``benchmarking/_storage_handlers.py``, ``_lib_mini_kotsu``, ``results.py``).
"""

import json

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import Results, read_results
from mlaut.analysis.importers import (
    read_automlbenchmark,
    read_openml_evaluations,
    read_openml_runs,
    read_sktime,
)
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


# --------------------------------------------------------------------- OpenML


def evaluations(**more):
    frame = pd.DataFrame(
        {
            "run_id": [3, 1, 2, 4],
            "task_id": [59, 59, 59, 60],
            "setup_id": [7, 8, 7, 9],
            "flow_id": [5, 6, 5, 5],
            "flow_name": ["rf(1)", "svm(2)", "rf(1)", "rf(1)"],
            "data_id": 61,
            "data_name": ["iris", "iris", "iris", "wine"],
            "function": "predictive_accuracy",
            "value": [0.9, 0.95, 0.7, 0.8],
            "values": None,
            "array_data": None,
        }
    )
    return frame.assign(**more)


def test_evaluations_of_openml(tmp_path):
    evaluations().to_csv(tmp_path / "e.csv")
    results = read_openml_evaluations(tmp_path / "e.csv")
    assert results.metric.name == "accuracy"
    assert results.scores.loc["iris"].to_dict() == {"svm(2)": 0.95, "rf(1)": 0.9}
    assert np.isnan(results.scores.loc["wine", "svm(2)"])
    assert results.notes[0].endswith("for example rf(1) on iris: the last one counts")
    by_setup = read_openml_evaluations(evaluations(), strategy="setup_id")
    assert set(by_setup.strategies) == {"7", "8", "9"}
    one_name = read_openml_evaluations(evaluations(data_name="iris"))
    assert set(one_name.datasets) == {"iris (task 59)", "iris (task 60)"}


def test_evaluations_of_openml_by_fold(tmp_path):
    frame = evaluations(values=["[0.8, 1.0]", "[1.0, 0.9]", "[0.5, 0.5]", "[0.7, 0.9]"])
    frame.drop(columns="value").assign(value=None).to_csv(tmp_path / "e.csv", index=False)
    results = read_openml_evaluations(tmp_path / "e.csv")
    at = results.datasets.index("iris"), results.strategies.index("rf(1)")
    assert results.cells[at].tolist() == [[0.8, 1.0]]
    rows = frame.drop(columns=["value", "array_data"]).assign(value=0.5).to_dict("records")
    path = write(tmp_path / "e.json", json.dumps({"evaluations": {"evaluation": rows}}))
    assert read_openml_evaluations(path).cells[at].tolist() == [[0.8, 1.0]]


def test_evaluations_of_openml_that_are_wrong_are_refused(tmp_path):
    two = pd.concat([evaluations(), evaluations(function="kappa")])
    assert "has several: predictive_accuracy, kappa; choose by metric=" in error_of(
        read_openml_evaluations, two
    )
    assert read_openml_evaluations(two, "kappa").metric.name == "kappa"
    path = write(tmp_path / "e.json", '{"error": 1}')
    assert "e.json: not the JSON of OpenML's evaluation/list" in error_of(
        read_openml_evaluations, path
    )


RUN = """<oml:run xmlns:oml="http://openml.org/openml">
  <oml:run_id>{number}</oml:run_id><oml:task_id>59</oml:task_id>
  <oml:flow_name>{flow}</oml:flow_name>
  <oml:input_data><oml:dataset><oml:did>61</oml:did><oml:name>iris</oml:name></oml:dataset>
  </oml:input_data></oml:run>"""
PREDICTIONS = """@relation openml_task_59_predictions
@attribute repeat numeric
@attribute fold numeric
@attribute sample numeric
@attribute row_id numeric
@attribute prediction {{a,b}}
@attribute correct {{a,b}}
@attribute confidence.a numeric
@attribute confidence.b numeric
@data
{}
"""
TRUTH = ["a", "b", "a", "b"]


def openml_run(folder, number, flow, predicted, truth=TRUTH):
    lines = [
        f"0,{row % 2},0,{row},{guess},{truth[row]},{0.75 if guess == 'a' else 0.25},"
        f"{0.25 if guess == 'a' else 0.75}"
        for row, guess in enumerate(predicted)
    ]
    write(folder / str(number) / "description.xml", RUN.format(number=number, flow=flow))
    write(folder / str(number) / "predictions.arff", PREDICTIONS.format("\n".join(lines)))


def test_runs_of_openml_are_scored_by_any_metric(tmp_path):
    openml_run(tmp_path, 11, "rf(1)", "abab")
    openml_run(tmp_path, 12, "svm(2)", "aaab")
    results = read_openml_runs(tmp_path, "accuracy")
    assert (results.datasets, results.strategies) == (("iris",), ("rf(1)", "svm(2)"))
    assert results.cells[0, :, 0].tolist() == [[1.0, 1.0], [1.0, 0.5]]
    assert results.n_test[0].tolist() == [[2, 2]]
    assert results.n_train[0].tolist() == [[2, 2]]
    assert results.points("iris")[1, 0].tolist() == [0, 1, 0, 0]
    log_loss = read_openml_runs(tmp_path, "log_loss").losses.loc["iris"]
    assert log_loss["rf(1)"] == pytest.approx(-np.log(0.75))
    assert log_loss["svm(2)"] == pytest.approx(-(3 * np.log(0.75) + np.log(0.25)) / 4)


def test_runs_of_one_flow_and_runs_that_lack_a_fold(tmp_path):
    openml_run(tmp_path, 11, "rf(1)", "abab")
    openml_run(tmp_path, 12, "rf(1)", "aab")  # row 3 is not predicted: fold 1 is missing
    results = read_openml_runs(tmp_path, "accuracy")
    assert results.strategies == ("rf(1) (run 11)", "rf(1) (run 12)")
    assert results.missing[["strategy", "fold"]].to_numpy().tolist() == [["rf(1) (run 12)", 1]]
    named = {("iris", "rf"): tmp_path / "11/predictions.arff"}
    assert read_openml_runs(named, "accuracy").strategies == ("rf",)


def test_runs_of_openml_that_are_wrong_are_refused(tmp_path):
    assert "no OpenML run in it; a run is a folder with" in error_of(
        read_openml_runs, tmp_path, "accuracy"
    )
    openml_run(tmp_path, 11, "rf(1)", "abab")
    openml_run(tmp_path, 12, "svm(2)", "abab", truth=["b", "b", "a", "b"])
    message = error_of(read_openml_runs, tmp_path, "accuracy")
    assert "row 0 of 'iris' has another truth than in other files" in message
    arff = tmp_path / "12" / "predictions.arff"
    arff.write_text(arff.read_text().replace("correct", "other"))
    assert "neither an attribute 'correct' nor 'truth'" in error_of(
        read_openml_runs, tmp_path, "accuracy"
    )
    arff.write_text("@relation r\n@attribute a numeric\n@data\n1\n")
    assert "no attribute 'repeat'" in error_of(read_openml_runs, tmp_path, "accuracy")
    write(tmp_path / "12" / "description.xml", "<run/>")
    assert "no description of an OpenML run, but 'run'" in error_of(
        read_openml_runs, tmp_path, "mcc"
    )
    write(tmp_path / "12" / "description.xml", "<run")
    assert "description.xml: not XML (unclosed token" in error_of(read_openml_runs, tmp_path, "mcc")


# --------------------------------------------------------------------- sktime


def records():
    return [
        {
            "model_id": model,
            "validation_id": f"[dataset={data}]_[cv=k]",
            "folds": {
                str(fold): {
                    "scores": {
                        "MeanAbsoluteError": base + fold,
                        "MeanSquaredError": 2.0,
                        "fit_time": 0.5,
                        "pred_time": 0.25,
                        "runtime_secs": 0.75,
                    },
                    "ground_truth": None,
                    "predictions": None,
                    "train_data": None,
                }
                for fold in (0, 1)
            },
            "means": {"MeanAbsoluteError": base + 0.5},
            "stds": {"MeanAbsoluteError": 0.1},
        }
        for data in ("airline", "lynx")
        for model, base in (("naive-v1", 3.0), ("theta-v1", 1.0))
    ]


def sktime_file(folder, kind):
    path = folder / f"results.{kind}"
    if kind == "json":
        return write(path, json.dumps(records()))
    if kind == "parts":
        for number, record in enumerate(records()):
            write(path / f"{number}.json", json.dumps(record))
            write(path / f"{number}.done", "{}")
        return path
    frame = pd.json_normalize(records())
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["json", "csv", "parquet", "parts"])
def test_every_form_of_sktimes_benchmarks(tmp_path, kind):
    path = sktime_file(tmp_path, kind)
    results = read_sktime(path, "MeanAbsoluteError")
    assert results.datasets == ("[dataset=airline]_[cv=k]", "[dataset=lynx]_[cv=k]")
    assert results.strategies == ("naive-v1", "theta-v1")
    assert results.cells[0, :, 0].tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert not results.metric.greater_is_better
    assert results.seconds[1, 1, 0, 1].tolist()[1:] == [0.5, 0.25]
    message = error_of(read_sktime, path)
    assert "several scores, MeanAbsoluteError, MeanSquaredError; choose one by metric=" in message
    assert "did you mean 'MeanSquaredError'?" in error_of(read_sktime, path, "MeanSquareError")


def test_the_older_form_of_sktimes_benchmarks(tmp_path):
    text = "validation_id,model_id,runtime_secs,accuracy_score_fold_0_test,"
    text += "accuracy_score_fold_1_test,accuracy_score_mean,accuracy_score_std\n"
    text += "d1,knn-v1,3.5,0.5,0.7,0.6,0.1\nd1,tsf-v1,3.5,0.8,,0.8,0.1\n"
    results = read_sktime(write(tmp_path / "old.csv", text))
    assert results.metric.name == "accuracy"
    assert results.cells[0, 0, 0].tolist() == [0.5, 0.7]
    assert results.missing["strategy"].tolist() == ["tsf-v1"]


def test_stored_predictions_of_sktime(tmp_path):
    for strategy, guesses in (("knn", "1122"), ("tsf", "1212")):
        for fold, rows in ((0, [0, 1]), (1, [2, 3])):
            frame = pd.DataFrame(
                {
                    "index": rows,
                    "y_true": [1, 2],
                    "y_pred": [int(guesses[row]) for row in rows],
                    "fit_estimator_start_time": "2025-01-01 00:00:00",
                    "fit_estimator_end_time": "2025-01-01 00:00:02.5",
                }
            )
            path = tmp_path / strategy / "GunPoint" / f"{strategy}_test_{fold}.csv"
            write(path, frame.to_csv(index=False))
            write(path.with_name(f"{strategy}_train_{fold}.csv"), frame.to_csv(index=False))
    results = read_sktime(tmp_path, "accuracy")
    assert (results.datasets, results.strategies) == (("GunPoint",), ("knn", "tsf"))
    assert results.cells[0, :, 0].tolist() == [[0.5, 0.5], [1.0, 1.0]]
    assert results.seconds[0, 0, 0, 0, 1] == 2.5
    assert np.isnan(results.seconds[0, 0, 0, 0, 2])
    assert "it holds predictions; name a metric to score them by" in error_of(read_sktime, tmp_path)


def test_folds_of_sktime_that_overlap_are_repeats(tmp_path):
    for fold, rows in ((0, [2, 3]), (1, [3, 4])):
        frame = pd.DataFrame(
            {
                "index": rows,
                "y_true": [float(row) for row in rows],
                "y_pred": [row + 0.5 + fold for row in rows],
            }
        )
        path = tmp_path / "naive" / "airline" / f"naive_test_{fold}.csv"
        write(path, frame.to_csv(index=False))
    results = read_sktime(tmp_path, "squared")
    assert results.cells[0, 0].tolist() == [[0.25], [2.25]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.json", "{", "r.json: no file of sktime.benchmarking (JSONDecodeError"),
        ("r.json", "[1]", "r.json: no file of sktime.benchmarking (TypeError"),
        ("r.csv", "a,b\n1,2\n", "r.csv: no file of sktime.benchmarking: it has no column 'valid"),
        ("r.csv", "validation_id,model_id\nd,m\n", "it has no scores of folds"),
        ("r/a.txt", "", "no results of sktime.benchmarking in it: neither *.json nor"),
        ("r/s/d/s_test_0.csv", "index,y_true,y_pred\n0.5,1,1\n", "'index' holds no row numbers"),
    ],
)
def test_what_is_not_of_sktime_is_refused(tmp_path, name, text, message):
    write(tmp_path / name, text)
    assert message in error_of(read_sktime, tmp_path / name.partition("/")[0], "accuracy")


# -------------------------------------------------------------------- damaged files

DAMAGED = {
    "amlb.csv": (lambda: AMLB, read_automlbenchmark),
    "evaluations.csv": (lambda: evaluations().to_csv(index=False), read_openml_evaluations),
    "sktime.json": (
        lambda: json.dumps(records()),
        lambda path: read_sktime(path, "MeanAbsoluteError"),
    ),
    "sktime.csv": (
        lambda: pd.json_normalize(records()).to_csv(index=False),
        lambda path: read_sktime(path, "MeanAbsoluteError"),
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, name):
    make, read = DAMAGED[name]
    content, path = make().encode(), tmp_path / name
    generator = np.random.default_rng(0)
    messages = []
    for _ in range(30):
        at, size = generator.integers(len(content)), generator.integers(1, 30)
        other = generator.choice(list(b",'\"\n0123456789abc{}[]?- "), generator.integers(0, 6))
        path.write_bytes(content[:at] + bytes(other.tolist()) + content[at + size :])
        try:
            read(path)
        except MlautError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in text for text in messages)


def test_row_numbers_that_cannot_be_are_refused(tmp_path):
    openml_run(tmp_path, 11, "rf(1)", "abab")
    arff = tmp_path / "11" / "predictions.arff"
    arff.write_text(arff.read_text().replace("0,1,0,3,", "0,1,0,3000000000,"))
    message = error_of(read_openml_runs, tmp_path, "accuracy")
    assert "1 repeats of 3000000001 rows of 'iris', of which 4 are tested" in message
    arff.write_text(arff.read_text().replace("3000000000", "-3"))
    assert "no numbers from 0; check the files" in error_of(read_openml_runs, tmp_path, "mcc")


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
    assert "t.csv: no columns of texts" in error_of(read_results, path, "accuracy")
    path = write(tmp_path / "l.csv", "dataset,strategy,u,q\na,x,0.1,0.2\n")
    assert "unclear which of u, q has the accuracy" in error_of(read_results, path, "accuracy")
    path = write(tmp_path / "m.csv", "dataset,x\na,0.1\n")
    assert "the direction of 'mine' is not known" in error_of(read_results, path, "mine")
    assert "m.csv: a table does not say what its scores are" in error_of(read_results, path)
