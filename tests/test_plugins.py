"""Plug-ins: they are found, one that fails is left out, and none may import what is not public."""

import ast
import contextlib
import pkgutil
import re
import sys
import tomllib
import types
import warnings
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mlaut.analysis.plots
from mlaut import Study, plugins
from mlaut.analysis import read_results
from mlaut.analysis.deciding.terms import Chosen
from mlaut.cli import cli, main
from mlaut.data import load_folder
from mlaut.errors import (
    AnalysisError,
    DataError,
    MlautError,
    OptionalPackageError,
    PluginWarning,
    StudyError,
)
from mlaut.estimators import REGISTRY, Registry
from mlaut.estimators.catalogue.registry import _with_plugins
from mlaut.experiments import InlineEngine, RunOptions, run_study
from mlaut.experiments.engines import engine
from mlaut.experiments.options import ENGINES
from mlaut.experiments.plans.run_options import mistakes_in
from mlaut.experiments.study_files.new_study_file import origin_of
from mlaut.files_io import StudyStore
from mlaut.helpers.former_names import without_plugin
from mlaut.plugins import finding
from mlaut.records import Cell, Outcome, Status
from mlaut.report import make_report

ROOT = Path(__file__).parents[1]
# Modules of which every name is public.
OFFERED = ("mlaut.errors", "mlaut.records", "mlaut.helpers.markup", "mlaut.helpers.downloads")


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that makes installed packages of entry points and the text of a module."""
    monkeypatch.syspath_prepend(tmp_path)
    finding.found.cache_clear()

    def make(points, text, name="tryout"):
        (tmp_path / f"{name}.py").write_text(text)
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(points)

    yield make
    finding.found.cache_clear()
    for name in [name for name in sys.modules if name.startswith("tryout")]:
        del sys.modules[name]


def example():
    """Return the files of the page that shows how to write a plug-in."""
    text = (ROOT / "docs" / "plug-ins.md").read_text()
    return re.findall(r"```(python|toml)\n(.*?)```", text, re.DOTALL)


def test_the_reader_of_the_page_reads(install, tmp_path):
    (_, reader), (_, project) = example()[:2]
    assert len([line for line in reader.splitlines() if line.strip()]) <= 20
    point = re.search(r'"mlaut.readers"\]\n(.*)', project)[1].replace('"', "")
    install(f"[mlaut.readers]\n{point}\n", reader, name=point.partition("= ")[2].partition(":")[0])
    (tmp_path / "a.arena").write_text("won tree iris 0.9\nwon rule iris 0.8\n")
    results = read_results(tmp_path / "a.arena")
    assert results.scores.to_dict("list") == {"tree": [0.9], "rule": [0.8]}
    assert "tree is first of 2 strategies" in str(make_report(tmp_path / "a.arena"))
    (tmp_path / "other.csv").write_text("dataset,tree,rule\niris,0.9,0.7\n")
    assert read_results(tmp_path / "other.csv", "accuracy").scores.loc["iris", "rule"] == 0.7
    sys.modules.pop(point.partition("= ")[2].partition(":")[0])


def test_a_layout_of_a_folder_that_a_plugin_knows_is_read(install, tmp_path):
    text = """
import pandas as pd
from mlaut.data import from_frame
from mlaut.plugins import Unread

def read(folder):
    files = sorted(folder.glob("*.odd"))
    return {file.stem: Unread(lambda f=file: from_frame(pd.read_csv(f), "y", name=f.stem))
            for file in files}
