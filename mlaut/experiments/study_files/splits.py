"""Splits of the datasets of a study before its run: those that it lacks are made, and told."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from mlaut import files_io
from mlaut.errors import DataError, StudyError, UnusableWarning, some_of
from mlaut.helpers.markup import printable

_OF_DATASET = re.compile(r"dataset ('[^']*')")


def complete_splits(
    input_io: files_io.FilesIO,
    out_io: files_io.FilesIO,
    name_of: Mapping[str, str],
    scheme: Any,
    *,
    seed: int,
    any_seed: bool,
    stratify: bool,
) -> None:
    """Split the datasets of a study that are not split yet, by their paths in ``name_of``.

    Without a scheme they get that of the others; with ``any_seed`` also their seed. A scheme that
    the stored splits do not have is refused, or told where others are new.
    """
    study = files_io.StudyStore(out_io.path)
    stored = study.load_splits() if study.exists else {}
    taken = {entry.path for entry in stored.values()}  # perhaps renamed in the study alone
    paths = [path for path, name in name_of.items() if name in stored or path not in taken]
    if not scheme:
        paths = [path for path in paths if name_of[path] not in stored]
        scheme = _scheme_of(stored, map(name_of.get, paths), study.path) if paths else ""
    seeds = {entry.split.seed for entry in stored.values()} - {None}
    of_file = any_seed and len(seeds) == 1  # a study file has one for splits
    drawn = seeds.pop() if of_file else seed
    how, kept = (
        {"scheme": scheme, "stratify": stratify, "seed": drawn},
        list["files_io.SplitEntry"](),
    )
    if stored and scheme and not study.strategies:  # that of a run that was refused
        split_told(input_io, out_io, paths, overwrite=True, **how)
    elif paths:
        split_told(input_io, out_io, paths, kept=kept, **how)
    known = ", ".join(dict.fromkeys(entry.split.scheme for entry in kept))
    if paths and len(kept) == len(paths):
        raise StudyError(
            f"{study.path}: its datasets are split already, and otherwise ({known}); leave "
            "split out, write to a new study, or give up their outcomes: "
            "Data.split_datasets(..., overwrite=True)"
        )
    if kept:
        of = some_of(entry.name for entry in kept)
        warnings.warn(f"{of}: their stored split stays ({known})", UserWarning, stacklevel=5)


def _scheme_of(stored: Mapping[str, files_io.SplitEntry], new: Iterable[Any], path: Any) -> str:
    """Return the split scheme of the stored datasets, which new datasets get too."""
    from mlaut.data import parse_scheme

    schemes = {entry.split.scheme for entry in stored.values()}
    if not schemes:
        return ""
    try:
        (scheme,) = schemes
        parse_scheme(scheme)
    except (ValueError, DataError):
        raise StudyError(
            f"{path}: its datasets are split as {', '.join(sorted(schemes))}; name the split of "
            f"the new ones ({some_of(new)}), for example split='kfold_by_role(5)': those that "
            "are split keep what they have"
        ) from None
    return scheme


def split_told(
    input_io: files_io.FilesIO, out_io: files_io.FilesIO, paths: list[str], **how: Any
) -> list[str]:
    """Split datasets, tell what was chosen and left out, and return the names of those of the run.

    ``how`` has the arguments of ``Data.split_datasets``.
    """
    from mlaut.data import Data

    study, unusable = files_io.StudyStore(out_io.path), list[DataError]()
    anew = how.get("overwrite", False)
    before = study.load_splits() if study.exists else {}
    names = Data().split_datasets(input_io, out_io, paths, unusable=unusable, **how)
    warn_left_out(unusable)
    schemes: dict[str, list[str]] = {}
    for name, entry in study.load_splits().items():
        new, old = entry.split, before[name].split if name in before else None
        if name in names and old is None:
            schemes.setdefault(new.scheme, []).append(name)
        elif old is not None and anew and (new.scheme, new.seed) != (old.scheme, old.seed):
            gone = f"{new.scheme}, in place of {old.scheme}, with which nothing was run,"
            schemes.setdefault(gone, []).append(name)
    if len(schemes) > 1 or (schemes and anew):
        told = "; ".join(f"{scheme} for {some_of(of, 5)}" for scheme, of in schemes.items())
        sys.stderr.write(f"mlaut: split: {printable(told, '')}\n")
    return list(names)


def warn_left_out(unusable: Iterable[DataError]) -> None:
    """Warn of datasets that a run leaves out: once for each reason why they cannot be used."""
    reasons: dict[tuple[str, ...], list[str]] = {}
    for error in unusable:
        before, name, after = [*_OF_DATASET.split(str(error), maxsplit=1), "", ""][:3]
        reasons.setdefault((before, after), []).append(name)
    for (before, after), (first, *others) in reasons.items():
        same = f" (the same for {some_of(others)})" if others else ""
        name = f"dataset {first}" if first else ""
        warnings.warn(f"left out: {before}{name}{same}{after}", UnusableWarning, stacklevel=3)
