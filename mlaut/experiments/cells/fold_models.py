"""Models on the rows of one fold: each part of a table is prepared once for all methods.

Whether a table consists of complete numbers is checked once for all its cells. The rows of such a
table are taken from one array: there are no gaps to look for, and no medians to compute. They reach
scikit-learn's estimators with the numbers, the type and the order in memory to which these would
convert a DataFrame. A model is assembled once, as a template, and copied and seeded for each cell.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from mlaut.estimators import DataShape, MlautEstimator
from mlaut.estimators.libraries.column_names import take_every_name
from mlaut.estimators.libraries.native import category_arguments
from mlaut.estimators.libraries.parameters import drawn_seeds, unset_seeds
from mlaut.estimators.preparing.labels import (
    as_fitted,
    fit_classifier,
    is_foreign,
    refuses_texts_of_numpy,
)
from mlaut.estimators.preparing.preprocessing import Preprocessor
from mlaut.estimators.preparing.weights import fit_arguments, needs_groups
from mlaut.estimators.searches.tuning import GridSearch
from mlaut.experiments.cells.cell_input import FoldTable
from mlaut.helpers.lazy import imported


@dataclass(frozen=True)
class Traits:
    """Traits of an assembled model, which all its copies share.

    Attributes
    ----------
    parted : bool
        Whether the model is a preprocessing and an estimator, both of known code, usable alone.
    only_numbers : bool
        Whether the estimator makes an array of a DataFrame and forgets the names of its columns.
    only_order : bool
        Whether the estimator uses nothing but the order of the values of a column.
    object_labels : bool
        Whether labels that are texts are given as objects, which takes longer.
    grouped : bool
        Whether folds in the model need the groups of rows.
    """

    parted: bool
    only_numbers: bool = False
    only_order: bool = False
    object_labels: bool = False
    grouped: bool = False

    @classmethod
    def of(cls, model: Any) -> Traits:
        """Return the traits of an assembled model."""
        objects, grouped = refuses_texts_of_numpy(model), needs_groups(model)
        if type(model) is not Pipeline or len(model.steps) != 2 or is_foreign(model):
            return cls(parted=False, object_labels=objects, grouped=grouped)
        (_, first), (_, core) = model.steps
        if not hasattr(first, "fit_transform"):  # "passthrough", or a frozen transformer
            return cls(parted=False, object_labels=objects, grouped=grouped)
        only = _needs_only_numbers(core), _is_histogram_boosting(core)
        return cls(True, *only, object_labels=objects, grouped=grouped)


class FoldModel:
    """Model of a cell, which is fitted on rows of a table and predicts others.

    Parameters
    ----------
    model : estimator
        Unfitted model, as `MlautEstimator.assemble` returns it.
    traits : Traits
        Traits of the model.
    table : FoldTable
    saved : bool
        Whether the fitted model will be saved. It then learns everything that a table with gaps
        may need later.

    Attributes
    ----------
    model : estimator
        The model, which is fitted as a whole only if it is saved.
    asked : estimator
        The part of the model that takes rows of `test_rows`.
    """

    def __init__(self, model: Any, traits: Traits, table: FoldTable, *, saved: bool) -> None:
        self.model = self.asked = model
        self._table, self._traits = table, traits
        self._preprocessing: Any = None
        self._rows: Callable[[np.ndarray], Any] = table.rows
        if traits.parted:
            (_, self._preprocessing), (_, self.asked) = model.steps
            if not saved and type(self._preprocessing) is Preprocessor:
                self._take_numbers(self._preprocessing, traits)

    def _take_numbers(self, preprocessing: Preprocessor, traits: Traits) -> None:
        """Replace the preprocessing by what it does to a table of complete numbers."""
        sets_output = hasattr(preprocessing, "_sklearn_output_config")  # for frames, by set_output
        if self._table.numbers is None or sets_output:
            return
        if preprocessing.as_needed and self._table.names_of_one_type:
            self._preprocessing = None
            if traits.only_numbers:
                self._rows = self._table.rows_of_numbers
        elif preprocessing.categories != "native" or traits.only_order:
            self._preprocessing = preprocessing.for_numbers()
            self._rows = self._table.rows_of_floats

    def fit(self, rows: np.ndarray, labels: np.ndarray | None = None) -> None:
        """Fit on the training rows, which have these labels; default those of the table."""
        features, labels = self._rows(rows), self._table.labels[rows] if labels is None else labels
        if self._traits.object_labels and labels.dtype.kind == "U":
            labels = labels.astype(object)
        weights, groups = (
            None if values is None else values[rows]
            for values in (self._table.weights, self._table.groups)
        )
        arguments, routed = fit_arguments(self.asked, weights, groups, grouped=self._traits.grouped)
        if self._preprocessing is not None:
            features = self._preprocessing.fit_transform(features, labels)
        if self.asked is self.model:
            arguments |= category_arguments(self.model, features)
        with routed:
            if self.asked is not self.model:
                self.asked.fit(features, labels, **arguments)
            elif self._table.classes and not self._table.n_targets:
                self.model = self.asked = fit_classifier(self.model, features, labels, **arguments)
            else:
                self.model.fit(features, labels, **arguments)
                as_fitted(self.model)

    def test_rows(self, rows: np.ndarray) -> Any:
        """Return test rows, prepared for the methods of ``asked``."""
        tested = self._rows(rows)
        return tested if self._preprocessing is None else self._preprocessing.transform(tested)


def _is_histogram_boosting(model: Any) -> bool:
    """Return whether a model, or what it searches, is histogram boosting without named columns."""
    boosting = "sklearn.ensemble.HistGradientBoosting"
    kinds = imported(f"{boosting}Classifier", f"{boosting}Regressor")
    core, values = model, []
    if type(model) is GridSearch and isinstance(model.param_grid, dict):
        core, values = model.estimator, [*model.param_grid.values()]
    return type(core) in kinds and _needs_only_numbers(core) and _is_plain(values)


def _needs_only_numbers(model: Any) -> bool:
    """Return whether a model makes an array of a DataFrame and forgets the names of its columns.

    This is known of single estimators of scikit-learn without functions and names among their
    parameters. Those that contain others may take rows of the DataFrame for them.
    """
    if not isinstance(model, BaseEstimator) or not type(model).__module__.startswith("sklearn."):
        return False
    return all(map(_is_plain, model.get_params(deep=False).values()))


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    # Other iterables are ensembles, which have no members before they are fitted, or generators.
    if isinstance(value, list | tuple | set | frozenset | range | np.ndarray):
        return all(_is_plain(item) and not isinstance(item, str) for item in value)
    return value is None or isinstance(value, bool | int | float | str | np.generic)


# ------------------------------------------------------------------- templates


class _Template:
    """Pickled model of a strategy, with its parts that need a seed, from which copies are made.

    Unpickling takes less than a twentieth of the time of `sklearn.base.clone`.
    """

    def __init__(self, pickled: bytes, traits: Traits) -> None:
        self._pickled, self.traits = pickled, traits

    def copy(self, seed: int) -> Any:
        """Return a new model with the seeds that `MlautEstimator.assemble` would set."""
        model, parts = pickle.loads(self._pickled)
        if parts:
            _source.seed(seed)
        for part, value in zip(parts, drawn_seeds(_source, len(parts)), strict=True):
            if "random_state" in vars(part):
                part.random_state = value
            else:  # CatBoost keeps its parameters in a mapping
                part.set_params(random_state=value)
        return model


# Seeding one again takes a hundredth of the time of making another.
_source = np.random.RandomState()
_templates: WeakKeyDictionary[MlautEstimator, dict[Any, _Template | None]] = WeakKeyDictionary()


def new_model(
    strategy: MlautEstimator, shape: DataShape, seed: int, n_jobs: int
) -> tuple[Any, Traits]:
    """Return the result of ``strategy.assemble(shape, random_state=seed, n_jobs=n_jobs)``, faster.

    Parameters
    ----------
    strategy : MlautEstimator
        Strategy that does not change between calls.
    shape : DataShape
    seed, n_jobs : int

    Returns
    -------
    model : estimator
    traits : Traits
        Traits of the model.
    """
    templates = _templates.setdefault(strategy, {})
    key = shape, n_jobs
    if key not in templates:
        templates[key] = _template(strategy, shape, n_jobs)
    template = templates[key]
    if template is not None:
        return template.copy(seed), template.traits
    model = take_every_name(strategy.assemble(shape, random_state=seed, n_jobs=n_jobs))
    return model, Traits.of(model)


def _template(strategy: MlautEstimator, shape: DataShape, n_jobs: int) -> _Template | None:
    """Return a template, or None for a strategy whose code might build another model each time."""
    state = strategy.random_state
    drawn = state is not None and not isinstance(state, int | np.integer)
    if drawn or not type(strategy).__module__.startswith("mlaut.") or is_foreign(strategy):
        return None
    model = strategy.assemble(shape, n_jobs=n_jobs)
    owners = {"": model, **model.get_params(deep=True)}
    names = unset_seeds(model) if state is None else []
    parts = [owners[name.rpartition("__")[0]] for name in names]
    try:
        return _Template(pickle.dumps((model, parts)), Traits.of(model))
    except Exception:  # a parameter may be a lambda, a lock, or raise an error of its own
        return None
