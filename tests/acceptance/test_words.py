"""One word, one thing: docstrings name the class that an argument has."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mlaut"
# A type of a docstring that is another class, or none, and the class that is meant.
WRONG = {"Study": "StudyStore", "Entry": "SplitEntry", "Record": "StrategyEntry"}


def misnamed(text):
    """Yield functions and arguments whose docstring names another class than the annotation."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef):
            continue
        described = dict(re.findall(r"^ *(\w+) : (\w+)", ast.get_docstring(node) or "", re.M))
        for argument in (*node.args.args, *node.args.kwonlyargs):
            annotation = ast.unparse(argument.annotation) if argument.annotation else ""
            if WRONG.get(described.get(argument.arg, "")) == annotation:
                yield node.name, argument.arg


def test_a_study_is_the_object_of_a_user_and_its_store_a_study_store():
    found = {
        str(path.relative_to(PACKAGE)): list(wrong)
        for path in PACKAGE.rglob("*.py")
        if (wrong := {*misnamed(path.read_text())})
    }
    assert found == {}


def test_the_wrong_word_is_found():
    text = 'def f(study: StudyStore):\n    """Do.\n\n    study : Study\n        It.\n    """\n'
    assert [*misnamed(text)] == [("f", "study")]
