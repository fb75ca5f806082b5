"""Simulate decisions with a known truth: levels, power, rank sets, P(best).

    python benchmarks/referee.py levels|nulls|ranks|best|claims SECONDS FOLDER [SEED]
    python benchmarks/referee.py tables FOLDER

Each command takes turns over all cells until its time is over. It writes its numbers into the
folder after each turn, with the number of studies and the standard error in each row. `tables`
makes the tables of the documentation from them. Truths, noise and sources are simulated.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from mlaut.analysis import Results, compare, race
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.sources.chances import chances
from mlaut.analysis.sources.cost import cost_bounds
from mlaut.analysis.sources.flips import flips, joint_of, joint_test, source_sums

SIZES = {
    "5": [1, 2, 4, 8, 15],
    "8": [1, 1, 2, 3, 4, 6, 10, 18],
    "12": [1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 12, 20],
    "GIFT 28/97": [8, 8, 8, 8, 7, 7, 6, 4, 4, 4, 4, 4, 3, 3, 3, 3, 2, *[1] * 11],
    "fev 31/100": [15, 6, 6, 5, *[4] * 5, *[3] * 10, *[2] * 6, *[1] * 6],
}
NOISES = ("even", "unequal", "sources", "heavy", "families")
TRUTHS = (
    "equal",
    "equal + bad",
    "half-normal + bad",
    "normal 1.5",
    "normal 5",
    "two groups",
    "two best",
    "skewed",
    "one star",
)
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results"


class Tally:
    """Means of the observed values, by cell and measure, with their standard errors."""

    def __init__(self) -> None:
        self.seen: defaultdict[tuple[Any, ...], list[float]] = defaultdict(list)

    def add(self, *key: object, **measures: float) -> None:
        """Add one value of each measure to a cell."""
        for measure, value in measures.items():
            self.seen[*key, measure].append(float(value))

    def frame(self, names: list[str]) -> pd.DataFrame:
        """Return one row for each cell and measure, rates in percent."""
        rows = [
            (*key, len(x), 100 * np.mean(x), 100 * _error(np.array(x)))
            for key, x in self.seen.items()
        ]
        columns = [*names, "measure", "studies", "percent", "standard error"]
        return pd.DataFrame(rows, columns=columns).sort_values(names, kind="stable").round(2)


def _error(x: np.ndarray) -> float:
    """Return the standard error of a mean; a share of 0 or 1 is moved by one success."""
    n = len(x)
    if x.min() == x.max() and x.max() in (0, 1):
        return float(np.sqrt((1 / (n + 2)) * (1 - 1 / (n + 2)) / n))
    return float(x.std(ddof=1) / n**0.5) if n > 1 else np.nan


def until(seconds: float) -> Iterator[int]:
    """Yield the numbers of turns until the time is over."""
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        yield turn
        turn += 1


# ------------------------------------------------------------------------ levels and power


def sources(name: str) -> np.ndarray:
    """Return the source of each dataset of a structure."""
    return np.repeat(np.arange(len(SIZES[name])), SIZES[name])


def study(
    rng: np.random.Generator, truth: np.ndarray, source: np.ndarray, correlation: float, kind: str
) -> np.ndarray:
    """Return losses of a study: noise of variance 1, correlated within sources."""
    n, g, k = len(source), source.max() + 1, len(truth)

    def noise(*shape: int) -> np.ndarray:
        if kind == "heavy":
            return rng.standard_t(2.5, shape) / 5**0.5
        if kind == "skewed":
            return rng.exponential(size=shape) - 1
        spread = np.where(np.arange(k) % 2, 0.5, 1.3) if kind == "unequal" else 1.0
        return rng.normal(size=shape) * spread

    shared, own = noise(g, k)[source], noise(n, k)
    return truth + np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


def differences(losses: np.ndarray) -> np.ndarray:
    """Return the differences of all pairs."""
    first, second = np.triu_indices(losses.shape[1], 1)
    return losses[:, first] - losses[:, second]


def of_means(d: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Return adjusted p-values of flips of the mean differences of sources."""
    sums = source_sums(d, source, "source")
    unit = sums / np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
    drawn = unit.astype(np.float32) @ flips(unit.shape[1]).T
    return joint_of(unit.sum(axis=1), -np.abs(unit).sum(axis=1), [drawn]).adjusted


