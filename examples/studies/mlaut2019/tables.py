"""Lay the study beside the paper: its Table 8, and the two questions that the paper leaves open.

Reads the two studies as they stand, also before they are finished, and writes CSV tables and
pictures::

    python tables.py study.h5 trained.h5 --out results
    python tables.py --scores results/accuracy.csv --out results  # of a table of accuracies alone

``table8.csv`` holds Table 8 of Kazakov and Király (2019). ``--published`` is the table of errors on
121 datasets that the authors gave with an earlier version of their study.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_ind

import mlaut.analysis as ma
from mlaut.analysis import pairwise
from mlaut.analysis.methods import frequentist
from mlaut.files_io import StudyStore

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[1] / "data" / "mlaut2018_error.csv"
BASELINE = "BaselineClassifier"
PAPER = "_paper"
FOREST = "RandomForestClassifier"
BETTER = "P(row better)"
DEVELOPED_ON = {
    *("glass", "teaching", "statlog-vehicle", "balance-scale", "conn-bench-sonar-mines-rocks"),
    *("zoo", "hepatitis", "contrac", "german-credit", "tic-tac-toe", "car"),
    *("lymphography", "breast-cancer", "new-thyroid", "haberman-survival", "primary-tumor"),
    *("saheart", "bupa"),
}
"""The default protocol of networks was chosen on these: docs/networks.md."""


def cells_of(study: StudyStore) -> pd.DataFrame:
    """Return a row for every cell that was tried or skipped."""
    frame = pd.DataFrame([cell for _, cells in study.all_details() for cell in cells])
    if "candidates_scored" not in frame:
        frame["candidates_scored"] = np.nan
    return frame


def score(study: StudyStore, cells: pd.DataFrame) -> ma.Results:
    """Score the datasets on which every strategy was tried or skipped."""
    counts = cells.groupby("dataset").size()
    finished = [n for n in study.datasets if counts.get(n, 0) == len(study.strategies)]
    return ma.Results.from_study(study, "accuracy", datasets=finished)


def tried_everywhere(paper: ma.Results, trained: ma.Results, cells: pd.DataFrame) -> list[str]:
    """Return the networks that were tried on every dataset."""
    tried = cells[cells["dataset"].isin(paper.datasets) & (cells["status"] != "skipped")]
    counts = tried.groupby("strategy").size()
    return [n for n in trained.strategies if counts.get(n, 0) == len(paper.datasets)]


def with_networks(paper: ma.Results, trained: ma.Results, everywhere: list[str]) -> ma.Results:
    """Put sensibly trained networks in the place of those of the paper."""
    others = [name for name in paper.strategies if not name.endswith(PAPER)]
    table = paper.scores[others].join(trained.scores[everywhere])
    return ma.Results.from_table(table, metric="accuracy")


# --------------------------------------------------------------- the paper, and here


def beside_table8(results: ma.Results, seconds: pd.Series) -> pd.DataFrame:
    """Return ranks, accuracies, standard errors of scenario (c) and times, beside the paper's.

    In ranks the baseline stands in for cells without a result; accuracies are those of the
    ``datasets`` with one. ``z`` is the difference of the accuracies in standard errors, as if the
    two collections were samples of one population of datasets.
    """
    paper = pd.read_csv(HERE / "table8.csv", index_col="strategy")
    known = results.select(strategies=list(paper.index))
    ranks = ma.average_ranks(ma.treat_missing(known, BASELINE)).frame["average_rank"]
    here = pd.DataFrame(
        {
            "datasets": known.scores.count(),
            "rank": ranks,
            "accuracy": known.scores.mean(),
            "standard_error": known.scores.sem(),
            "seconds": seconds,
        }
    ).loc[paper.index]
    both = paper.add_suffix(" (paper)").join(here)
    spread = np.hypot(here["standard_error"], paper["standard_error"])
    both["z"] = (here["accuracy"] - paper["accuracy"]) / spread
    return both.sort_values("rank")


def on_the_same_datasets(results: ma.Results, matrix: pd.DataFrame) -> pd.DataFrame:
    """Compare errors here with the published ones, dataset by dataset."""
    names = {name: name.replace("-", "_") for name in results.datasets}
    shared = [name for name in results.datasets if names[name] in matrix.index]
    published = matrix.loc[[names[name] for name in shared]].set_axis(shared)
    here = results.losses.loc[shared]
    strategies = [name for name in matrix if name in here]
    difference = (here[strategies] - published[strategies]).dropna()
    return pd.DataFrame(
        {
            "datasets": len(difference),
            "error (published)": published.loc[difference.index, strategies].mean(),
            "error (here)": here.loc[difference.index, strategies].mean(),
            "difference": difference.mean(),
            "standard_error": difference.sem(),
            "z": difference.mean() / difference.sem(),
            "furthest": difference.abs().idxmax(),
            "there": [difference.loc[difference[s].abs().idxmax(), s] for s in strategies],
        }
    )


def baselines(study: StudyStore, results: ma.Results, matrix: pd.DataFrame) -> pd.DataFrame:
    """Lay the published errors of the baseline beside two ways to guess.

    ``majority`` always says the most frequent class, as the paper describes it; ``in proportion``
    draws labels in the proportions of the classes, and is the expected error over all rows.
    """
    rows = {}
    for name in results.datasets:
        published = matrix[BASELINE].get(name.replace("-", "_"))
        shares = np.bincount(study.load_split(name).truth) / len(study.load_split(name).truth)
        majority = results.losses.loc[name, BASELINE]
        rows[name] = {
            "published": published,
            "majority": majority,
            "in proportion": 1 - (shares**2).sum(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("dataset").dropna()


# --------------------------------------------------------------- what pairing changes


def pairing(results: ma.Results) -> pd.DataFrame:
    """Test every pair with and without its pairing, each family with Bonferroni's correction."""
    losses = results.losses
    paired = {"t": ma.t_test(results), "signed rank": ma.wilcoxon_test(results)}
    table = pd.DataFrame({name: test.to_frame()["p_value"] for name, test in paired.items()})
    unpaired = [ttest_ind(losses[first], losses[second]).pvalue for first, second in table.index]
    table["t, unpaired"] = unpaired
    table["rank sum, unpaired"] = frequentist.ranksum_test(results).to_frame()["p_value"]
    corrected = table.apply(lambda p: pairwise.adjust(p.to_numpy(), "bonferroni"))
    return table.join(corrected.add_suffix(", Bonferroni"))


