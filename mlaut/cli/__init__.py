"""The command line: one sub-command per public function.

Heavy packages are imported inside the commands, so that ``mlaut --help`` is fast.
"""

import atexit
import gc
import itertools
import os
import re
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from mlaut import __version__
from mlaut.cli import lists, runs, studies
from mlaut.cli.output import in_own_words, setting_of, show, with_json
from mlaut.errors import MlautError, OptionalPackageError, RunInterrupted, StoreError, shortened
from mlaut.experiments.workers.signals import stopping_at_once
from mlaut.helpers.former_names import without_plugin
from mlaut.plugins.finding import found, home_of

__all__ = ["cli", "main"]

_FIRST_PAGE: dict[str, tuple[click.Command, ...]] = {
    "Begin": (runs.demo, runs.init),
    "Run": (runs.plan, runs.run, studies.status),
    "Conclude": (studies.report, studies.merge, studies.verify),
    "Look up, bring in": (lists.list_, lists.load),
}
_OF_STUDIES = (studies.compact, studies.remove, studies.rename, runs.models)
_FORMER: dict[str | None, str] = {
    "watch": "status --follow",
    "same": "study same",
    "study export": "report study.h5 -o tables/",
    **{name: f"list {name}" for name in lists.list_.commands},
    **{command.name: f"study {command.name}" for command in _OF_STUDIES},
}

# Libraries that warn of what a table or a name has, with their own paths and lines.
_OF_NUMBERS = re.compile(r"[/\\](pandas|numpy|matplotlib)[/\\]")


# Commands of MLaut's own plug-ins, each with the name of its plug-in.
_IN_PLUGINS = {"leaderboard": "boards", "place": "boards", "same": "boards", "submit": "slurm"}
_IN_PLUGINS |= {"import": "exchange", "publish": "exchange"}


class _CommandGroup(click.Group):
    """Commands, also those of plug-ins; a former name raises an error that states the present one.

    An entry point ``study.place`` in the group ``mlaut.commands`` is the command ``place``
    below `mlaut study`, and one without a dot is a command of `mlaut`.
    """

    def of_plugins(self) -> dict[str, click.Command]:
        """Return the commands of plug-ins in this group, by name."""
        above, commands = "" if self.name == "cli" else f"{self.name}.", found("commands")
        named = {name.removeprefix(above): x for name, x in commands.items() if above in name}
        return {name: command for name, command in named.items() if "." not in name}

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in self.commands and name in (added := self.of_plugins()):
            self.commands[name] = added[name]
            full = name if self.name == "cli" else f"{self.name}.{name}"
            with_json(added[name], f"-{full}".replace(".", "-"), home_of("commands", full))
        return self.commands.get(name)

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted({*self.commands, *self.of_plugins()})

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = f"'{ctx.command_path} {args[0]}'"
        called = args[0] if self.name == "cli" else f"{self.name} {args[0]}"
        if called in _FORMER and args[0] not in self.commands:
            raise click.UsageError(f"{name} is now 'mlaut {_FORMER[called]}'")
        if args[0] in _IN_PLUGINS and self.get_command(ctx, args[0]) is None:
            raise OptionalPackageError(without_plugin(f"{name} is in", _IN_PLUGINS[args[0]]))
        found_name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_twice(click.Context(command, parent=ctx, info_name=found_name), rest)
        return found_name, command, rest


def _refuse_twice(context: click.Context, arguments: Sequence[str]) -> None:
    """Raise an error if an option that takes one value is given twice, where click takes the last.

    A flag that is said twice says the same, unless it has an opposite.
    """
    given = context.command.make_parser(context).parse_args(list(arguments))[2]
    for option in {x for x in given if isinstance(x, click.Option) and given.count(x) > 1}:
        if not (option.multiple or (option.is_flag and not option.secondary_opts)):
            words = "/".join([option.opts[-1], *option.secondary_opts])
            raise click.UsageError(f"{words} is given twice; give it once", context)


