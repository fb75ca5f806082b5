"""Study files: what they say is what is run, and each mistake is one line with a way out."""

import multiprocessing
import threading
import time
from types import SimpleNamespace

import pytest

from mlaut.errors import DataError, StoreError, StrategyError, StudyError, StudyLockedError
from mlaut.experiments.study_files.choices import choose_strategies, prepare_data
from mlaut.experiments.study_files.running import run_study
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io.safe_files.lock import locked

WHOLE = """
[study]
output = "out/study.h5"
seed = 7
[data]
input = "in.h5"
collection = "starter"
datasets = ["wine", "iris"]
task = "Classification"
[split]
scheme = "kfold(3)"
stratify = false
[strategies]
names = ["SVC", "Naive_Bayes"]
[strategies.parameters.SVC]
param_grid = { C = [1.0] }
[run]
timeout = "10m"
memory = "4GiB"
retry = ["timeout"]
n_jobs = 2
[report]
metric = "mcc"
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "study.toml"
        path.write_text(text)
        return path

    return write


def test_every_key_is_read(written, tmp_path):
    file = read_study_file(written(WHOLE))
    assert (file.output, file.input) == (tmp_path / "out/study.h5", tmp_path / "in.h5")
    assert (file.study.seed, file.split.stratify, file.data.datasets) == (
        7,
        False,
        ("wine", "iris"),
    )
    assert (file.run.timeout, file.run.memory, file.run.retry) == ("10m", "4GiB", ("timeout",))
    assert file.report.metric == "mcc"
    assert [s.name for s in choose_strategies(file)] == [
        "SVC",
        "GaussianNaiveBayes",
        "BernoulliNaiveBayes",
    ]
    assert choose_strategies(file)[0].get_params()["param_grid"] == {"C": [1.0]}
    _, paths = prepare_data(file)
    assert paths == ["/starter/wine", "/starter/iris"]


def test_an_empty_file_has_the_defaults(written):
    file = read_study_file(written(""))
    assert (file.run.n_jobs, file.split.scheme, file.study.output) == (-1, "", "study.h5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[spilt]", r"unknown section 'spilt'; did you mean 'split'\?"),
        ("[run]\nworkers = 2", r"unknown key 'workers' in \[run\]; known are n_jobs, timeout"),
        ("[run]\nn_jobs = '2'", r"n_jobs in \[run\] is '2', and must be a number"),
        ("[run]\nn_jobs = true", r"n_jobs in \[run\] is True, and must be a number"),
        ("[split]\nstratify = 1", r"stratify in \[split\] is 1, and must be true or false"),
        (
            "[data]\ndatasets = 'iris'",
            r"datasets in \[data\] is 'iris', and must be a list of texts",
        ),
        ("[data]\ndatasets = [1]", r"datasets in \[data\] is \[1\], and must be a list of texts"),
        ("study = 1", r"'study' is a section; write \[study\]"),
        ("[run", "not a TOML file"),
    ],
)
def test_mistakes_in_the_file(written, text, message):
    with pytest.raises(StudyError, match=rf"study\.toml: .*{message}"):
        read_study_file(written(text))


def test_a_study_is_no_study_file(tmp_path):
    path = tmp_path / "study.h5"
    path.write_bytes(b"\x89HDF\r\n")
    with pytest.raises(StudyError, match=r"study\.h5: a study or a database; give the study file"):
        read_study_file(path)


def test_absent_file(tmp_path):
    with pytest.raises(StudyError, match=r"no\.toml: no such file; check the path, or write"):
        read_study_file(tmp_path / "no.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"\[strategies\] has no names and no file"),
        ("[strategies]\nnames = ['SVC']\n[strategies.parameters.SVM]\nC = 1", "did you mean 'SVC'"),
        (
            "[strategies]\nnames = ['SVC']\n[strategies.parameters.SVC]\nparams_grid = {}",
            r"of SVC \(params has those of its learner\); did you mean 'param_grid'",
        ),
        ("[strategies]\nfile = 'own.py'", r"own\.py: cannot be read"),
    ],
)
def test_mistakes_in_the_strategies(written, text, message):
    with pytest.raises(StudyError, match=message):
        choose_strategies(read_study_file(written(text)))


def test_own_file_must_define_strategies(written, tmp_path):
    (tmp_path / "own.py").write_text("strategy = 1")
    with pytest.raises(StudyError, match=r"own\.py: does not define 'strategies'"):
        choose_strategies(read_study_file(written("[strategies]\nfile = 'own.py'")))


def test_same_strategy_from_file_and_names(written, tmp_path):
    (tmp_path / "own.py").write_text(
        "from sklearn.svm import SVC\nstrategies = {'GaussianNaiveBayes': SVC()}"
    )
    text = "[strategies]\nnames = ['GaussianNaiveBayes']\nfile = 'own.py'"
    with pytest.raises(StrategyError, match="called 'GaussianNaiveBayes'"):
        choose_strategies(read_study_file(written(text)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[data]\ncollection = 'starter'\nfolder = 'x'", "names a collection and a folder"),
        ("[data]\ncollection = 'starter'\ndatasets = ['irsi']", "irsi.*did you mean 'iris'"),
    ],
)
def test_mistakes_in_the_data(written, text, message):
    with pytest.raises(Exception, match=message):
        prepare_data(read_study_file(written(text)))


LOADED = "load = 'python make.py'\n"


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        (f"[data]\nfolder = 'tables'\n{LOADED}", "tables"),
        (f"[data]\ninput = 'made.h5'\n{LOADED}", "made.h5"),
    ],
)
def test_what_makes_the_data_is_told_where_they_are_missing(written, text, lacking):
    with pytest.raises(DataError, match=f"{lacking}: not here.*: python make.py"):
        prepare_data(read_study_file(written(text)))


def test_what_loads_a_missing_table_is_told(written, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.csv").write_text("x,y\n1,0\n2,1\n3,0\n")
    text = f"[data]\nfolder = 'tables'\ndatasets = ['a', 'b']\n{LOADED}"
    with pytest.raises(StudyError, match=r"no dataset 'b' in .*missing: python make\.py"):
        prepare_data(read_study_file(written(text)))


def test_datasets_by_reference(written, tmp_path):
    text = '[data]\ndatasets = ["starter/zoo", "sklearn/iris?name=iris-2", "starter/iris"]'
    file = read_study_file(written(text))
    input_io, paths = prepare_data(file)
    assert paths == ["/starter/zoo", "/sklearn/iris-2", "/starter/iris"]
    inode = input_io.path.stat().st_ino
    assert prepare_data(file)[1] == paths
    assert input_io.path.stat().st_ino == inode  # nothing is loaded again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input.h5", "study.toml"]


def test_references_and_names_of_stored_datasets(written):
    prepare_data(read_study_file(written('[data]\ndatasets = ["sklearn"]')))
    file = read_study_file(written('[data]\ndatasets = ["wine", "starter/zoo"]\n'))
    assert prepare_data(file)[1] == ["/sklearn/wine", "/starter/zoo"]
    assert len(prepare_data(read_study_file(written('[data]\ndatasets = ["sklearn"]')))[1]) == 6


def test_files_of_tables_beside_the_study_file(written, tmp_path, monkeypatch):
    tmp_path.joinpath("cars.csv").write_text("price,weight,id\n" + "1.5,2,a\n2.5,3,b\n" * 9)
    files = '"cars.csv?target=price&ignore=id", "cars.csv?name=weights&target=weight"'
    file = read_study_file(written(f"[data]\ndatasets = [{files}, 'starter/zoo']"))
    monkeypatch.chdir("/")  # paths are relative to the study file
    input_io, paths = prepare_data(file)
    assert paths == ["/cars", "/weights", "/starter/zoo"]
    assert list(input_io.load_dataset("cars").features) == ["weight"]
    assert prepare_data(file)[1] == paths
    tmp_path.joinpath("cars.csv").write_text("price,weight,id\n" + "1.5,2,a\n2.5,4,b\n" * 9)
    with pytest.raises(StoreError, match=r"other values in column .weight."):
        prepare_data(file)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('datasets = ["nowhere.csv"]', DataError, "nowhere.csv: no such file; check the path"),
        ('collection = "starter"\ndatasets = ["starter/zoo"]', StudyError, "or none"),
        ('datasets = ["starter/zo"]', DataError, "no dataset 'zo'; did you mean 'zoo'?"),
        ('datasets = ["starter/zoo", "zo"]', StudyError, "no dataset 'zo' in .*; did you mean"),
    ],
)
def test_references_that_are_wrong_are_told(written, text, error, message):
    with pytest.raises(error, match=message):
        prepare_data(read_study_file(written(f"[data]\n{text}")))


def test_all_mistakes_of_the_sections_are_told_at_once(written):
    path = written('[dta]\n[split]\nshceme = "x"\nseed = "one"\n[run]\nretry = "timeout"\n')
    with pytest.raises(StudyError) as told:
        read_study_file(path)
    assert str(told.value) == (
        f"{path}: 3 mistakes: (1) unknown section 'dta'; did you mean 'data'?; (2) unknown key "
        "'shceme' in [split]; did you mean 'scheme'?; (3) seed in [split] is 'one', and must be a "
        "number"
    )


def test_shards_begin_at_the_same_time(written, monkeypatch):
    """A shard waits for another one that loads the datasets; each writes a file of its own."""
    file = written(
        '[data]\ndatasets = ["starter/iris"]\n[split]\nscheme = "kfold(2)"\n'
        '[strategies]\nnames = ["BaselineClassifier"]\n[run]\nengine = "inline"'
    )
    begun, go_on = threading.Event(), threading.Event()
    loads = threading.Thread(target=_loads, args=(file.with_name("input.h5"), begun, go_on))
    loads.start()
    assert begun.wait(30)

    def sleep(_):
        go_on.set()
        loads.join()

    monkeypatch.setattr(
        "mlaut.experiments.study_files.running.time",
        SimpleNamespace(monotonic=time.monotonic, sleep=sleep),
    )
    done = [run_study(file, verbose=0, shard=f"{number}/2") for number in (1, 2)]
    assert go_on.is_set()
    names = ["study.shard-1-of-2.h5", "study.shard-2-of-2.h5"]
    assert [summary.study.name for summary in done] == names
    assert [summary.n_cells for summary in done] == [1, 1]
    shard = read_study_file(file).changed({"shard": "2/2"}).output
    assert shard == done[1].study
    context = multiprocessing.get_context("fork")
    begun, go_on = context.Event(), context.Event()
    writer = context.Process(target=_loads, args=(shard, begun, go_on))
    writer.start()
    assert begun.wait(30)
    with pytest.raises(
        StudyLockedError, match=rf"shard-2-of-2\.h5: process {writer.pid} on .* is wr"
    ):
        run_study(file, verbose=0, shard="2/2", overwrite_predictions=True)
    go_on.set()
    writer.join(30)


def _loads(path, begun, go_on):
    with locked(path, for_run=True):
        begun.set()
        go_on.wait(30)


def test_an_error_in_the_file_of_strategies_names_its_line(written, tmp_path):
    (tmp_path / "own.py").write_text("a = 1\n\nstrategies = [a / 0]\n")
    file = read_study_file(written('[strategies]\nfile = "own.py"'))
    with pytest.raises(StudyError, match=r"own\.py, line 3: ZeroDivisionError: division by zero"):
        choose_strategies(file)


def test_a_module_beside_the_file_of_strategies_needs_a_path(written, tmp_path):
    (tmp_path / "toyboost.py").touch()
    (tmp_path / "own.py").write_text("import toyboost")
    file = read_study_file(written('[strategies]\nfile = "own.py"'))
    with pytest.raises(StudyError, match="line 1: ModuleNotFoundError: No mod") as told:
        choose_strategies(file)
    hint = f"install it, or set PYTHONPATH={tmp_path.resolve()} if it lies there"
    assert str(told.value).endswith(hint)


def test_an_error_of_a_study_file_names_no_file_of_the_package(written):
    path = written('[data]\ncollection = "starter"\ndatasets = ["irs"]')
    with pytest.raises(DataError) as told:
        prepare_data(read_study_file(path))
    assert str(told.value) == "collection 'starter': no dataset 'irs'; did you mean 'iris'?"


def test_sources_of_datasets_are_a_table_of_the_analysis(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('[analysis.clusters]\nsolar_h = "solar"\nsolar_d = "solar"\n')
    known = {"solar_h": "solar", "solar_d": "solar"}
    assert read_study_file(path).analysis.clusters == known
    path.write_text("[analysis]\nclusters = 3\n")
    with pytest.raises(StudyError, match=r"clusters in \[analysis\] is 3, and must be a table"):
        read_study_file(path)