def decided(table: pd.DataFrame, alpha: float = 0.05) -> pd.Series:
    """Count the pairs that each test tells apart."""
    return (table <= alpha).sum().rename("pairs decided").rename_axis(f"of {len(table)} pairs")


# ------------------------------------------------------------------------ networks


def elsewhere(results: ma.Results) -> ma.Results:
    """Leave out the datasets on which the default protocol of networks was chosen."""
    return results.select(datasets=[n for n in results.datasets if n not in DEVELOPED_ON])


def networks(paper: ma.Results, trained: ma.Results) -> pd.DataFrame:
    """Compare each network trained for one epoch, trained sensibly, and the forest.

    Only datasets on which all three have a result.
    """
    rows = {}
    for name in trained.strategies:
        columns = [paper.scores[[FOREST, name + PAPER]], trained.scores[name]]
        three = pd.concat(columns, axis=1, join="inner").dropna()
        mean = three.mean()
        rows[name] = {
            "datasets": len(three),
            "one epoch": mean[name + PAPER],
            "trained": mean[name],
            FOREST: mean[FOREST],
            "P(trained better than one epoch)": probability(three, name, name + PAPER),
            "P(forest better than trained)": probability(three, FOREST, name),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("network")


def probability(scores: pd.DataFrame, first: str, second: str) -> float:
    """Return the Bayesian signed-rank probability that the first is better on most new datasets."""
    if len(scores) < 2:
        return np.nan
    results = ma.Results.from_table(scores[[first, second]], metric="accuracy")
    return float(ma.bayesian_signed_rank_test(results, n_samples=50_000).to_frame()[BETTER].iloc[0])


# --------------------------------------------------------------------- how it went


def statuses(cells: pd.DataFrame) -> pd.DataFrame:
    """Count cells of each strategy by status, and those whose tuning was cut short."""
    counts = cells.pivot_table(
        index="strategy",
        columns="status",
        values="dataset",
        aggfunc="size",
        fill_value=0,
        sort=False,
    ).reindex(columns=["done", "skipped", "timeout", "error", "diverged"], fill_value=0)
    by_strategy = cells.groupby("strategy", sort=False)
    short = by_strategy["candidates_scored"].count().rename("tuning cut short")
    seconds = by_strategy["elapsed"].sum().rename("seconds")
    return counts.join([short, seconds])


# ----------------------------------------------------------------------- together


def of_accuracies(
    paper: ma.Results,
    trained: ma.Results,
    everywhere: list[str],
    seconds: pd.Series,
    published: Path,
) -> tuple[dict[str, pd.DataFrame], dict[str, ma.Results]]:
    """Make the tables of accuracies; with them the results of either way to train networks."""
    both = with_networks(paper, trained, everywhere)
    filled = {"paper": paper, "trained": both}
    filled = {name: ma.treat_missing(one, BASELINE) for name, one in filled.items()}
    matrix = pd.read_csv(published, index_col="dataset")
    tables = {
        "table8_here": beside_table8(paper, seconds),
        "ranks_trained": ma.average_ranks(filled["trained"], method="normal").frame,
        "ranks_trained_elsewhere": ma.average_ranks(
            elsewhere(filled["trained"]), method="normal"
        ).frame,
        "networks": networks(paper, trained),
        "pairing_here": pairing(filled["paper"]),
        "same_datasets": on_the_same_datasets(paper, matrix),
        "pairing_published": pairing(ma.Results.from_table(matrix, metric="error")),
    }
    return tables, filled


def read(
    path: Path, trained_path: Path, published: Path
) -> tuple[dict[str, pd.DataFrame], dict[str, ma.Results]]:
    """Make every table of the two studies."""
    study, second = StudyStore(path), StudyStore(trained_path)
    cells, cells_trained = cells_of(study), cells_of(second)
    paper, trained = score(study, cells), ma.Results.from_study(second, "accuracy")
    seconds = ma.AnalyseResults(study).average_training_time()["training"]
    everywhere = tried_everywhere(paper, trained, cells_trained)
    tables, filled = of_accuracies(paper, trained, everywhere, seconds, published)
    tables |= {
        "cells": statuses(pd.concat([cells, cells_trained])),
        "accuracy": paper.scores.join(trained.scores, how="outer").T,
        "baselines": baselines(study, paper, pd.read_csv(published, index_col="dataset")),
    }
    return tables, filled


def read_scores(
    path: Path, published: Path
) -> tuple[dict[str, pd.DataFrame], dict[str, ma.Results]]:
    """Make the tables of accuracies from `accuracy.csv`; seconds are of the table beside it."""
    scores = pd.read_csv(path, index_col="strategy").T
    later = [name for name in scores if name.startswith("NN-") and not name.endswith(PAPER)]
    paper = ma.Results.from_table(scores.drop(columns=later), metric="accuracy")
    trained = ma.Results.from_table(scores[later], metric="accuracy")
    seconds = pd.read_csv(path.parent / "table8_here.csv", index_col="strategy")["seconds"]
    everywhere = [name for name in later if scores[name].notna().all()]
    return of_accuracies(paper, trained, everywhere, seconds, published)


def main() -> None:
    """Read the command line, write tables and pictures, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", type=Path, nargs="*", help="study.h5 trained.h5")
    parser.add_argument("--scores", type=Path, help="accuracy.csv, in place of the studies")
    parser.add_argument("--published", type=Path, default=PUBLISHED)
    parser.add_argument("--out", type=Path, default=Path("results"))
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    if given.scores:
        tables, results = read_scores(given.scores, given.published)
    elif len(given.studies) == 2:
        tables, results = read(*given.studies, given.published)
    else:
        parser.error("name study.h5 and trained.h5, or --scores accuracy.csv")
    for name, table in tables.items():
        table.to_csv(given.out / f"{name}.csv", float_format="%.6g")
        if name.startswith("pairing"):
            sys.stdout.write(f"{decided(table).to_frame(name)}\n\n")
    for name, one in results.items():
        ma.critical_difference_diagram(one, pairs=ma.nemenyi_test(one)).savefig(
            given.out / f"ranks_{name}.png", dpi=110
        )
        sys.stdout.write(f"networks {name}: {len(one.datasets)} finished datasets\n")


if __name__ == "__main__":
    main()
