"""Preprocessing of raw tables for strategies, learned on training rows only.

A `Preprocessor` is an ordinary scikit-learn transformer. Its work can be described (`describe`),
changed (``set_params``) and switched off (``preprocessing=None`` of a strategy).
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from mlaut.arrays import is_array, is_sparse, row_shape
from mlaut.errors import DataError, StrategyError
from mlaut.estimators.preparing.columns import (
    CATEGORY,
    NUMBER,
    Column,
    as_numbers,
    as_texts,
    complete_numbers,
    have_names_of_one_type,
    kinds_of,
)

FEW_VALUES = 10
"""A column with fewer values could be empty in a tuning fold, where its gaps could not be used."""

_CATEGORIES = ("one-hot", "ordinal", "native", "text")
_AS_THEY_ARE = ("native", "text")  # a DataFrame in which gaps of numbers are kept


@dataclass(kw_only=True, eq=False, repr=False)
class Preprocessor(TransformerMixin, BaseEstimator):
    """Transformer from tables with text, categories, booleans, dates and gaps to numbers.

    The kind of each column is decided on the training rows and does not change; columns are
    matched by name. In the result, numbers come first, then categories, each in the order of the
    table.

    - *Numbers* and booleans (as 0 and 1): a gap becomes the median of the training rows. An
      infinite number counts as a gap.
    - *Dates* become days since 1970-01-01 (UTC), durations days, and ordered categories their
      position; then they are treated as numbers.
    - *Text and unordered categories*: a gap is a separate category. One-hot: the rare categories
      and the categories that the training rows do not have share one column. If no category is
      rare, an unseen one has 0 in every column.
    - *A column without any value* in the training rows becomes 0 everywhere.
    - *An array of more than two dimensions and a sparse matrix* are passed on as they are.

    Parameters
    ----------
    normalize_features : bool, default False
        Whether numbers are scaled to mean 0 and standard deviation 1. One-hot columns stay 0 and 1.
    categories : {"one-hot", "ordinal", "native", "text"}, default "one-hot"
        Coding of categories. ``"ordinal"``: one column with the position in alphabetical order, -1
        for a category not seen in training and -2 for a gap. ``"native"``: a DataFrame with
        categories (of pandas) and gaps, for estimators that handle them; gaps are filled only in
        number columns with fewer than 10 values. ``"text"``: the same with categories as text, in
        which a gap is the empty text, for CatBoost.
    max_categories : int, default 50
        Largest number of one-hot columns for one column. For ``"native"``, the largest number of
        categories of a column; rarer ones become gaps. Not used for ``"ordinal"`` and ``"text"``.
    min_frequency : int, default 2
        Number of training rows below which a category is rare. Used for ``"one-hot"`` only.
    as_needed : bool, default False
        Whether a table of complete columns of plain numbers is passed on unchanged; for
        ``"native"`` and ``"text"`` only if XGBoost and LightGBM take the names of its columns.

    Attributes
    ----------
    columns_ : tuple of Column
        Name and kind of each column of the training table.
    untouched_ : bool
        Whether tables are passed on unchanged (see ``as_needed``).

    Examples
    --------
    >>> table = pd.DataFrame({"age": [20, None, 40], "sex": ["f", "m", "f"]})
    >>> Preprocessor(min_frequency=1).fit_transform(table)
    array([[20.,  1.,  0.],
           [30.,  0.,  1.],
           [40.,  1.,  0.]])
    """

    normalize_features: bool = False
    categories: str = "one-hot"
    max_categories: int = 50
    min_frequency: int = 2
    as_needed: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Decide the kinds of the columns, and learn medians, categories and scales.

        Parameters
        ----------
        X : DataFrame or array-like, shape (n_rows, n_features)
            Training rows.
        y : ignored
        """
        if not self._leaves(X):
            self._learn(as_frame(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Return the training rows as numbers, after `fit`; the table is read once for both."""
        if self._leaves(X):
            return X
        frame = as_frame(X)
        parts = self._learn(frame)
        return _passed_on(X, frame) if parts is None else self._as_output(X, frame, *parts)

    def _leaves(self, X: Any) -> bool:
        """Return whether X is no table, and so is passed on as it is."""
        if is_array(X):
            self.columns_: tuple[Column, ...] = ()
            self.untouched_, self.n_features_in_ = True, row_shape(X)[0]
            if is_sparse(X) and self.normalize_features:
                raise DataError(
                    "a sparse matrix is not scaled, which would fill it; give preprocessing=None"
                )
        return is_array(X)

    def _learn(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
        """Learn from a training table; return its numbers and texts, or None if untouched."""
        if self.categories not in _CATEGORIES:
            raise StrategyError(
                f"categories={self.categories!r} is not known; use one of {', '.join(_CATEGORIES)}"
            )
        complete = complete_numbers(frame)
        numeric = tuple(Column(name, NUMBER) for name in frame.columns)
        self.columns_ = kinds_of(frame) if complete is None else numeric
        self.n_features_in_ = frame.shape[1]
        self.untouched_ = False
        refused = self.categories in _AS_THEY_ARE and any(_REFUSED.search(str(x)) for x in frame)
        fits = self.as_needed and have_names_of_one_type(frame) and not refused
        if complete is not None and fits:
            self.untouched_ = True
            self.fill_ = np.median(complete, axis=0)
            return None
        numbers, texts = self._split(frame, complete)
        self._fit_parts(numbers, texts)
        return numbers, texts

    def _fit_parts(self, numbers: np.ndarray, texts: np.ndarray) -> None:
        if self.categories in _AS_THEY_ARE:
            if self.categories == "native":
                self.levels_ = [_levels(column, self.max_categories) for column in texts.T]
            few = np.isfinite(numbers).sum(axis=0) < FEW_VALUES
            self.fill_ = np.where(few, _medians(numbers), np.nan)
            return
        if numbers.shape[1]:
            self.numbers_ = self._number_part().fit(numbers)
        if texts.shape[1]:
            self.categories_ = self._category_part().fit(texts)

    def _number_part(self) -> Pipeline:
        from sklearn.impute import SimpleImputer  # slow to load

        steps: list[Any] = [SimpleImputer(strategy="median", keep_empty_features=True)]
        return make_pipeline(*steps, *([StandardScaler()] if self.normalize_features else []))

    def _category_part(self) -> BaseEstimator:
        if self.categories == "ordinal":
            return OrdinalEncoder(
                handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
            )
        return OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=self.min_frequency,
            max_categories=self.max_categories,
            sparse_output=False,
        )

    def transform(self, X: Any) -> Any:
        """Return rows as numbers.

        Parameters
        ----------
        X : DataFrame or array-like, shape (n_rows, n_features)

        Returns
        -------
        ndarray of float64, DataFrame (categories native or text), or ``X`` itself (``as_needed``)

        Raises
        ------
        DataError
            A column of the training table is not in ``X``.
        """
        check_is_fitted(self, "columns_")
        if is_array(X):
            return X
        frame = self._aligned(as_frame(X))
        complete = complete_numbers(frame)
        if self.untouched_ and complete is not None and have_names_of_one_type(frame):
            return _passed_on(X, frame)
        return self._as_output(X, frame, *self._split(frame, complete))

    def _as_output(
        self, X: Any, frame: pd.DataFrame, numbers: np.ndarray, texts: np.ndarray
    ) -> Any:
        if self.untouched_:
            return self._filled(numbers, X)
        if self.categories in _AS_THEY_ARE:
            return self._native(numbers, texts, frame.index)
        parts = [self.numbers_.transform(numbers)] if numbers.shape[1] else []
        if texts.shape[1]:
            parts.append(self.categories_.transform(texts))
        return np.hstack(parts) if parts else numbers

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:  # noqa: ARG002
        """Return the names of the columns that `transform` returns, for ``set_output`` too."""
        check_is_fitted(self, "columns_")
        if self.untouched_:
            return np.array([column.name for column in self.columns_], dtype=object)
        names = _distinct_names(self.columns_)
        numbers = [names[i] for i, _ in self._where(category=False)]
        texts = [names[i] for i, _ in self._where(category=True)]
        if texts and self.categories == "one-hot":
            texts = list(self.categories_.get_feature_names_out(texts))
        return np.array([*numbers, *texts], dtype=object)

    def for_numbers(self) -> StandardScaler | None:
        """Return the transformer of complete numbers that equals this one; None for no change."""
        scaled = self.normalize_features and self.categories not in _AS_THEY_ARE
        return StandardScaler() if scaled else None

    def _filled(self, numbers: np.ndarray, X: Any) -> Any:
        """Return a table with filled gaps, for a training table that had no gaps."""
        filled = np.where(np.isnan(numbers), self.fill_, numbers)
        if not isinstance(X, pd.DataFrame):
            return filled
        names = [column.name for column in self.columns_]
        return pd.DataFrame(filled, columns=names, index=X.index)

    def _aligned(self, frame: pd.DataFrame) -> pd.DataFrame:
        names = [column.name for column in self.columns_]
        if list(frame.columns) == names:
            return frame
        if isinstance(frame.columns, pd.RangeIndex):  # columns without names
            raise DataError(
                f"X has {frame.shape[1]} features, but {type(self).__name__} is expecting "
                f"{len(names)} features as input; give the columns of the training table"
            )
        absent = [name for name in names if name not in frame.columns]
        if absent:
            raise DataError(
                f"column {absent[0]!r} of the training table is not in the table to predict "
                f"({len(absent)} of {len(names)} columns are absent); give the same columns"
            )
        return frame[names]

    def _split(
        self, frame: pd.DataFrame, complete: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns of numbers and those of texts."""
        if complete is not None and all(column.kind == NUMBER for column in self.columns_):
            return np.ascontiguousarray(complete), _stacked([], len(frame), object)
        numbers = [as_numbers(frame.iloc[:, i], c) for i, c in self._where(category=False)]
        texts = [as_texts(frame.iloc[:, i]) for i, _ in self._where(category=True)]
        return _stacked(numbers, len(frame), np.float64), _stacked(texts, len(frame), object)

    def _where(self, *, category: bool) -> list[tuple[int, Column]]:
        columns = enumerate(self.columns_)
        return [(i, column) for i, column in columns if (column.kind == CATEGORY) is category]

    def _native(self, numbers: np.ndarray, texts: np.ndarray, index: pd.Index) -> pd.DataFrame:
        names = _distinct_names(self.columns_)
        numbers = np.where(np.isnan(numbers), self.fill_, numbers)
        columns: dict[str, Any] = {}
        for place, (i, _) in enumerate(self._where(category=False)):
            columns[names[i]] = numbers[:, place]
        for place, (i, _) in enumerate(self._where(category=True)):
            columns[names[i]] = self._category(place, texts[:, place])
        return pd.DataFrame(columns, index=index)

    def text_columns(self, X: Any) -> list[str]:
        """Return the columns that `fit_transform` of these rows returns as categories."""
        if is_array(X) or complete_numbers(frame := as_frame(X)) is not None:
            return []
        columns = kinds_of(frame)
        names = _distinct_names(columns)
        return [
            name for name, column in zip(names, columns, strict=True) if column.kind == CATEGORY
        ]

    def _category(self, place: int, texts: np.ndarray) -> Any:
        if self.categories == "text":
            return np.where(pd.isna(texts), "", texts)
        levels = self.levels_[place]
        codes = levels.categories.get_indexer(pd.Index(texts))
        return pd.Categorical.from_codes(codes, dtype=levels)

    def describe(self) -> dict[str, str]:
        """Return a description of the preprocessing in words.

        Examples
        --------
        >>> Preprocessor(normalize_features=True).describe()["numbers"]
        'gaps become the training median; scaled to mean 0 and standard deviation 1'
        """
        return {
            "numbers": self._describe_numbers(),
            "categories": self._describe_categories(),
            "dates": "days since 1970-01-01 (UTC)",
            "ordered categories": "their position",
            "empty columns": "0",
            "untouched": "arrays" + ", tables of complete numbers" * self.as_needed,
        }

    def _describe_numbers(self) -> str:
        if self.categories in _AS_THEY_ARE:
            return f"gaps kept; the training median in a column of fewer than {FEW_VALUES} values"
        scaled = "; scaled to mean 0 and standard deviation 1" if self.normalize_features else ""
        return "gaps become the training median" + scaled

    def _describe_categories(self) -> str:
        if self.categories == "native":
            return f"kept as categories, the {self.max_categories} most frequent; gaps kept"
        if self.categories == "text":
            return "kept as text; a gap is the empty text"
        if self.categories == "ordinal":
            return "alphabetical position; -1 if not seen in training, -2 for a gap"
        return (
            f"one-hot, at most {self.max_categories} columns; those with fewer than "
            f"{self.min_frequency} training rows or unseen share one; a gap is a category"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.three_d_array, tags.input_tags.sparse = True, not self.normalize_features
        return tags


@contextmanager
def explained_texts(X: Any) -> Iterator[None]:
    """Name the columns of text or with gaps, and the way out, if a fit fails because of them.

    Raises
    ------
    StrategyError
        The error in the block says that a text is no number, or that there are gaps, and the table
        has columns of text, or gaps.
    """
    try:
        yield
    except ValueError as error:
        columns, what = list[Any](), "prepares the columns of text"
        if "could not convert string to float" in str(error) and not is_array(X):
            columns = [column.name for column in kinds_of(as_frame(X)) if column.kind == CATEGORY]
        elif "NaN" in str(error) and isinstance(X, pd.DataFrame):
            columns, what = X.columns[X.isna().any()].tolist(), "seems to fill the gaps of columns"
        if not columns:
            raise
        raise StrategyError(
            f"no step {what} ({', '.join(map(repr, columns)):.200}): begin the pipeline with a "
            "ColumnTransformer, or give preprocessing=Preprocessor() to Generic_Estimator"
        ) from error


def as_frame(X: Any) -> pd.DataFrame:
    """Return a table as a DataFrame; columns of an array are called 0, 1, 2, ...

    Raises
    ------
    DataError
        The table does not have two dimensions, or has no rows or no columns.
    """
    frame = X if isinstance(X, pd.DataFrame) else _frame_of_array(X)
    for size, what in zip(frame.shape, ("sample", "feature"), strict=True):
        if not size:
            raise DataError(
                f"0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required; "
                "give a table with rows and columns"
            )
    return frame


def _frame_of_array(X: Any) -> pd.DataFrame:
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(
            f"a table has rows and columns, this has shape {array.shape}; "
            "Reshape your data to (n_rows, n_features)"
        )
    return pd.DataFrame(array).infer_objects()


def describe_preprocessing(transformer: Any) -> dict[str, Any]:
    """Return a description of any preprocessing transformer in words.

    Parameters
    ----------
    transformer : Preprocessor, any scikit-learn transformer, or None

    Examples
    --------
    >>> describe_preprocessing(None)
    {'none': 'the table is passed on as it is'}
    """
    if transformer is None:
        return {"none": "the table is passed on as it is"}
    if isinstance(transformer, Pipeline):
        return {name: describe_preprocessing(step) for name, step in transformer.steps}
    if hasattr(transformer, "describe"):
        return dict(transformer.describe())
    return {type(transformer).__name__: " ".join(str(transformer).split())}


def _passed_on(X: Any, frame: pd.DataFrame) -> Any:
    return X if isinstance(X, pd.DataFrame | np.ndarray) else frame.to_numpy()


def _stacked(columns: list[np.ndarray], n_rows: int, dtype: Any) -> np.ndarray:
    if not columns:
        return np.empty((n_rows, 0), dtype=dtype)
    return np.column_stack(columns).astype(dtype, copy=False)


def _medians(numbers: np.ndarray) -> np.ndarray:
    """Return the median of each column, or 0 for a column without values."""
    from sklearn.impute import SimpleImputer  # slow to load

    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return imputer.fit(numbers).statistics_ if numbers.shape[1] else np.empty(0)


def _levels(texts: np.ndarray, most: int) -> pd.CategoricalDtype:
    """Return the most frequent categories in alphabetical order, which also breaks ties."""
    counts = pd.Series(texts, dtype=object).dropna().value_counts().sort_index()
    kept = counts.sort_values(ascending=False, kind="stable").index[:most]
    return pd.CategoricalDtype(pd.Index(sorted(kept), dtype=object))


def _distinct_names(columns: tuple[Column, ...]) -> list[str]:
    """Return the names as different texts without characters that XGBoost and LightGBM refuse."""
    names = [_REFUSED.sub(" ", str(column.name)) for column in columns]
    if len(set(names)) < len(names):
        return [f"{i} {name}" for i, name in enumerate(names)]
    return names


_REFUSED = re.compile(r'[\[\]<>{}",:]')
