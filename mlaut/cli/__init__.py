"""The command line: one sub-command per public function.

Heavy packages are imported inside the commands, so that ``mlaut --help`` is fast.
"""

from __future__ import annotations

import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

from mlaut import __version__
from mlaut.cli import bundles, elsewhere, lists, runs, studies, watching
from mlaut.cli.output import show
from mlaut.errors import MlautError, RunInterrupted

__all__ = ["cli", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mlaut")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Compare machine learning strategies over many datasets, with statistical tests.

    \b
    mlaut demo                      run a small study on real data
    mlaut init                      write a study file
    mlaut plan study.toml           show what a run would do
    mlaut run study.toml            run a study, or resume it
    mlaut watch study.h5            follow a study while it runs
    mlaut status study.h5           show the progress of a study
    mlaut report study.h5           show what it decides, and all numbers
    """


for _module in (bundles, elsewhere, lists, runs, studies, watching):
    for _name in _module.__all__:
        cli.add_command(getattr(_module, _name))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error ends it with one line and an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    # A process with id 1 (in a container) ignores SIGTERM unless it has a handler.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    show = warnings.showwarning
    warnings.showwarning = _show_warning
    try:
        _main(given)
    finally:
        warnings.showwarning = show
        signal.signal(signal.SIGTERM, before)


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **_: Any) -> None:
    show(warnings.formatwarning(message, category, *where[:2]).rstrip(), err=True)


def _main(given: list[str]) -> None:
    try:
        cli.main(given, prog_name="mlaut", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort as stopped:  # click turns every KeyboardInterrupt into Abort
        reason = str(stopped.__cause__ or stopped.__context__ or "")
        show(f"mlaut: {reason or 'stopped; make the same call again to go on'}", err=True)
        sys.exit(RunInterrupted.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        _fail(error, debug="--debug" in given)


def _fail(error: Exception, debug: bool) -> None:
    if debug:
        show(traceback.format_exc(), err=True)
    if isinstance(error, MlautError):
        show(f"mlaut: error: {error}", err=True)
        sys.exit(error.exit_code)
    text = " ".join(str(error).split())
    show(
        f"mlaut: a bug in MLaut: {type(error).__name__}: {text}; "
        "please report it with the output of 'mlaut --debug ...'",
        err=True,
    )
    sys.exit(70)
