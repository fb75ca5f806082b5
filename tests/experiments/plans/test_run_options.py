"""Options of a run: unknown names, invalid values, and what a cell is handed."""

import inspect
from dataclasses import fields, replace
from importlib.util import find_spec
from types import SimpleNamespace
from typing import get_type_hints

import pytest

from mlaut import Study
from mlaut.errors import StudyError
from mlaut.experiments import Orchestrator, RunOptions
from mlaut.experiments.cells import memory
from mlaut.experiments.engines.engine import InlineEngine, make_engine
from mlaut.experiments.options import RunKeywords
from mlaut.experiments.plans.run_options import cell_options, checked_options, mistakes_in
from mlaut.files_io import FilesIO


def test_an_unknown_option_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(StudyError, match=r"^unknown option 'n_job' of run; did you mean 'n_jobs"):
        Orchestrator(FilesIO(tmp_path / "i.h5", "a"), FilesIO(tmp_path / "o.h5", "a")).run(
            "SVC", n_job=2
        )
    with pytest.raises(StudyError, match="unknown option 'q' of a run; known are n_jobs, timeout"):
        RunOptions().replaced({"q": 1})


@pytest.mark.parametrize("function", [Orchestrator.run, Orchestrator.plan, Study.run])
def test_signatures_show_all_options_with_their_defaults(function):
    shown = inspect.signature(function).parameters
    defaults = {field.name: field.default for field in fields(RunOptions)}
    assert {name: shown[name].default for name in defaults} == defaults
    assert "options" not in shown
    assert function.__annotations__["options"] == "Unpack[RunKeywords]"


def test_keywords_for_editors_are_the_options():
    hints = get_type_hints(RunKeywords)
    assert list(hints.items()) == list(get_type_hints(RunOptions).items())


def test_all_invalid_values_are_listed():
    options = RunOptions(timeout="soon", memory="much", engine="loca", retry="timout")
    messages = [str(mistake) for mistake in mistakes_in(options, ["SVC"])]
    assert [message.partition(":")[0] for message in messages] == [
        "timeout 'soon'",
        "memory 'much'",
        "engine 'loca'",
        "retry 'timout'",
    ]
    assert mistakes_in(RunOptions(), ["SVC"]) == []
    (mistake,) = mistakes_in(RunOptions(shard="4/3"), ["SVC"])
    assert str(mistake).startswith("shard '4/3': not a share of the cells; write '2/10'")
    assert mistakes_in(RunOptions(shard="2/3", retry={"SVC": "error"}), ["SVC"]) == []
    (mistake,) = mistakes_in(RunOptions(retry={"SVR": "error"}), ["SVC"])
    assert str(mistake) == "retry: strategy 'SVR' is not part of this run; check its name"


@pytest.mark.parametrize("memory", ["99999999999999999TiB", "1B", 1000, "2e18"])
def test_memory_that_no_cell_can_have_or_feel_is_a_mistake(memory):
    (mistake,) = mistakes_in(RunOptions(memory=memory), ["SVC"])
    assert (
        str(mistake) == f"memory {memory!r}: no limit from 1 MiB to 1 EiB; write for example '4GiB'"
    )
    assert mistakes_in(RunOptions(memory="1MiB"), ["SVC"]) == []


def test_limits_of_a_search_need_the_plug_in_that_has_them():
    mistakes = mistakes_in(RunOptions(tuning_timeout="5m"), ["SVC"])
    missing = find_spec("mlaut_sharing") is None
    assert ["pip install ./plugins/sharing" in str(x) for x in mistakes] == [True] * missing


def test_the_first_mistake_is_raised():
    with pytest.raises(StudyError, match=r"^timeout 'soon'"):
        checked_options({"timeout": "soon", "memory": "much"}, ["SVC"])
    assert checked_options({"n_jobs": 2}, ["SVC"]) == RunOptions(n_jobs=2)


def test_what_is_true_or_false_is_nothing_else():
    limits, models = mistakes_in(RunOptions(limits={"SVC": 9}, save_models="yes"), ["SVC"])
    own = "a strategy has a limit of its own in size_limit"
    assert str(limits) == f"limits {{'SVC': 9}}: must be True or False; {own}"
    assert str(models) == "save_models 'yes': must be True or False"


def test_an_engine_of_ones_own_is_used_and_recorded_by_its_class():
    engine = InlineEngine()
    options = RunOptions(engine=engine)
    assert make_engine(options) is engine
    assert options.engine_name == "InlineEngine"
    assert mistakes_in(options, ["SVC"]) == []


def test_cells_are_handed_numbers(tmp_path):
    options = RunOptions(tuning_timeout="2m", threads=3, save_models=True)
    settings = cell_options(options, tmp_path / "study.h5")
    assert (settings.threads, settings.memory, settings.tuning_timeout) == (3, None, 120.0)
    assert settings.models == tmp_path / "study.h5.models"
    assert settings.checkpoints == tmp_path / "study.h5.searches"


def test_a_limit_that_this_system_cannot_enforce_is_refused_before_the_run(tmp_path, monkeypatch):
    limited = RunOptions(memory="1 GB", timeout="10m cpu")
    assert cell_options(limited, tmp_path / "study.h5").memory == 10**9
    monkeypatch.setattr(memory, "_PROC", tmp_path)  # as on a system without /proc
    with pytest.raises(StudyError, match=r"^memory: this system cannot limit what a process"):
        cell_options(limited, tmp_path / "study.h5")
    with pytest.raises(StudyError, match=r"^timeout: this system does not show the CPU time of a"):
        cell_options(RunOptions(timeout="10m cpu"), tmp_path / "study.h5")
    # the workers of a cluster are other machines, which judge for themselves
    on_cluster = replace(limited, engine=SimpleNamespace(elsewhere=True))
    assert cell_options(on_cluster, tmp_path / "study.h5").memory == 10**9
