"""Save fitted models to files and load them; the format is safe to load where possible.

======== ================================= =====================================================
format   content of the file               loading
======== ================================= =====================================================
skops    model of scikit-learn or MLaut    runs no code of the file (needs the extra ``models``)
keras    network                           runs no code of the file
network  network with its preprocessing:   runs no code of the file (needs the extra ``models``)
         both of the above
pickle   any other model                   can run any code: only if the caller trusts it
======== ================================= =====================================================
"""

import copy
import io
import json
import pickle
import pkgutil
import re
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cloudpickle
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from mlaut.errors import MlautError, StoreError, StrategyError, StudyError, nearest_of
from mlaut.files_io import StudyStore
from mlaut.files_io.studies.models import model_path, models_folder, read_model, write_model
from mlaut.helpers.former_names import of_plugin
from mlaut.helpers.optional import need
from mlaut.records import Cell

_SUFFIX = {"skops": ".skops", "keras": ".keras", "network": ".zip", "pickle": ".pickle.z"}
_UNPACKED = 2**30  # unpacked bytes that any archive may have
_PACKED = 200  # largest ratio of unpacked to packed size above that; deflate reaches about 1000
_PARTS = ("around.skops", "network.keras")
# Classes that only hold data. Functions have lower-case names; networks have their own format.
_HARMLESS = re.compile(
    r"numpy\.dtype|(?:sklearn|mlaut\.(?:estimators|sharing))(?:\.(?!keras)\w+)*\._?[A-Z]\w*"
)


def save_model(folder: Path, cell: Cell, model: Any) -> dict[str, str]:
    """Save the fitted model of a cell.

    Parameters
    ----------
    folder : Path
        Folder of the models, as `mlaut.files_io.studies.models.models_folder` returns it.
    cell : Cell
    model : object
        Fitted model.

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
    """Load the fitted model of a cell that ``run(..., save_models=True)`` saved.

    Parameters
    ----------
    study : path-like
        Path of the study's database.
    dataset, strategy : str
        Names of the dataset and of the strategy.
    repeat, fold : int, default 0
        Repeat and fold of the cell.
    trusted : bool, default False
        Whether to load a pickled model. It can run any code: trust only your own studies. Other
        formats run no code of the file.

    Returns
    -------
    estimator
        Fitted estimator with its preprocessing; ``predict`` takes the features of the dataset.

    Raises
    ------
    StudyError
        No model of that cell was saved.
    StoreError
        The file is not the one that the study recorded, or it is a pickle and ``trusted`` is
        False.

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
    cell = Cell(dataset, strategy, repeat, fold)
    store = StudyStore(study)
    for record in store.details(dataset):
        if (record["strategy"], record["repeat"], record["fold"]) == (strategy, repeat, fold):
            if "model" in record:
                return read_saved(models_folder(store.path), record["model"], trusted=trusted)
            break
    known = [entry.name for entry in store.strategies]
    if known and strategy not in known:
        raise StudyError(f"{store.path}: no strategy {strategy!r}{nearest_of(strategy, known)}")
    raise StudyError(
        f"{store.path}: no fitted model of {cell} was saved; run with save_models=True, or, "
        "where the cell is done, call Study.save_models(strategies)"
    )


def read_saved(folder: Path, record: Mapping[str, str], *, trusted: bool) -> Any:
    """Load a model that `save_model` saved.

    Raises
    ------
    StoreError
        The file does not exist, is not the one that the study recorded, has a format of a newer
        version, cannot be loaded, or is not trusted.
    """
    path, style = model_path(folder, record), record.get("format")
    if style not in _SUFFIX:
        raise StoreError(f"{path}: the format {style!r} of this model is unknown; update MLaut")
    if style == "pickle" and not trusted:
        raise StoreError(
            f"{path}: a pickled model can run any code when it is loaded; "
            "pass trusted=True if the study is your own"
        )
    content = read_model(folder, record)
    try:
        return _in_rooms(lambda: _decoded(style, content))
    except MlautError:
        raise
    except Exception as error:
        raise StoreError(
            f"{path}: cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())}); "
            "use the versions that the study was run with, and make your own code importable"
        ) from error


def _in_rooms(load: Callable[[], Any]) -> Any:
    """Return what ``load`` returns; modules that moved to a room of their package are found."""
    try:
        return load()
    except ModuleNotFoundError as error:
        package, _, name = str(error.name).rpartition(".")
        if package not in ("mlaut.estimators", "mlaut.sharing"):
            raise
        if package == "mlaut.sharing":
            of_plugin("GridSearchCV")  # the plug-in has the modules of former versions
            package = "mlaut_sharing"
        modules = pkgutil.walk_packages(import_module(package).__path__, f"{package}.")
        moved = next((m.name for m in modules if m.name.rpartition(".")[2] == name), None)
        if moved is None:
            raise
        sys.modules[str(error.name)] = import_module(moved)
    return _in_rooms(load)


# -------------------------------------------------------------------- the formats


def _encoded(model: Any) -> tuple[str, bytes]:
    around, network = _apart(model)
    if network is not None and b"__lambda__" not in (saved := _keras_bytes(network)):
        if around is None:
            return "keras", saved
        if (rest := _skops_bytes(around)) is not None:
            return "network", _zipped(dict(zip(_PARTS, (rest, saved), strict=True)))
    elif network is None and (content := _skops_bytes(model)) is not None:
        return "skops", content
    try:
        return "pickle", zlib.compress(cloudpickle.dumps(model), 3)
    except (TypeError, pickle.PicklingError) as error:
        raise StrategyError(
            f"its fitted model cannot be saved ({' '.join(str(error).split())}); keep no such "
            "object in the model, or run without save_models"
        ) from error


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
    """Return a model in the format of skops; None if that is impossible or unsafe to load."""
    if find_spec("skops") is None:
        return None
    import skops.io

    try:
        content = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    except Exception:  # a user's own class may raise anything
        return None
    unknown = skops.io.get_untrusted_types(data=content)
    return content if all(map(_HARMLESS.fullmatch, unknown)) else None


def _check_unpacked(content: bytes) -> None:
    """Raise a StoreError for an archive that would fill the memory when it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(about.file_size for about in archive.infolist())
    if size > max(_UNPACKED, _PACKED * len(content)):
        raise StoreError(
            f"the model has {len(content):,} bytes and would unpack to {size:,}; "
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
    from mlaut.estimators.networks import keras_estimator

    _check_unpacked(content)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, _PARTS[1])
        path.write_bytes(content)
        with zipfile.ZipFile(path) as archive:
            kind = json.loads(archive.read(keras_estimator.ABOUT))["kind"]
        kinds = (keras_estimator.KerasClassifier, keras_estimator.KerasRegressor)
        return next(cls for cls in kinds if cls.__name__ == kind).load(path)


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# -------------------------------------------------- a network and what is around it


def _apart(model: Any) -> tuple[Any, Any]:
    """Return a model's preprocessing without its network, and the network; None where absent."""
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
    """Return the model whose preprocessing and network `_apart` separated."""
    if around is None:
        return network
    if isinstance(around, Pipeline):
        *steps, (name, last) = around.steps
        around.steps = [*steps, (name, _together(last, network))]
    else:
        around.regressor_ = _together(around.regressor_, network)
    return around


def _is_network(model: Any) -> bool:
    module = sys.modules.get("mlaut.estimators.networks.keras_estimator")
    return module is not None and type(model) in (module.KerasClassifier, module.KerasRegressor)
