"""Records of the strategies that come with MLaut, as plain data.

A record names classes as text ("module:class"), so that reading the catalogue imports no
scikit-learn. `listed` makes a strategy class of each record. To add a strategy, add a table to
`catalogue.toml`; it then appears in the tables of the documentation.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.estimators.networks.architectures import ARCHITECTURES, LEARNING_RATES
from mlaut.estimators.sizes import SizeLimit
from mlaut.estimators.strategy.listed_strategy import TODAY as COLLECTION
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.identity.distributions import installed_version
from mlaut.records import CLASSIFICATION, REGRESSION

_KINDS = {CLASSIFICATION: "Classifier", REGRESSION: "Regressor"}


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _sklearn_release() -> tuple[int, ...]:
    """Return the first two numbers of scikit-learn's version."""
    version = installed_version("scikit-learn")
    if version is None:  # a folder of packages without their metadata, as some systems have
        import sklearn

        version = sklearn.__version__
    return _release(version)


def _entries(file: str, **common: Any) -> Iterator[Strategy]:
    """Yield the entries of a file of tables, each for one task or for both."""
    tables = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
    parts, sources = (tables.pop(key, {}) for key in ("parts", "sources"))
    for name, table in tables.items():
        about = {"name": name, **common, **_with_parts(table, tables | parts)}
        inside = "estimator__" * about.get("stops", False)  # the learner inside `EarlyStopping`
        space = {f"{inside}{key}": values for key, values in about.pop("space", {}).items()}
        about |= {"search_space": space} if space else {}
        about |= {"source": sources[about["source"]]} if sources else {}
        tasks = [about.pop("tasks")] if "tasks" in about else _KINDS
        for task in tasks:
            words = ("name", "class_name", "wraps", "base")
            named = {key: about[key].format(_KINDS[task]) for key in words if key in about}
            yield Strategy(**{**about, **named}, tasks=task)


def _with_parts(table: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a table together with those of the table that it is like."""
    own = {key: value for key, value in table.items() if key not in ("like", "before")}
    for release, changes in table.get("before", {}).items():
        own |= changes if _sklearn_release() < _release(release) else {}
    about = _with_parts(parts[table["like"]], parts) if "like" in table else {}
    grid = {key: _values(values) for key, values in own.pop("param_grid", {}).items()}
    if grid:
        about["param_grid"] = {**about.get("param_grid", {}), **grid}
    if "settings" in own:
        own["settings"] = {key: _plain(value) for key, value in own["settings"].items()}
    for key, kind in (("takes", frozenset), ("beyond_paper", tuple)):
        own |= {key: kind(own[key])} if key in own else {}
    own |= {"size_limit": SizeLimit(**own["size_limit"])} if "size_limit" in own else {}
    return about | own


def _values(values: Any) -> list[Any]:
    """Return the values of a parameter of a grid."""
    if not isinstance(values, Mapping):
        return [_plain(value) for value in values]
    if "powers" in values:
        first, last = values["powers"]
        powers = np.logspace(first, last, values["n"], base=values.get("base", 10))
        return list(powers.tolist())
    return list(range(values["first"], values["last"] + 1))


def _plain(value: Any) -> Any:
    return None if value == "None" else tuple(value) if isinstance(value, list) else value


CATALOGUE = tuple(
    sorted(
        _entries("catalogue.toml"),
        key=lambda entry: (entry.collection, entry.tasks == (REGRESSION,)),
    )
)
"""All entries; strategies are found and listed in this order."""

TODAY = tuple(_entries("today.toml", collection=COLLECTION))
"""Entries of the collection `Today`; a classifier and a regressor of each learner."""


def _in_the_paper(stem: str, suffix: str) -> tuple[str, ...]:
    """Return the spellings of a network in the tables of the paper, where they are others."""
    stem = stem.replace("-dropout-", "-droput-")
    if suffix == "lr001":
        return (stem, f"{stem}_{suffix}", f"{stem}_lr0001")
    return (f"{stem}_{suffix}",)


def _networks() -> Iterator[Strategy]:
    """Yield the networks of the MLaut study: six architectures at three learning rates."""
    for task, kind in _KINDS.items():
        ending = "_Regressor" if task == REGRESSION else ""
        for stem, architecture in ARCHITECTURES.items():
            for suffix, rate in LEARNING_RATES.items():
                name = f"{stem}_{suffix}{ending}"
                yield Strategy(
                    name,
                    estimator_family="Neural_Networks",
                    tasks=task,
                    about=f"{name}: layers {architecture.layers}, Adam at {rate:g}; see "
                    "`Listed_Network`.",
                    wraps=f"mlaut.estimators.networks.keras_estimator:Keras{kind}",
                    settings={"network": architecture, "learning_rate": rate},
                    preprocessing={"normalize_features": True},
                    normalize_labels=task == REGRESSION,
                    collection="Neural_Networks",
                    package="keras",
                    also=_in_the_paper(stem, suffix) if task == CLASSIFICATION else (),
                )


NETWORKS = tuple(_networks())
"""All networks of the study: 18 for classification, then 18 for regression."""
