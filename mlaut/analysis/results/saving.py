"""Results of the analysis as files: JSON, or a Parquet table that has the JSON in its metadata."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.display import Shown
from mlaut.analysis.results.sources import TableMetric
from mlaut.analysis.scores.base import MLautScore
from mlaut.errors import AnalysisError
from mlaut.optional import need

FORMAT = 1  # of the files; a reader refuses larger ones, whose meaning it cannot know
_KEY = b"mlaut"  # of the JSON among the metadata of a Parquet table
_OF_METRIC = ("greater_is_better", "bounds", "zero_one", "incomparable")


def save_result(result: Shown, path: str | Path) -> None:
    """Save a result as JSON, or as a Parquet table, with every number unrounded.

    Parameters
    ----------
    result : Estimate, TestResult, Pairwise, ResultTable, Comparison, Results, ...
        Any result of the analysis.
    path : str or Path
        A file whose name ends with ``.json`` or ``.parquet``. A Parquet file is the table of
        ``to_frame()`` for other programs; its metadata hold the whole result. It needs pyarrow.

    Raises
    ------
    AnalysisError
        The object is no result, or the ending is another.
    OptionalPackageError
        pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from mlaut.analysis import t_test
    >>> table = pd.DataFrame({"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]})
    >>> found = t_test(table, metric="error")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_result(found, f"{folder}/t.json")
    ...     load_result(f"{folder}/t.json").sentence() == found.sentence()
    True
    """
    if not (isinstance(result, Shown) and is_dataclass(result)):
        raise AnalysisError(f"{type(result).__name__} is no result of mlaut.analysis to save")
    path = Path(path)
    text = json.dumps({"mlaut result": FORMAT, "value": _encoded(result)}, allow_nan=False)
    if path.suffix == ".json":
        path.write_text(text, encoding="utf-8")
    elif path.suffix == ".parquet":
        arrow = need("pyarrow", "pyarrow.parquet", extra="parquet", purpose="A Parquet file")
        frame = result.to_frame().reset_index()
        frame.columns = [" ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in frame]
        table = arrow.Table.from_pandas(frame)
        table = table.replace_schema_metadata({**table.schema.metadata, _KEY: text.encode()})
        import_module("pyarrow.parquet").write_table(table, path)
    else:
        raise AnalysisError(f"{path.name} ends with {path.suffix!r}: choose '.json' or '.parquet'")


def load_result(path: str | Path) -> Any:
    """Return a result that `save_result` saved; its type is that of the saved result.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    AnalysisError
        The file cannot be read, holds no result, or was written by a newer version.
    """
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            need("pyarrow", extra="parquet", purpose="A Parquet file")
            parquet = import_module("pyarrow.parquet")
            text = (parquet.read_schema(path).metadata or {})[_KEY]
        else:
            text = path.read_bytes()
        stored = json.loads(text)
        version = stored["mlaut result"]
    except OSError as error:
        raise AnalysisError(f"{path} cannot be read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError):
        raise AnalysisError(f"{path} holds no result of mlaut.analysis") from None
    if version != FORMAT:
        raise AnalysisError(
            f"{path} has format {version!r}, and this version of MLaut reads {FORMAT}: update MLaut"
        )
    try:
        return _decoded(stored["value"])
    except (KeyError, TypeError, ValueError, AttributeError, ImportError) as error:
        raise AnalysisError(f"{path} is damaged: {type(error).__name__} {error}") from None


def _encoded(value: Any) -> Any:
    """Return a value as JSON; what JSON does not know is a dict of one key, the kind."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        items = [_encoded(one) for one in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        return {"dict": [[_encoded(key), _encoded(one)] for key, one in value.items()]}
    if isinstance(value, np.ndarray):
        flat = _encoded(value.ravel().tolist())
        return {"array": flat, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, pd.DataFrame):
        columns = [_encoded(value.iloc[:, i].to_numpy()) for i in range(value.shape[1])]
        return {"frame": columns, "index": _labels(value.index), "columns": _labels(value.columns)}
    if isinstance(value, MLautScore):
        return {
            "metric": value.name,
            **{name: _encoded(getattr(value, name)) for name in _OF_METRIC},
        }
    if isinstance(value, Shown) and is_dataclass(value):
        content = {
            one.name: _encoded(getattr(value, one.name))
            for one in fields(value)
            if one.name != "load_block"  # of Results: reads the study, which is not saved
        }
        return {"result": f"{type(value).__module__}:{type(value).__name__}", "fields": content}
    raise AnalysisError(f"{type(value).__name__} cannot be saved")


def _labels(index: pd.Index) -> dict[str, Any]:
    return {"names": _encoded(list(index.names)), "labels": _encoded(list(index))}


def _index(stored: Mapping[str, Any]) -> pd.Index:
    labels, names = _decoded(stored["labels"]), _decoded(stored["names"])
    if len(names) > 1:
        return pd.MultiIndex.from_tuples(labels, names=names)
    return pd.Index(labels, name=names[0])


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(_decoded(value["tuple"]))
    if "dict" in value:
        return {_decoded(key): _decoded(one) for key, one in value["dict"]}
    if "array" in value:
        items = np.array(_decoded(value["array"]), dtype=value["dtype"])
        return items.reshape(value["shape"])
    if "frame" in value:
        columns = dict(enumerate(map(_decoded, value["frame"])))
        index = _index(value["index"])
        frame = pd.DataFrame(columns, index=index)
        frame.columns = _index(value["columns"])
        return frame
    if "metric" in value:
        found = TableMetric(value["metric"], value["greater_is_better"])
        for name in _OF_METRIC:
            setattr(found, name, _decoded(value[name]))
        return found
    return _result(value["result"], value["fields"])


def _result(kind: str, content: Mapping[str, Any]) -> Shown:
    """Return a result of a class of the analysis; a file can name no other class."""
    module, _, name = kind.partition(":")
    if not module.startswith("mlaut.analysis."):
        raise ValueError(f"{kind} is no class of mlaut.analysis")
    public = import_module("mlaut.analysis")  # where a class is found whose module has changed
    cls = getattr(public if name in public.__all__ else import_module(module), name)
    if not (isinstance(cls, type) and issubclass(cls, Shown)):
        raise ValueError(f"{kind} is no result")
    return cls(**{name: _decoded(one) for name, one in content.items()})
