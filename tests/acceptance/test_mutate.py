"""tools/mutate.py changes single lines, and knows which tests reach them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
SOURCE = b'''\
"""A module."""
LIMIT = 3


def rank(values, start=1, *, ties: "x + y" = "mean"):
    """Return ranks."""
    if len(values) < LIMIT and start is not None:
        print(values, start)
    return sorted(values)[start - 1] if ties else None


def other():
    return None
'''


@pytest.fixture
def mutate(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import mutate

    return mutate


def test_the_changes_of_a_file(mutate):
    lines = SOURCE.splitlines()
    found = {
        (m.line, m.kind, m.changed(lines[m.line - 1]).decode().strip())
        for m in mutate.mutants(SOURCE, "a.py")
    }
    condition = "if len(values) < LIMIT and start is not None:"
    returned = "return sorted(values)[start - 1] if ties else None"
    assert found == {
        (2, "constant", "LIMIT = 4"),
        (5, "constant", 'def rank(values, start=2, *, ties: "x + y" = "mean"):'),
        (7, "comparison", condition.replace("<", "<=")),
        (7, "comparison", condition.replace("is not", "is")),
        (7, "operator", condition.replace("and", "or")),
        (7, "condition", f"if (not ({condition[3:-1]})):"),
        (8, "dropped statement", "pass"),
        (8, "swapped arguments", "print(start, values)"),
        (9, "returned value", "return None"),
        (9, "operator", returned.replace("- 1", "+ 1")),
        (9, "constant", returned.replace("1", "2")),
        (9, "condition", returned.replace("if ties", "if (not (ties))")),
    }


def test_a_line_that_signals_processes_is_left_alone(mutate):
    assert list(mutate.mutants(b"import os\nos.kill(1 + x, 9)\n", "a.py")) == []


def test_a_marked_line_is_recorded_when_it_runs(mutate, monkeypatch, capsys):
    reached = []
    monkeypatch.setitem(sys.modules, "mutation_hits", SimpleNamespace(hit=reached.append))
    names = {}
    # line 2 runs at import, line 5 is a default: each is marked in functions instead
    exec(mutate.mark(SOURCE, {10: 2, 11: 5, 12: 8, 13: 9}), names)
    assert names["rank"].__doc__ == "Return ranks."
    assert reached == []
    names["rank"]([1, 2, 3])
    assert sorted(reached) == [10, 11, 13]
    names["rank"]([5])
    assert 12 in reached
    del reached[:]
    names["other"]()
    assert reached == [10]


def test_changes_are_drawn_by_a_seed(mutate, tmp_path):
    (tmp_path / "mlaut").mkdir()
    (tmp_path / "mlaut" / "a.py").write_bytes(SOURCE)
    drawn = mutate.draw(tmp_path, 4, 1)
    assert drawn == mutate.draw(tmp_path, 4, 1)
    assert len({mutant.line for mutant in drawn}) == 4
    assert len(mutate.draw(tmp_path, 60, 1)) == 5  # one change of each line that has some


@pytest.mark.slow  # starts pytest six times
def test_a_change_is_killed_by_the_test_that_reaches_it_or_survives(mutate, tmp_path):
    tree = tmp_path / "tree"
    (tree / "mlaut" / "pkg").mkdir(parents=True)
    (tree / "tests" / "pkg").mkdir(parents=True)
    (tree / "mlaut" / "__init__.py").touch()
    (tree / "mlaut" / "pkg" / "__init__.py").touch()
    source = b"def double(x):\n    print(x, 1)\n    return x * 2\n"
    (tree / "mlaut" / "pkg" / "a.py").write_bytes(source)
    tests = "from mlaut.pkg.a import double\ndef test_four():\n    assert double(2) == 4\n"
    tests += "def test_fails():\n    assert double(2) == 5\n"
    (tree / "tests" / "pkg" / "test_a.py").write_text(tests)
    found = list(mutate.mutants(source, "mlaut/pkg/a.py"))
    mutate.record(tmp_path, found, "1")
    hits, outcomes = mutate.recorded(tmp_path)
    four, fails = "tests/pkg/test_a.py::test_four", "tests/pkg/test_a.py::test_fails"
    assert hits == {site: {four, fails} for site in range(len(found))}
    assert (outcomes[four][0], outcomes[fails][0]) == ("passed", "failed")
    (tmp_path / "changed").symlink_to(tree)
    by_kind = {mutant.kind: (mutant, site) for site, mutant in enumerate(found)}
    kinds = ("operator", "swapped arguments")
    assert [mutate.try_mutant(tmp_path, *by_kind[kind]) for kind in kinds] == [four, ""]
    killers = {str(by_kind[kind][1]): by for kind, by in zip(kinds, [four, ""], strict=True)}
    assert mutate.table(tmp_path, "Commit x, seed 1", found, killers).splitlines() == [
        "Commit x, seed 1: 2 changes, 1 survived.",
        "",
        "| line | before | after | killed by |",
        "|---|---|---|---|",
        f"| mlaut/pkg/a.py:3 | `return x * 2` | `return x / 2` | {four} |",
        "| mlaut/pkg/a.py:2 | `print(x, 1)` | `print(1, x)` | **survived** |",
    ]
    assert (tree / "mlaut" / "pkg" / "a.py").read_bytes() == source
