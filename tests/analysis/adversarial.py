"""Random tables that are hard on statistics, and what may not happen with them in any method.

    PYTHONPATH=. python tests/analysis/adversarial.py 0 1000

It tries the tables 0 to 999, prints each fault, the errors by method, and how many calls there
were. It takes about 25 minutes of CPU time.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from everything import analysis
from matplotlib.figure import Figure

from mlaut.analysis import Comparison, Pairwise, Results, TestResult
from mlaut.analysis.common.display import Shown
from mlaut.errors import MlautError

NAMES = [
    "A",
    "B_1 & 50 %",
    "$x^2$",
    "a name of sixty characters, which no figure should ever cut",
    "é",
]
UP = [("accuracy", None), ("r2", None), ("mine", True)]
DOWN = [("misclassification", None), ("rmse", None), ("log_loss", None), ("mine", False)]
TREATMENTS = [name for name in analysis.TREATMENTS if name != "raise"]
# Methods that take long: of so many tables only one is tried, and none of more strategies.
RARE = {
    "box_plot": (10, 200), "critical_difference_diagram": (10, 200),
    "hierarchical_test": (50, 200),
    "under_treatments": (4, 10),
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A table with what is special about it, and the same with its gaps treated."""

    seed: int
    words: str
    raw: Results
    treated: Results


def case(seed: int) -> Case:
    """Return the table with this number."""
    rng = np.random.default_rng([17, seed])
    n = int(rng.choice([1, 2, 3, 5, 8, 13, 30, 80], p=[0.1, *[0.16] * 5, 0.08, 0.02]))
    k = int(rng.choice([2, 3, 5, 10, 30, 200], p=[0.3, 0.4, 0.22, 0.07, 0.008, 0.002]))
    folds = int(rng.choice([1, 1, 1, 2, 3])) if n * k < 500 else 1
    repeats = int(rng.choice([1, 2])) if folds > 1 else 1
    kind = str(rng.choice(list(KINDS)))
    values = KINDS[kind](rng, n, k)[:, :, None] * np.ones(repeats * folds)
    if folds > 1:
        values = values + rng.normal(0, 0.1, values.shape) * rng.choice([0, 1])
    words = [f"{n} x {k} x {repeats * folds}", kind]
    if k > 2 and rng.random() < 0.3:
        values[:, 1] = values[:, 0]
        words.append("equal columns")
    if rng.random() < 0.2:
        values[rng.integers(n)] = values.flat[0]
        words.append("a constant row")
    metric, up = (UP + DOWN)[rng.integers(7)]
    values = _in_range(rng, values, metric, words)
    if rng.random() < 0.3:
        share = rng.choice([0.01, 0.1, 0.5, 0.9])
        values[rng.random(values.shape) < share] = np.nan
        values[0, 0, 0] = 0.5 if np.isnan(values[0, 0, 0]) else values[0, 0, 0]
        words.append(f"{share:.0%} gaps")
    datasets = [f"d{i}" for i in range(n)]
    index: pd.Index = pd.Index(datasets)
    if folds > 1:
        index = pd.MultiIndex.from_product([datasets, range(repeats), range(folds)])
    table = pd.DataFrame(
        values.transpose(0, 2, 1).reshape(-1, k),
        index,
        NAMES[:k] + [f"s{i}" for i in range(k - 5)],
    )
    raw = Results.from_table(table, metric=metric, greater_is_better=up, n_train=90, n_test=10)
    treated = raw
    if len(raw.missing):
        how = str(rng.choice(TREATMENTS))
        words.append(how)
        try:
            treated = analysis.treat_missing(raw, how)
        except MlautError:
            words.append("not to be treated")
    return Case(seed, f"{seed}: {metric}, {', '.join(words)}", raw, treated)


KINDS = {
    "normal": lambda rng, n, k: rng.normal(size=(n, 1)) + rng.normal(size=(n, k)),
    "tied": lambda rng, n, k: rng.integers(0, 3, (n, k)) / 2,
    "heavy tails": lambda rng, n, k: rng.standard_cauchy((n, k)),
    "all equal": lambda rng, n, k: np.full((n, k), rng.choice([0.0, 1.0, -0.1])),
    "equal by row": lambda rng, n, k: np.tile(rng.normal(size=(n, 1)), k),
    "ordered": lambda rng, n, k: rng.normal(size=(n, 1)) + np.arange(k) * (1 + rng.random((n, 1))),
    "constant differences": lambda rng, n, k: rng.normal(size=(n, 1)) + np.arange(k) / 8,
    "near noise": lambda rng, n, k: (
        1 + 10.0 ** rng.uniform(-17, -8) * rng.normal(size=(n, k))
    ),
    "from 1e-12 to 1e12": lambda rng, n, k: (
        10.0 ** rng.uniform(-12, 12, (n, k)) * rng.choice([-1, 1], (n, k))
    ),
    "often and rarely": lambda rng, n, k: np.where(
        rng.random((n, k)) < 0.7, -1e-3 * rng.random((n, k)), rng.random((n, k))
    ),
    "one outlier": lambda rng, n, k: (
        rng.normal(size=(n, k)) + 1e9 * (np.arange(n * k).reshape(n, k) == rng.integers(n * k))
    ),
}  # fmt: skip


