"""What a strategy cannot do in reasonable time is skipped, with its reason, before it runs."""

import numpy as np
import pytest
from learners import Random, SmallOnly

from mlaut import Data, Orchestrator
from mlaut.cli import main
from mlaut.experiments import plan_study, run_study, study_status
from mlaut.experiments.following.status import unfinished
from mlaut.files_io import StudyStore
from mlaut.records import Status

REASON = "more than 100"


@pytest.fixture
def orchestrator(databases):
    """Of iris 75 rows train, of wine 89, of breast_cancer 285."""
    input_io, out_io = databases
    paths = input_io.list_datasets("tables")[1]
    Data().split_datasets(
        hdf5_in=input_io, hdf5_out=out_io, dataset_paths=paths, scheme="kfold(2)", seed=1
    )
    return Orchestrator(input_io, out_io)


def run(orchestrator, **options):
    strategies = [SmallOnly(), Random()]
    return orchestrator.run(strategies, engine="inline", verbose=0, **options)


def test_cells_that_are_too_large_are_skipped_with_the_reason(orchestrator):
    summary = run(orchestrator)
    assert summary.counts == {Status.DONE: 10, Status.SKIPPED: 2}
    assert not summary.complete
    assert summary.reasons[0][1] == 2
    assert summary.reasons[0][0].startswith("Small only: skipped: 28")
    assert "2 cells skipped, too large for their strategies" in str(summary)
    study = StudyStore(orchestrator.hdf5_output_io.path)
    told = [d for d in study.details("breast_cancer") if d["strategy"] == "Small only"]
    assert [(d["status"], REASON in d["reason"]) for d in told] == [("skipped", True)] * 2
    assert study_status(study.path).total == {Status.DONE: 10, Status.SKIPPED: 2}
    (row,) = unfinished(study.path)
    assert (row["strategy"], row["status"], row["cells"]) == ("Small only", "skipped", 2)


def test_skipped_cells_stay_so_until_they_are_asked_for(orchestrator):
    run(orchestrator)
    again = run(orchestrator)
    assert (again.counts, again.skipped_before, again.failed_before) == ({}, 2, 0)
    why = orchestrator.plan([SmallOnly(), Random()]).why()
    assert {(row["strategy"], row["because"].split(":")[0], row["cells"]) for row in why} == {
        ("Small only", "skipped", 2),
        ("Small only", "done", 4),
        ("Random", "done", 6),
    }
    asked = run(orchestrator, retry=["skipped"])
    assert (asked.counts, asked.complete, asked.skipped_before) == ({Status.DONE: 2}, True, 0)


@pytest.mark.parametrize("before", [False, True])
def test_without_limits_all_cells_run(orchestrator, before):
    if before:
        run(orchestrator)
    summary = run(orchestrator, limits=False)
    assert summary.complete
    assert summary.counts == {Status.DONE: 2 if before else 12}
    block = StudyStore(orchestrator.hdf5_output_io.path).block("breast_cancer")
    assert block.strategies == ("Small only", "Random")
    assert (np.asarray(block.classes)[block.predictions] != "").all()


def test_asking_for_one_strategy_asks_for_no_other(orchestrator):
    run(orchestrator)
    summary = run(orchestrator, retry={"Random": ["skipped"]})
    assert (summary.counts, summary.skipped_before) == ({}, 2)


def test_datasets_above_a_limit_share_a_line(tmp_path):
    (tmp_path / "tables").mkdir()
    for name, n_rows in (("big", 60), ("bigger", 90)):
        rows = "\n".join(f"{i},{'ab'[i % 2]}" for i in range(n_rows))
        (tmp_path / "tables" / f"{name}.csv").write_text(f"x,class\n{rows}\n")
    path = tmp_path / "study.toml"
    path.write_text(
        '[data]\nfolder = "tables"\n[strategies]\nnames = ["SVC"]\n[run]\nengine = "inline"\n'
        "[strategies.parameters]\nSVC = { size_limit = { rows = 30 } }\n"
    )
    (row,) = plan_study(path).plan.why()
    why = "more training rows than its limit of 30 (size_limit=None lifts it)"
    assert row == {
        "strategy": "SVC",
        "because": f"skipped: {why}",
        "cells": 2,
        "todo": 0,
        "datasets": "big, bigger",
    }
    output = run_study(path, verbose=0).study
    (row,) = unfinished(output)
    assert (row["cells"], row["reason"]) == (2, why)
    reasons = [cell["reason"] for _, cells in StudyStore(output).all_details() for cell in cells]
    assert reasons == [
        f"{n} training rows, {why.replace('more training rows', 'more')}" for n in (40, 60)
    ]


STUDY = """
[data]
folder = "tables"
[strategies]
file = "mine.py"
[run]
engine = "inline"
"""


def test_study_file_and_command_line_take_limits(tmp_path, capsys):
    generator = np.random.default_rng(0)
    rows = [f"{x},{'ab'[int(x > 0)]}" for x in generator.normal(size=200)]
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "big.csv").write_text("\n".join(["x,class", *rows]))
    (tmp_path / "mine.py").write_text("from learners import SmallOnly; strategies = [SmallOnly()]")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    plan = plan_study(path).plan
    assert (plan.n_todo, plan.n_skipped) == (0, 1)
    assert run_study(path, verbose=0).counts == {Status.SKIPPED: 1}
    main(["plan", str(path)])
    assert "skipped: 133 rows, more than 100" in capsys.readouterr().out
    main(["run", str(path), "--set", "limits=false", "-q"])
    assert "1 of 1 cell done" in capsys.readouterr().out
    path.write_text(STUDY + "limits = false")
    assert plan_study(path).plan.n_skipped == 0
