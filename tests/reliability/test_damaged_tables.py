"""Values that others put where MLaut expects something else: one line, or the same numbers."""

import pytest

from mlaut.errors import MlautError
from mlaut.experiments import read_study_file
from mlaut.experiments.study_files.choices import choose_strategies

LONG = "n" * 50_000


def refusal(call, *given, **named):
    """Return the message of the refusal, empty if there is none."""
    try:
        call(*given, **named)
    except MlautError as error:
        return str(error)
    return ""


def checked(line):
    assert "\n" not in line
    assert len(line) <= 2000
    return line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SVC = true", "parameters of SVC are True; write them below [strategies.parameters.SVC]"),
        ('SVC = ""', "parameters of SVC are ''"),
        ("SVC = [[]]", "parameters of SVC are [[]]"),
        ("SVC.param_grid = true", "True is no table of parameters with lists of values"),
        ('SVC.param_grid = "x"', "'x' is no table of parameters"),
        ("SVC.param_grid = nan", "nan is no table of parameters"),
        ("SVC.param_grid = {C = nan}", "C = nan is neither a list of values nor a range"),
        ("SVC.param_grid = {C = []}", "C = [] is neither a list of values nor a range"),
        (f'SVC.param_grid = "{LONG}"', "nnn..."),
    ],
)
def test_a_study_file_names_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "study.toml"
    path.write_text(f'[strategies]\nnames = ["SVC"]\n[strategies.parameters]\n{text}\n')

    def described():
        for strategy in choose_strategies(read_study_file(path)):
            strategy.describe()

    assert message in checked(refusal(described))
