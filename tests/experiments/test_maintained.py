"""Plans that look at the folder, trial fits, removing and renaming, by the command line."""

import ast
import re
from pathlib import Path

import pandas as pd
import pytest

import mlaut
from mlaut.cli import main
from mlaut.cli.output import in_own_words
from mlaut.errors import DataError
from mlaut.experiments import plan_study, run_study, verify_study
from mlaut.files_io import StudyStore

STUDY = """
[data]
folder = "tables"
[split]
scheme = "kfold(3)"
[strategies]
names = ["GaussianNaiveBayes", "BaselineClassifier"]
[run]
engine = "inline"
"""
BAD = """
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
strategies = [("bad", LogisticRegression(C=-1)), ("near", KNeighborsClassifier(70))]
"""


def _table(path, n=120):
    rows = [(i % 7, i % 3, "yes" if i % 2 else "no") for i in range(n)]
    pd.DataFrame(rows, columns=["a", "b", "target"]).to_csv(path, index=False)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "tables").mkdir()
    for name in ("one", "two"):
        _table(tmp_path / "tables" / f"{name}.csv")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def _fails(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    return ended.value.code


def test_the_plan_looks_at_the_folder(file, capsys):
    run_study(file, verbose=0)
    assert plan_study(file).plan.n_todo == 0
    _table(file.parent / "tables" / "three.csv")
    before = (file.parent / "input.h5").read_bytes()
    assert plan_study(file).plan.n_todo == 6
    assert (file.parent / "input.h5").read_bytes() == before
    _table(file.parent / "tables" / "one.csv", n=90)
    said = []
    for command in (["plan"], ["run", "-q"]):
        assert _fails(*command, file) == 4
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    assert "/tables/one exists and differs" in said[0]
    assert "'mlaut study remove'" in said[0]
    main(["study", "remove", str(file), "--dataset", "one"])
    assert "dataset one removed (6 cells with an outcome)" in capsys.readouterr().out
    assert run_study(file, verbose=0).n_done == 18


def test_a_plan_that_would_be_refused_has_the_exit_code_of_the_run(file, capsys):
    run_study(file, verbose=0)
    assert main(["plan", str(file)]) is None
    file.write_text(STUDY.replace("kfold(3)", "kfold(4)"))
    assert [_fails(*command, file) for command in (["plan"], ["run", "-q"])] == [5, 5]
    assert "would be refused: dataset 'one': it is split already" in capsys.readouterr().out


def test_a_table_that_cannot_be_split_costs_its_own_cells_only(file):
    _table(file.parent / "tables" / "few.csv", n=2)
    (line,) = plan_study(file).failing
    assert line.startswith(f"would be left out: {file.parent / 'input.h5'}: dataset 'few': 2 rows")
    with pytest.warns(UserWarning, match="left out: .*'few'"):
        assert run_study(file, verbose=0).n_done == 12


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", None, "b"], "1 value is missing, the first in row 1"),
        (["a", "a", "a"], "one class only, 'a'"),
        ([0.5, float("inf"), 1.5], "1 value is infinite, the first in row 1"),
    ],
)
def test_an_unusable_target_is_refused_when_it_is_added(tmp_path, values, said):
    with pytest.raises(DataError, match=said):
        mlaut.Study(tmp_path / "s.h5").add_datasets(
            pd.DataFrame({"x": [1, 2, 3], "y": values}), name="t", target="y"
        )


@pytest.mark.slow
def test_a_trial_names_what_fails_and_no_lack_of_rows(file, capsys, monkeypatch):
    monkeypatch.chdir("/")  # as in a container: there, a trial ended with an error of its own
    (file.parent / "mine.py").write_text(BAD)
    file.write_text(STUDY.replace("names", 'file = "mine.py"\nnames').replace("inline", "local"))
    main(["plan", str(file)])
    out = capsys.readouterr().out
    assert "bad failed in a trial fit on 80 rows of one: InvalidParameterError" in out
    assert out.count("failed in a trial") == 1
    main(["plan", str(file), "--no-trial"])
    assert "trial fit" not in capsys.readouterr().out


def test_renamed_cells_keep_their_outcomes_and_seeds(file, capsys):
    run_study(file, verbose=0)
    study = StudyStore(file.parent / "study.h5")
    before = study.block("one")
    main(["study", "rename", str(file), "--strategy", "GaussianNaiveBayes", "bayes"])
    main(["study", "rename", str(file), "--dataset", "one", "first"])
    after = study.block("first")
    assert after.strategies == ("bayes", "BaselineClassifier")
    assert (after.predictions == before.predictions).all()
    assert (after.status == before.status).all()
    assert verify_study(study.path).ok
    main(["study", "rename", str(study.path), "--strategy", "bayes", "naive"])
    assert "change it in the study file, too" in capsys.readouterr().out.splitlines()[-1]
    main(["study", "rename", str(study.path), "--strategy", "naive", "bayes"])
    main(["study", "remove", str(study.path), "--strategy", "bayes"])
    assert [entry.name for entry in study.strategies] == ["BaselineClassifier"]
    assert study.block("two").strategies == ("BaselineClassifier",)
    main(["study", "remove", str(study.path), "--strategy", "bayes"])
    main(["study", "rename", str(file), "--dataset", "one", "first"])
    assert _fails("study", "remove", study.path, "--strategy", "Baselineclassifer") == 5


def test_an_analysis_follows_its_renamed_control(file):
    run_study(file, verbose=0)
    study = mlaut.Study(file.parent / "study.h5")
    study.analysis(question="control: GaussianNaiveBayes", missing="GaussianNaiveBayes")
    main(["study", "rename", str(study.path), "--strategy", "GaussianNaiveBayes", "bayes"])
    analysis = study.analysis()
    assert (analysis.question, analysis.missing) == ("control: bayes", "bayes")


def test_a_table_that_cannot_be_read_costs_itself_only(file):
    file.parent.joinpath("tables", "bad.csv").write_text("x,y\n1,a\n2,\n3,b\n")
    for call in (lambda: plan_study(file), lambda: run_study(file, verbose=0)):
        with pytest.warns(UserWarning, match=r"left out: .*bad\.csv.*1 value is missing"):
            call()
    assert StudyStore(file.parent / "study.h5").datasets == ("one", "two")


# Advice on arguments that belong into the user's own Python file, or to Python alone.
_PYTHON = {"preprocessing", "trusted", "log", "mode", "activation"}


def test_no_message_of_the_command_line_advises_an_argument_of_python():
    advised = []
    for path in Path(mlaut.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and str(getattr(node.func, "id", "")).endswith("Error"):
                parts = [one for one in ast.walk(node) if isinstance(one, ast.Constant)]
                text = "".join(str(one.value) for one in parts)
                left = re.findall(r"(?<!\w)([a-z_]+)=(?:True|False)", in_own_words(text))
                advised += [(path.name, name) for name in left if name not in _PYTHON]
    assert advised == []
    assert (
        in_own_words("pass overwrite_predictions=True") == "pass --set overwrite_predictions=true"
    )
    assert in_own_words("retry=['error', 'timeout']") == "--retry error --retry timeout"
    assert in_own_words("limits=False") == "--set limits=false"
