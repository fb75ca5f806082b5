"""Base class of strategies: an estimator with its metadata, preprocessing and tuning grid."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mlaut.arrays import takes_several
from mlaut.errors import DataError, OptionalPackageError, StrategyError
from mlaut.estimators.libraries.arrays import (
    takes_arrays,
    takes_sparse,
    takes_targets,
    takes_unequal,
)
from mlaut.estimators.libraries.column_names import take_every_name
from mlaut.estimators.libraries.native import category_arguments
from mlaut.estimators.libraries.parameters import (
    check_clone,
    check_parameters,
    copied,
    digests_of_frozen,
    hidden_seeds,
    seed_all,
    set_n_jobs,
    without,
)
from mlaut.estimators.libraries.session import SETTINGS, session_settings
from mlaut.estimators.looking import has, looked_at
from mlaut.estimators.preparing.labels import as_fitted, fit_classifier
from mlaut.estimators.preparing.preprocessing import describe_preprocessing, explained_texts
from mlaut.estimators.preparing.weights import group_argument, needs_groups, weight_argument
from mlaut.estimators.searches.spaces import is_finite, spaces_of, with_ranges
from mlaut.estimators.searches.tuning import GridSearch, TuningFolds
from mlaut.estimators.searches.wanted import parse_budget, parse_search
from mlaut.estimators.sizes import as_size_limit
from mlaut.estimators.strategy.metadata import DEFAULT, PAPER, DataShape, Properties
from mlaut.helpers.former_names import of_plugin, without_plugin
from mlaut.helpers.held import unfinished
from mlaut.helpers.markup import table_html
from mlaut.identity.describer import Description, class_path, influential
from mlaut.identity.digests import canonical, describe, digest, plain
from mlaut.records import CLASSIFICATION, REGRESSION, TooLarge


class _Own:
    """Descriptor of a parameter whose default is read from the metadata."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, strategy: Any, owner: type | None = None) -> Any:
        if strategy is None:
            return DEFAULT
        value = vars(strategy)[self.name]
        if isinstance(value, str) and value == DEFAULT:
            value = clone(getattr(strategy.metadata, self.name), safe=False)
        elif isinstance(value, str) and (self.name, value) == ("param_grid", PAPER):
            value = strategy.metadata.paper_grid
        vars(strategy)[self.name] = value
        return value

    def __set__(self, strategy: Any, value: Any) -> None:
        vars(strategy)[self.name] = value


