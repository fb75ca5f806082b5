"""Signals that come while Python runs a callback, whose exceptions it drops."""

import signal
import time
import weakref

import pytest

from mlaut.errors import RunInterrupted, TimeIsOver
from mlaut.experiments.workers.signals import interrupted_once, stopping_at_once


class Thing:
    """Something that a weak reference can refer to."""


def interrupt_a_callback(number, seconds=0):
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(number))
    del thing
    time.sleep(seconds)
    return reference


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGTERM, RunInterrupted), (signal.SIGUSR2, TimeIsOver)]
)
def test_an_interrupt_in_a_callback_comes_again(number, error, capsys):
    with pytest.raises(error) as told, stopping_at_once():
        interrupt_a_callback(number, seconds=60)
    assert type(told.value) is error
    assert capsys.readouterr().err == ""


def test_an_interrupt_in_a_callback_is_known_without_a_traceback(capsys):
    with interrupted_once() as seen:
        interrupt_a_callback(signal.SIGINT)
    assert seen == [signal.SIGINT]
    assert capsys.readouterr().err == ""
