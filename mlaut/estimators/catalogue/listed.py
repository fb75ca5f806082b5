"""The strategy classes of the catalogue, which this module makes from their records."""

from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from sklearn.pipeline import make_pipeline

from mlaut.errors import StrategyError
from mlaut.estimators.catalogue.catalogue import CATALOGUE, NETWORKS, TODAY
from mlaut.estimators.catalogue.registry import check_packages
from mlaut.estimators.libraries.early_stopping import EarlyStopping
from mlaut.estimators.networks.nn_estimators import Listed_Network, default_size_limit
from mlaut.estimators.preparing.preprocessing import Preprocessor
from mlaut.estimators.searches.spaces import with_ranges
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.estimators.strategy.metadata import DataShape
from mlaut.estimators.strategy.mlaut_estimator import MlautEstimator
from mlaut.records import CLASSIFICATION

PATIENCE = 100
"""Rounds without a better loss after which boosting stops.

With the smallest learning rate of the search spaces (0.005), a hundred rounds change the model as
much as five rounds with scikit-learn's default of 0.1.
"""


_OF_FAMILIES = {
    "Baseline": "baseline_estimators",
    "Nearest_Neighbours": "cluster_estimators",
    "Decision_Tree": "tree_estimators",
    "Ensemble_methods": "ensemble_estimators",
    "Generalized_Linear_Models": "glm_estimators",
    "Naive_Bayes": "nb_estimators",
    "Support_Vector_Machines": "svm_estimators",
}
"""Modules by family in MLaut 0.1; the paper shows strategies with them (listing 3)."""


class Listed_Strategy(MlautEstimator):  # noqa: N801 - as MLaut's other strategy classes
    """Strategy that is made from a record of the catalogue.

    Attributes
    ----------
    entry : Strategy
    """

    entry: Strategy

    def build(self, shape: DataShape | None = None, **_: Any) -> Any:
        """Return the estimator of the record, tuned over the grid."""
        entry, settings = self.entry, dict(self.entry.settings)
        if shape is not None and entry.at_most_rows:
            settings[entry.at_most_rows] = min(settings[entry.at_most_rows], shape.n_rows)
        if entry.base:
            settings["estimator"] = resolve_name(entry.base)()
        if entry.package != "scikit-learn":
            check_packages([self])
        model = resolve_name(entry.wraps)(**settings)
        return self.tuned(EarlyStopping(model, rounds=PATIENCE) if entry.stops else model)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        module = _OF_FAMILIES.get(self.metadata.estimator_family[0])
        text = super().__repr__(N_CHAR_MAX).replace(self.entry.class_name, _shown(self.entry), 1)
        return text.replace("estimators.", f"estimators.{module}.", 1) if module else text


class Pretrained(Listed_Strategy):
    """Strategy whose learner needs weights in a file of this machine."""

    def build(self, shape: DataShape | None = None, **_: Any) -> Any:
        """Return the estimator, after a check that its file of weights exists.

        Raises
        ------
        StrategyError
            There is no file of weights.
        """
        model = super().build(shape)
        learner = getattr(model, "estimator", model)
        path = _weights(learner.model_path, CLASSIFICATION in self.tasks)
        if not path.is_file():
            raise StrategyError(
                f"strategy {self.name!r} needs pretrained weights, and there is no file {path}; "
                "load them once as TabPFN's documentation says, set params={'model_path': ...}, or "
                "leave it out"
            )
        return model


def _weights(path: Any, classes: bool) -> Path:
    """Return the file from which TabPFN reads its weights."""
    if path != "auto":
        return Path(path)
    resolved = resolve_name("tabpfn.model_loading:resolve_model_path")
    version = resolve_name("tabpfn.settings:settings").tabpfn.model_version
    return Path(resolved(None, "classifier" if classes else "regressor", version)[0][0])


def _strategy_class(entry: Strategy) -> type[MlautEstimator]:
    """Return the strategy class of a record of the catalogue."""
    base: type[MlautEstimator] = Pretrained if entry.package == "tabpfn" else Listed_Strategy
    own: dict[str, Any] = {}
    if entry.package == "keras":
        base = Listed_Network
        own["size_limit"] = default_size_limit(entry.settings["network"])
    if entry.search_space:
        own["search_space"] = with_ranges(entry.search_space)
    prepared: Any = Preprocessor(**entry.preprocessing)
    if entry.then:
        prepared = make_pipeline(prepared, resolve_name(entry.then)())
    metadata = replace(entry, preprocessing=prepared, **own)
    about = {"__module__": __name__, "__doc__": entry.about, "properties": metadata, "entry": entry}
    return type(entry.class_name, (base,), about)


def _shown(record: Strategy) -> str:
    """Return the name of a class as the field has it; studies and pickles keep that of 0.1."""
    return record.class_name.removesuffix("_mlaut")


_RECORDS = (*CATALOGUE, *TODAY, *NETWORKS)
globals().update({record.class_name: _strategy_class(record) for record in _RECORDS})
# by the names of study files, too
_SHOWN = {name: globals()[r.class_name] for r in _RECORDS for name in (_shown(r), r.name)}
globals().update(_SHOWN)


def __dir__() -> list[str]:
    return [name for name in _SHOWN if name.isidentifier()]
