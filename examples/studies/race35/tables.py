"""Write the tables of README.md to ``results``, after the race and ``--complete``."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Results,
    average_ranks,
    nemenyi_test,
    wilcoxon_test,
)
from mlaut.errors import MlautError
from mlaut.files_io import StudyStore

try:
    from mlaut_races import Race, StudyRace, race
except ImportError:
    sys.exit("races are a plug-in: 'pip install ./plugins/races' in a copy of MLaut's repository")

HERE = Path(__file__).parent
ORDERS = 200
ROPES = (0.0, 0.05)


def in_order(results: Results, seed: int, **terms: float) -> Race:
    """Return the race in the order of a seed, followed on the cells of the complete study."""
    return race(results, seed=seed, missing="failures last", **terms)


def strategies(results: Results) -> pd.DataFrame:
    """Return what the races and all cells say about each strategy."""
    ranks = average_ranks(results).frame["average_rank"]
    best = ranks.idxmin()
    table = pd.DataFrame({"average rank": ranks.round(2)})
    table["accuracy"] = (1 - results.losses.mean()).round(3)
    for seed in (1, 2):
        table[f"order {seed}"] = in_order(results, seed).to_frame()["state"]
    tests = {"Nemenyi": nemenyi_test(results), "signed rank, Holm": wilcoxon_test(results)}
    for name, pairs in tests.items():
        table[f"p against {best}, {name}"] = pairs.p_values[best].map("{:.2g}".format)
    return table.sort_values("average rank")


def orders(results: Results) -> pd.DataFrame:
    """Return what races in many random orders use and leave, by region of practical equality."""
    rows = []
    for rope in ROPES:
        found = [in_order(results, seed, rope=rope) for seed in range(ORDERS)]
        numbers = {
            "cells": [one.share_of_cells for one in found],
            "left": [len(one.left) for one in found],
            "answered": [one.answered for one in found],
        }
        errors = {f"{key} se": np.std(v, ddof=1) / ORDERS**0.5 for key, v in numbers.items()}
        means = {key: np.mean(values) for key, values in numbers.items()}
        rows.append({"rope": rope} | means | errors)
    return pd.DataFrame(rows).round(3)


def main() -> None:
    """Write everything."""
    (HERE / "results").mkdir(exist_ok=True)
    results = Results.from_study(HERE / "study.h5", "accuracy")
    strategies(results).to_csv(HERE / "results" / "strategies.csv")
    orders(results).to_csv(HERE / "results" / "orders.csv", index=False)
    ran = StudyRace.of(StudyStore(HERE / "study.h5")).now()
    texts = [ran.sentence(), *ran.decisions]
    for seed in (1, 2):
        followed = in_order(results, seed)
        texts += [f"order {seed}: {followed.sentence()}", *followed.decisions]
    (HERE / "results" / "races.txt").write_text("\n".join([*texts, ""]))


if __name__ == "__main__":
    try:
        main()
    except MlautError as error:
        sys.exit(f"{error} (mlaut run study.toml makes the study)")