@dataclass(kw_only=True, eq=False, repr=False)
class MlautEstimator(BaseEstimator):
    """Base class of all strategies: a scikit-learn estimator with preprocessing and tuning.

    A strategy accepts raw tables, with text, categories, dates and gaps, and labels of any type.
    It learns its preprocessing and tunes itself only on the rows that it is fitted on. It is an
    ordinary estimator: `clone`, ``get_params``, pipelines and searches work on it.

    To write a new strategy, inherit from this class, attach metadata with `properties`, and write
    ``build``. This method returns the estimator, wrapped in its search by ``self.tuned``; see the
    example of `properties`.

    Parameters
    ----------
    name : str, default from the metadata
        Name of the strategy. Use different names to run one strategy with several settings.
    params : mapping, optional
        Parameters to set on the wrapped estimator. Parameters that are set are not tuned.
    param_grid : mapping, list of mappings, or None, default from the metadata
        Tuning grid over parameters of the wrapped estimator. None: no tuning. ``"paper"``: without
        the parameters that the MLaut paper does not print (bagging, gradient boosting).
    search : str, optional
        How the candidates are chosen: ``"grid"`` (default), ``"random(50)"``, ``"halving(81)"`` or
        ``"optuna(50)"``. All but the grid draw from ``search_space``, and need the plug-in
        mlaut-sharing.
    budget : str or float, optional
        Budget of the search: ``"50 evaluations"`` or 50, ``"10m cpu"``, or ``"10m"`` (wall time).
    search_space : mapping, list of mappings, or None, default from the metadata
        For each parameter a list of values, a range (`mlaut.sharing.Floats`, ``Integers``), or a
        distribution of SciPy. None: that of ``param_grid``.
    cv : int or scikit-learn splitter, default from the metadata
        Folds for tuning; a number means shuffled k-fold as in `TuningFolds`.
    scoring : str or callable, optional
        Score that tuning maximises; by default accuracy or R2.
    preprocessing : transformer or None, default from the metadata
        Preprocessing of the table. None: no preprocessing.
    normalize_labels : bool, default from the metadata
        Whether a regression target is scaled to mean 0 and standard deviation 1 for fitting.
        Predictions are in the units of the target either way. Strategies for classification only
        refuse it.
    random_state : int, RandomState or None, default None
        Seed of everything random; it takes precedence over the one passed to `assemble`.
    n_jobs : int or None, default None
        Number of tuning fits in parallel.
    share_work : bool, default True
        Whether candidates of the grid share common computations. The scores are the same and are
        computed faster. False fits each candidate separately.
    size_limit : SizeLimit, mapping, int or None, default from the metadata
        Largest training part for which a run uses the strategy: a mapping as in
        ``{"rows": 50_000}``, or a number of rows. None: no limit.
    verbose : int, default 0
        Verbosity of the tuning search.

    Attributes
    ----------
    metadata : Properties
        Metadata of the class; ``tasks`` and ``estimator_family`` are also attributes of the
        strategy.
    chosen_by : str
        The word for several strategies (a family, a task, a collection, ``"all"``) by which this
        one was chosen; empty if it was named or instantiated. If the strategy does not suit the
        task of the data, a run skips it if such a word chose it, and raises an error otherwise.
    estimator_ : estimator
        The fitted result of `assemble`.
    classes_ : ndarray, shape (n_classes,)
        Sorted class labels of a fitted classifier.

    Examples
    --------
    >>> from mlaut.estimators import instantiate_default_estimators
    >>> instantiate_default_estimators(["GaussianNaiveBayes"])
    [<mlaut.estimators.nb_estimators.Gaussian_Naive_Bayes>]
    """

    properties: ClassVar[Any] = None
    chosen_by = ""

    name: Any = _Own()
    params: Mapping[str, Any] | None = None
    param_grid: Any = _Own()
    search: str | None = None
    budget: Any = None
    search_space: Any = _Own()
    cv: Any = _Own()
    scoring: Any = None
    preprocessing: Any = _Own()
    normalize_labels: Any = _Own()
    random_state: Any = None
    n_jobs: int | None = None
    share_work: bool = True
    size_limit: Any = _Own()
    verbose: int = 0

    def __post_init__(self) -> None:
        for name in _OWN:  # an estimator that cannot be used is refused here
            getattr(self, name)

    # ---- what it is

    @property
    def metadata(self) -> Properties:
        """Metadata that `properties` attached to the class."""
        if not isinstance(self.properties, Properties):
            raise StrategyError(
                f"{class_path(type(self))} has no metadata; decorate the class with "
                "@properties(name=..., estimator_family=[...], tasks=[...])"
            )
        return self.properties

    @property
    def tasks(self) -> tuple[str, ...]:
        """``"Classification"``, ``"Regression"``, or both."""
        return tuple(self.metadata.tasks)

    @property
    def estimator_family(self) -> tuple[str, ...]:
        """Families of the strategy."""
        return tuple(self.metadata.estimator_family)

    def identity(self) -> dict[str, Any]:
        """Return the identity in plain JSON values: classes, parameters, grid, preprocessing, code.

        User code is compared by its syntax, including everything that it reads: functions that it
        calls, classes, constants. The name of the strategy is not part of the identity, and neither
        are parameters that change no result: ``n_jobs``, ``share_work``, ``verbose``.

        Examples
        --------
        >>> from mlaut.estimators import as_strategies
        >>> one, other = as_strategies(["SVC", "K_Neighbours"])
        >>> one.identity() == other.identity()
        False
        >>> as_strategies({"another name": "SVC"})[0].identity() == one.identity()
        True
        """
        return self.identified().identity

    def identified(self, *, former: bool = False) -> Description:
        """Return the identity together with the places where a change of code goes unnoticed.

        Raises
        ------
        StrategyError
            A module of the user has other code or values in its file, which processes of a run
            import, than here.
        """
        with looked_at(self.name):
            described = describe(self.made_of(), former=former)
        if described.edited:
            names = ", ".join(sorted(described.edited))
            raise StrategyError(
                f"strategy {self.name!r}: the file of {names} is not what this session has loaded "
                "of it (it was edited, or a value was set here), and processes of a run read the "
                "file; restart Python, or importlib.reload it and make the strategy again"
            )
        return described

    def made_of(self) -> dict[str, Any]:
        """Return the objects that `identity` describes: the class and its assembled model.

        Seeds that CatBoost gets from its cell are included, since its parameters do not show them,
        and so are digests of frozen estimators, and what the session has changed in libraries.
        """
        model = self.assemble(self._reference_shape())
        seeds = {"seeds": sorted(unset)} if (unset := hidden_seeds(model)) else {}
        set_output = getattr(self.preprocessing, "_sklearn_output_config", {})  # by set_output
        output = {"output": dict(set_output)} if set_output else {}
        learned = {"learned": digests} if (digests := digests_of_frozen(model)) else {}
        session = {SETTINGS: settings} if (settings := session_settings()) else {}
        whole = {"strategy": type(self), "assembled": model}
        return {**whole, **seeds, **output, **learned, **session}

    def fingerprint(self) -> str:
        """Return the SHA-256 of `identity`, in hexadecimal."""
        return digest(self.identity())

    def too_large(self, n_rows: int, n_columns: int, n_classes: int) -> TooLarge | str | None:
        """Return why a training part exceeds the size limit, or None if it does not.

        A run checks this before the first cell, and stores cells above the limit as skipped, with
        the reason.

        Parameters
        ----------
        n_rows, n_columns : int
            Size of the training part, before preprocessing.
        n_classes : int
            Number of classes; 0 for regression.

        Examples
        --------
        >>> from mlaut.estimators import as_strategies
        >>> (svc,) = as_strategies("SVC")
        >>> print(svc.too_large(500_000, 20, 2))
        500,000 training rows, more than its limit of 20,000 (size_limit=None lifts it)
        >>> svc.set_params(size_limit=None).too_large(500_000, 20, 2) is None
        True
        """
        limit = as_size_limit(self.size_limit, self.name)
        return limit.exceeded(n_rows, n_columns, n_classes)

    def takes_weights(self) -> bool:
        """Return whether `fit` takes ``sample_weight``, the weights of the rows.

        Examples
        --------
        >>> from mlaut.estimators import as_strategies
        >>> [strategy.takes_weights() for strategy in as_strategies(["SVC", "K_Neighbours"])]
        [True, False]
        """
        with looked_at(self.name):
            return weight_argument(self.assemble(self._reference_shape())) is not None

    def way_with(self, *, sparse: bool, unequal: bool = False) -> str:
        """Return how the strategy can take features that are no table; empty if it takes them.

        Parameters
        ----------
        sparse : bool
            Whether they are a sparse matrix, and not an array.
        unequal : bool, default False
            Whether they are series of different lengths.
        """
        with looked_at(self.name):
            core = self._core(self._reference_shape())
            if unequal:
                return "" if takes_unequal(core) else "pad or cut the series to one length"
            if not sparse:
                return (
                    ""
                    if takes_arrays(core)
                    else "begin its pipeline with mlaut.estimators.Flatten()"
                )
            if not (self.metadata.sparse or takes_sparse(core)):
                return "give X.toarray(), or the estimator the tag input_tags.sparse"
            scales = getattr(self.preprocessing, "normalize_features", False)
            return "give it preprocessing=None" if scales else ""

    def way_with_targets(self, task: str, *, several: bool) -> str:
        """Return how the strategy can take several targets, or one; empty if it takes them."""
        with looked_at(self.name):
            core = self._core(self._reference_shape())
            takes = takes_targets(core, task)
            scoring = core.scoring if has(core, "scoring") else None
            if several and takes == "one":
                kind = "Classifier" if task == CLASSIFICATION else "Regressor"
                return f"wrap the estimator, as in MultiOutput{kind}(...)"
            if not several and takes == "several":
                return "give an estimator for one target"
            if several and isinstance(scoring := getattr(scoring, "name", scoring), str):
                return (
                    ""
                    if takes_several(get_scorer(scoring))
                    else f"tune by another score than {scoring}"
                )
            return ""

    def needs_groups(self) -> bool:
        """Return whether folds among the parameters need the group of each row."""
        return needs_groups(self.assemble(self._reference_shape()))

    def describe(self) -> dict[str, Any]:
        """Return the wrapped estimator, preprocessing, tuning and limits as plain JSON values."""
        core = self._core(self._reference_shape())
        wrapped = core.estimator if _is_search(core) else core
        limit = as_size_limit(self.size_limit, self.name)
        return {
            "name": self.name,
            "estimator_family": list(self.estimator_family),
            "tasks": list(self.tasks),
            "wraps": plain(wrapped),
            "package": self.metadata.package,
            "param_grid": plain(self._space()),
            "n_candidates": self._n_candidates(),
            "tuning": self._describe_tuning(),
            "preprocessing": describe_preprocessing(self.preprocessing),
            "normalize_labels": bool(self.normalize_labels),
            "stops_after": _bound(wrapped, self._space()),
            "size_limit": {key: value for key, value in vars(limit).items() if value},
            "takes": {
                **{kind: getattr(self.metadata, kind) for kind in _KINDS},
                "weights": self.takes_weights(),
            },
            "search_space": {
                name: repr(space) for name, space in (self.search_space or {}).items()
            },
            "source": self.metadata.source,
        }

    def tunes_by(self) -> str:
        """Return the name of the score that tuning maximises; empty if nothing is tuned."""
        if not self._space():
            return ""
        return str(self.scoring or " or ".join(_SCORES[task] for task in self.tasks))

    def _describe_tuning(self) -> str:
        score = self.tunes_by()
        if not score:
            return "none"
        folds = f"{self.cv}-fold cross-validation" if isinstance(self.cv, int) else plain(self.cv)
        how = "exhaustive grid" if self._whole_grid else self._words
        limit = "" if self.budget is None else f" within {self.budget}"
        return f"{how}{limit}, {folds} on the training part, by {score}"

    def _n_candidates(self) -> int | None:
        """Return the number of candidates; None if a budget or the draws determine it."""
        if not self._space():
            return 1
        if self._whole_grid:
            return len(ParameterGrid(self.param_grid))
        return None if self.budget is not None else parse_search(self._words).n

    # ---- how it is built

    def build(self, **kwargs: Any) -> Any:  # noqa: ARG002
        """Return the unfitted estimator with its hyper-parameter search space.

        Every strategy class overrides this method.

        Parameters
        ----------
        **kwargs
            ``shape``: the `DataShape` of the training part, or None.

        Returns
        -------
        estimator
            The result of ``self.tuned``, or a bare estimator, which is tuned over ``param_grid``.
        """
        raise StrategyError(f"{class_path(type(self))} has no build method; write one")

    def tuned(self, estimator: Any) -> Any:
        """Return a copy of an estimator, wrapped in the search over ``param_grid`` if there is one.

        Parameters
        ----------
        estimator : estimator
            The estimator to copy; ``params`` of the strategy are set on the copy.

        Raises
        ------
        StrategyError
            ``params`` or ``param_grid`` name a parameter that the estimator does not have.
        """
        fixed = self._in_its_words(self.params or {})
        check_parameters(self.name, estimator, fixed)
        estimator = copied(estimator)
        if fixed:
            estimator.set_params(**fixed)
        space = self._space()
        parts = [space] if isinstance(space, Mapping) else space or []
        named = [self._in_its_words(part) for part in parts]
        grid = with_ranges(without(named[0] if isinstance(space, Mapping) else named, fixed))
        if not grid:
            return estimator
        for part in [grid] if isinstance(grid, Mapping) else grid:
            check_parameters(self.name, estimator, part)
        check_clone(self.name, estimator)
        cv = self.cv
        if isinstance(cv, int):
            cv = TuningFolds(cv, stratify=is_classifier(estimator))
        common = {
            "scoring": self.scoring,
            "cv": cv,
            "n_jobs": self.n_jobs,
            "share_work": self.share_work,
            "verbose": self.verbose,
        }
        if self._whole_grid:
            if not is_finite(grid):
                raise StrategyError(
                    f"strategy {self.name!r}: a grid of ranges has no end; draw from it, for "
                    "example with search='random(50)'"
                )
            return GridSearch(estimator, grid, **common)
        budget = None if self.budget is None else str(self.budget)
        try:
            budgeted = of_plugin("BudgetedSearch")
        except ImportError:
            missing = without_plugin("searches beyond a whole grid are in", "sharing")
            raise OptionalPackageError(f"strategy {self.name!r}: {missing}") from None
        return budgeted(estimator, grid, search=self._words, budget=budget, **common)

    def _in_its_words(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters by the names that the wrapped estimator has for them."""
        names = getattr(self.metadata, "called", {})
        return {names.get(name, name): value for name, value in parameters.items()}

    @property
    def _words(self) -> str:
        """Return the search in words, checked with its budget."""
        parse_budget(self.budget)
        parse_search(self.search or "grid")
        return self.search or "grid"

    @property
    def _whole_grid(self) -> bool:
        return self._words == "grid" and self.budget is None

    def _space(self) -> Any:
        """Return the grid, or for a search that draws candidates the space to draw from."""
        space = self.search_space
        if self._words == "grid" or space is None:
            space = self.param_grid
        spaces_of(with_ranges(space))  # checked before anything reads it
        return space

    def assemble(
        self, shape: DataShape | None = None, *, random_state: Any = None, n_jobs: int | None = None
    ) -> Any:
        """Return the whole unfitted model: preprocessing, then the search or the estimator.

        Parameters
        ----------
        shape : DataShape, optional
            Shape of the training part.
        random_state : int, RandomState or None
            Seed from which every ``random_state`` that is None is set, in the order of their names.
        n_jobs : int, optional
            Value for every ``n_jobs`` that is not None.

        Returns
        -------
        estimator
            Model that accepts raw tables. It also accepts raw labels, unless it wraps a classifier
            that does not.

        Raises
        ------
        StrategyError
            ``normalize_labels`` is set on a classifier.
        """
        if self.normalize_labels and self.tasks == (CLASSIFICATION,):
            raise StrategyError(
                f"strategy {self.name!r}: normalize_labels scales a target of numbers, and a "
                "classifier has classes; leave it out"
            )
        model = self._core(shape)
        # A strategy for both tasks scales the target of regression, which has no classes.
        has_classes = CLASSIFICATION in self.tasks and shape is not None and shape.n_classes
        if self.normalize_labels and not has_classes:
            from sklearn.compose import TransformedTargetRegressor  # slow to load

            model = TransformedTargetRegressor(
                regressor=model, transformer=StandardScaler(), check_inverse=False
            )
        if self.preprocessing is not None:
            model = Pipeline([("preprocessing", clone(self.preprocessing)), ("estimator", model)])
        seed_all(model, random_state if self.random_state is None else self.random_state)
        return model if n_jobs is None else set_n_jobs(model, n_jobs)

    def _core(self, shape: DataShape | None) -> Any:
        accepted = inspect.signature(self.build).parameters
        open_ended = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
        built = self.build(shape=shape) if open_ended or "shape" in accepted else self.build()
        if _is_search(built):
            return built
        self._check_something_to_search()
        return self.tuned(built)

    def _check_something_to_search(self) -> None:
        """Check that a search or a budget that was set has a grid or a space."""
        if self._whole_grid or self._space():
            return
        what = f"search={self.search!r}" if self.search else f"budget={self.budget!r}"
        raise StrategyError(
            f"strategy {self.name!r}: {what} has nothing to search, since the strategy has neither "
            "param_grid nor search_space; give one, or set it on the strategy that this one wraps"
        )

    def _reference_shape(self) -> DataShape:
        """Return a fixed shape, so that identities compare strategies built for the same data."""
        classes = CLASSIFICATION in self.tasks and not self.normalize_labels
        return DataShape(n_rows=100, n_features=10, n_classes=2 * classes)

    # ---- what it does

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit preprocessing, tune, and fit the best candidate on all rows.

        Parameters
        ----------
        X : DataFrame or array-like, shape (n_rows, n_features)
        y : array-like, shape (n_rows,)
        **fit_params
            Parameters of the wrapped estimator's ``fit``, for example ``sample_weight``.
        """
        if y is None:
            raise DataError(f"{self.name} requires y to be passed, but the target y is None")
        shape = self._shape_of(X, np.asarray(y))
        model = take_every_name(self.assemble(shape))
        step = "" if self.preprocessing is None else "estimator__"
        known = {"sample_weight": weight_argument, "groups": group_argument}
        given = {
            (name in known and known[name](model)) or f"{step}{name}": values
            for name, values in fit_params.items()
        }
        given = category_arguments(model, X) | given
        with explained_texts(X):
            if shape.n_classes:
                self.estimator_ = fit_classifier(model, X, y, **given)
            else:
                self.estimator_ = as_fitted(model.fit(X, y, **given))
        self.n_features_in_ = shape.n_features
        return self

    def _shape_of(self, X: Any, labels: np.ndarray) -> DataShape:
        numbers = CLASSIFICATION not in self.tasks or (
            REGRESSION in self.tasks and labels.dtype.kind == "f"
        )
        n_classes = 0 if numbers else len(set(labels.ravel().tolist()))
        return DataShape.of(X if hasattr(X, "shape") else np.asarray(X), len(labels), n_classes)

    def predict(self, X: Any) -> np.ndarray:
        """Predict labels or numbers for rows: shape (n_rows,)."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def score(self, X: Any, y: Any) -> float:
        """Return the score that tuning uses: accuracy or R2, or ``scoring`` if it is set."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y)

    @available_if(lambda self: self._has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities: shape (n_rows, n_classes), columns as ``classes_``."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(lambda self: self._has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the confidence of each class, as the wrapped estimator does."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def _has(self, method: str) -> bool:
        return has(self.estimator_ if "estimator_" in vars(self) else self.assemble(), method)

    @property
    def classes_(self) -> np.ndarray:
        """Class labels of a fitted classifier, sorted."""
        return self.estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = self._core(self._reference_shape()).__sklearn_tags__()
        if self.preprocessing is not None:
            tags.input_tags = self.preprocessing.__sklearn_tags__().input_tags
        return tags

    # ---- keeping it

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the strategy, fitted or not, to a joblib file, and return the path.

        An existing file is replaced atomically.
        """
        path = Path(path)
        with unfinished(path) as (temporary, _):
            joblib.dump(self, temporary)
            temporary.replace(path)
        return path

    @staticmethod
    def load(path: str | os.PathLike[str], *, trusted: bool = False) -> MlautEstimator:
        """Return the strategy of a file that `save` wrote.

        Parameters
        ----------
        path : path
        trusted : bool, default False
            Must be True to read the file, because reading runs code that is in it.

        Raises
        ------
        StrategyError
            The file is not trusted, does not exist, or holds no strategy.
        """
        if not trusted:
            raise StrategyError(
                f"{path}: reading a strategy runs code that is in the file; "
                "if you trust where it comes from, pass trusted=True"
            )
        try:
            strategy = joblib.load(path)
        except FileNotFoundError as error:
            raise StrategyError(f"{path}: no such file; check the path") from error
        except Exception as error:
            raise StrategyError(f"{path}: cannot be read as a strategy ({error})") from error
        if not isinstance(strategy, MlautEstimator):
            raise StrategyError(f"{path}: holds a {type(strategy).__name__}, not a strategy")
        return strategy

    # ---- how it looks

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        shown = "".join(f" {key}={value!r}" for key, value in self._changed().items())
        return f"<{class_path(type(self))}{shown}>"

    def _changed(self) -> dict[str, Any]:
        """Return the parameters that differ from those of a new strategy of this class."""
        required = self._required()
        start = type(self)(**required).get_params(deep=False)
        now = influential(self.get_params(deep=False))
        changed = {key: now[key] for key in now if canonical(now[key]) != canonical(start[key])}
        return {**{key: value for key, value in required.items() if value is not None}, **changed}

    def _required(self) -> dict[str, Any]:
        return {}

    def _repr_html_(self) -> str:
        rows = [{"": key, "value": value} for key, value in self.describe().items()]
        return table_html(class_path(type(self)), rows)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


_OWN = [name for name, value in vars(MlautEstimator).items() if isinstance(value, _Own)]
_KINDS = ("missing", "categories", "sparse", "early_stopping", "threads", "gpu")
_SCORES = {CLASSIFICATION: "accuracy", REGRESSION: "R2"}


def _is_search(model: Any) -> bool:
    """Return whether a model is a search of scikit-learn, or has the attributes of one."""
    return all(has(model, name) for name in ("estimator", "cv", "refit"))


def _bound(wrapped: Any, grid: Any) -> dict[str, Any]:
    """Return the bounds of an iterative fit; empty if there is none or the bound is tuned."""
    parameters = wrapped.get_params()
    tuned = {
        name for part in ([grid] if isinstance(grid, Mapping) else grid or []) for name in part
    }
    return {
        name: plain(parameters[name])
        for name in ("max_iter", "epochs")
        if parameters.get(name) not in (None, -1) and name not in tuned
    }
