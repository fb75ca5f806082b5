"""Runner of all tests of pairs, which prepares losses, runs the test, and makes the tables.

A test is a function of `Results` that returns `PairStatistics`, decorated with its row of the
table: ``@pair_test(name=..., null=..., source=..., ...)``. The runner adds what all tests have in
common: tables with their metric, ``pair=``, ``alternative=``, the layout and the notes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any, Protocol, cast, overload

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import Pair, one_of
from mlaut.analysis.common.late import Late
from mlaut.analysis.common.result_types import Pairwise, TestResult
from mlaut.analysis.pairwise.effects import Effect, LateEffect
from mlaut.analysis.pairwise.pairs import Pairs
from mlaut.analysis.results.given import extend_signature, of_results
from mlaut.analysis.results.results import Results

_SIDES = {"two-sided": "two-sided", "better": "less", "worse": "greater"}
_OTHER_SIDE = {"two-sided": "two-sided", "less": "greater", "greater": "less"}
_OF_ALL = (
    "whether two strategies differ depends on which others are compared, since all are ranked "
    "together"
)
_PAIR_TEXT = """\
    pair : (str, str), optional
        Names of two strategies. With them the result is the `TestResult` of the first against the
        second; else it is the `Pairwise` of all pairs.
"""

Both = tuple[np.ndarray, np.ndarray]


def odd(values: np.ndarray) -> Both:
    """Return the values of both orders of a pair, with opposite signs."""
    return values, -values


def even(values: np.ndarray) -> Both:
    """Return the values of both orders of a pair, which are equal."""
    return values, values


def sizes_compare(results: Results) -> bool:
    """Return whether differences of several datasets can be ranked: not if metrics are mixed."""
    return not results.metric.mixed


@dataclass(frozen=True, kw_only=True, eq=False)
class PairStatistics:
    """Numbers that a test computes for all P pairs.

    Attributes
    ----------
    tables : mapping of str to pair of ndarray, shape (P,)
        Values of the first strategy against the second, and of the second against the first. A test
        with p-values has ``"statistic"``.
    effects : mapping of str to Effect, LateEffect or str
        Effect sizes by name. The first decides which strategy of a pair is better. A text is the
        method of an effect that is one of the ``tables``.
    p : callable or None
        Function that returns p-values, shape (P,), for ``"two-sided"``, ``"less"`` or ``"greater"``
        differences; None for a test without p-values.
    df : float, tuple of float, or None
    n : int, optional
        Sample size; default the number of datasets.
    notes : tuple of str
    pair_notes : mapping of (str, str) to str
    """

    tables: Mapping[str, Both]
    effects: Mapping[str, Effect | LateEffect | str]
    p: Callable[[str], np.ndarray] | None = None
    df: float | tuple[float, ...] | None = None
    n: int | None = None
    notes: tuple[str, ...] = ()
    pair_notes: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTest:
    """Description of a test of pairs, apart from its computation.

    Attributes
    ----------
    name, null, source, scenario, statistic_name, unit : str
        As in `TestResult`. ``name`` and ``null`` may have arguments of the test in braces.
    one_sided : bool
        Whether the test has the argument ``alternative``.
    alone : bool
        Whether the numbers of a pair depend on its two strategies only. Then one pair is computed
        alone, and missing cells of other strategies do not matter.
    simultaneous : bool
        Whether the p-values already account for all pairs, so that they need no correction.
    of_means : bool
        Whether the test compares means over datasets, so that their scales must be comparable.
    applies : callable
        Function of complete `Results` that returns whether they have what the test needs.
    """

    name: str
    null: str
    source: str
    scenario: str = "(c)"
    statistic_name: str = "statistic"
    unit: str = "datasets"
    one_sided: bool = False
    alone: bool = True
    simultaneous: bool = False
    of_means: bool = False
    applies: Callable[[Results], bool] = lambda _: True

    def lay_out(
        self, results: Results, tests: PairStatistics, given: Mapping[str, Any]
    ) -> Pairwise:
        """Return the numbers of all pairs as tables by strategy."""
        pairs, alternative = Pairs.of(results.strategies), given.get("alternative", "two-sided")
        one_of("alternative", alternative, _SIDES)
        both = _with_p_values(tests, _SIDES[alternative])
        tables: dict[str, Any] = {name: pairs.square(*values) for name, values in both.items()}
        for name, effect in tests.effects.items():
            if not isinstance(effect, str):
                tables |= {name + end: _late_table(pairs, effect, end) for end in _ENDS}
        return Pairwise(
            name=self.name.format(**given),
            null=self.null.format(**given),
            source=self.source,
            scenario=self.scenario,
            strategies=results.strategies,
            metric=results.metric.loss_name,
            tables=Late(tables),
            alternative="the first is " * (alternative != "two-sided") + alternative,
            statistic_name=self.statistic_name,
            df=tests.df,
            effects={
                name: effect if isinstance(effect, str) else effect.method
                for name, effect in tests.effects.items()
            },
            confidence=given.get("confidence", 0.95),
            n=len(results.datasets) if tests.n is None else tests.n,
            unit=self.unit,
            notes=(*results.notes_text(), *tests.notes, *self._notes_on_others(results)),
            pair_notes=tests.pair_notes,
        )

    def _notes_on_others(self, results: Results) -> tuple[str, ...]:
        return () if self.alone or len(results.strategies) < 3 else (_OF_ALL,)


def _with_p_values(tests: PairStatistics, side: str) -> dict[str, Both]:
    """Return the tables of a test, with its p-values and which strategy is better."""
    if tests.p is None:
        return dict(tests.tables)
    p = tests.p(side)
    other = p if side == "two-sided" else tests.p(_OTHER_SIDE[side])
    main = next(effect for effect in tests.effects.values() if isinstance(effect, Effect))
    return {
        "statistic": tests.tables["statistic"],
        "p_value": (p, other),
        **tests.tables,
        "better": odd(-np.sign(main.towards_worse)),
    }


_ENDS = {"": "value", " low": "low", " high": "high"}


def _late_table(pairs: Pairs, effect: Effect | LateEffect, end: str) -> Callable[[], pd.DataFrame]:
    def table() -> pd.DataFrame:
        if not end and isinstance(effect, LateEffect) and effect.value:
            value = effect.value()
            return pairs.square(value, 0.0 - value)
        made = effect.made if isinstance(effect, LateEffect) else effect
        return pairs.square(getattr(made, _ENDS[end]), getattr(made.turned(), _ENDS[end]))

    return table


class PairFunction(Protocol):
    """Public function of a test: all pairs as a `Pairwise`, or one pair as a `TestResult`."""

    test: PairTest
    __name__: str

    @overload
    def __call__(
        self, results: Results | pd.DataFrame, *args: Any, pair: None = None, **options: Any
    ) -> Pairwise: ...

    @overload
    def __call__(
        self, results: Results | pd.DataFrame, *args: Any, pair: Sequence[str], **options: Any
    ) -> TestResult: ...


def pair_test(**row: Any) -> Callable[[Callable[..., PairStatistics | Pairwise]], PairFunction]:
    """Return a decorator that makes a test of pairs from its computation; see `PairTest`.

    Examples
    --------
    >>> from mlaut.analysis.pairwise.effects import mean_difference
    >>> from mlaut.analysis.pairwise.pairs import paired_losses
    >>> @pair_test(name="Mean", null="none", source="")
    ... def mean_test(results, *, confidence=0.95):
    ...     d = paired_losses(results).differences
    ...     effect = mean_difference(d, confidence)
    ...     return PairStatistics(tables={}, effects={"mean difference": effect})
    >>> table = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, 0.4]})
    >>> round(mean_test(table, metric="error", pair=("B", "A")).effect.value, 3)
    0.2
    """
    test = PairTest(**row)
    added: dict[str, tuple[Any, Any]] = {"pair": (None, Pair | None)}
    if test.one_sided:
        added["alternative"] = ("two-sided", str)

    def decorate(compute: Callable[..., PairStatistics | Pairwise]) -> PairFunction:
        takes = signature(compute)

        @wraps(compute)
        def run(
            results: Results, *args: Any, pair: Sequence[str] | None = None, **options: Any
        ) -> Pairwise | TestResult:
            if pair is not None and test.alone:
                results = results.select(strategies=pair)
            own = {name: x for name, x in options.items() if name in takes.parameters}
            given = takes.bind(results, *args, **own)
            given.apply_defaults()
            answer = compute(*given.args, **given.kwargs)
            if isinstance(answer, PairStatistics):
                answer = test.lay_out(results, answer, {**options, **given.arguments})
            return answer if pair is None else answer.pair(*pair)

        function = of_results(extend_signature(run, added, _PAIR_TEXT, Pairwise | TestResult))
        function.test = test  # type: ignore[attr-defined]
        return cast("PairFunction", function)

    return decorate
