"""Every command of the plug-in has --json, and prints what its schema says."""

import json
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from mlaut_boards import commands

from mlaut import Study
from mlaut.cli import cli

PLUGIN = Path(__file__).parents[1]
OF_MLAUT = runpy.run_path(str(PLUGIN.parents[1] / "tests" / "acceptance" / "test_json.py"))
SCHEMAS = runpy.run_path(str(PLUGIN / "schemas.py"))
NAMES = [*(f"leaderboard-{name}" for name in commands.leaderboard.commands)]
NAMES += ["study-place", "study-same"]
CALLS = [
    "publish study.h5 -o bundle --licence CC-BY-4.0 --include all",
    "leaderboard page bundle -o site",
    "leaderboard init board --study study.h5 --licence CC-BY-4.0 --include all",
    "leaderboard add BernoulliNaiveBayes --name mine --licence CC-BY-4.0 -j 1 --board board",
    "leaderboard fit board/entries/mine --seed 7 -o fits --board board -j 1",
    "leaderboard judge board/entries/mine --seed 7 --claim 1 --fits fits --board board",
    "leaderboard export study.h5 --every-eval-ever logs --organisation Ada",
    "leaderboard records study.h5",
    "study place study.h5 --against delgado2014",
    "study same study.h5 study.h5",
]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what each command prints with --json."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("json"))
        study = Study("study.h5", seed=1)
        study.add_datasets(["starter/iris", "starter/zoo", "starter/glass"])
        study.run(["BaselineClassifier", "GaussianNaiveBayes"], engine="inline", verbose=0)
        return {"-".join(c.split()[:2]): OF_MLAUT["asked"](*c.split()) for c in CALLS}


def test_the_schemas_are_those_of_the_tool_and_every_command_has_one():
    stored = {path.name: path.read_text() for path in SCHEMAS["FOLDER"].glob("*.json")}
    assert stored == SCHEMAS["OF_MLAUT"].schemas(SCHEMAS["RESULTS"]), "run: python schemas.py"
    assert sorted(stored) == sorted(f"{name}.json" for name in NAMES)
    for name in NAMES:
        printed = CliRunner().invoke(cli, [*name.split("-"), "--json-schema"]).stdout
        assert json.loads(printed) == json.loads(stored[f"{name}.json"])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_as_its_schema_says(told, name):
    result, code = told[name]
    schema = OF_MLAUT["strict"](SCHEMAS["RESULTS"][name])
    assert [error.message for error in Draft202012Validator(schema).iter_errors(result)] == []
    assert code == 0
