"""`mlaut init`: a study file that runs."""

import numpy as np
import pandas as pd
import pytest

from mlaut.cli import main
from mlaut.experiments import read_study_file, run_study, study_status
from mlaut.experiments.study_files.new_study_file import (
    USUAL,
    new_study_file,
    origin_of,
)
from mlaut.files_io import StudyStore
from mlaut.records import REGRESSION, TASKS

TABLE = "x,y,class\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 2]}\n" for i in range(40))
OWN = """
import time
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y):
        time.sleep(0.2)
        return super().fit(X, y)

class Fails(GaussianNB):
    def fit(self, X, y):
        raise ValueError("no \\x1b[2J fit")

strategies = [("slow", Slow()), ("fails", Fails())]
"""
STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(5)"
[strategies]
names = ["BaselineClassifier"]
file = "own.py"
[run]
n_jobs = 1
"""


def fails(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    return ended.value.code


@pytest.fixture
def folder(tmp_path):
    tmp_path.joinpath("tables").mkdir()
    for name in "pqr":
        tmp_path.joinpath("tables", f"{name}.csv").write_text(TABLE)
    tmp_path.joinpath("own.py").write_text(OWN)
    tmp_path.joinpath("study.toml").write_text(STUDY)
    return tmp_path


def test_a_new_study_file_runs_as_it_is_and_is_never_overwritten(folder, capsys):
    path = folder / "new.toml"
    chosen = ["--folder", str(folder / "tables"), "--title", 'My "x"', "--metric", "mcc"]
    chosen += ["--strategy", "BaselineClassifier", "--strategy", "GaussianNaiveBayes"]
    main(["init", str(path), *chosen, "--question", "control: BaselineClassifier"])
    written = path.read_text()
    assert 'folder = "tables"' in written  # relative to the file, so that both may move
    file = read_study_file(path)
    assert (file.study.title, file.analysis.question) == ('My "x"', "control: BaselineClassifier")
    assert file.analysis.metric == "mcc"
    run_study(path, verbose=0, engine="inline", timeout=None)
    assert study_status(file.output).n_done == 3 * 2 * 5
    capsys.readouterr()
    assert fails("init", path) == 5
    assert "new.toml: exists, and nothing is overwritten; choose another name" in (
        capsys.readouterr().err
    )
    assert path.read_text() == written


@pytest.mark.parametrize("task", TASKS)
def test_the_default_study_file_is_valid(task, tmp_path, capsys):
    path = tmp_path / "deep" / "study.toml"
    main(["init", str(path), "--task", task.lower()])
    file = read_study_file(path)
    assert file.strategies.names == tuple(USUAL[task])
    assert file.data.collection == "starter"
    assert file.analysis.metric == ("r2" if task == REGRESSION else "accuracy")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--strategy", "SVCC"], "no strategy, family or task is called 'SVCC'; did you mean"),
        (["--question", "control: SVC"], "strategy 'SVC' is not in these results"),
        (["--metric", "r2"], "metric 'r2' suits no dataset (Classification)"),
        (["--folder", "nowhere"], "nowhere: no such folder or file; check the path"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(arguments, line, tmp_path, capsys):
    path = tmp_path / "study.toml"
    assert fails("init", path, *arguments) in (3, 6, 7)
    assert line in capsys.readouterr().err
    assert not path.exists()


def test_names_that_toml_would_misread(tmp_path):
    odd = 'a"b\\c\x7f\n🙂'
    terms = {"strategies": ["SVC"], "question": "best", "metric": "accuracy"}
    path = tmp_path / "s.toml"
    text = new_study_file(path, origin_of(path), title=odd, **terms)
    tmp_path.joinpath("s.toml").write_text(text)
    assert read_study_file(tmp_path / "s.toml").study.title == odd


def test_a_table_gets_a_study_file_that_names_what_was_chosen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    n = 60
    columns = {"number": range(n), "x": np.linspace(0, 1, n), "group": [i // 6 for i in range(n)]}
    table = pd.DataFrame(
        {**columns, "sick": ["maybe", *[("no", "yes")[i % 2] for i in range(n - 1)]]}
    )
    table.to_csv("visits.csv", index=False)
    main(["init", "visits.csv", "--strategy", "BaselineClassifier"])
    told = capsys.readouterr().out
    assert "60 rows; target sick (the last column; --target chooses); Classification, 3 cl" in told
    assert "classes with fewer rows than the 10 folds: maybe (1)" in told
    assert "number: another value in each row, is this a feature?" in told
    written = tmp_path.joinpath("visits.toml").read_text()
    assert '# ignore = ["number"]' in written
    grouped = written.replace('# group = "patient"', 'group = "group"')
    tmp_path.joinpath("visits.toml").write_text(grouped)
    run_study("visits.toml", verbose=0, engine="inline", timeout=None)
    split = StudyStore("visits.h5").load_splits()["visits"].split
    assert split.scheme.startswith(("group_kfold", "stratified_group_kfold"))
    main(["init", "prices.toml", "--folder", "visits.csv", "--target", "x"])
    assert read_study_file("prices.toml").data.task == REGRESSION
    assert "the last column" not in capsys.readouterr().out


def test_a_last_column_with_gaps_may_not_be_the_target(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("t.csv").write_text("died,port\n1,S\n0,C\n0,\n1,S\n")
    with pytest.raises(SystemExit):
        main(["init", "t.csv"])
    assert "is it the target at all? --target names another" in capsys.readouterr().err
    main(["init", "t.csv", "--target", "died"])


def test_a_folder_of_tables_gets_the_task_of_its_first(tmp_path, capsys):
    for name in "ab":
        tmp_path.joinpath(f"{name}.csv").write_text(
            "x,y\n" + "\n".join(f"1,{i}.5" for i in range(9))
        )
    main(["init", str(tmp_path / "s.toml"), "--folder", str(tmp_path)])
    told = "2 datasets; task Regression, that of a (--task chooses); its target is y ([data.roles]"
    assert told in capsys.readouterr().out
    assert read_study_file(tmp_path / "s.toml").analysis.metric == "r2"
    assert fails("init", tmp_path / "t.toml", "--folder", tmp_path, "--target", "x") == 5
    assert "--target x: there is no table that it could be in" in capsys.readouterr().err
    tmp_path.joinpath("a.xlsx").write_text("")
    assert fails("init", tmp_path / "a.xlsx") == 5
    assert "a.xlsx: no table that a study reads (.csv, " in capsys.readouterr().err
