"""Strategy classes of the catalogue."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import make_pipeline

from mlaut.estimators.catalogue import CATALOGUE, CatalogueEntry
from mlaut.estimators.metadata import DataShape, properties
from mlaut.estimators.mlaut_estimator import MlautEstimator
from mlaut.estimators.names import class_at
from mlaut.estimators.preprocessing import Preprocessor

__all__ = ["Listed_Strategy", "strategy_classes"]


class Listed_Strategy(MlautEstimator):  # noqa: N801 - as MLaut's other strategy classes
    """Strategy of an entry of the catalogue.

    Attributes
    ----------
    entry : CatalogueEntry
    """

    entry: CatalogueEntry

    def build(self, shape: DataShape | None = None, **_: Any) -> Any:
        """Return the estimator of the entry, tuned over the grid."""
        entry, settings = self.entry, dict(self.entry.settings)
        if shape is not None and entry.at_most_rows:
            settings[entry.at_most_rows] = min(settings[entry.at_most_rows], shape.n_rows)
        if entry.base:
            settings["estimator"] = class_at(entry.base)()
        return self.tuned(class_at(entry.wraps)(**settings))


def strategy_classes(module: str) -> dict[str, type[Listed_Strategy]]:
    """Return the strategy classes of a module by name, made from their entries.

    Examples
    --------
    >>> sorted(strategy_classes("mlaut.estimators.nb_estimators"))
    ['Bernoulli_Naive_Bayes', 'Gaussian_Naive_Bayes']
    """
    return {entry.class_name: _class(entry) for entry in CATALOGUE if entry.module == module}


def _class(entry: CatalogueEntry) -> type[Listed_Strategy]:
    about = {"__module__": entry.module, "__doc__": entry.about, "entry": entry}
    prepared: Any = Preprocessor(**entry.preprocessing)
    if entry.then:
        prepared = make_pipeline(prepared, class_at(entry.then)())
    attach = properties(
        name=entry.name,
        estimator_family=[entry.family],
        tasks=[entry.task],
        preprocessing=prepared,
        param_grid=entry.param_grid,
        cv=entry.cv,
        size_limit=entry.size_limit,
        missing=entry.missing,
        categories=entry.categories,
        sparse=entry.sparse,
        normalize_labels=entry.normalize_labels,
    )
    return attach(type(entry.class_name, (Listed_Strategy,), about))


globals().update(strategy_classes(__name__))
