"""The log of a run that is watched by nobody: a line every ten seconds, whatever the cells do."""

import threading
from functools import partial

import pytest

from mlaut import Data, Orchestrator
from mlaut.experiments import orchestrator, progress
from mlaut.experiments.engines import InlineEngine
from mlaut.experiments.progress import Progress
from mlaut.records import Cell, Outcome, Status

DONE = Outcome(Cell("iris", "SVC"), Status.DONE)


class Clock:
    """Seconds that a test sets."""

    seconds = 100.0

    def __call__(self):
        return self.seconds


def test_a_line_comes_every_ten_seconds_with_and_without_outcomes(capsys):
    clock = Clock()
    shown = Progress(40, now=clock)
    for seconds, outcomes in [(9, 0), (10, 0), (19, 1), (20, 0), (21, 3), (29.9, 0), (75, 10)]:
        clock.seconds = 100 + seconds
        if outcomes:
            shown.update([DONE] * outcomes)
        else:
            shown.tell()
    assert capsys.readouterr().err.splitlines() == [
        "mlaut: 0/40 cells (0%), 0 failed, 0:10 elapsed",
        "mlaut: 1/40 cells (2%), 0 failed, 0:20 elapsed: SVC on iris",
        "mlaut: 14/40 cells (35%), 0 failed, 1:15 elapsed, about 2:19 left: SVC on iris",
    ]


@pytest.mark.parametrize("options", [{"verbose": 0}, {"total": 0}])
def test_where_nothing_is_to_be_told_nothing_is(capsys, options):
    clock = Clock()
    with Progress(**{"total": 5, "now": clock, **options}) as shown:
        clock.seconds = 1000.0
        shown.tell()
    assert capsys.readouterr().err == ""


def test_nothing_is_told_after_the_end(capsys):
    clock = Clock()
    with Progress(5, now=clock) as shown:
        pass
    clock.seconds = 1000.0
    shown.tell()
    assert capsys.readouterr().err == "mlaut: 0/5 cells (0%), 0 failed, 0:00 elapsed\n"


def test_a_line_comes_while_no_cell_ends(databases, monkeypatch):
    """No cell begins before the line is there that tells of none."""
    told, clock, lines = threading.Event(), Clock(), []

    def say(_, line):
        lines.append(line)
        told.set()

    class Waiting(InlineEngine):
        def run(self, groups):
            clock.seconds += 11
            assert told.wait(60), "no line came"
            yield from super().run(groups)

    monkeypatch.setattr(progress, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(Progress, "_say", say)
    monkeypatch.setattr(orchestrator, "Progress", partial(Progress, now=clock))
    input_io, out_io = databases
    Data().split_datasets(input_io, out_io, ["tables/iris"])
    Orchestrator(input_io, out_io).run("GaussianNaiveBayes", engine=Waiting())
    assert lines == [
        "0/1 cells (0%), 0 failed, 0:11 elapsed",
        "1/1 cells (100%), 0 failed, 0:11 elapsed",
    ]
