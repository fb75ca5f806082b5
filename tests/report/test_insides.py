"""Details behind the scores, by hand: confusion matrices, calibration, parameters, failures."""

import base64
import json
import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from made_up import made_up_study

from mlaut.files_io import StudyStore
from mlaut.files_io.studies import study_layout
from mlaut.files_io.studies.study_arrays import StudyArrays
from mlaut.records import Cell, Outcome, Status
from mlaut.report import make_report, state
from mlaut.report.explorer import insides
from mlaut.report.explorer.packing import Packer
from mlaut.report.state import ReadOnce
from mlaut.report.terminal import as_text


def unpacked(packer, records):
    """Return the records as the page reads them, and a function that returns an array of them."""
    raw = zlib.decompress(base64.b64decode(packer.text(records)))
    size = int.from_bytes(raw[:8], "little")

    def array(place):
        start = 8 + size + place["at"]
        return np.frombuffer(raw, "<" + place["type"], place["n"], start)

    return json.loads(raw[8 : 8 + size]), array


def test_a_study_by_hand(tmp_path):
    study = made_up_study(tmp_path / "s.h5", ["A", "B"], ["one", "two"], failed=[("one", "B")])
    packer = Packer()
    found, array = unpacked(packer, insides.insides(ReadOnce(study), packer))
    assert found["notes"] == []
    one = found["datasets"]["one"]
    assert one["classes"] == ["no", "yes"]
    assert one["facts"]["rows"] == 40
    shares = np.bincount(study.block("one").truth) / 40
    even = -(shares * np.log2(shares)).sum()
    assert one["facts"]["imbalance"] == pytest.approx(1 - even)
    (strategy, count, *texts) = one["failed"][0]
    assert (strategy, count) == ("B", 1)
    assert [found["texts"][at] for at in texts] == ["error", "ValueError: <b>no</b> & no", ""]
    block = study.block("one")
    confusion = array(one["predicted"][0]["confusion"]).reshape(2, 2, 2)
    tested = block.predictions[0, 0] >= 0
    for truth in (0, 1):
        for said in (0, 1):
            both = (block.truth == truth) & (block.predictions[0, 0] == said) & tested
            assert confusion[0, truth, said] == both.sum()
    assert confusion[1].sum() == 0


def test_chosen_parameters_are_counted(tmp_path):
    study = made_up_study(tmp_path / "s.h5", ["A"], ["one"], folds=2, not_run=[("one", "A")])
    truth, split = study.load_split("one").truth, study.load_split("one").split
    with StudyStore(study.path).writing({"started": "2026-01-02T03:04:05+00:00"}) as writer:
        for fold in (0, 1):
            writer.write(
                Outcome(
                    Cell("one", "A", 0, fold),
                    Status.DONE,
                    truth[split.rows(0, fold)[1]],
                    seconds=(0.1, 0.1, 0.1),
                    details={"best_params": {"b": 1, "a": "x"}},
                )
            )
    found = insides.insides(ReadOnce(study), Packer())
    assert found["datasets"]["one"]["chosen"] == [["A", 2, 0]]
    assert found["texts"] == ["a = x, b = 1"]


def test_what_would_make_a_page_large_is_left_out_and_said(tmp_path, monkeypatch):
    study = made_up_study(tmp_path / "s.h5", ["A"], ["one"], failed=[("one", "A")])
    for name in ("_MOST_PREDICTIONS", "_MOST_CELLS"):
        monkeypatch.setattr(state, name, 0)
    found = insides.insides(ReadOnce(study), Packer())
    assert found["notes"] == [
        "too many predictions for confusion matrices in a page",
        "too many cells for their parameters and tracebacks in a page",
    ]
    assert found["datasets"]["one"]["facts"] == {"split": "1 folds", "rows": 40}
    for name in ("_MOST_PREDICTIONS", "_MOST_CELLS"):
        monkeypatch.setattr(state, name, 1000)
    for name in ("_MOST_COUNTS", "_MOST_TEXT"):
        monkeypatch.setattr(insides, name, 1)
    assert insides.insides(ReadOnce(study), Packer())["notes"] == [
        "too many confusion matrices for a page: some are left out",
        "too many parameters and tracebacks for a page: some are left out",
    ]


def test_a_report_and_its_page_read_each_dataset_once(tmp_path, monkeypatch):
    names = [f"set {i}" for i in range(8)]
    study, read = made_up_study(tmp_path / "s.h5", ["A", "B"], names, folds=2), Counter()
    for what in ("block", "records"):
        real = getattr(StudyArrays, what)

        def counted(self, what=what, real=real, **part):
            read[what, self.entry.name] += 1
            return real(self, **part)

        monkeypatch.setattr(StudyArrays, what, counted)
    entry_of, entries = study_layout.entry_of, Counter()
    monkeypatch.setattr(
        study_layout, "entry_of", lambda f, name: entries.update([name]) or entry_of(f, name)
    )
    report = make_report(study)
    assert "confusion" in str(insides.insides(report.source, Packer()))
    assert set(read.values()) == {1}
    assert len(read) == 2 * len(names)
    assert entries == dict.fromkeys(names, 1)  # once for all splits, blocks and records
    for name in ("_MOST_PREDICTIONS", "_MOST_CELLS"):
        monkeypatch.setattr(state, name, 0)
    assert as_text(make_report(study)) == as_text(report)
    assert max(read.values()) > 2


def test_what_is_kept_of_a_study_is_what_it_has(tmp_path):
    failed = [("one", "B")]
    study = made_up_study(tmp_path / "s.h5", ["A", "B"], ["one", "two"], failed=failed, folds=2)
    kept, splits = ReadOnce(study), study.load_splits()
    for names in (None, ["two"]):
        both = kept.statuses(names), study.statuses(names)
        assert str(both[0]) == str(both[1])
    assert [entry.fingerprint for entry in kept.load_splits().values()] == [
        splits[name].fingerprint for name in splits
    ]
    assert list(kept.load_splits("group")) == list(splits)


def test_calibration_by_hand_and_any_number(tmp_path):
    study = made_up_study(tmp_path / "s.h5", ["A"], ["one"])
    block = study.block("one")
    rows = len(block.truth)
    likely = np.full((1, 1, rows, 2), np.nan, dtype=np.float32)
    likely[0, 0, :4] = [[0.25, 0.75], [0.75, 0.25], [0.5, 0.5], [7.0, -np.inf]]
    truth = np.concatenate([[1, 1, 0, 0], block.truth[4:]])
    curve = insides._curve(replace(block, probabilities=likely, truth=truth), 0)
    assert curve[0].tolist() == [0, 0, 0, 0, 0, 1, 0, 2, 0, 1]
    assert curve[1, [5, 7, 9]].tolist() == [0.5, 0.75, 1.0]
    assert curve[2, [5, 7, 9]].tolist() == [1.0, 0.5, 1.0]
    outside = replace(block, predictions=np.full_like(block.predictions, 9))
    assert insides._confusion(outside).sum() == 0
