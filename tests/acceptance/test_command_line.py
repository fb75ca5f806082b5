"""The command line as a user meets it: a study from a file, and one clear line for bad input."""

import contextlib
import errno
import io
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from types import SimpleNamespace

import click
import h5py
import pandas as pd
import pytest

from mlaut.cli import main
from mlaut.cli.output import show_rows
from mlaut.data import LeakWarning
from mlaut.errors import StoreWarning
from mlaut.files_io import StudyStore
from mlaut.report import writing
from mlaut.report.drawing import FIGURES

STUDY = """
[data]
collection = "starter"
datasets = ["iris", "wine", "glass"]

[split]
scheme = "kfold(3)"

[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes", "DecisionTreeClassifier"]

[strategies.parameters.DecisionTreeClassifier]
param_grid = { max_depth = [1, 4] }

[run]
n_jobs = 2
"""


def mlaut(*arguments, folder):
    """Run a command in this process; return its exit code and what it wrote."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.chdir(folder), redirect_stdout(out), redirect_stderr(err):
        try:
            main([*map(str, arguments)])
        except SystemExit as end:
            code = end.code or 0
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def mlaut_alone(*arguments, folder, **options):
    """Run a command in a process of its own, as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "mlaut", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that was run from its file."""
    folder = tmp_path_factory.mktemp("study")
    folder.joinpath("study.toml").write_text(STUDY)
    told = mlaut_alone("run", "study.toml", folder=folder)
    assert told.returncode == 0, told.stderr
    assert "27 of 27 cells done; this run: 27 done" in told.stdout
    assert "27/27 cells (100%), 0 failed" in told.stderr
    return folder


@pytest.fixture
def study(finished, tmp_path):
    """A copy of it, to be spoilt."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_run_again_finds_nothing_to_do(finished):
    told = mlaut("run", "study.toml", folder=finished)
    assert "27 of 27 cells done; this run: nothing to do" in told.stdout


def test_what_a_run_did_as_json(finished):
    told = json.loads(mlaut("run", "study.toml", "--quiet", "--json", folder=finished).stdout)
    assert told["complete"]
    assert told["cells"] == told["done"] > 0
    assert told["this_run"] == {}
    assert told["reasons"] == []


def test_changed_file_runs_what_is_new(study):
    text = study.joinpath("study.toml").read_text()
    study.joinpath("study.toml").write_text(
        text.replace('"BaselineClassifier",', '"BaselineClassifier", "BernoulliNaiveBayes",')
    )
    told = mlaut("run", "study.toml", "--quiet", folder=study)
    assert "36 of 36 cells done; this run: 9 done" in told.stdout
    assert told.stderr == ""


def test_status_as_text_and_as_json(finished):
    told = mlaut("status", "study.h5", folder=finished)
    assert told.stdout.startswith("study.h5: 3 datasets, 3 strategies, 27 cells: 27 done")
    content = json.loads(mlaut("status", "study.h5", "--json", folder=finished).stdout)
    assert content["complete"] is True
    assert content["strategies"]["GaussianNaiveBayes"] == {"done": 9}
    assert content["running"] is None


def test_a_strategy_that_is_named_is_described(finished):
    lines = mlaut("list", "strategies", "SVC", folder=finished).stdout.splitlines()
    assert 'stops_after: {"max_iter": 1000000}' in lines
    assert 'size_limit: {"rows": 20000}' in lines
    (told,) = json.loads(mlaut("list", "strategies", "SVC_mlaut", "--json", folder=finished).stdout)
    assert (told["name"], told["stops_after"]) == ("SVC", {"max_iter": 1_000_000})
    listed, *_ = json.loads(
        mlaut("list", "strategies", "Cluster", "--json", folder=finished).stdout
    )
    assert "stops_after" not in listed


def test_strategies_and_datasets_are_listed(finished):
    told = mlaut("list", "strategies", "Naive_Bayes", folder=finished).stdout
    assert "GaussianNaiveBayes" in told
    assert "SVC" not in told
    rows = json.loads(mlaut("list", "datasets", "--json", folder=finished).stdout)
    assert {"iris", "wine"} <= {row["name"] for row in rows}
    rows = json.loads(mlaut("list", "datasets", "input.h5", "--json", folder=finished).stdout)
    assert {row["name"] for row in rows} == {"iris", "wine", "glass"}


