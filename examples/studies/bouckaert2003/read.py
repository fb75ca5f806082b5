"""Read the studies that `run.py` made: tables and figures of what each test does.

::

    python read.py --folder . --out .

The tables say at which degrees of freedom a test holds its level, by the number of runs and the
level; how often it rejects where neither learner is better and where one is; and how often it says
the same when the same two learners are compared again on the same data with other random splits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from measures import Calibration, calibrate, rejection_rates, replicability

import mlaut.analysis as ma
from mlaut.analysis.methods import cross_validation

LEVELS = (0.01, 0.05, 0.1)
RUNS = (2, 3, 5, 7, 10)
SPLITS = (10, 20, 50, 100)
SHOWN = ("tree", "nearest neighbour")
PAIR = ("naive Bayes", "tree")
SETS = ("set1", "set2", "set3", "set4")
RATIO = 1 / 9  # of test to training rows, also of the random splits
FOLDED = [
    test.name
    for test in cross_validation.CV_TESTS.values()
    if not test.resampling and not test.name.startswith("5x2cv")
]
RESAMPLED = [test.name for test in cross_validation.CV_TESTS.values() if test.resampling]
HALVED = [name for name in cross_validation.CV_TESTS if name.startswith("5x2cv")]

Differences = Mapping[str, np.ndarray]


# ----------------------------------------------------------------------- differences


def load(folder: Path) -> dict[str, ma.Results]:
    """Score the studies of a folder, each as far as it went: datasets that are done."""
    paths = [path for path in sorted(folder.glob("*.h5")) if ".datasets" not in path.name]
    return {
        path.stem: ma.treat_missing(ma.Results.from_study(path, "accuracy"), "drop datasets")
        for path in paths
    }


def pair_differences(studies: Mapping[str, ma.Results]) -> dict[str, np.ndarray]:
    """Return the differences of each pair in each study: loss of the first minus the second.

    Of naive Bayes and the tree under the name of the study, of every further pair under
    ``<study>: <first>, <second>``. Shape (datasets, folds, runs), or (datasets, splits).
    """
    found = {}
    for study, results in studies.items():
        for pair in combinations(results.strategies, 2):
            name = study if pair == PAIR else f"{study}: {', '.join(pair)}"
            found[name] = cross_validation.cv_differences(results, pair=pair)
    return found


def experiments(x: np.ndarray, size: int) -> np.ndarray:
    """Cut the last axis, runs or splits, into experiments: (datasets, experiments, ..., size)."""
    return np.stack(np.split(x, x.shape[-1] // size, axis=-1), axis=1)


def choice(test: str) -> str:
    """Name the degrees of freedom: the calibrated ones where there are such."""
    return "calibrated" if cross_validation.CV_TESTS[test].calibratable else "default"


# ------------------------------------------------------------------------ the tables


def accuracy_table(studies: Mapping[str, ma.Results]) -> pd.DataFrame:
    """Return the number of cells of each study and the mean accuracy of each strategy."""
    rows = {
        name: {
            "scheme": " x ".join(map(str, results.cells.shape[:1:-1])),
            "datasets": len(results.datasets),
            "cells": results.cells.size,
            **dict(zip(results.strategies, results.cells.mean(axis=(0, 2, 3)), strict=True)),
        }
        for name, results in studies.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("study")


def pair_table(differences: Differences) -> pd.DataFrame:
    """Return one row a study and pair: how far the two are apart, with a standard error."""
    rows = {}
    for name, x in differences.items():
        mean = x.reshape(len(x), -1).mean(axis=1)
        rows[name] = {
            "mean difference": mean.mean(),
            "standard error": mean.std(ddof=1) / np.sqrt(len(x)),
            "sd over datasets": mean.std(ddof=1),
            "effective n": effective_n(x),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("study")


def effective_n(x: np.ndarray) -> float:
    """Say how many independent differences would have an average that varies as much.

    The mean variance of the differences within a dataset, by the mean square of their average.
    """
    flat = x.reshape(len(x), -1)
    return float(flat.var(axis=1, ddof=1).mean() / np.mean(flat.mean(axis=1) ** 2))


def effective_table(differences: Differences) -> pd.DataFrame:
    """Return the effective number of differences on set 1 by pair and number of runs."""
    rows = {
        name.partition(": ")[2] or ", ".join(PAIR): {
            runs: effective_n(x[..., :runs]) for runs in (1, *RUNS)
        }
        for name, x in differences.items()
        if name.partition(": ")[0] == "set1"
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("pair")


def calibration_table(differences: Differences) -> pd.DataFrame:
    """Calibrate each test on the null datasets, for several numbers of runs or of splits.

    ``low`` and ``high`` are the degrees of freedom whose type I error is within one standard error
    of the level; empty where there are none.
    """
    parts = []
    for name, x in differences.items():
        study, _, pair = name.partition(": ")
        if study not in ("set1", "set1_splits"):
            continue
        for size in SPLITS if x.ndim == 2 else RUNS:
            found = calibrate(x[..., :size], levels=LEVELS, test_to_train=RATIO)
            frame = found.best().join(_near(found)).assign(datasets=len(x))
            parts.append(frame.assign(pair=pair or ", ".join(PAIR), runs=size))
    table = pd.concat(parts).set_index(["pair", "runs"], append=True)
    return table.reorder_levels(["pair", "test", "runs", "level"])


def _near(found: Calibration) -> pd.DataFrame:
    rows = {}
    for test in found.rates.index.unique(level=0):
        for level in LEVELS:
            rates = found.rates.loc[test, level]
            near = rates.index[(rates - level).abs() <= found.standard_error(level)]
            rows[test, level] = (near.min(), near.max()) if len(near) else (np.nan, np.nan)
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["low", "high"])
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["test", "level"])
    return frame


def schemes(differences: Differences, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Return each test that a set of datasets allows, with the first experiment that it takes."""
    for test in FOLDED:
        yield test, differences[name][..., :10]
    for test in RESAMPLED:
        if (x := differences.get(f"{name}_splits")) is not None:
            yield test, x[..., :10]
    for test in HALVED:
        yield test, differences[f"{name}_halves"][..., :5]


