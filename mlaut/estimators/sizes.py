"""Size limits of strategies: the largest training part that a run gives to a strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Any

from mlaut.errors import StrategyError, refuse_unknown
from mlaut.records import TooLarge


@dataclass(frozen=True)
class SizeLimit:
    """Largest training part that a run gives to a strategy.

    At the limits of the default strategies, tuning over the default grid and fitting would take
    about a day on one core, extrapolated from measurements on smaller tables (``docs/tuning.md``).

    Attributes
    ----------
    rows : int or None
        Largest number of rows; None for no limit.
    values : int or None
        Largest number of values (rows times columns); None for no limit.
    per_class : bool
        Whether values count once per class if there are more than two classes. This suits boosting,
        which grows one tree per class.

    Examples
    --------
    >>> SizeLimit(rows=20_000).exceeded(500_000, 20, 2)
    TooLarge(kind='rows', size=500000, limit=20000, factors=())
    >>> SizeLimit(values=10**6, per_class=True).exceeded(20_000, 30, 5).factors
    (20000, 30, 5)
    >>> SizeLimit(rows=20_000).exceeded(20_000, 20, 2) is None
    True
    """

    rows: int | None = None
    values: int | None = None
    per_class: bool = False

    def exceeded(self, n_rows: int, n_columns: int, n_classes: int) -> TooLarge | None:
        """Return what exceeds the limit, or None."""
        if self.rows is not None and n_rows > self.rows:
            return TooLarge("rows", n_rows, self.rows)
        factors = (n_rows, n_columns, *([n_classes] if self.per_class and n_classes > 2 else []))
        if self.values is not None and prod(factors) > self.values:
            return TooLarge("values", prod(factors), self.values, factors)
        return None


def as_size_limit(limit: Any, strategy: str) -> SizeLimit:
    """Return the `SizeLimit` that a user wrote in any form: mapping, number of rows, or None.

    None and False mean no limit.

    Raises
    ------
    StrategyError
        The limit has another type, or its mapping has an unknown key.

    Examples
    --------
    >>> as_size_limit({"rows": 10}, "SVC") == as_size_limit(10, "SVC") == SizeLimit(rows=10)
    True
    >>> as_size_limit({"row": 10}, "SVC")
    Traceback (most recent call last):
    mlaut.errors.StrategyError: strategy 'SVC': size_limit has no key 'row'; did you mean 'rows'?
    """
    if isinstance(limit, SizeLimit):
        return limit
    if limit is None or limit is False:
        return SizeLimit()
    if isinstance(limit, Mapping):
        known = [field.name for field in fields(SizeLimit)]
        what = f"strategy {strategy!r}: size_limit has no key"
        refuse_unknown(limit, known, StrategyError, what)
        return SizeLimit(**limit)
    if isinstance(limit, int) and limit is not True:
        return SizeLimit(rows=limit)
    raise StrategyError(
        f"strategy {strategy!r}: size_limit {limit!r} is not a limit; give a SizeLimit, a mapping "
        "with rows or values, a number of rows, or None for no limit"
    )