def test_tables_are_aligned_also_where_characters_are_wide(capsys):
    """Expected is what tabulate prints, which takes longer to import than a status to read."""
    rows = [{"strategy": "日本語", "done": 3}, {"strategy": " e\u0301te\u0301 ", "done": None}]
    assert show_rows(rows) == rows
    assert capsys.readouterr().out.splitlines() == [
        "strategy    done",
        "----------  ------",
        "日本語      3",
        "e\u0301te\u0301         None",
    ]


def test_a_report_of_a_study_file_prints_its_methods(finished):
    told = mlaut("report", "study.toml", "--methods", folder=finished)
    assert told.stdout.startswith("We compared 3 strategies on 3 datasets by accuracy (higher is")
    assert "test and level were chosen on 2" in told.stdout
    assert "before the first result" in told.stdout
    assert "changed" not in told.stdout
    assert "@article{wilcoxon1945," in told.stdout


def test_report_on_screen_and_as_files(finished, tmp_path, monkeypatch):
    # figures take long, and tests of reports have them all
    monkeypatch.setattr("mlaut.report.drawing.FIGURES", {"decision": FIGURES["decision"]})
    told = mlaut("report", "study.h5", folder=finished)
    assert "GaussianNaiveBayes" in told.stdout
    assert "Too few datasets to be sure (3, and at least 6 are needed). " in told.stdout
    markdown = mlaut("report", "study.h5", "--format", "markdown", folder=finished).stdout
    assert "|" in markdown
    assert mlaut("report", "study.h5", "-o", tmp_path / "out", folder=finished).returncode == 0
    losses = pd.read_csv(tmp_path / "out" / "losses.csv", index_col=0)
    assert list(losses.index) == ["glass", "iris", "wine"]
    block = StudyStore(finished / "study.h5").block("iris")
    position = block.strategies.index("GaussianNaiveBayes")
    wrong = (block.predictions[position, 0] != block.truth).mean()
    assert losses.loc["iris", "GaussianNaiveBayes"] == pytest.approx(wrong, rel=1e-12)


def test_interrupt_says_how_to_go_on(tmp_path):
    text = STUDY.replace("{ max_depth = [1, 4] }", "{ max_depth = [" + "3, " * 2000 + "] }")
    tmp_path.joinpath("study.toml").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "mlaut", "run", "study.toml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored by nohup
    )
    while not tmp_path.joinpath("study.h5.journal").exists():
        time.sleep(0.02)
        assert process.poll() is None
    for _ in range(5):  # as a user does who sees no answer
        process.send_signal(signal.SIGINT)
        try:
            told = process.communicate(timeout=5)[1]
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode == 130, told
    assert told.splitlines()[-1].startswith("mlaut: stopped ")
    assert "make the same call again to go on" in told
    assert "Traceback" not in told


