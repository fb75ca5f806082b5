"""Every command has --json, and what it prints then is as its published schema says.

The schemas allow keys that a later version adds. Here they do not, so a key that comes in without
its description is found.
"""

import json
import runpy
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from mlaut.cli import cli

ROOT = Path(__file__).parents[2]
MINE = """
from sklearn.dummy import DummyClassifier
from mlaut.estimators import as_strategies
class Fails(DummyClassifier):
    def fit(self, X, y):
        import warnings
        warnings.warn("about to fail")
        if len(X) > 120:
            raise ValueError("too many rows")
        return super().fit(X, y)
strategies = as_strategies(["BaselineClassifier", "GaussianNaiveBayes", ("fails", Fails())])
"""
STUDY = """
[study]
output = "study.h5"
[data]
input = "data.h5"
[strategies]
file = "mine.py"
"""


def leaves(group=cli, path=""):
    for name, command in group.commands.items():
        inside = isinstance(command, click.Group)
        yield from leaves(command, f"{path}{name}-") if inside else [(f"{path}{name}", command)]


COMMANDS = dict(leaves())
SCHEMAS = runpy.run_path(str(ROOT / "tools" / "schemas.py"))


def asked(*words):
    """Return what a command prints with --json, and its exit code."""
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert isinstance(done.exception, SystemExit | None), done.exception
    return json.loads(done.stdout, parse_constant=pytest.fail), done.exit_code


def strict(schema):
    """Return a schema in which objects have no other keys than those that are listed."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") in (
        "object",
        ["object", "null"],
    ):
        made.setdefault("additionalProperties", False)
    return made


CALLS = [
    "load data.h5 starter/iris starter/zoo starter/glass",
    "plan study.toml",
    "run study.toml -j 1 --strict",
    "plan study.toml --retry error",
    "status study.h5 --why",
    "status study.h5 --alive",
    "status nothing.h5 --alive",
    "report study.h5 --methods",
    "report study.h5 -o report.md",
    "verify study.h5 --metric accuracy -j 1",
    "verify damaged.h5",
    "list strategies SVC",
    "list strategies Cluster",
    "list metrics",
    "list datasets",
    "list datasets data.h5",
    "init new.toml",
    "status study.h5 study.h5",
    "merge study.h5 again.h5 -o all.h5",
    "study models study.toml -j 1",
    "study compact study.h5",
    "study rename study.h5 --dataset iris flowers",
    "study remove study.h5 --dataset flowers",
]
CODES = {CALLS[2]: 9, "status nothing.h5 --alive": 1, "verify damaged.h5": 1}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what each command prints with --json: results by the name of the command."""
    folder = tmp_path_factory.mktemp("json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("study.toml").write_text(STUDY)
        Path("mine.py").write_text(MINE)
        Path("damaged.h5").write_bytes(b"no database")
        results = {}
        for call in CALLS:
            words = call.split()
            if words[0] == "merge":
                shutil.copy("study.h5", "again.h5")
            name = "-".join(words[:2]) if words[0] in ("list", "study") else words[0]
            result, code = asked(*words)
            assert code == CODES.get(call, 0), (call, result)
            results.setdefault(name, []).append(result)
    return results


def test_the_schemas_are_those_of_the_tool_and_every_command_has_one():
    stored = {path.name: path.read_text() for path in SCHEMAS["FOLDER"].glob("*.json")}
    assert stored == SCHEMAS["schemas"](), "run: python tools/schemas.py"
    assert {f"{name}.json" for name in COMMANDS} == set(stored)
    for name in COMMANDS:
        printed = CliRunner().invoke(cli, [*name.split("-"), "--json-schema"]).stdout
        assert printed == stored[f"{name}.json"]
        Draft202012Validator.check_schema(json.loads(printed))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"demo"}))
def test_a_result_is_as_its_schema_says(told, name):
    schema = strict(SCHEMAS["RESULTS"][name])
    for result in told[name]:
        faults = [
            f"{e.json_path}: {e.message[:200]}"
            for e in Draft202012Validator(schema).iter_errors(result)
        ]
        assert faults == []


@pytest.mark.slow
def test_the_result_of_the_demo_is_as_its_schema_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result, code = asked("demo", "-j", "1")
    Draft202012Validator(strict(SCHEMAS["RESULTS"]["demo"])).validate(result)
    assert (code, result["run"]["complete"]) == (0, True)
    assert "demo/report/report.html" in result["files"]


def test_a_schema_finds_what_it_does_not_say():
    schema = strict(SCHEMAS["RESULTS"]["study-compact"])
    right = {"database": "a.h5", "bytes_before": 2, "bytes_now": 1}
    assert Draft202012Validator(schema).is_valid(right)
    for wrong in ({"more": 1}, {"bytes_now": "1"}, {"bytes_now": 0.5}):
        assert not Draft202012Validator(schema).is_valid(right | wrong)


@pytest.mark.slow
def test_numbers_of_a_study_are_in_its_results(told):
    (run,) = told["run"]
    assert run["this_run"] == {"done": 8, "error": 1}
    assert run["reasons"] == [{"reason": "fails: error: ValueError: too many rows", "cells": 1}]
    assert told["status"][0]["cells"] == run["this_run"]
    assert told["status"][1] == {
        "healthy": True,
        "reason": "study.h5: finished, all 9 cells have an outcome",
    }
    assert told["verify"][0]["scores"]["fails"]["glass"] is None  # no NaN, which is no JSON
    assert 0.9 < told["verify"][0]["scores"]["GaussianNaiveBayes"]["iris"] < 1
    assert told["study-models"][0]["saved"] == 8
    assert [row["name"] for row in told["list-datasets"][1]] == ["glass", "iris", "zoo"]


def test_a_live_view_is_no_json():
    done = CliRunner().invoke(cli, ["status", "study.h5", "--follow", "--json"])
    assert done.exit_code == 2
    assert "--follow draws, and --json prints: give one of them" in done.output