def of_t(d: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Return Holm's p-values of the t-test of the mean differences of sources."""
    means = source_sums(d, source, "source")
    g = means.shape[1]
    t = means.mean(axis=1) / means.std(axis=1, ddof=1) * g**0.5
    return adjust(2 * student.sf(np.abs(t), g - 1), "holm")


RIVALS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "signed rank (default)": lambda d, s: joint_test(d, s).adjusted,
    "signs (default, other units)": lambda d, s: joint_test(np.sign(d), s).adjusted,
    "t of sources, Holm": of_t,
    "signed rank, each source once": lambda d, s: joint_test(d, s, "source").adjusted,
    "signed rank, each dataset once": lambda d, s: joint_test(d, s, "dataset").adjusted,
    "flips of source means": of_means,
}


def effect(source: np.ndarray, correlation: float, k: int) -> float:
    """Return a difference that about half of the pairs with it show, in units of the noise."""
    sizes = np.bincount(source)
    variance = 2 / (1 / (correlation + (1 - correlation) / sizes)).sum()
    bar = {5: 2.6, 20: 3.4}[k]  # roughly that of the joint test of many sources
    return float(variance**0.5 * bar * student.ppf(0.975, len(sizes) - 1) / 1.96)


def nulls(seconds: float, folder: Path, seed: int) -> None:
    """Count studies with a false claim where all strategies are equal."""
    levels(seconds, folder, seed, "referee_nulls.csv")


def levels(seconds: float, folder: Path, seed: int, file: str = "referee_levels.csv") -> None:
    """Count studies with a false claim if all are equal, and pairs shown if half differ."""
    rng, tally = np.random.default_rng(seed), Tally()
    with_power = file == "referee_levels.csv"
    noises = [("normal", c) for c in (0.0, 0.3, 0.5, 0.8)] + [("heavy", 0.5)]
    for _ in until(seconds):
        for name in SIZES:
            source = sources(name)
            for (kind, correlation), k in ((x, k) for x in noises for k in (5, 20)):
                cell = (name, kind, correlation, k)
                for at in range(20 if k == 5 else 8):
                    d = differences(study(rng, np.zeros(k), source, correlation, kind))
                    joint = joint_test(d, source)
                    tally.add(
                        *cell, "level", **{"signed rank (default)": joint.adjusted.min() <= ALPHA}
                    )
                    tally.add(*cell, "level", **{"top set lacks a given best": not joint.top()[0]})
                    if at % 2:
                        claims = list(RIVALS)[1:3]
                        found = {x: RIVALS[x](d, source).min() <= ALPHA for x in claims}
                        tally.add(*cell, "level", **found)
                better = np.arange(k) < k // 2
                truth = np.where(better, 0.0, effect(source, correlation, k))
                differ = differences(truth[None])[0] != 0
                for _ in range(with_power * (6 if k == 5 else 2)):
                    d = differences(study(rng, truth, source, correlation, kind))
                    for claim, test in RIVALS.items():
                        shown = test(d, source) <= ALPHA
                        tally.add(*cell, "power", **{claim: shown[differ].mean()})
        table = tally.frame(["sources", "noise", "correlation", "strategies", "kind"])
        table.to_csv(folder / file, index=False)


