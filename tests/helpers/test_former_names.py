"""Names of MLaut 0.1 and 0.2 answer with today's."""

import re
from importlib import import_module
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

import mlaut
from mlaut.cli import cli
from mlaut.helpers.former_names import former


def of_today(name):
    """Return the answer to an import of a former name or module."""
    if name.startswith("Data."):
        with pytest.raises(AttributeError, match=f"no attribute {name[5:]!r}; today: ") as answer:
            getattr(mlaut.Data(), name[5:])
        return str(answer.value)
    with pytest.raises(ImportError, match="is a name of an earlier version; today: ") as answer:
        getattr(mlaut, name.removeprefix("mlaut."))
    return str(answer.value)


@pytest.mark.parametrize("name", former())
def test_a_former_name_answers_with_one_that_exists(name):
    assert former()[name] in of_today(name)
    for module, attribute in re.findall(r"(mlaut(?:\.[a-z]+)*)\.(\w+)", former()[name]):
        assert hasattr(import_module(module), attribute) or find_spec(f"{module}.{attribute}")


@pytest.mark.parametrize("command", sorted(set(re.findall(r"'mlaut ([^']+)'", str(former())))))
def test_commands_of_the_answers_run(command):
    assert CliRunner().invoke(cli, command.split()).exit_code == 0


@pytest.mark.parametrize(
    ("line", "today"),
    {
        "from mlaut.estimators import Deep_NN_Classifier": "mlaut.estimators.keras_network",
        "from mlaut import shared": "mlaut.Files_IO",
        "from mlaut.analysis.scores import MLautScore": "mlaut.analysis.MLautScore",
    }.items(),
)
def test_lines_of_old_scripts_answer_in_one_line(line, today):
    with pytest.raises(ImportError, match=f"of an earlier version; today: .*{today}") as answer:
        exec(line)
    assert "\n" not in str(answer.value)


def test_names_of_the_paper_are_names_today():
    from mlaut import Files_IO

    assert Files_IO is mlaut.FilesIO is mlaut.files_io.FilesIO is mlaut.files_io.Files_IO
    assert len(mlaut.__all__) <= 18  # 17 and the version
