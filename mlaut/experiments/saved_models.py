"""Fitted models as files: in a format that is safe to load where there is one.

======== ================================= =====================================================
format   what is in the file               loading it
======== ================================= =====================================================
skops    any of scikit-learn's and MLaut's runs no code of the file (needs the extra ``models``)
keras    a network                         runs no code of the file
network  a network behind its              runs no code of the file (needs the extra ``models``)
         preprocessing: both of the above
pickle   anything else                     can run any code: only where the caller trusts it
======== ================================= =====================================================
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cloudpickle
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from mlaut.errors import MlautError, StoreError, StudyError
from mlaut.files_io import Study
from mlaut.files_io.models import model_path, models_folder, read_model, write_model
from mlaut.optional import need
from mlaut.records import Cell

__all__ = ["load_model", "read_saved", "save_model"]

_SUFFIX = {"skops": ".skops", "keras": ".keras", "network": ".zip", "pickle": ".pickle.z"}
_UNPACKED = 2**30  # bytes that a model may always have
_PACKED = 200  # how many times its file a larger one may have: a fifth of what deflate can do
_PARTS = ("around.skops", "network.keras")
# Classes that only hold data; functions are lower case, and a network has a format of its own.
_HARMLESS = re.compile(r"numpy\.dtype|(?:sklearn|mlaut\.estimators)(?:\.(?!keras)\w+)*\._?[A-Z]\w*")


def save_model(folder: Path, cell: Cell, model: Any) -> dict[str, str]:
    """Save the fitted model of a cell.

    Parameters
    ----------
    folder : Path
        As `mlaut.files_io.models.models_folder` gives it.
    cell : Cell
    model : object

    Returns
    -------
    dict
        ``format``, ``file`` (relative to ``folder``) and ``sha256``.
    """
    style, content = _encoded(model)
    return {"format": style, **write_model(folder, cell, content, _SUFFIX[style])}


def load_model(
    study: str | Path,
    dataset: str,
    strategy: str,
    *,
    repeat: int = 0,
    fold: int = 0,
    trusted: bool = False,
) -> Any:
    """Load the fitted model of a cell, which ``run(..., save_models=True)`` has kept.

    Parameters
    ----------
    study : path-like
        The study's database.
    dataset, strategy : str
    repeat, fold : int, default 0
    trusted : bool, default False
        Say that the study is your own: a model whose format is a pickle runs any code when it is
        loaded. The others need no trust.

    Returns
    -------
    estimator
        Takes the table as it is.

    Raises
    ------
    StudyError
        No model of that cell was saved.
    StoreError
        The file is not the one that the study recorded, or needs trust.

    Examples
    --------
    >>> import tempfile
    >>> from mlaut import Data, Orchestrator
    >>> from mlaut.data import load_sklearn
    >>> folder = tempfile.TemporaryDirectory()
    >>> data = Data()
    >>> input_io = data.open_hdf5(folder.name + "/input.h5", mode="a")
    >>> out_io = data.open_hdf5(folder.name + "/study.h5", mode="a")
    >>> (iris,) = load_sklearn(["iris"])
    >>> _ = input_io.save_datasets([iris], "/")
    >>> _ = data.split_datasets(input_io, out_io, ["iris"])
    >>> _ = Orchestrator(input_io, out_io).run(
    ...     "GaussianNaiveBayes", save_models=True, engine="inline", verbose=0)
    >>> model = load_model(out_io.path, "iris", "GaussianNaiveBayes", trusted=True)
    >>> model.predict(iris.features[:2]).tolist()
    ['setosa', 'setosa']
    >>> folder.cleanup()
    """
    wanted = Cell(dataset, strategy, repeat, fold)
    store = Study(study)
    for record in store.details(dataset):
        if (record["strategy"], record["repeat"], record["fold"]) == (strategy, repeat, fold):
            if "model" in record:
                return read_saved(models_folder(store.path), record["model"], trusted=trusted)
            break
    raise StudyError(
        f"{store.path}: no fitted model of {wanted} was saved; run with save_models=True, or, "
        "where the cell is done, call Orchestrator.save_models"
    )


def read_saved(folder: Path, record: Mapping[str, str], *, trusted: bool) -> Any:
    """Load a model that `save_model` saved.

    Raises
    ------
    StoreError
        Not there, not the file that the study recorded, of a newer version, or not trusted.
    """
    path, style = model_path(folder, record), record.get("format")
    if style not in _SUFFIX:
        raise StoreError(f"{path}: a model of format {style!r}, unknown here; update MLaut")
    if style == "pickle" and not trusted:
        raise StoreError(
            f"{path}: a pickled model can run any code when it is loaded; "
            "pass trusted=True if the study is your own"
        )
    content = read_model(folder, record)
    try:
        return _decoded(style, content)
    except MlautError:
        raise
    except Exception as error:
        raise StoreError(
            f"{path}: cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())}); "
            "use the versions that the study was run with, and have your own code importable"
        ) from error


# -------------------------------------------------------------------- the formats


def _encoded(model: Any) -> tuple[str, bytes]:
    around, network = _apart(model)
    if network is not None and b"__lambda__" not in (kept := _keras_bytes(network)):
        if around is None:
            return "keras", kept
        if (rest := _skops_bytes(around)) is not None:
            return "network", _zipped(dict(zip(_PARTS, (rest, kept), strict=True)))
    elif network is None and (content := _skops_bytes(model)) is not None:
        return "skops", content
    return "pickle", zlib.compress(cloudpickle.dumps(model), 3)


def _decoded(style: str, content: bytes) -> Any:
    if style == "skops":
        return _from_skops(content)
    if style == "keras":
        return _from_keras(content)
    if style == "network":
        _check_unpacked(content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            around, network = map(archive.read, _PARTS)
        return _together(_from_skops(around), _from_keras(network))
    return pickle.loads(zlib.decompress(content))


def _skops_bytes(model: Any) -> bytes | None:
    """Return a model in the format of skops; None where that is impossible or unsafe to load."""
    if find_spec("skops") is None:
        return None
    import skops.io

    try:
        content = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    except Exception:  # whatever a user's own class makes of it
        return None
    unknown = skops.io.get_untrusted_types(data=content)
    return content if all(map(_HARMLESS.fullmatch, unknown)) else None


def _check_unpacked(content: bytes) -> None:
    """Refuse an archive that would fill the memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(about.file_size for about in archive.infolist())
    if size > max(_UNPACKED, _PACKED * len(content)):
        raise StoreError(
            f"a model of {len(content):,} bytes that would unpack to {size:,}; "
            "do not trust its study"
        )