def rates_table(differences: Differences) -> pd.DataFrame:
    """Return the share of rejected datasets by test, set and level."""
    rows = {}
    for name in SETS:
        for test, x in schemes(differences, name):
            for df in dict.fromkeys((choice(test), "default")):
                found = rejection_rates(x, [test], df, LEVELS, RATIO).frame.loc[test]
                named = {f"{level:g}": rate for level, rate in found.items()}
                rows[test, df, name] = named | {"datasets": len(x)}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["test", "df", "set"])
    return frame


def runs_table(differences: Differences, calibration: pd.DataFrame) -> pd.DataFrame:
    """Return type I error and power (set 3) at 5 % by the number of runs, or of random splits.

    Each test has the degrees of freedom that were calibrated here for that number.
    """
    best = calibration.xs(", ".join(PAIR)).xs(0.05, level="level")
    rows = {}
    for (test, runs), row in best.iterrows():
        x = differences["set3_splits" if test in RESAMPLED else "set3"][..., :runs]
        p = cross_validation.cv_p_values(x, test, row["df"], RATIO)
        rows[test, runs] = {
            "df": row["df"],
            "type I error": row["type I error"],
            "power": float((p <= 0.05).mean()),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["test", "runs"])
    return frame


def replicability_table(differences: Differences) -> pd.DataFrame:
    """Return how often ten experiments on one dataset of set 3 agree, by test and level."""
    again = {
        "folds": experiments(differences["again"], 10),
        "splits": experiments(differences["set3_splits"], 10),
        "halves": experiments(differences["again_halves"], 5),
    }
    rows = {}
    for test in (*FOLDED, *RESAMPLED, *HALVED):
        x = again["splits" if test in RESAMPLED else "halves" if test in HALVED else "folds"]
        for level in LEVELS:
            same, pairs = replicability(x, test, choice(test), level, RATIO)
            power = rejection_rates(
                x.reshape(-1, *x.shape[2:]), [test], choice(test), [level], RATIO
            )
            rows[test, level] = {
                "all ten alike": same,
                "pairs alike": pairs,
                "rejected": power.frame.iloc[0, 0],
                "datasets": len(x),
            }
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["test", "level"])
    return frame


