"""A strategy whose parameters were chosen beforehand, for each dataset once."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from sklearn.base import clone

from mlaut.estimators import DataShape, MlautEstimator

UNTUNED = {"param_grid": None, "search": None, "search_space": None, "budget": None}
"""Parameters of a strategy that does not tune."""


class ByDataset(MlautEstimator):
    """A strategy with parameters by dataset, which are not tuned again on a training part.

    Parameters
    ----------
    strategy : MlautEstimator
        Its name, preprocessing and limits hold; its tuning grid does not.
    chosen : mapping of str to mapping
        Parameters of the wrapped estimator by the name of a dataset. A dataset that is not there
        has the parameters of ``strategy``.
    """

    def __init__(self, strategy: Any, chosen: Mapping[str, Mapping[str, Any]]) -> None:
        self.strategy, self.chosen = strategy, chosen
        given = {name: getattr(strategy, name) for name in signature(MlautEstimator).parameters}
        super().__init__(**{**given, **UNTUNED})

    @property
    def metadata(self) -> Any:
        """Metadata of the strategy."""
        return self.strategy.metadata

    def made_of(self) -> dict[str, Any]:
        """Return what `identity` describes: the strategy, and the parameters that were chosen."""
        return {"by dataset": self._fixed({}).made_of(), "chosen": dict(self.chosen)}

    def describe(self) -> dict[str, Any]:
        """Return the description of the strategy; its tuning is that of the benchmark."""
        return {**super().describe(), "tuning": "once for each dataset, on the split for tuning"}

    def _core(self, shape: DataShape | None) -> Any:
        chosen = self.chosen.get(shape.dataset, {}) if shape is not None else {}
        return self._fixed(chosen)._core(shape)

    def _fixed(self, chosen: Mapping[str, Any]) -> MlautEstimator:
        """Return the strategy with these parameters and without a grid."""
        params = {**(self.strategy.params or {}), **chosen}
        fixed: MlautEstimator = clone(self.strategy).set_params(params=params, **UNTUNED)
        return fixed
