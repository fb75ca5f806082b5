"""Tests of the screen of a table whose reading is a question."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import QuestionError, read_results
from mlaut.analysis.importers.asked import commands_with
from mlaut.cli import main
from mlaut.errors import AnalysisError
from mlaut.report import make_report
from mlaut.report.questions import question_content, question_markdown, question_text

NAMES = ["ada", "bob", "cyd"]
WIDE = pd.DataFrame(
    {"u": [0.9, 0.8, 0.7], "v": [0.6, 0.5, 0.4], "w": [0.3, 0.2, 0.6]}, index=NAMES
).rename_axis("")
REPEATED = pd.DataFrame(
    [(d, s, k) for d in ("iris", "wine") for s in ("a", "b") for k in (1, 2, 3)],
    columns=["dataset", "model", "dim"],
).assign(accuracy=np.linspace(0.3, 0.9, 12))


def asked(tmp_path, table, metric="accuracy", **how):
    path = tmp_path / "table.csv"
    table.to_csv(path, **how)
    with pytest.raises(QuestionError) as raised:
        read_results(path, metric)
    return raised.value


def test_a_question_has_the_results_of_each_answer(tmp_path):
    question = asked(tmp_path, WIDE)
    assert [x.datasets for x in question.readings.values()] == [(*NAMES,), ("u", "v", "w")]
    for command, results in question.readings.items():
        assert command in str(question)
        words = shlex.split(command)
        chosen = dict([words[words.index("--columns") + 1].split("=")])
        again = read_results(tmp_path / "table.csv", "accuracy", columns=chosen)
        assert again.scores.equals(results.scores)
        assert again.how_read == results.how_read


def test_the_screen_shows_what_tells_the_readings_apart_and_no_verdict(tmp_path):
    question = asked(tmp_path, REPEATED, index=False)
    text = question_text(question)
    first, second, third = re.findall(r"^(\d\. .*?)\n   mlaut report", text, re.M | re.S)
    assert "2 strategies (`model`): a, b; 6 datasets" in first
    assert "6 strategies (`model` + `dim`): a 1, a 2, a 3 and 3 more" in " ".join(second.split())
    assert "means of 3 repeats (`dim`)" in " ".join(third.split())
    assert "means of" not in first + second
    assert all(f"\n   {command}\n" in text for command in question.readings)
    assert re.search(r"^b +1 +0.682$", text, re.M)
    assert text.index("\nb ") < text.index("\na ")
    for word in ("use", "avoid", "best", "winner", "chance", "significant", " p "):
        assert not re.search(rf"\b{word}\b", text.partition("Reading 1")[2].replace("not used", ""))
    assert "no test, no verdict" in text


def test_ranks_are_those_of_the_report(tmp_path):
    question = asked(tmp_path, WIDE)
    command, results = next(iter(question.readings.items()))
    rows = question_content(question)["readings"][0]["strategies"]
    table = make_report(results).sections[0].decision.frame
    known = table["average rank"]
    assert {x["strategy"]: x["average rank"] for x in rows} == known.to_dict()
    assert [x["mean accuracy"] for x in rows] == [*results.scores.mean()[[*known.index]]]
    assert command == question_content(question)["readings"][0]["command"]


def test_where_results_are_missing_there_are_no_ranks(tmp_path):
    holes = WIDE.copy()
    holes.loc["ada", "u"] = np.nan
    text = question_text(asked(tmp_path, holes))
    assert "Some lack results: those with most come first" in text
    assert "average" not in text
    assert re.search(r"^v +3 +0.500\nw +3 .*\nu +2 +0.750$", text, re.M)


def test_means_over_several_scales_are_not_shown(tmp_path):
    far = WIDE.mul([1, 500, 1e5], axis=0)
    path = tmp_path / "table.csv"
    far.to_csv(path)
    with pytest.raises(QuestionError) as raised:
        read_results(path, "cost", greater_is_better=False)
    text = question_text(raised.value)
    assert "so means over datasets do not compare" in " ".join(text.split())
    assert "mean cost" not in text
    assert all("--less-is-better" in command for command in raised.value.readings)


def test_many_strategies_are_counted(tmp_path):
    many = pd.concat([WIDE.add_suffix(f"{i}") for i in range(5)], axis=1)
    more = pd.concat([many.set_axis([f"{x}{i}" for x in many.index]) for i in range(3)])
    text = question_text(asked(tmp_path, more))
    assert text.endswith("... and 5 strategies more")


def test_answers_that_read_the_same_are_one(tmp_path):
    twice = pd.DataFrame(
        [(d, s, r) for d in ("iris", "wine") for s in "abc" for r in ("plain", "long")],
        columns=["subset", "cond", "regime"],
    ).assign(acc=np.linspace(0.2, 0.8, 12))
    twice["tech"] = twice["cond"].map({"a": "x", "b": "x", "c": "y"})
    question = asked(tmp_path, twice, index=False)
    found = [x.scores for x in question.readings.values()]
    said = [
        (*x.sort_index().index, *sorted(map(tuple, x.sort_index().to_numpy().T))) for x in found
    ]
    assert len(found) > 1
    assert len({*said}) == len(said)
    assert len(question.readings) == len(question.ways) == str(question).count("mlaut report")


def test_a_direction_that_is_not_known_is_a_part_of_each_answer(tmp_path):
    question = asked(tmp_path, WIDE, metric="mine")
    assert [way.greater for way in question.ways] == [True, True, False]
    assert len(question.readings) == 3


def test_a_direction_alone_is_asked_about_with_both_readings(tmp_path):
    question = asked(tmp_path, WIDE.rename_axis("dataset"), metric="gain")
    assert [way.greater for way in question.ways] == [True, False]
    assert "the direction of 'gain' is not known" in question.text
    screen = question_text(question)
    assert "--less-is-better" in screen
    assert "COLUMN" not in screen
    more, less = question.readings.values()
    assert (more.losses == -less.losses).all(axis=None)


def test_a_table_in_memory_has_the_calls():
    with pytest.raises(QuestionError) as raised:
        read_results(WIDE.reset_index(), "accuracy")
    call = next(iter(raised.value.readings))
    assert call.startswith("read_results(table, 'accuracy', columns=")


def called(*arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["report", *map(str, arguments)])
    return left.value.code, *capsys.readouterr()


def test_the_command_line_shows_the_screen_and_ends_as_an_error(tmp_path, capsys):
    def asked_again(*options):
        with commands_with(options):
            return asked(tmp_path, WIDE)

    question = asked(tmp_path, WIDE)
    command = [tmp_path / "table.csv", "--metric", "accuracy"]
    code, out, err = called(*command, capsys=capsys)
    assert code == AnalysisError.exit_code == 7
    assert out == question_text(question) + "\n"
    assert err.count("\n") == 1
    assert re.match(r"mlaut: error: .* unclear whether rows are datasets .*; no verdict: ", err)
    code, out, _ = called(*command, "--format", "markdown", capsys=capsys)
    assert (code, out) == (7, question_markdown(asked_again("--format", "markdown")) + "\n")
    assert "\n1. 3 strategies" in out
    code, out, _ = called(*command, "--format", "json", capsys=capsys)
    assert (code, json.loads(out)) == (7, question_content(asked_again("--format", "json")))
    code, out, err = called(*command, "--json", capsys=capsys)
    assert (code, json.loads(out)) == (7, question_content(asked_again("--json")))
    assert "no verdict" in err


@pytest.mark.parametrize("more", [["--output", "report.txt"], ["--methods"], ["--format", "csv"]])
def test_a_file_a_table_and_methods_are_refused_with_the_commands(more, tmp_path, capsys):
    with commands_with(more):
        question = asked(tmp_path, WIDE)
    command = [tmp_path / "table.csv", "--metric", "accuracy", *more]
    assert called(*command, capsys=capsys) == (7, "", f"mlaut: error: {question}\n")


SIZES = pd.DataFrame(
    {"model": ["a", "b", "c"], "n_params": [3, 1, 2], "n_layers": [9, 8, 9], "n_layers_std": 0.1}
)


def test_a_table_that_is_not_read_has_a_screen_too_whose_command_reads_it(tmp_path, capsys):
    SIZES.to_csv(path := tmp_path / "sizes.csv", index=False)
    code, out, err = called(path, "--metric", "latency", capsys=capsys)
    assert (code, err.count("\n")) == (7, 1)
    assert "no verdict yet, the table is not read" in " ".join(out.split())
    assert "\n   not used: `n_params`, `n_layers`\n" in out
    assert re.search(r"^   not used: a spread: `n_layers_std`$", out, re.M)
    command = shlex.split(re.findall(r"mlaut report .*", out)[0])
    columns = command[command.index("--columns") + 1]
    assert columns == "dataset=COLUMN,strategy=COLUMN,score=COLUMN"
    command[command.index("--columns") + 1] = "strategy=model,score=n_params"
    main([*command[1:], "--json"])
    assert "3 strategies (`model`)" in capsys.readouterr().out


def test_columns_are_told_with_what_they_are_taken_for(tmp_path):
    question = asked(tmp_path, REPEATED.assign(extra=[0.5, 0.25] * 6), index=False)
    content = question_content(question)
    assert content["columns"]["model"] == "strategies (a, b)"
    assert content["columns"]["dim"] == "a size, a time or another fact on rows (1, 2, 3)"
    assert content["columns"]["extra"] == "numbers (0.5, 0.25)"
    assert content["template"].endswith("dataset=COLUMN,strategy=COLUMN,score=COLUMN")
    lines = question_text(question).splitlines()
    assert "   `model`: strategies (a, b)" in lines
    assert lines.index(f"   {content['template']}") < lines.index("   `model`: strategies (a, b)")
    assert "- \\`model\\`: strategies (a, b)" in question_markdown(question)


def test_many_columns_are_counted(tmp_path):
    text = question_text(
        asked(tmp_path, pd.concat([WIDE.add_suffix(f"{i}") for i in range(9)], axis=1))
    )
    assert "   ... and 12 columns more\n" in text


def test_a_command_that_is_told_repeats_the_options_and_runs(tmp_path, capsys):
    WIDE.to_csv(path := tmp_path / "table.csv")
    given = ["--metric", "accuracy", "--metric", "f1", "--only", "u"]
    given += ["--only", "v", "--set", "alpha=0.1", "--missing", "drop datasets"]
    _, out, _ = called(path, *given, capsys=capsys)
    command = shlex.split(re.findall(r"mlaut report .*", out)[0])
    lines = ["--metric f1", "--only u", "--only v", "--set alpha=0.1"]
    assert all(x in shlex.join(command) for x in (*lines, "--missing 'drop datasets'"))
    assert command.count("--metric") == 2
    assert command.index("accuracy") < command.index("f1")


@pytest.mark.parametrize(("entered", "code"), [("1", 0), ("0", 7)])
def test_a_person_at_a_terminal_chooses_by_a_number(tmp_path, entered, code):
    WIDE.to_csv(tmp_path / "table.csv")
    terminal, other_end = pty.openpty()
    words = ["report", "table.csv", "--metric", "accuracy", "-o", "report.txt"]
    asks = subprocess.Popen(
        [sys.executable, "-m", "mlaut", *words],
        cwd=tmp_path,
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
    )
    os.write(terminal, f"9\n{entered}\n".encode())  # there is no reading 9
    os.close(other_end)
    shown = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(terminal, 2**16):
            shown += part
    os.close(terminal)
    assert asks.wait(60) == code
    text = shown.decode()
    assert "9 is not in the range" in text
    assert ("The command of this reading:" in text) == (code == 0)
    assert len(re.findall("mlaut report table.csv .*dataset=unnamed", text)) == 2 - bool(code)
    assert (tmp_path / "report.txt").exists() == (code == 0)


def test_many_columns_are_named_by_a_pattern(tmp_path):
    numbers = np.random.default_rng(0).random((4, 8))
    names = [f"{noise} / {n}" for noise in ("snow", "fog") for n in range(1, 5)]
    table = pd.DataFrame(numbers, list("abcd"), names).rename_axis("unnamed")
    read = {
        columns: read_results(table, "accuracy", columns={"strategy": "unnamed", "score": columns})
        for columns in ("fog*", "*4", "s*", "*")
    }
    assert [[*x.datasets] for x in read.values()] == [names[4:], names[3::4], names[:4], names]
    with pytest.raises(AnalysisError, match=re.escape("no column 'rain*'")):
        read_results(table, "accuracy", columns={"strategy": "unnamed", "score": "rain*"})
    levels = table.set_axis(pd.MultiIndex.from_tuples([x.split(" / ") for x in names]), axis=1)
    commands = [shlex.split(x)[-1] for x in asked(tmp_path, levels).readings]
    assert "dataset=unnamed,score=*" in commands