def pairs_table(differences: Differences) -> pd.DataFrame:
    """Return how often two experiments on one dataset agree at 5 %, by test and set.

    Experiments of 5 runs of 10 folds, of 10 random splits, and of 5 runs of 2 folds.
    """
    rows: dict[str, dict[str, float]] = {}
    for name in SETS:
        for test in (*FOLDED, *RESAMPLED, *HALVED):
            study = "_splits" if test in RESAMPLED else "_halves" if test in HALVED else ""
            if (x := differences.get(f"{name}{study}")) is None:
                continue
            size = 10 if test in RESAMPLED else 5
            two = experiments(x[..., : 2 * size], size)
            _, rows.setdefault(test, {})[name] = replicability(two, test, choice(test), 0.05, RATIO)
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")
    return frame.assign(least=frame.min(axis=1))


# ----------------------------------------------------------------------- the figures


def calibration_figure(table: pd.DataFrame, pair: str) -> Figure:
    """Draw calibrated degrees of freedom over runs, one panel a test, one line a level."""
    best = table.xs(pair)
    tests = [test for test in (*FOLDED, *RESAMPLED) if test in best.index]
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(3, 5, sharey=True).ravel()
    for axes, test in zip(panels, tests, strict=False):
        for level, color in zip(LEVELS, ("#9e6ebd", "#1f77b4", "#2b8a6e"), strict=True):
            one = best.loc[test].xs(level, level="level")
            x = np.arange(len(one))
            axes.set_xticks(x, one.index)
            if level * one["datasets"].iloc[0] < 1:
                continue
            axes.plot(x, one["df"], "o-", color=color, label=f"level {level:g}", markersize=4)
            axes.fill_between(x, one["low"], one["high"], color=color, alpha=0.15)
        axes.set_yscale("log")
        axes.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axes.minorticks_off()
        axes.set_title(test, fontsize=9)
        axes.set_xlabel("random splits" if test in RESAMPLED else "runs", fontsize=8)
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=8)
    for axes in panels[len(tests) :]:
        axes.set_axis_off()
    figure.supylabel("calibrated degrees of freedom")
    return figure


def tests_figure(rates: pd.DataFrame, again: pd.DataFrame) -> Figure:
    """Draw type I error, power and replicability of each test at 5 %; hollow: not calibrated."""
    at = again.xs(0.05, level="level").iloc[::-1]
    used = rates[[df == choice(test) for test, df, _ in rates.index]].reset_index()
    shown = used.pivot_table(index="test", columns="set", values="0.05").reindex(at.index)
    series = (
        (0, shown["set1"], "o", "#c0392b", "set 1"),
        (1, shown["set2"], "o", "#9ecae1", "set 2"),
        (1, shown["set3"], "o", "#4292c6", "set 3"),
        (1, shown["set4"], "o", "#08519c", "set 4"),
        (2, at["all ten alike"], "o", "#2b8a6e", "all ten alike"),
        (2, at["pairs alike"], "s", "#9e6ebd", "pairs alike"),
    )
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    y, held = (
        np.arange(len(at)),
        np.array([cross_validation.CV_TESTS[t].calibratable for t in at.index]),
    )
    for place, values, marker, color, label in series:
        kind = {"marker": marker, "edgecolors": color}
        panels[place].scatter(values[held], y[held], color=color, label=label, **kind)
        panels[place].scatter(values[~held], y[~held], facecolors="none", **kind)
    for axes, told in zip(panels, ("type I error", "power", "replicability"), strict=True):
        axes.set_xlabel(told)
        axes.set_xlim(-0.03, 1.03)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    panels[0].axvline(0.05, color="0.6")
    panels[0].set_yticks(y, at.index)
    return figure


