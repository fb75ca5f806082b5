"""Functions that find what a study file chooses: its datasets, which they load, and strategies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mlaut import estimators, files_io
from mlaut.errors import DataError, MlautError, StudyError, refuse_unknown
from mlaut.experiments.study_files.splits import warn_left_out
from mlaut.experiments.study_files.study_file import StudyFile
from mlaut.files_io.safe_files.plain_files import read_plain


def prepare_data(file: StudyFile) -> tuple[files_io.FilesIO, list[str]]:
    """Load the datasets into the input database if needed; return it and the chosen paths."""
    from mlaut.data import Data
    from mlaut.data.adding import add_datasets

    data, section = Data(), file.data
    if section.collection and section.folder:
        raise StudyError(f"{file.path}: [data] names a collection and a folder; keep one of them")
    folder = file.path.parent / section.folder if section.folder else None
    is_here = folder.is_dir() if folder else fills_input(file) or file.input.exists()
    if section.load and not is_here:
        raise DataError(
            f"{folder or file.input}: not here, and the study needs it; make it in the folder of "
            f"{file.path}: {section.load}"
        )
    input_io = data.open_hdf5(file.input, mode="a" if fills_input(file) else "r")
    if references := references_of(file):
        files = files_of(file)
        given = [files.get(text, text) for text in references]
        add_datasets(input_io, given, roles=section.roles)
        return input_io, chosen_datasets(file, input_io)
    group = _group(file)
    if section.collection:
        data.load_collection(
            section.collection,
            hdf5_io=input_io,
            names=section.datasets or None,
            task=section.task or None,
            hdf5_group=group,
            roles=section.roles,
        )
    elif folder:
        unusable = list[DataError]()
        how: dict[str, Any] = {"roles": section.roles, "missing": section.missing}
        data.load_folder(folder, hdf5_io=input_io, hdf5_group=group, unusable=unusable, **how)
        warn_left_out(unusable)
    return input_io, chosen_datasets(file, input_io)


def fills_input(file: StudyFile) -> bool:
    """Return whether the file names a source (collection, folder, reference) for its datasets."""
    return bool(file.data.collection or file.data.folder or references_of(file))


def references_of(file: StudyFile) -> list[str]:
    """Return the datasets of the file that are references, or files of tables."""
    from mlaut.data import is_reference

    texts = file.data.datasets
    references = [text for text in texts if is_reference(text) or text in files_of(file)]
    if references and (file.data.collection or file.data.folder):
        raise StudyError(
            f"{file.path}: [data] names {references[0]!r} beside a collection or a folder; name "
            "all datasets by reference, as in 'starter/iris', or none"
        )
    return references


def files_of(file: StudyFile) -> dict[str, str]:
    """Return the datasets of the file that are files of tables, each with its whole path."""
    from mlaut.data.tables.folders import is_file_of_table

    texts = [text for text in file.data.datasets if is_file_of_table(text)]
    return {text: str(file.path.parent / text) for text in texts}


def _group(file: StudyFile) -> str:
    section = file.data
    filled_from = section.collection or Path(section.folder).name
    return section.group or (f"{filled_from}/" if filled_from else "/")


def chosen_datasets(file: StudyFile, input_io: files_io.FilesIO) -> list[str]:
    """Return the paths, in the input database, of the datasets that the file chooses."""
    from mlaut.data.sources.loading import check_roles, find_stored
    from mlaut.data.tables.folders import name_of_file

    names, paths = input_io.list_datasets(_group(file))
    paths_of = {name: [path] for name, path in zip(names, paths, strict=True)}
    files = files_of(file)
    for text in references_of(file):
        called = f"/{name_of_file(text)}" if text in files else ""
        paths_of[text] = [called] if called else find_stored(input_io, text)
    load = f" (to load what is missing: {file.data.load})" if file.data.load else ""
    more = f" in {file.input}{load}"
    what = f"{file.path}: no dataset"
    refuse_unknown(file.data.datasets, paths_of, StudyError, what, more, "known are")
    chosen = [path for name in file.data.datasets or names for path in paths_of[name]]
    if task := file.data.task:
        others = [path for path in chosen if input_io.dataset_info(path).task != task]
        chosen = [path for path in chosen if path not in others]
        if file.data.datasets:
            warn_left_out(DataError(f"{path}: [data] has task = {task!r}") for path in others)
    if not chosen:
        raise StudyError(
            f"{file.path}: [data] selects no dataset of {file.input}; check group, datasets, task"
        )
    check_roles(input_io, chosen, file.data.roles)
    return chosen


def choose_strategies(file: StudyFile) -> tuple[estimators.MlautEstimator, ...]:
    """Return the strategies that the file names, with its parameters."""
    from mlaut.estimators.catalogue.strategies import tuned_as

    section = file.strategies
    chosen: list[Any] = list(section.names)
    if section.file:
        chosen += estimators.as_strategies(own_strategies(file.path.parent / section.file))
    if not chosen:
        raise StudyError(f"{file.path}: [strategies] has no names and no file; name a strategy")
    strategies: tuple[estimators.MlautEstimator, ...] = estimators.as_strategies(chosen)
    by_name = {strategy.name: strategy for strategy in strategies}
    what = f"{file.path}: no strategy"
    where = " of those in [strategies.parameters]"
    refuse_unknown(section.parameters, by_name, StudyError, what, where, "known are")
    for name, parameters in section.parameters.items():
        if not isinstance(parameters, dict):
            raise StudyError(
                f"{file.path}: parameters of {name} are {parameters!r}; write them below "
                f"[strategies.parameters.{name}]"
            )
        defaults = by_name[name].get_params()
        of = f" of {name} (params has those of its learner)"
        what = f"{file.path}: unknown parameter"
        refuse_unknown(parameters, defaults, StudyError, what, of, "known are")
        by_name[name].set_params(**parameters)
    return tuned_as(strategies, file.run.search, file.run.budget)


def own_strategies(path: Path) -> Any:
    """Execute a Python file of strategies, and return its ``strategies``."""
    import runpy
    import traceback

    from mlaut.identity.syntax import keep_space

    name = str(path)
    try:
        read_plain(path)  # a pipe or a device may never end
        defined = runpy.run_path(name)
        keep_space(defined)
    except OSError as error:
        raise StudyError(
            f"{path}: cannot be read ({error.strerror}); check [strategies] file"
        ) from error
    except MlautError:
        raise
    except Exception as error:  # the user's code may raise anything
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        at = f", line {lines[-1]}" if lines else ""
        hint = "correct it (it is run as a program)"
        if isinstance(error, ModuleNotFoundError):  # processes of the run import it as well
            hint = f"install it, or set PYTHONPATH={path.parent.resolve()} if it lies there"
        raise StudyError(
            f"{path}{at}: {type(error).__name__}: {' '.join(str(error).split())}; {hint}"
        ) from error
    if "strategies" not in defined:
        raise StudyError(f"{path}: does not define 'strategies'; end it with strategies = [...]")
    return defined["strategies"]