def _from_skops(content: bytes) -> Any:
    _check_unpacked(content)
    io_of_skops = need("skops.io", extra="models", purpose="Loading this model")
    unknown = io_of_skops.get_untrusted_types(data=content)
    return io_of_skops.loads(content, trusted=[*filter(_HARMLESS.fullmatch, unknown)])


def _keras_bytes(network: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return network.save(Path(folder, _PARTS[1])).read_bytes()


def _from_keras(content: bytes) -> Any:
    from mlaut.estimators import keras_estimator

    _check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _PARTS[1])
        path.write_bytes(content)
        with zipfile.ZipFile(path) as archive:
            kind = json.loads(archive.read(keras_estimator.ABOUT))["kind"]
        kinds = (keras_estimator.KerasClassifier, keras_estimator.KerasRegressor)
        return next(one for one in kinds if one.__name__ == kind).load(path)


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# -------------------------------------------------- a network and what is around it


def _apart(model: Any) -> tuple[Any, Any]:
    """Take a network out of its preprocessing: what is around it, without it, and the network."""
    if _is_network(model):
        return None, model
    if isinstance(model, Pipeline):
        *steps, (name, last) = model.steps
        around, network = _apart(last)
        if network is not None:
            model = copy.copy(model)
            model.steps = [*steps, (name, around)]
        return model, network
    if isinstance(model, TransformedTargetRegressor):
        around, network = _apart(model.regressor_)
        if network is not None:
            model = copy.copy(model)
            model.regressor, model.regressor_ = None, around
        return model, network
    return model, None


def _together(around: Any, network: Any) -> Any:
    """Put a network back where `_apart` took it from."""
    if around is None:
        return network
    if isinstance(around, Pipeline):
        *steps, (name, last) = around.steps
        around.steps = [*steps, (name, _together(last, network))]
    else:
        around.regressor_ = _together(around.regressor_, network)
    return around


def _is_network(model: Any) -> bool:
    module = sys.modules.get("mlaut.estimators.keras_estimator")
    return module is not None and type(model) in (module.KerasClassifier, module.KerasRegressor)