"""
    install("[mlaut.folders]\nodd = tryout:read\n", text)
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "one.odd").write_text("x,y\n1,a\n2,b\n")
    (folder / "two.csv").write_text("x,y\n1,a\n2,b\n")
    assert [(one.name, one.target) for one in load_folder(folder)] == [("one", "y")]
    assert "datasets = " not in origin_of(tmp_path / "study.toml", folder).line
    (folder / "manifest.csv").write_text("file\ntwo.csv\n")
    assert [one.name for one in load_folder(folder)] == ["two"]


def test_an_archive_names_the_plugin_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut.data.tables.folders.found", lambda _: {})
    (tmp_path / "zoo").mkdir()
    for name in ("zoo_R.dat", "zoo_train.arff"):
        (tmp_path / "zoo" / name).write_text("")
    with pytest.raises(
        OptionalPackageError, match=r"read by the plug-in mlaut-boards: 'pip install"
    ):
        load_folder(tmp_path)


def test_a_plugin_that_fails_is_named_in_one_line_and_left_out(install, tmp_path):
    install("[mlaut.readers]\nbad = tryout:read\n", "raise RuntimeError('two\\nlines')")
    (tmp_path / "scores.csv").write_text("dataset,tree,rule\niris,0.9,0.7\n")
    line = (
        r"^plug-in tryout is left out, since tryout:read cannot be loaded \(RuntimeError: two lines"
    )
    with pytest.warns(PluginWarning, match=line):
        assert len(read_results(tmp_path / "scores.csv", "accuracy").strategies) == 2


def test_a_command_stands_on_the_first_page_and_below_study(install):
    text = (
        "import click\n@click.command()\ndef hello():\n    'Say hello.'\n    return {'said': 1}\n"
    )
    points = "[mlaut.commands]\nhello = tryout:hello\nstudy.hello = tryout:hello\n"
    install(points, text)
    try:
        assert re.search(
            r"Plug-ins:\n +hello +Say hello\.", CliRunner().invoke(cli, ["--help"]).output
        )
        done = CliRunner().invoke(cli, ["study", "hello", "--json"])
        assert (done.exit_code, done.stdout) == (0, '{"said": 1}\n')
        asked = CliRunner().invoke(cli, ["study", "hello", "--json-schema"])
        assert asked.exit_code == 2
        assert "its plug-in 'tryout' has no file schemas/study-hello.json" in asked.output
    finally:
        cli.commands.pop("hello", None)
        cli.commands["study"].commands.pop("hello", None)


def test_an_engine_runs_by_its_name(install, tmp_path):
    text = "from mlaut.experiments import InlineEngine\nclass Mine(InlineEngine): pass\n"
    install("[mlaut.engines]\nmine = tryout:Mine\n", text)
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris"])
    assert study.run(["BaselineClassifier"], engine="mine", verbose=0).complete
    with pytest.raises(StudyError, match="engine 'mime': unknown; did you mean 'mine'"):
        study.run(["BaselineClassifier"], engine="mime", verbose=0)


def test_strategies_have_names_and_one_that_is_taken_is_left_out(install):
    entry = """Strategy(
        name={!r}, class_name='X', estimator_family='Cluster', tasks='Classification', about='',
        wraps='sklearn.neighbors:NearestCentroid')"""
    entries = f"[{entry.format('Centroid')}, {entry.format('SVC')}]"
    install(
        "[mlaut.strategies]\nmine = tryout:MINE\n",
        f"from mlaut.estimators import Strategy\nMINE = {entries}\n",
    )
    with pytest.warns(PluginWarning, match="'SVC' is registered already .*; the strategy is left"):
        added = _with_plugins(Registry([REGISTRY["SVC"]]))
    assert [spec.name for spec in added] == ["SVC", "Centroid"]


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_is_described(name):
    assert repr(name).replace("'", '"') in RunOptions.__doc__
    kind = pkgutil.resolve_name(ENGINES[name])
    assert callable(kind.run)


def test_a_limit_that_an_engine_cannot_keep_is_a_mistake_in_a_plan(monkeypatch):
    monkeypatch.setattr(engine, "Timid", type("Timid", (InlineEngine,), {}), raising=False)
    monkeypatch.setitem(ENGINES, "timid", f"{engine.__name__}:Timid")
    (mistake,) = mistakes_in(RunOptions(engine="timid", timeout=1), ())
    assert "cannot enforce a time limit" in str(mistake)
    assert mistakes_in(RunOptions(engine="timid"), ()) == []


@pytest.mark.parametrize(
    ("words", "plugin"),
    [
        (["leaderboard", "page"], "boards"),
        (["study", "place", "study.h5"], "boards"),
        (["submit", "study.toml"], "slurm"),
        (["publish", "study.h5"], "exchange"),
        (["import", "study.h5"], "exchange"),
    ],
)
def test_a_command_of_a_plugin_that_is_missing_names_it(words, plugin, monkeypatch):
    monkeypatch.setattr("mlaut.cli.found", lambda _: {})
    for group in (cli, cli.commands["study"]):  # each keeps commands that it has found before
        for name in ("import", "leaderboard", "place", "publish", "submit"):
            monkeypatch.delitem(group.commands, name, raising=False)
    error = CliRunner().invoke(cli, words).exception
    assert isinstance(error, OptionalPackageError)
    assert error.exit_code == 8
    assert without_plugin("is in", plugin) in str(error)


@pytest.mark.parametrize("plugin", sorted((ROOT / "plugins").iterdir()), ids=lambda path: path.name)
def test_the_command_that_installs_a_plugin_installs_those_that_it_needs(plugin):
    project = tomllib.loads((plugin / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [re.match(r"mlaut-(\w+)|", one)[1] for one in project["dependencies"]]
    command = re.search(r"'pip install ([^']*)'", without_plugin("is in", plugin.name))[1]
    assert command.split() == [f"./plugins/{x}" for x in (*filter(None, needed), plugin.name)]


def test_the_status_of_a_study_file_shows_what_queues_tell_of_its_shards(
    install, tmp_path, monkeypatch
):
    text = "def ask(study):\n    return {study.with_name('study.shard-2-of-2.h5'): 'job 7 waits'}\n"
    install("[mlaut.queues]\nmine = tryout:ask\n", text)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(
        '[data]\ncollection = "starter"\ndatasets = ["iris"]\n'
        '[strategies]\nnames = ["BaselineClassifier"]\n'
    )
    lines = CliRunner().invoke(cli, ["status", "s.toml"]).stdout.splitlines()
    assert lines[0].startswith("study.h5: 2 parts")
    assert lines[-1].split()[-3:] == ["job", "7", "waits"]
    run_study("s.toml", shard="1/2", verbose=0)
    (tmp_path / "study.slurm").mkdir()  # it was submitted, by a plug-in that is missing here
    with monkeypatch.context() as without:
        without.setattr("mlaut.plugins.finding.found", lambda _: {})
        (told, *_) = CliRunner().invoke(cli, ["status", "s.toml"]).stdout.splitlines()
    assert "(jobs are not shown: the queue is asked by the plug-in mlaut-slurm: 'pip" in told


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "fev.csv": "model_name,task_name,test_error,trained_on_this_dataset\na,b,0.1,no\n",
        "helm.json": '[{"header": [{"metadata": {}, "lower_is_better": false}], "rows": []}]',
        "samples_x.jsonl": '{"doc_id": 0, "metrics": ["acc"], "acc": 1.0}\n',
    }.items(),
)
def test_a_file_of_a_board_names_the_plugin_that_is_missing(name, text, tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut.analysis.importers.by_plugin.found", lambda _: {})
    (tmp_path / name).write_text(text)
    for place in (tmp_path / name, tmp_path):
        with pytest.raises(MlautError, match="are read by the plug-in mlaut-boards: 'pip install"):
            read_results(place, "crps")
    mine = tmp_path / "own" / "mine.csv"
    mine.parent.mkdir()
    mine.write_text("a,b\n1,2\n")
    for place in (mine, mine.parent):
        with pytest.raises(AnalysisError) as other:
            read_results(place, "crps")
        assert "plug-in" not in str(other.value)


@pytest.mark.parametrize(
    "columns",
    [
        "run_id,task_id,data_name,function,value,flow_name",
        "validation_id,model_id,accuracy_score_fold_0_test",
    ],
)
def test_a_table_of_a_program_names_the_plugin_that_is_missing(columns, tmp_path, monkeypatch):
    monkeypatch.setattr("mlaut.analysis.importers.by_plugin.found", lambda _: {})
    (tmp_path / "theirs.csv").write_text(f"{columns}\n{','.join('1' * (columns.count(',') + 1))}\n")
    with pytest.raises(MlautError, match="are read by the plug-in mlaut-boards: 'pip install"):
        read_results(tmp_path / "theirs.csv", "accuracy")


def test_a_name_that_a_plugin_has_is_imported_from_mlaut_or_names_the_plugin(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlaut_boards", types.SimpleNamespace(skill_table="a table"))
    assert mlaut.analysis.skill_table == mlaut.analysis.methods.aggregates.skill_table == "a table"
    monkeypatch.setattr("mlaut.helpers.former_names.import_module", without)
    with pytest.raises(
        ImportError, match="skill_table is in the plug-in mlaut-boards: 'pip install"
    ):
        from mlaut.analysis import skill_table  # noqa: F401


@pytest.mark.parametrize(
    "words",
    [["report"], ["verify"], ["merge", "-o", "all.h5"], ["run", "--add", "SVC", "-o", "mine.h5"]],
)
def test_a_bundle_names_the_plugin_that_is_missing(words, no_modules, tmp_path, capsys):
    (tmp_path / "bundle.json").write_text("{}")
    with pytest.raises(SystemExit, match="8"):
        main([words[0], str(tmp_path), *words[1:]])
    lacks = "by the plug-in mlaut-exchange: 'pip install ./plugins/exchange'"
    assert f"bundles are opened, verified and extended {lacks}" in capsys.readouterr().err
    with pytest.raises(OptionalPackageError, match=f"^studies are published {lacks}"):
        Study(tmp_path / "study.h5").publish(tmp_path / "bundle")
    with pytest.raises(
        OptionalPackageError, match=f"^predictions of other programs are stored {lacks}"
    ):
        Study(tmp_path / "study.h5").import_predictions("a.csv", strategy="a", source="R")


def test_what_mlaut_extras_has_names_it(no_modules, tmp_path, monkeypatch, capsys):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris"])
    study.run(["BaselineClassifier"], engine="inline", verbose=0)
    with pytest.raises(SystemExit, match="8"):
        main(["status", str(study.path), "--follow"])
    lacks = "by the plug-in mlaut-extras: 'pip install ./plugins/extras'"
    assert f"runs are followed in the terminal {lacks}" in capsys.readouterr().err
    monkeypatch.setattr("mlaut.data.tables.folders.if_installed", lambda _: None)
    (tmp_path / "pets" / "cat").mkdir(parents=True)
    with pytest.raises(DataError, match=f"no table in it .*folders of images are read {lacks}"):
        load_folder(tmp_path / "pets")


@pytest.fixture
def no_modules(monkeypatch):
    """MLaut where the plug-ins are not installed of which it knows the module."""
    monkeypatch.setattr(finding, "found", lambda _: {})


def test_a_race_names_the_plugin_that_is_missing(no_modules, tmp_path, capsys):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris"])
    lacks = "by the plug-in mlaut-races: 'pip install ./plugins/races'"
    with pytest.raises(OptionalPackageError, match=f"^races are run {lacks}"):
        study.run(["BaselineClassifier"], race={}, verbose=0)
    (tmp_path / "study.toml").write_text(
        '[data]\ncollection = "starter"\ndatasets = ["iris"]\n[race]\n'
        '[strategies]\nnames = ["BaselineClassifier", "NearestCentroid"]\n'
    )
    for command in ("run", "plan"):
        with pytest.raises(SystemExit):
            main([command, str(tmp_path / "study.toml")])
        assert f"[race] is run {lacks}" in capsys.readouterr().err


def test_a_stored_race_is_reported_without_its_plugin(no_modules, tmp_path, capsys):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris", "starter/wine"])
    study.run(["BaselineClassifier", "GaussianNaiveBayes"], engine="inline", verbose=0)
    terms = {"question": "best", "kind": "mean", "metric": "accuracy", "alpha": 0.1, "rope": 0.0}
    out = Cell("wine", "BaselineClassifier", 0, 0)
    with StudyStore(study.path).writing({"race": terms}) as writer:
        writer.forget("wine", ["BaselineClassifier"], np.array([[[True]]]))
        writer.write(Outcome(out, Status.RACED_OUT, reason="raced out after 1 dataset"))
    lacks = r"how its race stands is told by the plug-in mlaut-races: 'pip install ./plugins/races'"
    chosen = Chosen.of(StudyStore(study.path))
    assert (chosen.analysis.test, chosen.analysis.alpha) == ("t", 0.1)
    with pytest.warns(PluginWarning, match=lacks):
        made = study.report()
    assert made.sections[0].race is None
    assert "BaselineClassifier left a race because of results" in " ".join(str(made).split())
    with pytest.raises(
        OptionalPackageError, match=r"^races are followed by the plug-in mlaut-races"
    ):
        study.race()
    with warnings.catch_warnings(), contextlib.suppress(SystemExit):
        warnings.simplefilter("default")
        main(["status", str(study.path)])
    told = capsys.readouterr()
    assert "raced out" in told.out
    assert re.search(lacks, told.err)
    with pytest.raises(StudyError, match="its datasets are run as a race"):
        study.run(["BaselineClassifier", "GaussianNaiveBayes"], engine="inline", verbose=0)
    names = ["BaselineClassifier", "GaussianNaiveBayes"]
    assert study.run(names, engine="inline", verbose=0, complete=True).complete


def without(name):
    """Fail as an import does of what is not installed."""
    raise ModuleNotFoundError(name=name)


def public_names(module):
    """Return the names of a module of MLaut that plug-ins may import; None if it is no such one."""
    if module in OFFERED:
        return {name for name in dir(sys.modules[module]) if not name.startswith("_")}
    package = sys.modules.get(module)
    return {*package.__all__, "__version__"} if hasattr(package, "__all__") else None


@pytest.mark.parametrize("plugin", sorted((ROOT / "plugins").iterdir()), ids=lambda path: path.name)
def test_a_plugin_imports_public_names_alone(plugin):
    wrong = []
    for file in plugin.glob("mlaut_*/**/*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                wrong += [x.name for x in node.names if x.name.startswith("mlaut.")]
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mlaut":
                __import__(node.module)
                names = public_names(node.module) or set()
                wrong += [f"{node.module}.{x.name}" for x in node.names if x.name not in names]
    assert wrong == []
    assert set(plugins.__all__) >= {"Format", "kind_of", "show"}


@pytest.mark.parametrize(
    "project", [ROOT, *sorted((ROOT / "plugins").iterdir())], ids=lambda path: path.name
)
def test_what_pip_installs_has_every_package_and_file(project):
    """Tests run on editable installations, which have all files whatever the settings say."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packages, data = settings["packages"]["find"]["include"], settings["package-data"]
    (home,) = project.glob("mlaut*/__init__.py")
    installed = {
        path
        for name, globs in data.items()
        for glob in globs
        for path in (home.parent if name == "*" else project / name.replace(".", "/")).glob(
            f"**/{glob}" if name == "*" else glob
        )
    }
    files = [path for path in home.parent.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    for file in files:
        package = ".".join(file.parent.relative_to(project).parts)
        is_module = file.suffix == ".py" and any(fnmatch(package, glob) for glob in packages)
        assert is_module or file in installed, file
    assert len(files) > 1