class _Commands(_CommandGroup):
    """The commands, in groups on the first page."""

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in _FIRST_PAGE.items():
            with formatter.section(heading):
                formatter.write_dl(_with_help({str(one.name): one for one in commands}))
        if added := self.of_plugins():
            with formatter.section("Plug-ins"):
                formatter.write_dl(_with_help(added))


def _with_help(commands: Mapping[str, click.Command]) -> list[tuple[str, str]]:
    return [(name, command.get_short_help_str(60)) for name, command in commands.items()]


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="mlaut")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Compare machine learning strategies over many datasets, with statistical tests.

    \b
    mlaut demo                      run a small study on real data
    mlaut init                      write a study file
    mlaut run study.toml            run a study, or resume it
    mlaut report study.h5           show what it decides, and all numbers
    mlaut study --help              list what else can be done with studies
    """


@click.group(cls=_CommandGroup)
def study() -> None:
    """Change studies.

    \b
    mlaut study compact study.h5
    mlaut study rename study.h5 --strategy svm svm_rbf
    """


for _command in (study, *itertools.chain.from_iterable(_FIRST_PAGE.values())):
    cli.add_command(_command)
for _command in _OF_STUDIES:
    study.add_command(_command)
with_json(cli)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; an error ends it with one line and an exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # this process runs no other command
        gc.set_threshold(50_000)  # imports make many objects and little garbage
        atexit.register(gc.freeze)  # the last collection would walk through all of them
        if {"list", "report", "status"}.issuperset(given[:1]):  # threads would cost time in them
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    show = warnings.showwarning
    warnings.showwarning = _show_warning
    try:
        with stopping_at_once():  # a process with id 1 ignores SIGTERM unless it has a handler
            _main(given)
    finally:
        warnings.showwarning = show


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **_: Any) -> None:
    text = f"mlaut: warning: {message}"
    if not category.__module__.startswith("mlaut"):  # which is neither MLaut's nor a plug-in's
        if _OF_NUMBERS.search(str(where[0])) or str(message).startswith("Glyph "):
            return  # odd values and names have errors and pages of their own
        text = warnings.formatwarning(message, category, *where[:2]).rstrip()
    show(in_own_words(text), err=True)


def _main(given: list[str]) -> None:
    try:
        cli.main(given, prog_name="mlaut", standalone_mode=False)
    except click.exceptions.Exit as leave:
        sys.exit(leave.exit_code)
    except click.Abort as stopped:  # click turns every KeyboardInterrupt into Abort
        cause = stopped.__cause__ or stopped.__context__
        show(f"mlaut: {cause or 'stopped; make the same call again to go on'}", err=True)
        sys.exit(getattr(cause, "exit_code", RunInterrupted.exit_code))
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and error.ctx is not None:
            setting = setting_of(error.option_name, error.ctx.command)
            text = f"'{error.option_name}' is a setting: '--set {setting}'"
            error = click.UsageError(text) if setting else error
        if "extra argument" in error.message and given[0] in ("init", "report"):
            way_out = "put several tables into a folder, and name the folder"
            error = click.UsageError(f"{error.message}: {way_out}")
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
        show(f"mlaut: error: {in_own_words(error)}", err=True)
        sys.exit(error.exit_code)
    text = shortened(" ".join(str(error).split()), 2000)
    if isinstance(error, MemoryError):
        text = f"the memory does not suffice ({text or 'no more'}); use a machine with more"
        show(f"mlaut: error: {text}", err=True)
        sys.exit(StoreError.exit_code)
    if isinstance(error, OSError):
        from mlaut.files_io.safe_files.system_errors import OF_THE_MACHINE, explain

        if error.filename is not None or error.errno in OF_THE_MACHINE:
            where = Path(os.fsdecode(error.filename or "this call"))
            show(f"mlaut: error: {explain(error, where, 'using it')}", err=True)
            sys.exit(StoreError.exit_code)
    show(
        f"mlaut: a bug in MLaut: {type(error).__name__}: {text}; "
        "please report it with the output of 'mlaut --debug ...'",
        err=True,
    )
    sys.exit(70)
