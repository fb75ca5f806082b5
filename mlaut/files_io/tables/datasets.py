"""Datasets as HDF5 groups: checks, writing, reading and comparison.

A group of encoding ``mlaut-dataset`` holds ``table`` (`frames`); ``X`` (`arrays`), if the features
are no columns of the table; ``about``, a JSON text with the attributes of `DatasetInfo`; and
``split`` (repeat, row), coded as in a study, if the dataset came with a split. The attributes
``class_name``, ``task`` and ``fingerprint`` of the group repeat the most important values for users
of other tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import h5py
import numpy as np

from mlaut.arrays import Series, is_sparse, row_shape
from mlaut.errors import DataError, StoreError, nearest, shortened, some_of
from mlaut.files_io.safe_files.names import from_h5, plain_names
from mlaut.files_io.safe_files.seal import read_once
from mlaut.files_io.safe_files.texts import (
    encoding_of,
    get_attribute,
    get_json,
    new_group,
    put_attributes,
    put_json,
)
from mlaut.files_io.safe_files.untrusted import opened
from mlaut.files_io.tables.arrays import (
    array_fingerprint,
    checked_array,
    count_repeated,
    get_array,
    put_array,
)
from mlaut.files_io.tables.encodings import Element, encode_columns
from mlaut.files_io.tables.fingerprints import column_fingerprints, dataset_fingerprint
from mlaut.files_io.tables.frames import read_columns, read_frame, write_frame
from mlaut.files_io.tables.roles import checked_roles, described_roles, plain_roles
from mlaut.files_io.tables.tables_of_others import as_pandas, with_indicators
from mlaut.helpers.lazy import pd
from mlaut.helpers.markup import counted
from mlaut.records import CLASSIFICATION, REGRESSION, TASKS, Dataset, Split, as_list

ENCODING = "mlaut-dataset"
VERSION = 4  # with series of different lengths or several targets; another array 3, roles 2, else 1
MOST_CLASSES = 20  # different whole numbers up to which a target is taken for classes


_ROWS_OF_A_CLASS = 3  # on average: with fewer, and many numbers, these are measured
_SMALL = 2**15  # values of a table
_encoded: WeakKeyDictionary[Dataset, list[Element]] = WeakKeyDictionary()  # small, just checked


@dataclass(frozen=True)
class DatasetInfo:
    """Description of a stored dataset, which is read without its table.

    Attributes
    ----------
    name : str
    path : str
        Path in its database, as `FilesIO.load_dataset` takes it.
    task : str
        ``"Classification"`` or ``"Regression"``.
    target : str or list of str
        Name of the target column, or names of several.
    n_rows, n_features : int
        Number of rows, and of columns that are neither the target nor have a role; in an array,
        of the values of a row.
    n_classes : int or None
        Number of distinct target values, or of the labels that a row may have; None for regression.
    fingerprint : str
        SHA-256 of table, target, task and roles.
    metadata : mapping
        ``source``, ``dataset_id`` and all other metadata that were stored.
    split : str
        Scheme of the split that the dataset came with; empty without one.
    roles : mapping of str to tuple
        Columns that are no features, by their role.
    repeated_rows : int or None
        Number of rows that equal another row in all features and the target; None if the dataset
        was stored by a version that did not count them.
    shape : tuple of int
        Shape of a row of features that are no table; empty for a table.
    sparse : bool
        Whether the features are a sparse matrix.
    shortest : int or None
        Points of the shortest of series of different lengths; ``shape`` has those of the longest.
    """

    name: str
    path: str
    task: str
    target: str
    n_rows: int
    n_features: int
    n_classes: int | None
    fingerprint: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    split: str = ""
    roles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    repeated_rows: int | None = None
    shape: tuple[int, ...] = ()
    sparse: bool = False
    shortest: int | None = None

    @property
    def columns_of_roles(self) -> list[Any]:
        """Names of the columns that have a role other than the target."""
        return list(chain.from_iterable(self.roles.values()))

    @property
    def is_small(self) -> bool:
        """Return whether the dataset is a table that is quickly read, and may be kept in memory."""
        return not self.shape and self.n_rows * self.n_features <= _SMALL


# -------------------------------------------------------------------- the task


def task_named(task: str) -> str:
    """Return a task in its standard spelling; upper and lower case in ``task`` do not matter.

    Raises
    ------
    DataError
        The task is unknown.

    Examples
    --------
    >>> task_named("classification")
    'Classification'
    """
    for name in TASKS:
        if str(task).lower() == name.lower():
            return name
    raise DataError(f"no task {task!r}{nearest(task, TASKS) or f'; there are {TASKS}'}")


def infer_task(labels: pd.Series | pd.DataFrame) -> str:
    """Return the task that a target column suggests, or several.

    Texts, categories and truth values are classes. So are whole numbers (in a column of integers
    or of floats) with at most 20 different values. All other numbers, and durations, suggest
    regression. Several columns are labels if each value is 0 or 1, and else regression. If that is
    wrong, name the task of the dataset.

    Parameters
    ----------
    labels : Series or DataFrame
        Target column, or several; missing values are ignored.

    Returns
    -------
    str
        ``"Classification"`` or ``"Regression"``.

    Examples
    --------
    >>> infer_task(pd.Series(["yes", "no"])), infer_task(pd.Series([1, 2, 2, None]))
    ('Classification', 'Classification')
    >>> infer_task(pd.Series([1.5, 2, 3])), infer_task(pd.Series(range(100)))
    ('Regression', 'Regression')
    """
    if isinstance(labels, pd.DataFrame):
        return CLASSIFICATION if all(_is_label(labels[one]) for one in labels) else REGRESSION
    if not pd.api.types.is_numeric_dtype(labels) or pd.api.types.is_bool_dtype(labels):
        return CLASSIFICATION
    values = labels.dropna().to_numpy(dtype=float)
    whole = bool(np.all(values == np.round(values)))
    return CLASSIFICATION if whole and len(np.unique(values)) <= MOST_CLASSES else REGRESSION


def _is_label(values: pd.Series) -> bool:
    """Return whether the values of a column say whether rows have a label: each is 0 or 1."""
    numbers = pd.api.types.is_numeric_dtype(values)
    return numbers and bool(values.dropna().astype(float).isin([0, 1]).all())


# ------------------------------------------------------------------- the checks


def checked_dataset(dataset: Dataset) -> Dataset:
    """Check a dataset, and return it with its fingerprint; a task of ``""`` is inferred.

    Raises
    ------
    DataError
        The dataset has no name, no rows, no column of the target's name, no column besides the
        target, two columns of the same name, a column that cannot be stored, roles that do not
        suit the table, or metadata that are not plain values.
    """
    name, frame, target = dataset.name, dataset.frame, dataset.target
    if not isinstance(name, str) or not name:
        raise DataError(f"a dataset needs a text as its name, not {name!r}")
    try:
        frame = as_pandas(frame)
        frame, target = with_indicators(frame, target)
        array = None if dataset.array is None else checked_array(dataset.array, len(frame))
        _check_frame(frame, target, alone=array is None)
        _check_texts(
            chain([name], frame.columns, *(frame[one].unique() for one in as_list(target)))
        )
        _check_split(dataset.split, len(frame))
        task = task_named(dataset.task) if dataset.task else infer_task(frame[target])
        check_target(frame[target], task)
        metadata = _plain_json(dataset.metadata)
        roles = checked_roles(frame, target, dataset.roles, alone=array is None)
        if not dataset.task and task == REGRESSION and not isinstance(target, list):
            _refuse_survival(frame.drop(columns=list(chain.from_iterable(roles.values()))), target)
        elements = encode_columns(frame)
        fingerprint = dataset_fingerprint(frame, target, task, roles, array, elements)
    except (DataError, UnicodeEncodeError) as error:
        text = str(error) if isinstance(error, DataError) else _no_text(error.object)
        raise DataError(f"dataset {name!r}: {text}") from None
    made: dict[str, Any] = {"frame": frame, "array": array, "task": task, "roles": roles}
    made["target"] = target
    checked = replace(dataset, metadata=metadata, fingerprint=fingerprint, **made)
    if frame.size <= _SMALL:
        _encoded[checked] = elements
    return checked


def _check_frame(frame: pd.DataFrame, target: Any, *, alone: bool) -> None:
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DataError(f"two columns are called {twice.tolist()[0]!r}; rename one")
    for one in as_list(target):
        if one not in frame.columns:
            last = ", ".join(map(repr, frame.columns[-3:]))
            known = () if one == "target" else frame.columns  # the default, which nobody misspells
            hint = nearest(one, known) or f"; name it: the last columns are {last}"
            raise DataError(f"no column {one!r} to be the target{hint}")
        texts = isinstance(frame[one].dtype, pd.StringDtype)
        first = None if texts else next(iter(frame[one].dropna()), None)
        if isinstance(first, list | tuple | set | frozenset | np.ndarray | np.void):
            raise DataError(
                f"target {one!r}: a {type(first).__name__} in a row; give one label or number a "
                "row, or lists of labels (survival times are not taken)"
            )
    if len(set(as_list(target))) < len(as_list(target)):
        raise DataError(f"targets {target}: one is named twice; name each once")
    if not len(frame):
        raise DataError("the table has no rows; check where it was read")
    if alone and frame.shape[1] == len(as_list(target)):
        raise DataError(f"no column beside the target {target!r}; a strategy needs features")


def _check_texts(names: Iterable[Any]) -> None:
    """Raise UnicodeEncodeError for a name or label that no file can hold."""
    for name in names:
        if isinstance(name, str):
            name.encode()


def _no_text(text: object) -> str:
    return (
        f"the text {shortened(str(text), 40)!r} has a lone surrogate, which UTF-8 cannot hold; "
        "decode its file with another encoding, or with errors='replace'"
    )


def _refuse_survival(frame: pd.DataFrame, target: Any) -> None:
    """Raise an error if the target looks like times until an event that some rows did not reach."""
    if not _TIME.fullmatch(str(target)):
        return
    for name in frame.columns:
        if _EVENT.fullmatch(str(name)) and frame[name].nunique() == 2:
            raise DataError(
                f"target {target!r} beside {name!r} looks like survival times, which are not "
                f"taken; to predict {target!r} as a plain number, name its task, Regression"
            )


_TIME = re.compile(
    r"(\w+_)?(time|days|weeks|months|years|duration|futime|tte)(_to_event|_days|_months)?|T|"
    r"time_to_\w+",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"(\w+_)?(event|status|cens|censor|censored|censoring|uncensored|fustat|dead|death|died|"
    r"deceased)(_observed|_event)?|observed|E|delta",
    re.IGNORECASE,
)


def check_target(labels: pd.Series | pd.DataFrame, task: str) -> None:
    """Check that a target has a value in each row, and two classes or finite numbers only.

    Several targets of a classification are labels: 0 or 1 in each row.

    Raises
    ------
    DataError
        The target is not such a column; the message names it.
    """
    if isinstance(labels, pd.DataFrame):
        for name in labels:
            check_target(labels[name], REGRESSION)
            if task == CLASSIFICATION and not _is_label(labels[name]):
                odd = next(label for label in labels[name].tolist() if label not in (0, 1))
                raise DataError(
                    f"target {name!r}: {odd!r} beside other targets, and of several targets each "
                    "is a label, 0 or 1 (True or False); give one target, or numbers and the task "
                    "Regression"
                )
        return
    missing = np.flatnonzero(labels.isna().to_numpy())
    infinite = missing[:0]
    if task != CLASSIFICATION and labels.dtype.kind == "f":
        infinite = np.flatnonzero(np.isinf(labels.to_numpy(dtype=float)))
    for what, rows in (("missing", missing), ("infinite", infinite)):
        if len(rows):
            raise DataError(
                f"target {labels.name!r}: {counted(len(rows), 'value is', 'values are')} {what}, "
                f"the first in row {rows[0]}; drop these rows"
            )
    if task == CLASSIFICATION and len(labels.unique()) < 2:
        raise DataError(
            f"target {labels.name!r}: one class only, {labels.tolist()[0]!r}; "
            "a classification needs rows of at least two"
        )
    if task == CLASSIFICATION and _measures(labels):
        raise DataError(
            f"target {labels.name!r}: {labels.nunique()} numbers in {len(labels)} rows are no "
            "classes; take regressors and the task Regression, or make texts of the numbers"
        )


def _measures(labels: pd.Series) -> bool:
    """Return whether labels are numbers that hardly any rows share, as of something measured."""
    if labels.dtype.kind not in "iuf":
        return False
    return MOST_CLASSES < labels.nunique() > len(labels) / _ROWS_OF_A_CLASS


def _check_split(split: Split | None, n_rows: int) -> None:
    if split is not None and not split.scheme:
        raise DataError("its split has no scheme; say in words where it comes from")
    if split is not None and split.n_rows != n_rows:
        raise DataError(f"its split is of {split.n_rows} rows, and it has {n_rows}; mend one")


def clusters_of(infos: Iterable[DatasetInfo]) -> dict[str, str]:
    """Return the source of each dataset whose metadata have one: ``cluster``."""
    return {one.name: str(one.metadata["cluster"]) for one in infos if one.metadata.get("cluster")}


def _plain_json(metadata: Mapping[str, Any]) -> dict[str, Any]:
    plain = {}
    for key, value in metadata.items():
        try:
            plain[str(key)] = json.loads(json.dumps(value, default=lambda item: item.tolist()))
        except (AttributeError, TypeError, ValueError):
            raise DataError(
                f"its metadata {key!r} is a {type(value).__name__}; use texts, numbers and lists"
            ) from None
    return plain


# ---------------------------------------------------------------- in the file


def put_dataset(parent: h5py.Group, key: str, dataset: Dataset) -> None:
    """Store a checked dataset as a new group."""
    group = new_group(parent, key)
    write_frame(group, "table", dataset.frame, _encoded.pop(dataset, None))
    if dataset.array is not None:
        put_array(group, dataset.array)
    target, several, n_classes = dataset.target, isinstance(dataset.target, list), None
    if dataset.task == CLASSIFICATION:  # no label is missing (`check_target`)
        n_classes = len(target) if several else len(dataset.labels.unique())
    apart = {*dataset.targets, *chain.from_iterable(dataset.roles.values())}
    about = {
        "name": dataset.name,
        "task": dataset.task,
        "target": plain_names(target),
        "n_rows": len(dataset.frame),
        "n_features": dataset.frame.shape[1] - len(apart)
        if dataset.array is None
        else prod(row_shape(dataset.array)),
        "n_classes": n_classes,
        "fingerprint": dataset.fingerprint,
        "metadata": dataset.metadata,
    }
    if dataset.roles:
        about["roles"] = dataset.roles
    if dataset.array is not None:
        about["shape"], about["sparse"] = row_shape(dataset.array), is_sparse(dataset.array)
    if series := isinstance(dataset.array, Series):
        about["shortest"] = int(dataset.array.lengths.min())
    if dataset.split is not None:
        about["split"] = dataset.split.scheme
        group.create_dataset("split", data=dataset.split.folds.astype("<i2"), compression="gzip")
    put_json(group, "about", about)
    version = 3 if dataset.array is not None else 2 if dataset.roles else 1
    version = VERSION if series or several else version
    attributes = {
        "encoding-type": ENCODING,
        "encoding-version": version,
        "class_name": ", ".join(map(str, dataset.targets)),
        "task": str(dataset.task),
        "fingerprint": dataset.fingerprint,
        # No key of `about`: to a version that does not know such a key, the dataset is damaged.
        "repeated_rows": _repeated_rows(dataset),
    }
    put_attributes(group, attributes)


def _repeated_rows(dataset: Dataset) -> int:
    if dataset.array is not None:
        labels = dataset.frame[dataset.targets]
        return count_repeated(
            dataset.array, labels.groupby(dataset.targets, observed=True).ngroup().to_numpy()
        )
    apart = list(chain.from_iterable(dataset.roles.values()))
    rows = dataset.frame.drop(columns=apart) if apart else dataset.frame
    # Equal rows are equal in each column: a column of different numbers leaves few to compare.
    number = next(
        (name for name, dtype in zip(rows, rows.dtypes, strict=True) if dtype.kind == "f"), None
    )
    if number is not None:
        repeated = rows[number].duplicated(keep=False).to_numpy()
        if not repeated.any():
            return 0
        if repeated.mean() < 0.5:
            rows = rows[repeated]
    try:
        again = pd.util.hash_pandas_object(rows, index=False).duplicated(keep=False)
    except UnicodeEncodeError:  # a lone surrogate, which pandas cannot hash
        again = rows.duplicated(keep=False)
    return int(again.sum())


def is_dataset(item: Any) -> bool:
    """Return whether a member of a file is a stored dataset."""
    return isinstance(item, h5py.Group) and encoding_of(item) == ENCODING


def get_info(group: h5py.Group) -> DatasetInfo:
    """Return the description of a stored dataset.

    Raises
    ------
    StoreError
        The dataset is damaged, or was written by a newer version.
    """
    path = group.name
    return read_once(group, path, lambda: _info(group, path), lambda info: 4 * len(str(info)))


def _info(group: h5py.Group, path: str) -> DatasetInfo:
    name = from_h5(path.rpartition("/")[2])
    try:
        version = int(get_attribute(group, b"encoding-version"))
        if version > VERSION:
            raise StoreError(
                f"{group.file.filename}: dataset {name!r} has version {version} of its encoding, "
                f"and this MLaut reads up to {VERSION}; update MLaut"
            )
        about = get_json(group, "about", None)
        roles = plain_roles(about.pop("roles", {}))
        repeated = get_attribute(group, b"repeated_rows")
        repeated = None if repeated is None else int(repeated)
        about["shape"] = tuple(map(int, about.get("shape", ())))
        info = DatasetInfo(path=path, roles=roles, repeated_rows=repeated, **about)
        if not (isinstance(info.name, str) and isinstance(info.metadata, dict)):
            raise ValueError("its name is no text, or its metadata are none")
        return info
    except (AttributeError, DataError, KeyError, OSError, TypeError, ValueError) as error:
        reason = f"is damaged ({' '.join(str(error).split())})"
        raise _broken(group, name, reason) from error


def _broken(group: h5py.Group, name: str, what: str) -> StoreError:
    return StoreError(
        f"{group.file.filename}: dataset {name!r} {what}; restore the file from a copy, or store "
        "the dataset again"
    )


def get_columns(group: h5py.Group, names: Collection[Any]) -> Dataset:
    """Read the target and some other columns of a dataset, without a check of their content."""
    info = get_info(group)
    frame = read_columns(_table(group, info), [*as_list(info.target), *names], info.name)
    return _dataset(group, info, frame)


def get_dataset(group: h5py.Group, shared: bool = False) -> Dataset:
    """Read a stored dataset, and check its content against its fingerprint; ``shared`` keeps it.

    Raises
    ------
    StoreError
        The dataset is damaged, or was written by a newer version; the message names file, dataset
        and column.
    """
    info = get_info(group)
    if shared and info.is_small:
        key, size = ("table", info.path), lambda one: 32 * one.frame.size  # about its bytes
        return read_once(group, key, lambda: get_dataset(group), size)
    frame, elements = read_frame(_table(group, info), info.name)
    try:
        array = get_array(group)
    except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        what = f"has a damaged array ({' '.join(str(error).split())})"
        raise _broken(group, info.name, what) from error
    content = frame, info.target, info.task, info.roles, array, elements
    if dataset_fingerprint(*content) != info.fingerprint:
        raise _broken(group, info.name, "is not what was stored (its fingerprint does not hold)")
    return replace(_dataset(group, info, frame), array=array)


def _table(group: h5py.Group, info: DatasetInfo) -> h5py.Group:
    if "table" not in group:
        raise _broken(group, info.name, "has lost its table")
    return group["table"]


def _dataset(group: h5py.Group, info: DatasetInfo, frame: pd.DataFrame) -> Dataset:
    return Dataset(
        name=info.name,
        frame=frame,
        target=info.target,
        task=info.task,
        metadata=info.metadata,
        fingerprint=info.fingerprint,
        path=info.path,
        split=_get_split(group, info),
        roles=info.roles,
    )


def _get_split(group: h5py.Group, info: DatasetInfo) -> Split | None:
    if not info.split:
        return None
    try:
        return Split(opened(group, "split").read().astype(np.int16), info.split)
    except (KeyError, OSError) as error:
        raise _broken(group, info.name, "has lost its split") from error


def what_changed(group: h5py.Group, new: Dataset) -> str:
    """Return the differences between a dataset and a stored one as text; empty if none."""
    return ", ".join(_changes(group, get_info(group), new))


def _changes(group: h5py.Group, old: DatasetInfo, new: Dataset) -> Iterator[str]:
    if old.fingerprint != new.fingerprint:
        if old.target != new.target:
            yield f"target {old.target!r} is now {new.target!r}"
        if old.task != new.task:
            yield f"task {old.task} is now {new.task}"
        if old.roles != new.roles:
            yield f"roles {described_roles(old.roles)} are now {described_roles(new.roles)}"
        if old.n_rows != len(new.frame):
            yield f"{old.n_rows} rows are now {len(new.frame)}"
        else:
            stored = get_dataset(group)
            if way := _to_the_table_of(stored, new):
                yield f"it is stored as a table of the same values (to go on with it, pass {way})"
            else:
                yield from _changed_columns(stored.frame, new.frame)
                yield from _changed_array(stored.array, new.array)
    yield from _changed_split(_get_split(group, old), new.split)
    keys = sorted({*old.metadata, *new.metadata})
    metadata = [key for key in keys if old.metadata.get(key) != new.metadata.get(key)]
    if metadata:
        yield f"other metadata {', '.join(metadata)}"


def _changed_split(old: Split | None, new: Split | None) -> Iterator[str]:
    if old is None or new is None:
        if old is not new:
            yield "without its split" if new is None else "with a split of its own"
    elif not np.array_equal(old.folds, new.folds):
        yield "another split"
    elif old.scheme != new.scheme:
        yield f"split {old.scheme!r} is now {new.scheme!r}"


def _to_the_table_of(old: Dataset, new: Dataset) -> str:
    """Return how X becomes the table that is stored, as versions before arrays made it of them."""
    X = new.array
    if old.array is not None or X is None or isinstance(X, Series):
        return ""
    same = {*new.frame} <= {*old.frame} and new.frame.equals(old.frame[list(new.frame)])
    flat = X.toarray() if is_sparse(X) else X.reshape(len(X), -1)
    if not (same and np.array_equal(old.features.to_numpy(), flat)):
        return ""
    return "X.toarray()" if is_sparse(X) else "X.reshape(len(X), -1)"


def _changed_array(old: Any, new: Any) -> Iterator[str]:
    before, after = (
        "a table"
        if X is None
        else f"series of up to {X.shape[1:]}"
        if isinstance(X, Series)
        else f"{'a sparse' * is_sparse(X) or 'an'} array {X.shape[1:]}"
        for X in (old, new)
    )
    if before != after:
        yield f"rows of {before} are now of {after}"
    elif new is not None and array_fingerprint(old) != array_fingerprint(new):
        yield f"other values in its array, or of another type ({old.dtype}, now {new.dtype})"


def _changed_columns(old: pd.DataFrame, new: pd.DataFrame) -> Iterator[str]:
    before, after = dict(column_fingerprints(old)), dict(column_fingerprints(new))
    both = [name for name in before if name in after]
    groups = {
        "without": [name for name in before if name not in after],
        "with new": [name for name in after if name not in before],
        "other values in": [name for name in both if before[name] != after[name]],
    }
    for what, names in groups.items():
        if names:
            plural = "columns" if len(names) > 1 else "column"
            yield f"{what} {plural} {some_of(map(repr, names), 3)}"
    if set(before) == set(after) and list(before) != list(after):
        yield "columns in another order"