def _in_range(
    rng: np.random.Generator, values: np.ndarray, metric: str, words: list[str]
) -> np.ndarray:
    """Return values in the range of the metric, in hostile units where the range has no end."""
    if metric in ("accuracy", "misclassification"):
        spread = np.ptp(values)
        return (values - values.min()) / (spread if spread > 0 else 1.0)
    unit = 10.0 ** rng.uniform(-12, 12, (len(values), 1, 1) if rng.random() < 0.5 else ())
    words.append("own units" if unit.ndim else f"unit {unit:.0e}")
    values = np.clip(values, -1e100, 1e100) * unit
    if metric in ("rmse", "log_loss"):
        return np.abs(values)
    return np.minimum(values, 1.0) if metric == "r2" else values


# ------------------------------------------------------------------------ every method


def public(results: Results) -> list[str]:
    """Return the names of all public functions of results that `options` has all arguments for."""
    found = []
    for name in analysis.__all__:
        if inspect.isfunction(function := getattr(analysis, name)):
            takes = inspect.signature(function).parameters.items()
            needed = {key for key, one in takes if one.default is one.empty}
            if "results" in needed and needed <= {"results", *options(name, results)}:
                found.append(name)
    return found


def options(name: str, results: Results) -> dict[str, Any]:
    """Return what a method needs besides the results, and few draws."""
    first, second = results.strategies[0], results.strategies[-1]
    takes = inspect.signature(getattr(analysis, name)).parameters
    given: dict[str, Any] = {"n_samples": 40} if "n_samples" in takes else {}
    own = {
        "bonferroni_dunn_test": {"control": first},
        "correlated_t_datasets": {"rope": 0.01},
        "cv_differences": {"pair": [first, second]},
        "cv_test_datasets": {"df": 3},
        "error_counts": {"first": first, "second": second},
        "hierarchical_test": {"pair": [first, second]},
        "mcnemar_test": {"dataset": results.datasets[0]},
        "under_treatments": {"comparison": analysis.wilcoxon_test},
    }
    return given | own.get(name, {})


GAPS = {
    "box_plot", "compare", "dataset_estimates",
    "treat_missing", "under_treatments",
}  # fmt: skip


@dataclass
class Tried:
    """Calls, errors and faults so far."""

    calls: Counter[str]
    errors: Counter[tuple[str, str]]
    faults: list[str]


def attempt(one: Case, tried: Tried) -> None:
    """Call every method with one table; add faults, errors and calls to ``tried``."""
    found: dict[str, Any] = {}
    for name in public(one.raw):
        results = one.raw if name in GAPS else one.treated
        every, most = RARE.get(name, (1, 200))
        if one.seed % every or len(results.strategies) > most:
            continue
        tried.calls[name] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                value = getattr(analysis, name)(results, **options(name, results))
                texts = name != "compare" or one.seed % 5 == 0  # its tables are many
                wrong = broken(value, texts, gaps=len(results.missing) > 0)
                tried.faults += [f"{one.words} | {name}: {text}" for text in wrong]
        except MlautError as error:
            text = str(error)
            tried.errors[name, text] += 1
            if "\n" in text or len(text) > 400:
                tried.faults.append(f"{one.words} | {name}: not one line: {text}")
        except Exception as error:  # each is a fault
            tried.faults.append(f"{one.words} | {name}: {type(error).__name__} {error}")
        else:
            found[name] = value
    tried.faults += [f"{one.words} | {text}" for text in contradictions(found, one.treated)]


# ------------------------------------------------------------------- what may not happen