# -------------------------------------------------------------- tables of the page


def df_page(calibration: pd.DataFrame) -> pd.DataFrame:
    """Return calibrated degrees of freedom over runs or splits, by learner and level in per cent.

    A dash stands where less than one dataset is expected to be rejected.
    """
    table = calibration.reset_index()
    table = table[table["pair"].isin([f"naive Bayes, {other}" for other in SHOWN])]
    few = table["datasets"] * table["level"] < 1
    learner = table["pair"].str.replace("naive Bayes, ", "")
    table = table.assign(
        df=table["df"].astype(int).astype(str).mask(few, "-"),
        head=learner + table["level"].map(", {:.0%}".format),
    )
    wide = table.pivot_table(
        index="test", columns="head", values="df", aggfunc=" ".join, sort=False
    )
    return wide.fillna("-")


def tests_page(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return type I error, power and replicability at 5 %, one row a test, in per cent."""
    rates = tables["rates"]
    used = rates[[df == choice(test) for test, df, _ in rates.index]].reset_index()
    wide = used.pivot_table(index="test", columns="set", values="0.05", sort=False)
    again = tables["replicability"].xs(0.05, level="level")[["all ten alike", "pairs alike"]]
    least = tables["pairs"]["least"].rename("least of all sets")
    shown = pd.concat([wide, again, least], axis=1).loc[again.index]
    return (100 * shown).map("{:.1f}".format).replace("nan", "-")


def markdown(frame: pd.DataFrame) -> str:
    """Write a frame as a table in Markdown."""
    texts = frame.reset_index().map(
        lambda value: f"{value:.4g}" if isinstance(value, float) else value
    )
    lines = [texts.columns, ["---"] * texts.shape[1], *texts.to_numpy()]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def page(tables: Mapping[str, pd.DataFrame]) -> str:
    """Write the tables that are shown in the page."""
    shown = {
        "Studies": tables["studies"],
        "Pairs": tables["differences"],
        "Degrees of freedom": df_page(tables["calibration"]),
        "Effective n": tables["effective_n"],
        "Tests": tests_page(tables),
    }
    return "\n".join(f"## {name}\n\n{markdown(frame)}\n" for name, frame in shown.items())


# ------------------------------------------------------------------------ all of it


def read(differences: Differences) -> dict[str, pd.DataFrame]:
    """Make every table that starts from differences."""
    calibration = calibration_table(differences)
    return {
        "differences": pair_table(differences),
        "effective_n": effective_table(differences),
        "calibration": calibration,
        "rates": rates_table(differences),
        "runs": runs_table(differences, calibration),
        "replicability": replicability_table(differences),
        "pairs": pairs_table(differences),
    }


def figures(tables: Mapping[str, pd.DataFrame]) -> dict[str, Figure]:
    """Draw the calibration against each learner, and what each test does."""
    drawn = {
        f"calibration_{other.replace(' ', '_')}": calibration_figure(
            tables["calibration"], f"naive Bayes, {other}"
        )
        for other in SHOWN
    }
    return drawn | {"tests": tests_figure(tables["rates"], tables["replicability"])}


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> None:
    """Read the studies of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(), help="of the studies")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the tables")
    given = parser.parse_args(arguments)
    studies = load(given.folder)
    if not studies:
        parser.error(f"no study in the folder {given.folder}: python run.py makes them")
    tables = {"studies": accuracy_table(studies), **read(pair_differences(studies))}
    given.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(given.out / f"{name}.csv", float_format="%.6g")
    (given.out / "tables.md").write_text(page(tables), encoding="utf-8")
    for name, figure in figures(tables).items():
        figure.savefig(given.out / f"{name}.png", dpi=80, pil_kwargs={"optimize": True})
    say(f"{', '.join(tables)}: {given.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
