"""Classes of results: an estimate, a test, a test of all pairs, and a table of estimates.

Numbers are stored unrounded and rounded only for display. No p-value is 0: a p-value below
`SMALLEST_P`, the smallest normal floating-point number, is stored as that number, with a note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from mlaut.analysis.common.arguments import one_of
from mlaut.analysis.common.display import SCENARIOS, SMALLEST_P, Shown, number, p_text, tabulated
from mlaut.analysis.common.late import Late, changed
from mlaut.analysis.common.letters import letter_groups
from mlaut.errors import AnalysisError
from mlaut.helpers.lazy import pd

_BETTER = "P(row better)"
_UNDERFLOW = f"p is below {SMALLEST_P:.1e}, the smallest number kept here: it is an upper bound"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Result(Shown):
    """Base class of all results, which have a name, a scenario and notes."""

    name: str
    scenario: str = "(c)"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        one_of("scenario", self.scenario, SCENARIOS)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _Tested(_Result):
    """Base class of results of tests, of one pair or of all; `TestResult` explains its fields."""

    strategies: tuple[str, ...]
    null: str
    source: str
    metric: str = ""
    alternative: str = "two-sided"
    statistic_name: str = "statistic"
    df: float | tuple[float, ...] | None = None
    n: int = 0
    unit: str = "datasets"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Estimate(_Result):
    """Estimated number with its standard error and interval.

    Attributes
    ----------
    name : str
        What is estimated, for example ``"mean difference"``.
    value : float
    standard_error : float
        NaN where the method has none.
    low, high : float
        Ends of the interval; NaN where there is none.
    confidence : float, default 0.95
        Confidence of the interval.
    method : str
        Method of the interval: ``"normal"``, ``"t"``, ``"Wilson"``, ...
    quantile : float
        Number of standard errors on each side of the interval, if the sentence names the method;
        else NaN.
    scenario : str
        Scenario that the guarantee covers: a key of `SCENARIOS`.
    n : int
        Sample size, in ``unit``.
    unit : str, default "datasets"
    notes : tuple of str

    Examples
    --------
    >>> Estimate(name="mean loss", value=0.25, low=0.125, high=0.375, scenario="(a)").sentence()
    'mean loss 0.25, 95 % interval [0.125, 0.375], scenario (a)'
    """

    value: float
    standard_error: float = np.nan
    low: float = np.nan
    high: float = np.nan
    confidence: float = 0.95
    method: str = ""
    quantile: float = np.nan
    n: int = 0
    unit: str = "datasets"

    def title(self) -> str:  # noqa: D102 - inherited
        method = f", {self.method}" if self.method else ""
        return f"{self.name} ({SCENARIOS[self.scenario]}{method})"

    def to_frame(self) -> pd.DataFrame:
        """Return one row: value, standard error, interval, confidence, method, scenario, n."""
        keys = ("value", "standard_error", "low", "high", "confidence", "method", "scenario", "n")
        return pd.DataFrame({k: [getattr(self, k)] for k in keys}, index=pd.Index([self.name]))

    def words(self) -> str:
        """Return name, value and interval as a part of a sentence."""
        text = f"{self.name} {number(self.value)}"
        if np.isnan(self.low) and np.isnan(self.high):
            return text
        interval = f"[{number(self.low)}, {number(self.high)}]"
        if np.isfinite(self.quantile):
            interval += f" ({self.method}, quantile {number(self.quantile)})"
        return f"{text}, {number(100 * self.confidence)} % interval {interval}"

    def sentence(self) -> str:  # noqa: D102 - inherited
        return f"{self.words()}, scenario {self.scenario}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TestResult(_Tested):
    """Result of one test.

    Attributes
    ----------
    name : str
        Name of the test.
    strategies : tuple of str
        Compared strategies. Alternatives and differences are stated for the first against the
        others.
    null : str
        The null hypothesis, in words.
    source : str
        Paper, section or equation of the test.
    metric : str
    scenario : str, default "(c)"
        Scenario of the conclusion: a key of `SCENARIOS`.
    alternative : str, default "two-sided"
    statistic : float or None
    statistic_name : str
        For example ``"t"``.
    df : float, tuple of float, or None
        Degrees of freedom.
    p_value : float or None
        The p-value, in (0, 1].
    probabilities : mapping of str to float
        Probabilities by name, for example ``{"P(A better)": 0.9}``.
    effects : tuple of Estimate
        Effect sizes with their intervals, the main one first.
    n : int
        Sample size, in ``unit``.
    unit : str, default "datasets"
    ties : int
        Number of differences that are 0, or of tied blocks; the notes state their treatment.
    notes : tuple of str
        Notes on how to read the numbers.

    Examples
    --------
    >>> result = TestResult(name="Sign test", strategies=("A", "B"), metric="loss", n=12, ties=2,
    ...                     null="A and B are equally likely to be better", statistic=10,
    ...                     statistic_name="wins", p_value=0.0385742, source="Demsar 2006, 3.1.4")
    >>> result.sentence()
    'Sign test of A against B on loss (12 datasets, 2 ties): wins = 10, p = 0.0386, scenario (c).'
    """

    __test__: ClassVar[bool] = False  # pytest: not a class of tests

    statistic: float | None = None
    p_value: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    effects: tuple[Estimate, ...] = ()
    ties: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        named = {**self.probabilities, **({} if self.p_value is None else {"p": self.p_value})}
        for name, value in named.items():
            if not -1e-12 <= value <= 1 + 1e-12:
                raise AnalysisError(f"{self.name}: {name} = {value} is not a probability")
        if self.p_value is not None and self.p_value < SMALLEST_P:
            object.__setattr__(self, "p_value", SMALLEST_P)
            object.__setattr__(self, "notes", (*self.notes, _UNDERFLOW))

    @property
    def effect(self) -> Estimate | None:
        """Return the main effect size."""
        return self.effects[0] if self.effects else None

    def rejects(self, alpha: float = 0.05) -> bool:
        """Return whether the null hypothesis is rejected at level ``alpha``."""
        if self.p_value is None:
            raise AnalysisError(f"{self.name} has no p-value; see its probabilities")
        return self.p_value <= alpha

    def title(self) -> str:  # noqa: D102 - inherited
        of = _versus(self.strategies)
        return f"{self.name}: {of}" + (f", {self.metric}" if self.metric else "")

    def to_frame(self) -> pd.DataFrame:
        """Return one row with all numbers and texts.

        The statistic is in the column ``statistic``, and again under its own name (``"t"``,
        ``"wins"``).
        """
        row: dict[str, Any] = {"strategies": ", ".join(self.strategies), "metric": self.metric}
        row |= {"scenario": self.scenario, "alternative": self.alternative, "n": self.n}
        row |= {"ties": self.ties, "statistic": self.statistic, self.statistic_name: self.statistic}
        row |= {} if self.statistic is None else {"statistic_name": self.statistic_name}
        row["df"] = self.df
        row |= {"p_value": self.p_value, **self.probabilities}
        for effect in self.effects:
            row |= {effect.name: effect.value, f"{effect.name} low": effect.low}
            row |= {f"{effect.name} high": effect.high, f"{effect.name} method": effect.method}
        row |= {"null": self.null, "source": self.source, "notes": "; ".join(self.notes)}
        return pd.DataFrame([row], index=pd.Index([self.name])).dropna(axis="columns", how="all")

    def display_frame(self) -> pd.DataFrame:
        """Return the displayed table: one row for each number or text."""
        rows = [("null hypothesis", self.null), ("alternative", self.alternative)]
        if self.statistic is not None:
            rows.append((self.statistic_name, number(self.statistic, 6)))
        rows += [("degrees of freedom", number(self.df))] if self.df is not None else []
        rows += (
            [("p", p_text(self.p_value)[2:].removeprefix("= "))] if self.p_value is not None else []
        )
        rows += [(name, number(p)) for name, p in self.probabilities.items()]
        rows += [(effect.name, effect.words()[len(effect.name) + 1 :]) for effect in self.effects]
        rows += [("n", f"{self.n} {self.unit}"), ("ties", str(self.ties))]
        rows += [("scenario", f"{self.scenario}: {SCENARIOS[self.scenario]}")]
        rows += [("source", self.source)]
        return pd.DataFrame({"": [text for _, text in rows]}, index=[label for label, _ in rows])

    def sentence(self) -> str:  # noqa: D102 - inherited
        ties = f", {self.ties} tie{'s' * (self.ties > 1)}" if self.ties else ""
        on = f" on {self.metric}" if self.metric else ""
        start = f"{self.name} of {_versus(self.strategies)}{on} ({self.n} {self.unit}{ties}): "
        parts = []
        if self.statistic is not None:
            df = "" if self.df is None else f"({number(self.df)})"
            parts.append(f"{self.statistic_name}{df} = {number(self.statistic)}")
        if self.p_value is not None:
            side = "" if self.alternative == "two-sided" else f" ({self.alternative})"
            parts.append(p_text(self.p_value) + side)
        parts += [f"{name} = {number(p)}" for name, p in self.probabilities.items()]
        parts += [self.effects[0].words()] if self.effects else []
        return start + ", ".join([*parts, f"scenario {self.scenario}"]) + "."


def _versus(strategies: Sequence[str]) -> str:
    if len(strategies) == 2:
        return f"{strategies[0]} against {strategies[1]}"
    return strategies[0] if len(strategies) == 1 else f"{len(strategies)} strategies"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Pairwise(_Tested):
    """Result of one test for every pair of strategies.

    Attributes
    ----------
    name, null, source, metric, scenario, alternative, n, unit, notes
        The same as in `TestResult`.
    strategies : tuple of str, length K
    tables : mapping of str to DataFrame, each (K, K)
        Tables by name: ``"p_value"``, ``"statistic"``, ``"ties"`` and others, for example
        ``"P(row better)"``. Rows and columns are the strategies. The entry in row A and column B
        compares A against B; the diagonal is NaN.
    statistic_name : str
    df : float, tuple of float, or None
    effects : mapping of str to str
        Names of the tables that are effect sizes, the main one first, and the methods of their
        intervals. The ends of an interval are the tables ``"<name> low"`` and ``"<name> high"``.
    confidence : float, default 0.95
        Confidence of those intervals.
    pair_notes : mapping of (str, str) to str
        Notes on single pairs.

    Examples
    --------
    >>> p = pd.DataFrame([[np.nan, 0.01], [0.01, np.nan]], index=["A", "B"], columns=["A", "B"])
    >>> pairs = Pairwise(name="Paired t-test", strategies=("A", "B"), n=12, tables={"p_value": p},
    ...                  null="the expected difference is 0", source="MLaut 2019, Table 6")
    >>> pairs.to_frame()
           p_value
    A B       0.01
    >>> pairs.sentence()
    'Paired t-test of 2 strategies (12 datasets): 1 of 1 pairs at or below 0.05, scenario (c).'
    """

    tables: Mapping[str, pd.DataFrame]
    effects: Mapping[str, str] = field(default_factory=dict)
    confidence: float = 0.95
    pair_notes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        names, known = list(self.strategies), None
        now = self.tables.known if isinstance(self.tables, Late) else self.tables
        for key, table in now.items():
            for label in (table.index, table.columns):
                if (known is None or not label.is_(known)) and list(label) != names:
                    raise AnalysisError(f"{self.name}: table {key!r} is not labelled by {names}")
                known = label
        if "p_value" in self.tables and (self.p_values.to_numpy() < SMALLEST_P).any():
            floored = self.p_values.mask(self.p_values < SMALLEST_P, SMALLEST_P)
            object.__setattr__(self, "tables", changed(self.tables, p_value=floored))
            object.__setattr__(self, "notes", (*self.notes, _UNDERFLOW))

    @property
    def p_values(self) -> pd.DataFrame:
        """Table of the p-values of all pairs."""
        return self.table("p_value")

    @property
    def statistics(self) -> pd.DataFrame:
        """Table of the statistics of all pairs."""
        return self.table("statistic")

    def table(self, key: str) -> pd.DataFrame:
        """Return the table with the name ``key``; the statistic also has its own name."""
        if key == self.statistic_name:
            key = "statistic"
        if key not in self.tables:
            raise AnalysisError(f"{self.name} has no table {key!r}; it has {sorted(self.tables)}")
        return self.tables[key]

    def value(self, key: str, first: str, second: str) -> float:
        """Return the number in row ``first`` and column ``second`` of a table."""
        for name in (first, second):
            if name not in self.strategies:
                raise AnalysisError(f"{name!r} is not one of {', '.join(self.strategies)}")
        at = self.strategies.index(first), self.strategies.index(second)
        return float(self.table(key).to_numpy()[at])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs, each once, in the order of the strategies."""
        return list(combinations(self.strategies, 2))

    @property
    def labels(self) -> pd.MultiIndex:
        """Return the pairs as labels of rows."""
        return _labels(self.strategies).copy()

    def pair(self, first: str, second: str) -> TestResult:
        """Return the result of one pair; differences and alternatives are first against second."""
        if first == second:
            raise AnalysisError(f"{first!r} is not compared with itself: name two strategies")

        def get(key: str) -> float | None:
            return self.value(key, first, second) if key in self.tables else None

        note = self.pair_notes.get((first, second)) or self.pair_notes.get((second, first))
        same = {item.name: getattr(self, item.name) for item in fields(_Tested)}
        own = {"strategies": (first, second), "notes": (*self.notes, *((note,) if note else ()))}
        return TestResult(
            **(same | own),
            statistic=get("statistic"),
            p_value=get("p_value"),
            probabilities={key: self.value(key, first, second) for key in self._probabilities},
            effects=tuple(self._effect(name, get) for name in self.effects),
            ties=int(get("ties") or 0),
        )

    @property
    def _probabilities(self) -> list[str]:
        ends = {name + end for name in self.effects for end in ("", " low", " high")}
        return [key for key in self.tables if key[:2] in ("P(", "p ") and key not in ends]

    def _effect(self, name: str, get: Callable[[str], float | None]) -> Estimate:
        value, low, high = (get(name + end) for end in ("", " low", " high"))
        return Estimate(
            name=name,
            value=np.nan if value is None else value,
            low=np.nan if low is None else low,
            high=np.nan if high is None else high,
            confidence=self.confidence,
            method=self.effects[name],
            scenario=self.scenario,
            n=self.n,
            unit=self.unit,
        )

    def title(self) -> str:  # noqa: D102 - inherited
        of = f"{self.name} for all pairs of {len(self.strategies)} strategies"
        return of + (f", {self.metric}" if self.metric else "")

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each pair and one column for each table with a number for any pair."""
        index = self.labels
        upper = np.triu_indices(len(self.strategies), 1)
        columns = {key: table.to_numpy()[upper] for key, table in self.tables.items()}
        known = {key: x for key, x in columns.items() if not np.isnan(x).all()}
        return pd.DataFrame(known, index=index)

    def advantages(self) -> pd.DataFrame:
        """Return the effect sizes, turned so that above 0 the first strategy of a pair is better.

        The effects themselves are differences of losses or ranks, which are below 0 where the first
        is better, or shares, whose neutral value is 0.5. Here 0.5 is subtracted from shares.

        Returns
        -------
        DataFrame
            One row for each pair; for each effect its value and, where it has one, its interval:
            ``"<name>"``, ``"<name> low"``, ``"<name> high"``.
        """
        upper, columns = np.triu_indices(len(self.strategies), 1), {}
        for name in self.effects:
            both = self.table(name).to_numpy()
            is_share = np.ma.masked_invalid(both[upper] + both.T[upper]).mean() > 0.5  # 1, else 0
            ends = ("", " low", " high") if is_share else ("", " high", " low")
            for end, source in zip(("", " low", " high"), ends, strict=True):
                if name + source in self.tables:
                    value = self.table(name + source).to_numpy()[upper]
                    columns[name + end] = value - 0.5 if is_share else 0.0 - value
        frame = pd.DataFrame(columns, index=self.labels)
        return frame.dropna(axis="columns", how="all")

    def differ(self, alpha: float = 0.05) -> np.ndarray:
        """Return which strategies differ, as an array of bool, shape (K, K).

        Parameters
        ----------
        alpha : float, default 0.05
            Two strategies differ if a p-value of the pair is at most ``alpha``, or for a test
            without p-values if one is better with a probability of ``1 - alpha`` or more.

        Raises
        ------
        AnalysisError
            The result has neither p-values nor probabilities.
        """
        if "p_value" in self.tables:
            differ = self.p_values.to_numpy() <= alpha
        elif _BETTER in self.tables:
            differ = self.table(_BETTER).to_numpy() >= 1 - alpha
        else:
            raise AnalysisError(f"{self.name} has neither p-values nor probabilities to group by")
        return np.asarray(differ | differ.T)

    def wins(self, alpha: float = 0.05) -> np.ndarray:
        """Return which strategies (rows) are better than which, among those that `differ`."""
        return self._row_better & self.differ(alpha)

    @property
    def _row_better(self) -> np.ndarray:
        key, neutral = ("better", 0.0) if "p_value" in self.tables else (_BETTER, 0.5)
        return np.asarray(self.table(key).to_numpy() > neutral)

    def grouped(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return one row for each strategy, with letters: two differ if they share no letter.

        Parameters
        ----------
        alpha : float, default 0.05
            Level at which strategies differ; see `differ`.

        Returns
        -------
        DataFrame
            The strategies, with the one that is better than most others first: the numbers of
            strategies that it is ``better than`` and ``worse than`` among those that it differs
            from, and its ``groups``.
        """
        differ, wins, first_is_better = self.differ(alpha), self.wins(alpha), self._row_better
        score = wins.sum(axis=1) - wins.sum(axis=0)
        order = np.lexsort((-first_is_better.sum(axis=1), -score))
        columns = {"better than": wins.sum(axis=1)[order], "worse than": wins.sum(axis=0)[order]}
        columns["groups"] = letter_groups(~differ[np.ix_(order, order)])
        names = [self.strategies[i] for i in order]
        return pd.DataFrame(columns, index=pd.Index(names, name="strategy"))

    def to_latex(self, alpha: float = 0.05) -> str:
        """Return the table of `grouped` in LaTeX; ``to_frame().to_latex()`` has all pairs."""
        table = tabulated(self.grouped(alpha).map(number), "latex_booktabs")
        test = f"{self.name}, level {alpha:g}"
        return f"{table}\n% strategies that share a letter do not differ: {test}"

    def _surest(self) -> str:
        """Return the words for the pair with the largest probability.

        A count of pairs above a level would be a claim, which needs corrected probabilities.
        """
        better, n = self.table(_BETTER).to_numpy(), len(self.pairs)
        at = np.unravel_index(np.nanargmax(better), better.shape)
        first, second = (self.strategies[i] for i in at)
        claim = f"{first} better than {second} with probability {number(better[at])}"
        return (
            claim if n == 1 else f"surest of {n} pairs, not corrected for their number, is {claim}"
        )

    def sentence(self) -> str:  # noqa: D102 - inherited
        on = f" on {self.metric}" if self.metric else ""
        start = f"{self.name} of {len(self.strategies)} strategies{on} ({self.n} {self.unit}): "
        end = f", scenario {self.scenario}."
        if "p_value" not in self.tables:
            what = self._surest() if _BETTER in self.tables else f"{len(self.pairs)} pairs"
            return f"{start}{what}{end}"
        upper = np.triu_indices(len(self.strategies), 1)
        small = int((self.p_values.to_numpy()[upper] <= 0.05).sum())
        return f"{start}{small} of {len(self.pairs)} pairs at or below 0.05{end}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ResultTable(_Result):
    """Table of estimates with one row for each strategy or dataset.

    Attributes
    ----------
    name : str
    frame : DataFrame
        The unrounded numbers.
    source : str
    metric : str
    scenario : str, default "(c)"
    notes : tuple of str
    """

    frame: pd.DataFrame
    source: str
    metric: str = ""

    def title(self) -> str:  # noqa: D102 - inherited
        on = f" of {self.metric}" if self.metric else ""
        return f"{self.name}{on}, scenario {self.scenario}: {SCENARIOS[self.scenario]}"

    def to_frame(self) -> pd.DataFrame:
        """Return the table, unrounded."""
        return self.frame.copy()

    def sentence(self) -> str:  # noqa: D102 - inherited
        return f"{self.title()} ({len(self.frame)} rows)."


@lru_cache(maxsize=8)
def _labels(names: tuple[str, ...]) -> pd.MultiIndex:
    return pd.MultiIndex.from_tuples(list(combinations(names, 2)))
