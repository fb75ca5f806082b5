"""One word, one thing: docstrings name the class that an argument has."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "mlaut"
# A type of a docstring that is another class, or none, and the class that is meant.
WRONG = {"Study": "StudyStore", "Entry": "SplitEntry", "Record": "StrategyEntry"}


def misnamed(text):
    """Yield what has a docstring that names another class than the annotation."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        document = ast.get_docstring(node) or ""
        described = dict(re.findall(r"^ *(\w+) : (\w+)", document, re.M))
        if isinstance(node, ast.ClassDef):
            own = [each for each in node.body if isinstance(each, ast.AnnAssign)]
            annotated = {ast.unparse(each.target): each.annotation for each in own}
        else:
            arguments = [*node.args.args, *node.args.kwonlyargs]
            annotated = {each.arg: each.annotation for each in arguments} | {"": node.returns}
            described[""] = "".join(re.findall(r"Returns\n-+\n(\w+)$", document, re.M))
        for name, annotation in annotated.items():
            kind = ast.unparse(annotation).removesuffix(" | None") if annotation else ""
            if WRONG.get(described.get(name, "")) == kind:
                yield node.name, name


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
    text = 'def f() -> StudyStore:\n    """Do.\n\n    Returns\n    -------\n    Study\n    """\n'
    assert [*misnamed(text)] == [("f", "")]
    text = 'class A:\n    """Do.\n\n    study : Study\n    """\n    study: StudyStore\n'
    assert [*misnamed(text)] == [("A", "study")]


def test_of_makes_an_object_of_another_and_nothing_else():
    """The name says which only after a class: ``Pairs.of(strategies)``; engines keep it."""
    found = [
        str(path.relative_to(PACKAGE))
        for path in {*PACKAGE.rglob("*.py")} - {*PACKAGE.glob("experiments/engines/*.py")}
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and node.name == "of"
        and "classmethod" not in map(ast.unparse, node.decorator_list)
    ]
    assert found == []


def test_a_file_has_a_name_of_its_own():
    """Two files of one name in two rooms hold two things; these do, and no more may come."""
    twins = {"arrays", "columns", "evidence", "foreign", "frames", "intervals", "latex", "markup"}
    twins |= {"metadata", "names", "pairs", "predictions", "records", "spaces", "study", "tables"}
    twins |= {"traces"}
    files = [path.stem for path in PACKAGE.rglob("*.py") if not path.stem.startswith("__")]
    assert {name for name in files if files.count(name) > 1} <= twins


def test_the_glossary_has_each_word_once():
    lines = (PACKAGE.parent / "docs" / "glossary.md").read_text().splitlines()
    words = [line for line in lines if line[:1].isalpha()][1:]
    assert len(words) == len({*words})
    assert [word for word in ("source", "record", "table") if word not in words] == []
