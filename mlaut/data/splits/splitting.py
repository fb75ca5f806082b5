"""Splits of stored datasets, drawn by a scheme or provided by the source of the dataset."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mlaut.data.splits.by_role import LeakWarning, leaks
from mlaut.data.splits.resampling import ByRole, HoldOut, KFold, make_split, parse_scheme, text_of
from mlaut.data.splits.targets import encode_target
from mlaut.errors import DataError, nearest
from mlaut.files_io import FilesIO, SplitEntry
from mlaut.files_io.tables.datasets import DatasetInfo
from mlaut.files_io.tables.roles import role_values
from mlaut.records import CLASSIFICATION, Dataset

OWN = "own"


def chosen_scheme(
    scheme: Any, test_size: float | None, stratify: bool, groups: str | None = None
) -> Any:
    """Return the chosen scheme or splitter; None means the split of the dataset's source."""
    if isinstance(scheme, str) and scheme == OWN:
        if test_size is not None or groups is not None:
            raise DataError(
                "the dataset's own split has its rows already; leave out test_size and groups"
            )
        return None
    if isinstance(scheme, Iterator):  # each dataset needs the pairs
        scheme = list(scheme)
    chosen = parse_scheme(scheme or "holdout") if isinstance(scheme, str) else scheme
    if test_size is not None:
        if not isinstance(chosen, HoldOut):
            raise DataError(f"test_size belongs to a hold-out, and the scheme is {chosen}")
        chosen = replace(chosen, test_size=test_size)
    if isinstance(chosen, HoldOut | KFold | ByRole) and not stratify:
        chosen = replace(chosen, stratify=False)
    return chosen


def schemes_of(
    hdf5_in: FilesIO,
    infos: Iterable[DatasetInfo],
    scheme: Any,
    test_size: float | None,
    stratify: bool,
    groups: str | None,
) -> dict[str, Any]:
    """Return the scheme of each dataset by name; None means the split of the dataset's source.

    Datasets for which a mapping has no scheme are left out.
    """
    given = scheme if isinstance(scheme, Mapping) else {"*": scheme}
    if unknown := sorted(given.keys() - {"*", *hdf5_in.list_datasets()[0]}):
        known = hdf5_in.list_datasets()[0]
        raise DataError(f"split: no dataset {unknown[0]!r}{nearest(unknown[0], known)}")
    drawn = {key: chosen_scheme(one, test_size, stratify, groups) for key, one in given.items()}
    schemes = {}
    for info in infos:
        key = info.name if info.name in given else "*"
        may_be_own = test_size is None and groups is None and info.split
        if key in given:
            chosen = None if may_be_own and not given[key] else drawn[key]
            roles = {*info.roles, *(["group"] if groups else [])}
            if isinstance(info.target, list) and info.task == CLASSIFICATION:
                chosen = _of_labels(chosen, info.name)
            if isinstance(chosen, ByRole):
                chosen = chosen.for_roles(info.task, roles)
            schemes[info.name] = chosen
    return schemes


def _of_labels(scheme: Any, name: str) -> Any:
    """Return a scheme for rows with several labels, by which rows cannot be stratified."""
    if isinstance(scheme, HoldOut | KFold | ByRole):
        return replace(scheme, stratify=False)  # as its text says
    if getattr(scheme, "stratify", False) or "Stratified" in type(scheme).__name__:
        raise DataError(
            f"dataset {name!r} has several labels in a row, by which {text_of(scheme)} cannot "
            "stratify; use 'kfold', 'holdout' or 'group_kfold'"
        )
    return scheme


def dataset_infos(hdf5_in: FilesIO, paths: Iterable[str] | None) -> list[DatasetInfo]:
    """Return the facts about the datasets to split, after a check that their names differ."""
    if paths is None:
        infos = list(hdf5_in.dataset_infos())
    else:
        chosen = [paths] if isinstance(paths, str) else list(dict.fromkeys(paths))
        infos = [*hdf5_in.infos_of(chosen)]
    if not infos:
        raise DataError(f"{hdf5_in.path}: no dataset to split; store some, or check dataset_paths")
    by_name: dict[str, str] = {}
    for info in infos:
        other = by_name.setdefault(info.name, info.path)
        if other != info.path:
            raise DataError(
                f"{hdf5_in.path}: {other} and {info.path} have the same name, and a study "
                "knows a dataset by its name; leave one out, or remove one: "
                f"'mlaut study remove {hdf5_in.path} --dataset {info.path}'"
            )
    return infos


