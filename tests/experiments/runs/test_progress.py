"""The log of a run that is watched by nobody: a line every ten seconds, whatever the cells do."""

import sys
from functools import partial

import pytest

from mlaut import Data, Orchestrator
from mlaut.experiments.engines.engine import InlineEngine
from mlaut.experiments.runs import execution, progress
from mlaut.experiments.runs.progress import RunProgress
from mlaut.records import Cell, Outcome, Status

DONE = Outcome(Cell("iris", "SVC"), Status.DONE)


class Clock:
    """Seconds that a test sets."""

    seconds = 100.0

    def __call__(self):
        return self.seconds


def test_a_line_comes_every_ten_seconds_with_and_without_outcomes(capsys):
    clock = Clock()
    shown = RunProgress(40, now=clock)
    for seconds, outcomes in [(9, 0), (10, 0), (19, 1), (20, 0), (21, 3), (29.9, 0), (75, 10)]:
        clock.seconds = 100 + seconds
        shown.update([DONE] * outcomes)
    assert capsys.readouterr().err.splitlines() == [
        "mlaut: 0/40 cells (0%), 0 failed, 0:10 elapsed",
        "mlaut: 1/40 cells (2%), 0 failed, 0:20 elapsed: SVC on iris",
        "mlaut: 14/40 cells (35%), 0 failed, 1:15 elapsed, about 2:19 left: SVC on iris",
    ]


def test_no_time_is_forecast_while_the_last_cells_take_longer_than_the_others(capsys):
    clock = Clock()
    shown = RunProgress(101, now=clock)
    for seconds, outcomes in [(100, 100), (110, 0), (120, 0)]:
        clock.seconds = 100 + seconds
        shown.update([DONE] * outcomes)
    assert [line.partition("elapsed")[2] for line in capsys.readouterr().err.splitlines()] == [
        ", about 0:01 left: SVC on iris",
        ": SVC on iris",
        ": SVC on iris",
    ]


@pytest.mark.parametrize("options", [{"verbose": 0}, {"total": 0}])
def test_where_nothing_is_to_be_told_nothing_is(capsys, options):
    clock = Clock()
    with RunProgress(**{"total": 5, "now": clock, **options}) as shown:
        clock.seconds = 1000.0
        shown.update([])
    assert capsys.readouterr().err == ""


def test_a_line_comes_while_no_cell_ends(databases, monkeypatch, capsys):
    """The engine says that it is alive before its first cell."""
    clock = Clock()

    class Waiting(InlineEngine):
        def run(self, groups):
            for _ in range(3):
                clock.seconds += 6
                yield []
            yield from super().run(groups)

    monkeypatch.setattr(execution, "RunProgress", partial(RunProgress, now=clock))
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    Orchestrator(input_io, out_io).run("GaussianNaiveBayes", engine=Waiting())
    assert capsys.readouterr().err.splitlines() == [
        "mlaut: 0/1 cell (0%), 0 failed, 0:12 elapsed",
        "mlaut: 1/1 cell (100%), 0 failed, 0:18 elapsed",
    ]


def test_fits_show_a_bar_in_a_terminal(capsys, monkeypatch):
    assert [*progress.shown("abc", "fit")] == ["a", "b", "c"]
    assert not capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert [*progress.shown("abc", "fit")] == ["a", "b", "c"]
    assert "0/3" in capsys.readouterr().err