def broken(value: Any, texts: bool = True, gaps: bool = False) -> Iterator[str]:
    """Yield what is wrong with one result: a number that is promised and missing, or no number."""
    if isinstance(value, Figure):
        value.draw_without_rendering()
        return
    if isinstance(value, tuple):
        for part in value:
            yield from broken(part)
        return
    if not isinstance(value, Shown):
        if not isinstance(value, pd.DataFrame) and not np.isfinite(np.asarray(value, float)).all():
            yield "NaN or infinite"
        return
    if texts:
        for text in (value.sentence(), repr(value), value.to_latex()):
            if re.search(r"\bnan\b", text, re.IGNORECASE):
                yield f"nan in a text: {text[:200]}"
    value.to_frame()
    if isinstance(value, Comparison):
        for part in value.tables().values():
            yield from broken(part, texts=False)
    elif isinstance(value, TestResult):
        numbers = [value.p_value, *value.probabilities.values()]
        if any(x is not None and not 0 <= x <= 1 for x in numbers):
            yield f"a probability in {numbers}"
        for one in value.effects:
            yield from _not_between(one.name, one.low, one.value, one.high)
    elif isinstance(value, Pairwise):
        yield from _broken_pairs(value)
    elif isinstance(getattr(value, "pairs", None), Pairwise):
        yield from _broken_pairs(value.pairs)
    if isinstance(getattr(value, "frame", None), pd.DataFrame) and hasattr(value, "source"):
        yield from _broken_table(value.frame, gaps or bool(value.notes_text()))


def _broken_table(frame: pd.DataFrame, said: bool) -> Iterator[str]:
    for label, column in frame.items():
        name = str(label)
        if not pd.api.types.is_numeric_dtype(column):
            continue
        if name[:2] in ("P(", "p ", "p_") and not column.dropna().between(0, 1).all():
            yield f"{name} is no probability"
        if column.isna().any() and not said:
            yield f"{name} has NaN and no note"
    for end in ("", "rank ", "expected rank "):
        if {f"{end}low", f"{end}high"} <= set(frame):
            middle = next(
                (c for c in ("value", "rank_difference", "average_rank") if c in frame), ""
            )
            if middle:
                ends = frame[f"{end}low"], frame[middle], frame[f"{end}high"]
                yield from _not_between(middle, *(x.to_numpy() for x in ends))


def _not_between(name: str, low: Any, value: Any, high: Any) -> Iterator[str]:
    low, value, high = (np.asarray(x, float) for x in (low, value, high))
    near = 1e-9 * np.maximum(np.abs(low), np.abs(high))
    near = np.where(np.isfinite(near), near, 0.0)
    if name in ("probability of winning", "Kendall's W"):  # 1e-16 is 0 there
        near = np.maximum(near, 1e-6)
    if (low > value + near).any() or (value > high + near).any():
        yield f"{name} is outside of its interval: {low} {value} {high}"


def _broken_pairs(pairs: Pairwise) -> Iterator[str]:
    off = ~np.eye(len(pairs.strategies), dtype=bool)
    tables = {name: table.to_numpy() for name, table in pairs.tables.items()}
    promised = [t for t in tables if t in ("p_value", "statistic", "better") or t[:2] == "P("]
    for name in promised:
        values = tables[name][off]
        if np.isnan(values).any() and not (pairs.notes or pairs.pair_notes):
            yield f"{name} has NaN and no note"
        known = values[~np.isnan(values)]
        if name == "p_value" and ((known <= 0) | (known > 1)).any():
            yield f"p-values {known.min()} to {known.max()}"
        if name[:2] == "P(" and ((known < -1e-12) | (known > 1 + 1e-12)).any():
            yield f"{name} from {known.min()} to {known.max()}"
    if {"P(row better)", "P(column better)"} <= set(tables):
        total = tables["P(row better)"] + tables["P(column better)"]
        total = total + tables.get("P(equivalent)", 0.0)
        if not np.allclose(total[off], 1.0, atol=1e-6, equal_nan=True):
            yield "probabilities do not add up to 1"
        if not np.allclose(
            tables["P(row better)"][off], tables["P(column better)"].T[off], equal_nan=True
        ):
            yield "the two orders of a pair disagree"
    for name in pairs.effects:
        if f"{name} low" in tables:
            ends = (tables[f"{name}{end}"][off] for end in (" low", "", " high"))
            yield from _not_between(name, *ends)


_EXACT = {"rtol": 1e-6, "atol": 1e-9}


def contradictions(found: Mapping[str, Any], results: Results) -> Iterator[str]:
    """Yield pairs of methods that say different things of the same."""
    yield from _same_numbers(found)
    equal = [group for group in results.duplicates if len(group) > 1]
    for group in equal:
        yield from _not_alike(found, group)
    yield from _dominance(found, results)
    if "compare" in found:
        yield from _unsaid(found["compare"])


