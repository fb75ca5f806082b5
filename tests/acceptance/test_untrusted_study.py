"""A study of unknown source on the command line: no terminal obeys it, and no program is run."""

import contextlib
import hashlib
import json
import pickle

import numpy as np
import pytest

from mlaut.cli import main
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.files_io.studies.models import models_folder
from mlaut.records import Cell, Outcome, Split, Status

CLEAR, LEFT = "\x1b[2J\x1b]0;owned\x07", "\u202e"
NAMES = [f"good{CLEAR}", f"odd{LEFT}\nstudy.h5: all is well", "\x9b31mplain"]
TRACEBACK = f"Traceback (most recent call last):\n  File 'x'\nValueError: {CLEAR}no"
WARNING = f"ConvergenceWarning: {CLEAR}did not converge\nmore"


class Trap:
    """Object that leaves a trace when it is unpickled."""

    def __reduce__(self):
        return exec, ("open('unpickled', 'w').close()",)


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study whose every text tries to command a terminal, with a pickled model that is a trap."""
    monkeypatch.chdir(tmp_path)
    made = StudyStore(tmp_path / "study.h5")
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 2, 40).astype(np.int32)
    folds = (np.arange(40) % 2)[None].astype(np.int16)
    sets = [f"a{CLEAR}", f"b{LEFT}", "c"]
    split = Split(folds, f"kfold{CLEAR}")
    made.save_splits(
        [SplitEntry(n, f"/{n}", "Classification", n, ("n", "y"), truth, split) for n in sets]
    )
    made.allocate([StrategyEntry(name, name, {"class": CLEAR}) for name in NAMES])
    content = pickle.dumps(Trap())
    models_folder(made.path).mkdir()
    (models_folder(made.path) / "m.pickle.z").write_bytes(content)
    model = {
        "file": "m.pickle.z",
        "sha256": hashlib.sha256(content).hexdigest(),
        "format": "pickle",
    }
    about = {"processor": CLEAR, "versions": {"mlaut": CLEAR}, "started": "2026-01-02T03:04:05"}
    with made.writing(about) as writer:
        for dataset in sets:
            for place, name in enumerate(NAMES):
                for fold in range(2):
                    wrong = generator.uniform(size=20) < 0.1 * (place + 1)
                    test = truth[folds[0] == fold]
                    predictions = np.where(wrong, 1 - test, test).astype(np.int32)
                    cell = Cell(dataset, name, 0, fold)
                    told = {"warnings": [WARNING], "model": model}
                    if dataset == "c" and place == 2:
                        failed = {"traceback": TRACEBACK}
                        writer.write(Outcome(cell, Status.ERROR, reason=CLEAR, details=failed))
                    else:
                        done = Outcome(cell, Status.DONE, predictions, None, (0, 1, 2), 0, "", told)
                        writer.write(done)
    return made.path


def told(capsysbinary, *arguments):
    with contextlib.suppress(SystemExit):
        main([str(argument) for argument in arguments])
    read = capsysbinary.readouterr()
    return read.out + read.err


CALLS = [
    ("status", "study.h5"),
    ("status", "study.h5", "--why"),
    ("status", "study.h5", "--json"),
    ("report", "study.h5"),
    ("report", "study.h5", "--format", "csv"),
    ("report", "study.h5", "--format", "markdown"),
    ("report", "study.h5", "-o", "report.html"),
    ("report", "study.h5", "--metric", CLEAR),
    ("--debug", "report", "study.h5", "--missing", CLEAR),
    ("verify", "study.h5"),
    ("verify", "study.h5", "--refit", "1%"),
    ("merge", "study.h5", "study.h5", "-o", "all.h5"),
]


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
@pytest.mark.filterwarnings("ignore::UserWarning")  # a font lacks such signs
def test_no_terminal_is_commanded(study, capsysbinary, arguments):
    text = told(capsysbinary, *arguments).decode("utf-8")
    assert text
    assert "a bug in MLaut" not in text
    commands = {sign for sign in text if not sign.isprintable()} - {"\n", "\t", "\r", "\u2009"}
    assert commands == set()
    assert not study.with_name("unpickled").exists()


def test_what_a_name_says_is_still_read(study, capsysbinary):
    text = told(capsysbinary, "status", "study.h5").decode()
    assert r"good\x1b[2J\x1b]0;owned\x07" in text
    assert r"odd\u202e\nstudy.h5: all is well" in text  # no line of its own


def test_why_shows_tracebacks_and_warnings(study, capsysbinary):
    text = told(capsysbinary, "status", "study.h5", "--why").decode()
    assert "16 cells ended with warnings; 'mlaut status --why' shows them" in text
    assert r"ValueError: \x1b[2J\x1b]0;owned\x07no" in text
    assert "error, 2 cells, the first:\nTraceback (most recent call last):\n" in text
    assert r"ConvergenceWarning: \x1b[2J\x1b]0;owned\x07did not converge" in text
    content = json.loads(told(capsysbinary, "status", "study.h5", "--why", "--json"))
    assert content["warned"] == 16
    assert [row["traceback"] for row in content["why"]] == [TRACEBACK]
    assert sorted(row["cells"] for row in content["warnings"]) == [4, 6, 6]
    assert content["warnings"][0]["warning"] == WARNING.partition("\n")[0]


def test_a_pickled_model_is_not_loaded_without_trust(study):
    from mlaut.errors import StoreError
    from mlaut.experiments import load_model

    with pytest.raises(StoreError, match="a pickled model can run any code when it is loaded"):
        load_model(study, "c", NAMES[0])
    assert not study.with_name("unpickled").exists()