def test_a_request_to_terminate_is_heard_before_the_run_has_begun(monkeypatch, capsys):
    """As process 1 of a container has no default action, it would be lost."""
    from mlaut import cli

    def terminate(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(cli.runs, "run_file", terminate)
    with pytest.raises(SystemExit) as left:
        cli.main(["run", "study.toml"])
    assert left.value.code == 130
    assert capsys.readouterr().err.strip() == "mlaut: stopped; make the same call again to go on"
    assert signal.getsignal(signal.SIGTERM) is before


def _unknown_key(folder):
    path = folder / "study.toml"
    path.write_text(path.read_text().replace("scheme", "shceme"))


def _no_target(folder):
    pd.DataFrame({"a": [1, 2, 3], "b": [1, 0, 1]}).to_csv(
        folder / "tables" / "two.csv", index=False
    )
    (folder / "tables" / "manifest.csv").write_text("name,file,target\ntwo,two.csv,label\n")


def _one_class(folder):
    pd.DataFrame({"a": [1, 2, 3], "label": ["x", "x", "x"]}).to_csv(
        folder / "tables" / "two.csv", index=False
    )
    (folder / "tables" / "manifest.csv").write_text(
        "name,file,target,task\ntwo,two.csv,label,Classification\n"
    )


def _not_hdf5(folder):
    (folder / "input.h5").write_text("a,b\n1,2\n")


def _truncated(folder):
    path = folder / "study.h5"
    path.write_bytes(path.read_bytes()[:-300])


BAD = {
    "unknown key": (_unknown_key, "", r"study.toml: unknown key 'shceme' in [split]", 5),
    "no target": (_no_target, "folder", "label", 3),
    "one class": (_one_class, "folder", "two", 3),
    "regression": (
        lambda _: None,
        'names = ["Lasso", ',
        "strategy 'Lasso' is for Regression",
        6,
    ),
    "not HDF5": (_not_hdf5, "", "input.h5: not an HDF5 file", 4),
    "truncated": (_truncated, "", "study.h5: a truncated HDF5 file", 4),
    "unknown strategy": (lambda _: None, 'names = ["Basline", ', "Basline", 6),
    "unknown parameter": (
        lambda _: None,
        "[strategies.parameters.GaussianNaiveBayes]\nparam_gird = {}\n[run]",
        "(params has those of its learner); did you mean 'param_grid'?",
        5,
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_loses_nothing(study, case):
    spoil, change, message, code = BAD[case]
    path = study / "study.toml"
    (study / "tables").mkdir()
    before = StudyStore(study / "study.h5").block("iris").predictions.copy()
    if change == "folder":
        path.write_text(
            path.read_text()
            .replace('collection = "starter"', 'folder = "tables"\ninput = "tables.h5"')
            .replace('datasets = ["iris", "wine", "glass"]', "")
        )
    elif change.startswith("names"):
        path.write_text(path.read_text().replace("names = [", change))
    elif change:
        path.write_text(path.read_text().replace("[run]", change))
    spoil(study)
    told = mlaut("run", "study.toml", folder=study)
    lines = told.stderr.splitlines()
    assert len(lines) == 1, told.stderr
    assert lines[0].startswith("mlaut: error: ")
    assert message in lines[0]
    assert told.returncode == code
    if case != "truncated":
        assert (StudyStore(study / "study.h5").block("iris").predictions == before).all()


ENDLESS = {
    "study file": (["run", "plan", "report", "status", "verify"], ["{pipe}.toml"]),
    "study": (["report", "status", "verify", "verify --seal", "study compact"], ["{pipe}.h5"]),
    "table": (["report --metric accuracy"], ["{pipe}.csv"]),
    "json": (["report --metric accuracy"], ["{pipe}.json"]),
    "excel": (["report --metric accuracy"], ["{pipe}.xlsx"]),
    "output": (["report"], ["study.h5", "-o", "{pipe}.html"]),
    "clusters": (["report"], ["study.h5", "--clusters", "{pipe}.csv"]),
    "database": (["load"], ["{pipe}.h5", "starter/iris"]),
    "strategies": (["run", "plan"], ["own.toml"]),
}


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("case", ENDLESS)
def test_a_pipe_or_a_device_is_one_line_at_once(study, case, kind):
    commands, arguments = ENDLESS[case]
    for ending in ("toml", "h5", "csv", "json", "xlsx", "html", "py"):
        place = study / f"pipe.{ending}"
        os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    own = STUDY.partition("[strategies]")[0] + '[strategies]\nfile = "pipe.py"\n'
    (study / "own.toml").write_text(own)
    for command in commands:
        words = [word.format(pipe="pipe") for word in (*command.split(), *arguments)]
        told = mlaut(*words, folder=study)
        assert told.returncode in (1, 4), told
        assert "a pipe or a device, and must be a file" in told.stderr + told.stdout
        assert len(told.stderr.splitlines()) <= 1


def _toml(text):
    return lambda folder: (folder / "odd.toml").write_bytes(text.encode())


def _json(text):
    return lambda folder: (folder / "odd.json").write_text(text)


ODD = {
    "nested toml": (_toml("a = " + "[" * 10**5), "run odd.toml", 5, "nested too deeply"),
    "long number": (_toml("[study]\nseed = " + "1" * 5000), "plan odd.toml", 5, "4300 digits"),
    "NUL": (_toml('[study]\noutput = "a\\u0000b"'), "run odd.toml", 5, "has a NUL"),
    "nested json": (_json("[" * 10**5), "report odd.json --metric r2", 3, "nested too deeply"),
    "key twice": (_json('[{"dataset": "a", "m": 1, "m": 2}]'), "report odd.json --metric accuracy",
                  3, "the key 'm' twice"),
    "long name": (_toml(""), "init " + "n" * 300 + ".toml", 4, "File name too long"),
    "exists": (_toml(""), "init odd.toml", 5, "exists, and nothing is overwritten"),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd_files_are_one_line_and_no_bug(tmp_path, case):
    make, command, code, message = ODD[case]
    make(tmp_path)
    told = mlaut(*command.split(), folder=tmp_path)
    assert told.returncode == code, told
    assert re.search(message, told.stderr)
    assert len(told.stderr.splitlines()) == 1


def test_a_study_file_of_windows_has_a_byte_order_mark(study):
    content = (study / "study.toml").read_bytes()
    (study / "study.toml").write_bytes(b"\xef\xbb\xbf" + content)
    assert "27 of 27 cells done" in mlaut("run", "study.toml", "-q", folder=study).stdout


@pytest.mark.parametrize(
    ("error", "message"),
    [(MemoryError("Unable to allocate 768. MiB"), "the memory does not suffice (Unable to alloc"),
     (OSError(errno.EMFILE, "Too many open files"), "raise their limit (ulimit -n 4096)")],
)  # fmt: skip
def test_what_the_machine_lacks_is_no_bug(tmp_path, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("mlaut.cli.studies.database_and_options", fail)
    told = mlaut("report", "study.h5", folder=tmp_path)
    assert told.returncode == 4
    assert message in told.stderr


def test_odd_numbers_and_names_make_no_warnings_of_libraries(tmp_path):
    (tmp_path / "t.csv").write_text("dataset,a,b\nx,1e400,0.5\ny,0.2,0.3\n")
    told = mlaut_alone("report", "t.csv", "--metric", "accuracy", folder=tmp_path)
    assert len(told.stderr.splitlines()) == 1
    (tmp_path / "t.csv").write_text("dataset,\U0001f600 \u65e5,b\nx,.1,.5\ny,.2,.3\nz,.4,.3\n")
    told = mlaut_alone(
        *["report", "t.csv", "--metric", "accuracy", "-o", "t.html"], folder=tmp_path
    )
    assert told.stderr == ""


def test_debug_shows_the_traceback(tmp_path):
    told = mlaut_alone("--debug", "status", "study.h5", folder=tmp_path)
    assert told.stderr.startswith("Traceback")
    assert told.stderr.splitlines()[-1].startswith("mlaut: error: study.h5: no such file")


def test_strategy_given_twice_under_one_name(study):
    (study / "own.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "strategies = [GaussianNB(), GaussianNB(var_smoothing=0.1)]\n"
    )
    path = study / "study.toml"
    path.write_text(path.read_text().replace("[strategies]", '[strategies]\nfile = "own.py"'))
    told = mlaut("run", "study.toml", folder=study)
    assert told.stderr.startswith("mlaut: error: two strategies are called 'GaussianNB'")
    assert len(told.stderr.splitlines()) == 1


def test_a_strict_run_tells_failures_by_its_code(study):
    (study / "own.py").write_text(
        "from sklearn.svm import SVC\nstrategies = [('broken', SVC(C=-1.0))]\n"
    )
    path = study / "study.toml"
    path.write_text(path.read_text().replace("[strategies]", '[strategies]\nfile = "own.py"'))
    told = mlaut("run", "study.toml", "--quiet", folder=study)
    assert (told.returncode, "9 error" in told.stdout) == (0, True)
    again = mlaut("run", "study.toml", "--quiet", "--strict", folder=study)  # they failed before
    assert again.returncode == 9
    assert "9 cells failed in earlier runs" in again.stdout
    told = mlaut("status", "study.h5", "--why", folder=study).stdout
    assert "broken, error, 9 cells, the first:\nTraceback (most recent call last):\n" in told
    assert "InvalidParameterError" in told


def test_a_misspelt_metric_is_told_before_anything_runs(study):
    path = study / "study.toml"
    path.write_text(path.read_text() + '[report]\nmetric = "acuracy"\nmissing = "wosrt"\n')
    (study / "study.h5").unlink()
    for command in ("plan", "run"):
        told = mlaut(command, "study.toml", folder=study)
        assert told.returncode == 7
        assert "metric 'acuracy' is not known; did you mean 'accuracy'?" in told.stderr
        assert ("missing 'wosrt' is neither a treatment" in told.stderr) == (command == "plan")
    assert not (study / "study.h5").exists()


def test_a_metric_that_suits_no_dataset_is_told_by_plan(study):
    path = study / "study.toml"
    path.write_text(path.read_text() + '[report]\nmetric = "r2"\n')
    told = mlaut("plan", "study.toml", folder=study)
    assert "metric 'r2' suits no dataset (Classification)" in told.stderr
    assert told.returncode == 7


def test_own_strategies_from_a_file(study):
    (study / "own.py").write_text(
        "from sklearn.base import BaseEstimator, ClassifierMixin\n"
        "class First(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y):\n"
        "        self.classes_ = sorted(set(y))\n"
        "        return self\n"
        "    def predict(self, X):\n"
        "        return [self.classes_[0]] * len(X)\n"
        "strategies = {'first': First()}\n"
    )
    path = study / "study.toml"
    path.write_text(path.read_text().replace("[strategies]", '[strategies]\nfile = "own.py"'))
    told = mlaut("run", "study.toml", "--quiet", folder=study)
    assert "36 of 36 cells done; this run: 9 done" in told.stdout, told.stderr


def test_read_only_output(study):
    """Root may write anywhere, unless it gives that right up."""
    path = study / "study.toml"
    path.write_text(path.read_text().replace('"BaselineClassifier",', '"BernoulliNaiveBayes",'))
    before = (study / "study.h5").read_bytes()
    for file in study.iterdir():
        file.chmod(0o444)
    study.chmod(0o555)
    prefix = []
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("setpriv is not here to give up root's right to write anywhere")
        prefix = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    told = subprocess.run(
        [*prefix, sys.executable, "-m", "mlaut", "run", "study.toml"],
        cwd=study,
        capture_output=True,
        text=True,
    )
    study.chmod(0o755)
    assert told.returncode == 4, told.stderr
    assert re.fullmatch(r"mlaut: error: .*\.h5: .*(read-only|no permission).*\n", told.stderr)
    assert (study / "study.h5").read_bytes() == before


def test_full_disk(study):
    """A limit on the size of files stands for the full disk: the writes really fail."""
    path = study / "study.toml"
    path.write_text(path.read_text().replace('"BaselineClassifier",', '"BernoulliNaiveBayes",'))
    before = (study / "study.h5").read_bytes()
    told = mlaut_alone(
        "run",
        "study.toml",
        folder=study,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    assert told.returncode == 4
    assert re.fullmatch(r"mlaut: error: study\.h5: the disk .* is full while .*\n", told.stderr)
    assert (study / "study.h5").read_bytes() == before
    assert mlaut("run", "study.toml", "-q", folder=study).stdout.count("9 done") == 1


def test_a_study_file_that_was_not_run_yet_says_how_to_begin(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    for command in ("status", "report", "verify"):
        told = mlaut(*command.split(), "study.toml", folder=tmp_path)
        begin = "mlaut: error: study.h5: there is no study yet; begin it: mlaut run study.toml\n"
        assert (command, told.returncode, told.stderr) == (command, 4, begin)
    told = mlaut("status", "study.toml", "--alive", folder=tmp_path)
    assert (told.returncode, told.stderr) == (1, "")
    (tmp_path / "study.shard-1-of-2.h5").touch()
    told = mlaut("report", "study.toml", folder=tmp_path)
    assert told.stderr.endswith("shards: mlaut merge study.shard-*.h5 -o study.h5\n"), told.stderr


def test_status_and_report_of_what_is_no_study(tmp_path):
    told = mlaut("status", "study.h5", folder=tmp_path)
    assert told.returncode == 4
    assert told.stderr == ("mlaut: error: study.h5: no such file; check the path\n")
    h5py.File(tmp_path / "empty.h5", "w").close()
    told = mlaut("report", "empty.h5", folder=tmp_path)
    assert told.returncode == 5
    assert "empty.h5: no study in this file" in told.stderr


def every_command():
    """Return each command by the words that call it."""
    from mlaut.cli import _IN_PLUGINS, cli

    commands = cli.commands | {
        f"{noun} {name}": command
        for noun in ("list", "study")
        for name, command in cli.commands[noun].commands.items()
    }
    return {name: x for name, x in commands.items() if name.split()[-1] not in _IN_PLUGINS}


def test_each_command_has_help_with_an_example():
    for name, command in every_command().items():
        assert f"mlaut {name}" in command.help, name
        assert all(o.help for o in command.params if o.param_type_name == "option"), name


def test_each_example_in_a_help_is_a_call_that_is_understood():
    from mlaut.cli import cli

    pages = "\n".join(command.help for command in (cli, *every_command().values()))
    calls = re.findall(r"^ *mlaut (.+?)(?:  .*)?$", pages, re.MULTILINE)
    assert len(calls) > 40
    for call in calls:
        command, words = cli, shlex.split(call)
        while isinstance(command, click.Group) and not words[0].startswith("-"):
            command = command.commands[words.pop(0)]
        with contextlib.suppress(click.exceptions.Exit):  # of --help
            command.make_context(call, words)  # an error of usage is raised here


def test_a_report_takes_the_formats_that_there_are():
    command = every_command()["report"]
    style, output = ({o.name: o for o in command.params}[name] for name in ("style", "output"))
    assert list(style.type.choices) == list(writing.FORMATS)
    assert set(re.findall(r"\.\w+", output.help)) == set(writing._ENDINGS)


@pytest.mark.parametrize("kind", [StoreWarning, LeakWarning])
def test_a_warning_of_mlaut_is_one_line_without_a_place_in_its_code(kind, capsys):
    import_module("mlaut.cli")._show_warning(kind("is it so?"), kind, __file__, 3)
    assert capsys.readouterr().err == "mlaut: warning: is it so?\n"


def test_the_first_page_has_at_most_13_commands_and_fits_80_columns(tmp_path):
    page = mlaut("--help", folder=tmp_path).stdout
    own = page.partition("Plug-ins:")[0].rstrip()  # of those that are installed, if any
    groups = own[own.index("Begin:") :].split("\n\n")
    assert [group.splitlines()[0] for group in groups] == [
        "Begin:",
        "Run:",
        "Conclude:",
        "Look up, bring in:",
    ]
    lines = [line for group in groups for line in group.splitlines()[1:]]
    assert len(lines) <= 13
    assert {line.split()[0] for line in lines} | {"study"} == {
        name for name in every_command() if " " not in name
    }
    assert [line for line in lines if "..." in line] == []  # click cuts what is too long
    assert "mlaut study --help" in page


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["watch", "study.h5"], "'mlaut watch' is now 'mlaut status --follow'"),
        (["strategies"], "'mlaut strategies' is now 'mlaut list strategies'"),
        (["compact", "s.h5"], "'mlaut compact' is now 'mlaut study compact'"),
        (
            ["study", "export", "s.h5"],
            "'mlaut study export' is now 'mlaut report study.h5 -o tables/'",
        ),
        (["run", "s.toml", "--memory", "4GiB"], "'--memory' is a setting: '--set memory=VALUE'"),
        (["plan", "s.toml", "--no-limits"], "'--no-limits' is a setting: '--set limits=false'"),
        (["report", "s.h5", "--rope", "0.1"], "'--rope' is a setting: '--set rope=VALUE'"),
    ],
)
def test_a_former_name_is_answered_with_that_of_today(arguments, answer, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert (end.value.code, capsys.readouterr().err) == (2, f"Error: {answer}\n")


def test_strategies_are_added_to_a_bundle_and_to_nothing_else(study):
    refused = mlaut("run", "study.h5", "--add", "SVC", "-o", "new.h5", folder=study)
    why = "no bundle; 'mlaut publish', of mlaut-exchange, makes one of a study"
    answer = f"mlaut: error: study.h5: {why}\n"
    assert (refused.stderr, refused.returncode) == (answer, 5)


def test_an_option_of_another_command_is_no_setting_of_this_one(capsys):
    with pytest.raises(SystemExit):
        main(["report", "s.h5", "--n-jobs", "2"])
    assert re.search("Error: No such option:? '?--n-jobs'?", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            ["study", "rename", "s.h5", "--strategy", "A", "b", "--strategy", "A", "c"],
            "the new name of 'A' is given as 'b' and as 'c'; give it once",
        ),
        (["run", "s.toml", "-j", "1", "--n-jobs", "2"], "--n-jobs is given twice; give it once"),
        (
            ["report", "s.csv", "--less-is-better", "--greater-is-better"],
            "--greater-is-better/--less-is-better is given twice; give it once",
        ),
        (
            ["run", "s.toml", "--set", "memory=1GiB", "--set", "memory=2GiB"],
            "--set: the value of 'memory' is given as '1GiB' and as '2GiB'; give it once",
        ),
        (
            ["report", "s.csv", "--columns", "dataset=a", "--columns", "dataset=b"],
            "--columns: the column of 'dataset' is given as ['a'] and as ['b']; give it once",
        ),
        (["report", "a.csv", "b.csv"], "(b.csv): put several tables into a folder, and name the"),
        (["init", "a.csv", "b.csv"], "(b.csv): put several tables into a folder, and name the"),
    ],
)
def test_one_thing_is_said_once(arguments, answer, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert answer in capsys.readouterr().err


def test_a_flag_may_be_said_twice(capsys):
    main(["list", "metrics", "--json", "--json"])
    assert json.loads(capsys.readouterr().out)


def test_set_takes_any_key_of_three_sections(study):
    settings = ["memory=4GiB", "limits=false", "search=grid", "alpha=0.01"]
    flags = [word for pair in settings for word in ("--set", pair)]
    text = study.joinpath("study.toml").read_text()
    study.joinpath("study.toml").write_text(text + '[tuning]\nsearch = "grid"\n')
    study.joinpath("study.h5").unlink()
    done = mlaut("run", "study.toml", "-q", *flags, folder=study)
    assert done.returncode == 0, done.stderr
    stored = StudyStore(study / "study.h5")
    (run,) = stored.runs
    assert [run[key] for key in ("memory", "limits", "search")] == ["4GiB", False, "grid"]
    methods = mlaut("report", "study.h5", "--methods", folder=study).stdout
    assert "0.01" in methods
    changed = mlaut("report", "study.h5", "--set", "question=all pairs", folder=study).stdout
    assert "all pairs" in " ".join(changed.split())


@pytest.mark.parametrize(
    ("command", "setting", "message"),
    [
        ("run", "memroy=4GiB", "--set: unknown key 'memroy'; did you mean 'memory'?"),
        ("plan", "threads=two", "--set: threads in [run] is 'two', and must be a number"),
        ("report", "n_jobs=2", "--set: unknown key 'n_jobs'; known are question, metric"),
        ("run", "alpha=2", "[analysis]: alpha"),
    ],
)
def test_a_setting_is_checked_as_in_a_study_file(study, command, setting, message):
    refused = mlaut(command, "study.toml", "--set", setting, folder=study)
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert refused.returncode in (5, 7)


def test_a_study_file_that_is_not_there_is_offered(tmp_path):
    told = mlaut("run", "my.toml", folder=tmp_path)
    assert told.returncode == 5
    assert told.stderr == (
        "mlaut: error: my.toml: no such file; check the path, or write a study file: "
        "mlaut init my.toml\n"
    )


def test_help_and_version_need_no_heavy_package():
    program = (
        "import sys\nfrom mlaut.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pandas', 'sklearn', 'scipy', 'matplotlib', 'h5py', 'keras'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "mlaut run study.toml" in told.stdout


def test_status_needs_neither_pandas_nor_scikit_learn(finished):
    program = (
        "import sys\nfrom mlaut.cli import main\n"
        f"main(['status', {str(finished / 'study.h5')!r}])\n"
        "heavy = {'pandas', 'sklearn', 'scipy', 'tabulate'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_import_loads_nothing_heavy():
    program = (
        "import sys, mlaut\n"
        "heavy = {'numpy', 'pandas', 'h5py', 'sklearn', 'matplotlib', 'keras'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize(
    ("command", "threads"), [("list strategies", "1"), ("study compact no.h5", "None")]
)
def test_commands_that_run_no_strategy_have_one_thread(command, threads):
    """The threads of OpenBLAS cost more time than these commands take, and they end with it."""
    code = (
        "import atexit, os, sys; name = 'OPENBLAS_NUM_THREADS'; "
        "atexit.register(lambda: print(os.environ.get(name), 'http.client' in sys.modules)); "
        f"os.environ.pop(name, None); sys.argv = ['mlaut', *{command.split()}]; "
        "from mlaut.cli import main; main()"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.split()[-2:] == [threads, "False"]
