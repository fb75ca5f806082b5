"""Results of OpenML and sktime, from files in their forms; every number here is made up.

The forms are those of openml/openml-python (``evaluations``, ``runs/run.py``) and
sktime/sktime (``benchmarking/_storage_handlers.py``, ``_lib_mini_kotsu``, ``results.py``).
"""

import json

import numpy as np
import pandas as pd
import pytest
from mlaut_boards import read_openml_evaluations, read_openml_runs, read_sktime

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError, MlautError


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


# ------------------------------------------------------------------ in any reader


@pytest.mark.parametrize(("name", "read"), [("e", read_openml_evaluations), ("s", read_sktime)])
def test_a_table_of_a_known_program_is_known_by_its_columns(tmp_path, name, read):
    sktime = pd.json_normalize(records())
    path = tmp_path / "t.csv"
    {"e": evaluations(), "s": sktime}[name].to_csv(path, index=False)
    wanted = "predictive_accuracy" if name == "e" else "MeanAbsoluteError"
    assert read_results(path, wanted).scores.equals(read(path, wanted).scores)


def test_sources_of_a_table_of_openml_are_those_of_the_named_column(tmp_path):
    evaluations(site=["uci", "uci", "uci", "own"]).to_csv(tmp_path / "e.csv", index=False)
    results = read_results(tmp_path / "e.csv", clusters="site")
    assert results.clusters == ("uci", "own")