def is_split(
    entry: SplitEntry, info: DatasetInfo, scheme: Any, seed: int, groups: str | None
) -> bool:
    """Return whether a stored entry has exactly this split and this content."""
    if entry.fingerprint != info.fingerprint:
        return False
    wanted = (info.split, None) if scheme is None else (_text(scheme, groups), seed)
    return (entry.split.scheme, entry.split.seed) == wanted


def split_entry(
    hdf5_in: FilesIO,
    info: DatasetInfo,
    scheme: Any,
    seed: int,
    groups: str | None,
    load: Callable[..., Dataset],
) -> tuple[SplitEntry, list[str]]:
    """Return the split of a dataset by a scheme, and a line for each way in which it leaks.

    A scheme of None means the split of the dataset's source. ``load`` is of `FilesIO.loading`.
    """
    looks = hasattr(scheme, "split") and not type(scheme).__module__.startswith("sklearn.")
    if looks or info.is_small:  # a splitter of the user may read any column; a run reads all
        dataset = load(info.path, not looks)
    else:
        named = [] if groups is None or groups in info.columns_of_roles else [groups]
        dataset = hdf5_in.load_columns(info.path, [*info.columns_of_roles, *named])
    try:
        truth, classes = encode_target(dataset.labels, dataset.task)
        if groups is not None and groups not in dataset.frame.columns:
            raise DataError(f"no column {groups!r} of groups; name one of its columns")
        values = role_values(dataset)
        by_name = None if groups is None else dataset.frame[groups].to_numpy()
        split = dataset.split
        if scheme is not None:
            split = make_split(
                truth,
                dataset.task,
                scheme,
                seed=seed,
                key=dataset.fingerprint,
                groups=values.get("group") if _takes_groups(scheme, by_name) else by_name,
                times=values.get("time"),
                table=(dataset.features, dataset.labels) if looks else None,
            )
            split = replace(split, scheme=_text(scheme, groups))
        elif split is None:
            raise DataError("it has no split of its own; name a scheme, for example 'kfold(10)'")
    except DataError as error:
        raise DataError(f"{hdf5_in.path}: dataset {dataset.name!r}: {error}") from None
    entry = SplitEntry(
        name=dataset.name,
        path=dataset.path,
        task=dataset.task,
        fingerprint=dataset.fingerprint,
        classes=classes,
        truth=truth,
        split=split,
        weights=values.get("weight"),
        shape=info.shape,
        targets=tuple(dataset.targets) if truth.ndim > 1 else (),
        shortest=info.shortest,
    )
    return entry, list(leaks(split, values))


def warn_of_leaks(found: Mapping[str, Iterable[str]]) -> None:
    """Warn of splits that leak: once for each kind of leak, with the names of the datasets."""
    kinds: dict[str, dict[str, str]] = {}
    for name, lines in found.items():
        for line in lines:
            kinds.setdefault(re.sub(r"\d+ of \d+ (\w+?)s? (have|has) ", r"\1 ", line), {})[name] = (
                line
            )
    for first, *others in (list(of_kind.items()) for of_kind in kinds.values()):
        same = f" (the same in {', '.join(repr(name) for name, _ in others)})" if others else ""
        warnings.warn(f"dataset {first[0]!r}{same}: {first[1]}", LeakWarning, stacklevel=3)


def _takes_groups(scheme: Any, by_name: Any) -> bool:
    """Return whether a scheme takes the groups of the dataset's role, since none were named."""
    return by_name is None and not isinstance(scheme, HoldOut | KFold)


def _text(scheme: Any, groups: str | None) -> str:
    text = text_of(scheme)
    return text if groups is None else f"{text} by {groups}"