def ranks(seconds: float, folder: Path, seed: int) -> None:
    """Count studies in which the rank sets of all strategies hold at once."""
    rng, tally, k = np.random.default_rng(seed), Tally(), 20
    for _ in until(seconds):
        for name in list(SIZES)[1:]:
            source = sources(name)
            half = np.where(np.arange(k) < k // 2, 0.0, effect(source, 0.5, k))
            truths = {
                "equal": np.zeros(k),
                "two groups": half,
                "graded": half.max() * np.arange(k) / 9,
            }
            cells = [("equal", kind) for kind in ("normal", "heavy", "unequal", "skewed")]
            for shape, kind in [*cells, ("two groups", "normal"), ("graded", "normal")]:
                truth = truths[shape]
                best = 1 + (truth < truth[:, None]).sum(axis=1)
                worst = k - (truth > truth[:, None]).sum(axis=1)
                for _ in range(10 if shape == "equal" else 3):
                    joint = joint_test(differences(study(rng, truth, source, 0.5, kind)), source)
                    low, high = joint.ranks()
                    held = ((low <= best) & (worst <= high)).all()
                    tally.add(name, shape, kind, **{"all rank sets hold": held})
                    tally.add(name, shape, kind, **{"mean width": (high - low + 1).mean() / 100})
        tally.frame(["sources", "truth", "noise"]).to_csv(folder / "referee_ranks.csv", index=False)


# ------------------------------------------------------------------------ P(best)


def truths(rng: np.random.Generator, kind: str, k: int, se: float) -> np.ndarray:
    """Return true means of strategies, in units of the standard error ``se`` of a difference."""
    if kind == "equal":
        return np.zeros(k)
    if kind == "equal + bad":
        return se * np.r_[np.zeros(k - 1), 15]
    if kind == "half-normal + bad":
        return se * np.r_[np.abs(rng.normal(0, 1.5, k - 1)), 15]
    if kind == "two groups":
        return se * np.where(np.arange(k) < (k + 1) // 2, 0.0, 5.0)
    if kind == "two best":
        return se * np.r_[0, 0, 1 + np.abs(rng.normal(0, 3, k - 2))]
    if kind == "skewed":
        return se * 2 * rng.exponential(size=k) ** 2
    if kind == "one star":
        return se * np.r_[-4, np.zeros(k - 1)]
    return se * float(kind.split()[1]) * rng.normal(size=k)


def rows_of(rng: np.random.Generator, truth: np.ndarray, n: int, noise: str) -> np.ndarray:
    """Return one row for each source, with truth and noise of a kind."""
    k = len(truth)
    if noise == "unequal":
        return truth + rng.normal(size=(n, k)) * rng.uniform(0.4, 1.6, k)
    if noise == "sources":
        return truth + rng.normal(size=(n, k)) * rng.uniform(0.3, 1.7, (n, 1))
    if noise == "heavy":
        return truth + rng.standard_t(3, (n, k)) / 3**0.5
    if noise == "families":
        family = np.arange(k) % 2
        return truth + (
            0.6**0.5 * rng.normal(size=(n, 2))[:, family] + 0.4**0.5 * rng.normal(size=(n, k))
        )
    return truth + rng.normal(size=(n, k))


def cell(rng: np.random.Generator, kind: str, k: int, turn: int, tally: Tally) -> None:
    """Simulate one table, and count the claims about its leader."""
    n = int(rng.choice([8, 12, 20, 40, 100]))
    means = truths(rng, kind, k, (2 / n) ** 0.5)
    rows = rows_of(rng, means, n, NOISES[turn % len(NOISES)])
    best = means == means.min()
    said = chances(rows).of_best()
    at, leader = int(said.argmax()), int(rows.mean(axis=0).argmin())
    right = best / best.sum()
    edges = [0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99, 1.01]
    found = {"said": said[at], "right": right[at], "excess": said[at] - right[at]}
    found |= {"log score": -(right * np.log(np.maximum(said, 1e-3))).sum()}
    found |= {"leader is a best": best[at], "said below .5": said[at] < 0.5}
    cost = means[leader] - means.min()
    found |= {"bound covers": cost_bounds(rows)[leader] >= cost}
    if k <= 20 or turn % 4 == 0:
        inside = joint_test(differences(rows), np.arange(n)).top()
        found |= {
            "top set holds a given best": inside[means.argmin()],
            "top set is one": inside.sum() == 1,
        }
        if inside.sum() == 1:
            one = int(inside.argmax())
            used = {
                "use X: right": best[one],
                "use X: P(best)": said[one],
                "use X: P below .5": said[one] < 0.5,
            }
            found |= used
    for key in (
        ("bin", f"below {edges[np.searchsorted(edges, said[at], side='right')]}"),
        ("all", "all"),
    ):
        tally.add(*key, **found)
    tally.add("cell", f"{kind}, {k}", **found)
    tally.add("rows", f"{n}", **found)


def best(seconds: float, folder: Path, seed: int) -> None:
    """Count how often the strategy with the highest P(best) is the best, and measure its cost."""
    rng, tally = np.random.default_rng(seed), Tally()
    for turn in until(seconds):
        for kind in TRUTHS:
            for k in (3, 5, 10, 20, 50):
                cell(rng, kind, k, turn, tally)
        tally.frame(["by", "value"]).to_csv(folder / "referee_best.csv", index=False)


# ------------------------------------------------------------------------ through public functions


def related(rng: np.random.Generator, k: int, sizes: list[int], correlation: float) -> Results:
    """Return equal strategies on datasets that are related within sources."""
    source = np.repeat(np.arange(len(sizes)), sizes)
    table = pd.DataFrame(study(rng, np.zeros(k), source, correlation, "normal"))
    table.index = [f"d{i} of {g}" for i, g in enumerate(source)]
    results = Results.from_table(table.add_prefix("s"), greater_is_better=False)
    return results.with_clusters({name: name.split()[2] for name in table.index})


def claims_pair(results: Results) -> bool:
    """Return whether some pair of equal strategies is said to differ."""
    return bool(compare(results, n_samples=0).leading_pairs.differ(ALPHA).any())


def both(results: Results, claims: Callable[[Results], bool]) -> dict[str, bool]:
    """Return whether something is claimed with unknown sources, and with known ones."""
    unknown = replace(results, clusters=None)
    return {"sources unknown": claims(unknown), "sources known": claims(results)}


def loses_a_best(results: Results, **how: Any) -> bool:
    """Return whether a race drops the first strategy, which is as good as all others."""
    return results.strategies[0] not in race(results, **how).left


def sorted_table(rng: np.random.Generator) -> Results:
    """Return three strategies that win equally often in all, but not on large datasets."""
    quality = np.where(np.arange(120)[:, None] < 60, [1.0, 0.0, 0.5], [-1.0, 0.0, -0.5])
    table = pd.DataFrame(quality + rng.normal(size=(120, 3)), columns=[*"ABC"])
    table.index = [f"{size:03} rows" for size in range(120)]
    return Results.from_table(table, greater_is_better=False)


def advised(table: pd.DataFrame) -> dict[str, bool]:
    """Return whether a decision says which strategy to use, and how many datasets are needed."""
    found = compare(table, metric="accuracy", n_samples=0).decision()
    forecast = "told apart with" in found.sentence()
    return {"advice: use X": len(found.best) == 1, "a forecast": forecast}


FAMILIES = {
    "pair claimed, 12 sources of 5, correlation .8, K = 5": ([5] * 12, 5, 0.8),
    "pair claimed, 12 sources of 5, correlation .1, K = 2": ([5] * 12, 2, 0.1),
    "pair claimed, 12 sources of 5, correlation .3, K = 2": ([5] * 12, 2, 0.3),
    "pair claimed, 12 sources of 5, correlation .6, K = 2": ([5] * 12, 2, 0.6),
    "pair claimed, GIFT 28/97, correlation .3, K = 5": (SIZES["GIFT 28/97"], 5, 0.3),
    "pair claimed, GIFT 28/97, correlation .5, K = 5": (SIZES["GIFT 28/97"], 5, 0.5),
    "pair claimed, GIFT 28/97, correlation .7, K = 5": (SIZES["GIFT 28/97"], 5, 0.7),
}
TABLES = (("equal + bad", 20, 40), ("half-normal + bad", 20, 40), ("two groups", 10, 20))


def claims(seconds: float, folder: Path, seed: int) -> None:
    """Count false claims of `compare`, decisions and races, with known and unknown sources."""
    rng, tally = np.random.default_rng(seed), Tally()
    for turn in until(seconds):
        for name, (sizes, k, correlation) in FAMILIES.items():
            tally.add(name, **both(related(rng, k, sizes, correlation), claims_pair))
        raced = related(rng, 5, [10] * 10, 0.8)
        tally.add("race drops an equal strategy, 10 sources of 10", **both(raced, loses_a_best))
        by_size = sorted_table(rng)
        dropped = {"given order": loses_a_best(by_size, order=by_size.datasets)}
        dropped["by lot"] = loses_a_best(by_size, seed=turn)
        tally.add("race of a table sorted by size drops a best", **dropped)
        equal = pd.DataFrame(rng.normal(0.8, 0.03, (40, 20)).clip(0, 1)).add_prefix("s")
        tally.add("20 equal strategies", **advised(equal))
        tally.add("20 equal strategies and a dummy", **advised(equal.assign(dummy=0.4)))
        for kind, k, n in TABLES:
            means = truths(rng, kind, k, (2 / n) ** 0.5)
            said = chances(rows_of(rng, means, n, "even")).of_best()
            right = (means == means.min()) / (means == means.min()).sum()
            tally.add(f"P(best), {kind}, {k} x {n}", said=said.max(), right=right[said.argmax()])
        tally.frame(["claim"]).to_csv(folder / "referee_claims.csv", index=False)


# ------------------------------------------------------------------------ tables


def pooled(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the mean of each cell over several runs."""
    hits = table["percent"] * table["studies"]
    error = np.square(table["standard error"] * table["studies"])
    sums = table.assign(percent=hits, error=error).groupby(keys, sort=False)
    sums = sums[["studies", "percent", "error"]].sum()
    sums["percent"] /= sums["studies"]
    sums["standard error"] = np.sqrt(sums["error"]) / sums["studies"]
    return sums.drop(columns="error")


def wide(table: pd.DataFrame, across: list[str]) -> pd.DataFrame:
    """Return percentages side by side, with the studies and the largest standard error."""
    shown = table["percent"].round(1).unstack(across, sort=False)  # noqa: PD010 - nothing to average
    shown.columns = [
        " ".join(map(str, np.atleast_1d(name))) for name in shown.columns.to_flat_index()
    ]
    rest = [name for name in table.index.names if name not in across]
    by_row = table.groupby(level=rest, sort=False)
    shown["studies"] = by_row["studies"].max()
    shown["standard error"] = by_row["standard error"].max().round(1)
    return shown.reset_index()


def tables(folder: Path) -> None:
    """Write the tables of the documentation."""
    read = {path.stem: pd.read_csv(path) for path in folder.glob("referee_*.csv")}
    keys = ["sources", "strategies", "measure", "noise", "correlation"]
    both_runs = pd.concat([read["referee_levels"], read.get("referee_nulls")])
    order = list(SIZES)
    made = {}
    for kind, of_kind in both_runs.groupby("kind"):
        of_kind = of_kind.sort_values(
            ["strategies", "sources", "noise", "correlation"],
            key=lambda x: (
                x.map([*order, "normal", "heavy"].index) if x.name in ("sources", "noise") else x
            ),
        )
        table = wide(pooled(of_kind, keys), ["noise", "correlation"])
        made[f"referee_{kind}s" if kind == "level" else "referee_power"] = table
    ranked = read["referee_ranks"]
    made["referee_ranks"] = wide(
        pooled(ranked, ["truth", "noise", "measure", "sources"]), ["sources"]
    )
    best = pooled(read["referee_best"], ["by", "value", "measure"])
    cells = wide(best.loc[["cell"]].droplevel("by"), ["measure"])
    made["referee_best"] = cells[["value", "studies", "said", "right", "excess"]].assign(
        **{
            "standard error": best.loc["cell"]
            .xs("excess", level="measure")["standard error"]
            .round(1)
            .to_numpy()
        }
    )
    top = wide(best.loc[["all", "rows", "bin"]], ["measure"])
    top["log score"] = (top["log score"] / 100).round(2)
    top["value"] = top["value"].where(top["by"] != "rows", top["value"] + " rows")
    error = best["standard error"].xs("right", level="measure").round(1)
    top["standard error"] = [
        error[key] for key in zip(top["by"], top["value"].str.removesuffix(" rows"), strict=True)
    ]
    made["claims_of_best"] = top.drop(columns=["by", "excess"]).rename(columns={"value": "of"})
    made["referee_claims"] = read["referee_claims"].round(1)
    for name, table in made.items():
        table.to_csv(RESULTS / f"{name}.csv", index=False)


if __name__ == "__main__":
    if sys.argv[1] == "tables":
        tables(Path(sys.argv[2]))
    else:
        seconds, folder, *seed = sys.argv[2:]
        runs = {"levels": levels, "nulls": nulls, "ranks": ranks, "best": best, "claims": claims}
        runs[sys.argv[1]](float(seconds), Path(folder), int(seed[0]) if seed else 2026)
