"""tools/lines.py counts code lines."""

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools/lines.py"))


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("", 0),
        ('"""Documentation,\n\nof three lines."""\n\n# a comment\nx = 1  # and one more\n', 1),
        ('def f():\n    """Return nothing."""\n\n    return (\n\n        None,\n    )\n', 4),
        ('text = """\nno\n\ndocstring\n"""\n', 5),
        ("class A:\n    '''Names a thing.'''\n\n    b: int\n", 2),
    ],
)
def test_documentation_comments_and_blank_lines_do_not_count(source, lines):
    assert TOOL["code_lines"](source) == lines


def test_lines_are_counted_by_package(tmp_path):
    for name, source in (
        ("a.py", "x = 1\n"),
        ("data/b.py", "x = 1\ny = 2\n"),
        ("data/c/d.py", "z\n"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    assert TOOL["count"](tmp_path) == {TOOL["OWN"]: 1, "data": 3}