def _same_numbers(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield differences between numbers that two methods share."""
    columns = {
        "average rank": [("average_ranks", "average_rank"), ("scale_free_table", "average rank"),
                         ("bonferroni_dunn_test", "average_rank")],
        "P(best)": [("probability_of_best", "P(best)")],
    }  # fmt: skip
    for what, places in columns.items():
        tables = [(m, found[m].frame[c]) for m, c in places if m in found and c in found[m].frame]
        for name, other in tables[1:]:
            first = tables[0][1].reindex(other.index)
            if not np.allclose(first, other, **_EXACT):
                yield f"{what} of {tables[0][0]} and {name} differ"
    if "probability_of_best" in found:
        total = found["probability_of_best"].frame["P(best)"].sum()
        if not np.isclose(total, 1):
            yield f"P(best) add up to {total}"
    pairs = {name: found[name] for name in ("sign_test", "multi_comparison") if name in found}
    if len(pairs) == 2:
        wins = [np.nan_to_num(one.statistics.to_numpy()) for one in pairs.values()]
        if not np.array_equal(*wins):
            yield "wins of sign_test and multi_comparison differ"


def _not_alike(found: Mapping[str, Any], group: tuple[str, ...]) -> Iterator[str]:
    """Yield numbers of two equal strategies that are not equal."""
    a, b = group[:2]
    for name, value in found.items():
        pairs = value if isinstance(value, Pairwise) else getattr(value, "pairs", None)
        if isinstance(pairs, Pairwise) and {a, b} <= set(pairs.strategies):
            if "p_value" in pairs.tables and pairs.value("p_value", a, b) < 0.999:
                yield f"{name}: equal strategies have p = {pairs.value('p_value', a, b)}"
            better = "P(row better)"
            if better in pairs.tables:
                both = pairs.value(better, a, b), pairs.value(better, b, a)
                if abs(both[0] - both[1]) > (0.5 if name in _DRAWN else 1e-6):
                    yield f"{name}: equal strategies are better with {both}"
        frame = getattr(value, "frame", None)
        if name in _DRAWN or not isinstance(frame, pd.DataFrame):
            continue
        if isinstance(frame.index, pd.MultiIndex) or not {a, b} <= set(frame.index):
            continue
        rows = frame.loc[[a, b]].select_dtypes("number").to_numpy(dtype=float)
        if not np.allclose(rows[0], rows[1], equal_nan=True, **_EXACT):
            yield f"{name}: equal strategies have {rows.tolist()}"


# strategies have draws of their own there, so that equal ones differ by their Monte Carlo error
_DRAWN = {"bonferroni_dunn_test"}


def _dominance(found: Mapping[str, Any], results: Results) -> Iterator[str]:
    """Yield methods by which the strategy that is best on each dataset is not better."""
    losses = results.losses
    if losses.isna().any(axis=None) or len(losses) < 2 or losses.shape[1] < 2:
        return
    first = losses.columns[int(losses.mean().to_numpy().argmin())]
    others = losses.drop(columns=first)
    noise = 1e-9 * losses.abs().max(axis=1)
    if not (others.sub(losses[first], axis=0).gt(noise, axis=0)).all(axis=None):
        return
    for name, value in found.items():
        pairs = value if isinstance(value, Pairwise) else getattr(value, "pairs", None)
        if not isinstance(pairs, Pairwise) or first not in pairs.strategies:
            continue
        key = "better" if "better" in pairs.tables else "P(row better)"
        if key not in pairs.tables or name in ("ranksum_test", "unpaired_t_test"):
            continue
        if any("depend on each other exactly" in note for note in pairs.notes):
            continue
        row = pairs.table(key).loc[first].drop(first)
        other = pairs.table(key)[first].drop(first)
        if not (row >= other - 1e-9).all():
            yield f"{name}: {first} is best on each dataset and not better"
    for name, column in (("average_ranks", "average_rank"), ("probability_of_best", "P(best)")):
        if name in found and found[name].frame.index[0] != first:
            yield f"{name}: {first} is best on each dataset and not first by {column}"


def _unsaid(found: Comparison) -> Iterator[str]:
    """Yield opposite conclusions of two tests of a comparison that no note names."""
    every = {**found.pairs, **found.bayesian}
    wins: dict[tuple[str, str], list[str]] = {}
    for name, pairs in every.items():
        for i, j in np.argwhere(pairs.wins(found.alpha)).tolist():
            wins.setdefault((pairs.strategies[i], pairs.strategies[j]), []).append(name)
    against = [one for one in wins if one[::-1] in wins]
    if against and not any("chosen beforehand decides" in note for note in found.notes):
        yield f"tests contradict each other about {against[0]}, and no note says so"


def main() -> None:
    """Try the tables with the numbers of the command line."""
    tried, say = Tried(Counter(), Counter(), []), sys.stdout.write
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        before = len(tried.faults)
        attempt(case(seed), tried)
        say("".join(f"{fault}\n" for fault in tried.faults[before:]))
        sys.stdout.flush()
    say("".join(f"{n} {name}: {text}\n" for (name, text), n in sorted(tried.errors.items())))
    say(f"{sum(tried.calls.values())} calls of {len(tried.calls)} methods\n")
    say(f"{sum(tried.errors.values())} errors of MLaut, {len(tried.faults)} faults\n")


if __name__ == "__main__":
    main()
