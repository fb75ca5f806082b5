"""Lay the study beside the paper: Tables 1 to 4 and 6 of Lacoste, Laviolette & Marchand (2012).

Reads the study as it stands, also before it is finished: tasks on which all four strategies are
done. ``paper_table6.csv`` and ``paper_pairs.csv`` hold what is printed; a confidence of the sign
test or the signed rank test has a minus where the second strategy is the better one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from table_tests import lacoste_comparison, lacoste_sign_test, lacoste_signed_rank_test

import mlaut.analysis as ma
from mlaut.analysis.methods import lacoste
from mlaut.errors import MlautError
from mlaut.files_io import StudyStore

HERE = Path(__file__).parent
NAMES = {
    "svm": "Lacoste_SVM",
    "ann": "Lacoste_ANN",
    "parzen": "Lacoste_Parzen",
    "adaBoost": "Lacoste_AdaBoost",
}
PAIRS = list(combinations(NAMES, 2))
SCALED = {"svm": "Lacoste_SVM_scaled", "parzen": "Lacoste_Parzen_scaled"}
ADJACENT = list(zip(list(NAMES)[:-1], list(NAMES)[1:], strict=True))
"""The pairs whose probabilities Table 6 prints."""
IN_TABLE_1 = ("Adult", "Glass", "MNIST:08", "Mushrooms", "Sonar")
TESTS = ("poisson_binomial", "sign", "signed_rank")


def results_of(study: StudyStore, names: Mapping[str, str] = NAMES) -> ma.Results:
    """Score the tasks on which all of some strategies are done, in the paper's order."""
    every = ma.Results.from_study(study, "accuracy").select(strategies=list(names.values()))
    done = ma.treat_missing(every, "drop datasets")
    return done.select(datasets=[name for name in paper_table6().index if name in done.datasets])


def paper_table6() -> pd.DataFrame:
    """Return the paper's Table 6, with the sizes of the test sets."""
    return pd.read_csv(HERE / "paper_table6.csv", index_col="dataset")


# --------------------------------------------------------------- single tasks


def counts(results: ma.Results, names: Mapping[str, str] = NAMES) -> pd.DataFrame:
    """Count the test points that only one of two strategies gets wrong (k_h and k_g)."""
    parts = []
    for first, second in PAIRS:
        h, g, n = lacoste.error_counts(results, names[first], names[second])
        only = {"only_first_wrong": h, "only_second_wrong": g, "n": n}
        parts.append(
            pd.DataFrame({"dataset": results.datasets, "first": first, "second": second, **only})
        )
    return pd.concat(parts, ignore_index=True)


def table6(results: ma.Results, counted: pd.DataFrame) -> pd.DataFrame:
    """Return the risks here and in the paper, and their difference in standard errors.

    Both risks are known up to a finite test set; the two are on different rows of a dataset.
    """
    paper, risks = paper_table6(), results.losses.to_numpy()
    n_test, n_train = results.n_test.sum(axis=(1, 2)), results.n_train.max(axis=(1, 2))
    frame = pd.DataFrame({"train": n_train, "test": n_test}, index=results.datasets)
    printed = paper.loc[list(results.datasets)]
    for place, name in enumerate(NAMES):
        frame[name], frame[f"{name} (paper)"] = risks[:, place], printed[name]
        frame[f"{name} z"] = z_of_risks(risks[:, place], n_test, printed[name], printed["n"])
    for first, second in ADJACENT:
        here = of_pair(counted, first, second)
        better, _ = lacoste.prob_better_classifier(
            here["only_first_wrong"], here["only_second_wrong"]
        )
        frame[f"{first} > {second}"] = better
        frame[f"{first} > {second} (paper)"] = printed[f"{first}_{second}"]
    return frame.rename_axis("dataset")


def scaled(study: StudyStore) -> pd.DataFrame:
    """Return the risks of both kernel strategies without and with scaled features, and printed."""
    every, paper = ma.Results.from_study(study, "accuracy"), paper_table6()
    columns = {}
    for name, other in SCALED.items():
        if other not in every.strategies:
            continue
        both = ma.treat_missing(every.select(strategies=[NAMES[name], other]), "drop datasets")
        printed, sizes = paper.loc[list(both.datasets)], both.n_test.sum(axis=(1, 2))
        known = (printed[name], printed["n"])
        for column, risks in zip((name, f"{name} scaled"), both.losses.T.to_numpy(), strict=True):
            columns[column] = pd.Series(risks, both.datasets)
            columns[f"{column} z"] = pd.Series(z_of_risks(risks, sizes, *known), both.datasets)
        columns[f"{name} (paper)"] = printed[name]
    return pd.DataFrame(columns).rename_axis("dataset")


def counts_on_scaled(study: StudyStore) -> pd.DataFrame | None:
    """Count errors with scaled features for the kernels, where both were tried."""
    tried = ma.Results.from_study(study, "accuracy").strategies
    if not set(SCALED.values()) <= set(tried):
        return None
    return counts(results_of(study, NAMES | SCALED), NAMES | SCALED)


def of_pair(counted: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Choose the counts of one pair of strategies."""
    return counted[(counted["first"] == first) & (counted["second"] == second)]


def z_of_risks(here, n_here, there, n_there) -> np.ndarray:
    """Divide the difference of two risks by its standard error, from the posteriors of both."""
    posteriors = [
        lacoste.risk_posterior(np.rint(np.asarray(risk) * n), n)
        for risk, n in ((here, n_here), (there, n_there))
    ]
    spread = np.hypot(*(posterior.standard_deviation for posterior in posteriors))
    return (np.asarray(here) - np.asarray(there)) / spread


# --------------------------------------------------------------- over tasks


def pairs_of(counted: pd.DataFrame) -> pd.DataFrame:
    """Compare all pairs by the three tests: the paper's Tables 2, 3 and 4 in one."""
    rows = {}
    for first, second in PAIRS:
        one = of_pair(counted, first, second)
        h, g = one["only_first_wrong"].to_numpy(), one["only_second_wrong"].to_numpy()
        tests = lacoste_comparison(h, g, one["n"], (first, second))
        rows[first, second] = {
            **confidences(tests, first),
            "wins": (h < g).sum(),
            "losses": (h > g).sum(),
        }
    return with_shares(pd.DataFrame.from_dict(rows, orient="index"))


def confidences(tests: tuple[ma.TestResult, ...], first: str) -> dict[str, float]:
    """Return the probability, and the signed confidences 1 - p of the two other tests."""
    bayes, sign, ranks = tests
    half = (sign.n - sign.ties) / 2
    return {
        "poisson_binomial": bayes.probabilities[f"P({first} better)"],
        "sign": np.copysign(1 - sign.p_value, sign.statistic - half),
        "signed_rank": np.copysign(1 - ranks.p_value, ranks.effects[0].value),
    }


def pairs_of_risks(table: pd.DataFrame) -> pd.DataFrame:
    """Do the same from printed risks: what the paper's Table 6 gives for its Tables 2, 3 and 4.

    The Poisson binomial test for the three pairs whose probabilities are printed. Differences below
    a rounding of the risks are ties here, and were not all ties for the authors.
    """
    rows = {}
    for first, second in PAIRS:
        gain = (table[second] - table[first]).round(6).to_numpy()
        wins, losses = (gain > 0).sum(), (gain < 0).sum()
        sign = lacoste_sign_test(wins, losses, (first, second), ties=(gain == 0).sum())
        p = table.get(f"{first}_{second}", pd.Series([0.5] * len(table)))
        bayes = lacoste.poisson_binomial_from_probabilities(p, (first, second))
        tests = (bayes, sign, lacoste_signed_rank_test(gain, (first, second)))
        rows[first, second] = {**confidences(tests, first), "wins": wins, "losses": losses}
        if (first, second) not in ADJACENT:
            rows[first, second]["poisson_binomial"] = np.nan
    return with_shares(pd.DataFrame.from_dict(rows, orient="index"))


def with_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the posterior mean and standard deviation of the share of wins."""
    share = lacoste.risk_posterior(frame["wins"], frame["wins"] + frame["losses"])
    frame["share"], frame["share_error"] = share.mean, share.standard_deviation
    return frame.rename_axis(["first", "second"])


def tables2to4(counted: pd.DataFrame, on_scaled: pd.DataFrame | None) -> pd.DataFrame:
    """Lay up to five versions of the paper's Tables 2 to 4 side by side.

    As printed; from the printed Table 6, all 22 tasks and, unless that is the same, those that are
    here; and from this study, without and with scaled features for the kernels.
    """
    printed = pd.read_csv(HERE / "paper_pairs.csv", index_col=["first", "second"])
    paper, tasks = paper_table6(), counted["dataset"].unique()
    sources = {"printed": printed, "from Table 6": pairs_of_risks(paper)}
    if len(tasks) < len(paper):
        sources["from Table 6, tasks here"] = pairs_of_risks(paper.loc[tasks])
    sources["here"] = pairs_of(counted)
    if on_scaled is not None:
        sources["here, scaled"] = pairs_of(on_scaled)
    return pd.concat(sources, axis=1).swaplevel(axis=1)[
        [
            (test, source)
            for test in (*TESTS, "wins", "losses", "share", "share_error")
            for source in sources
            if test in sources[source]
        ]
    ]


def reachable(draws: int = 100) -> pd.DataFrame:
    """Return what Table 4 can hold: tests of whole counts that round to the printed risks.

    ``as_printed`` are those with the paper's recursion, whose probabilities add up to 2.
    """
    paper, rng = paper_table6(), np.random.default_rng(0)
    n, rows = paper["n"].to_numpy(), {}
    for first, second in PAIRS:
        p = []
        for _ in range(draws):
            one, other = (draw_counts(paper[name].to_numpy(), n, rng) for name in (first, second))
            p.append(lacoste_signed_rank_test((other - one) / n).p_value)
        low, high = 1 - max(p), 1 - min(p)
        doubled = {"as_printed_low": 2 * low - 1, "as_printed_high": 2 * high - 1}
        rows[first, second] = {"low": low, "high": high, **doubled}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["first", "second"])


def draw_counts(risk: np.ndarray, n: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw numbers of errors that round to the risks in three digits."""
    low = np.ceil((risk - 0.0005) * n - 1e-9).clip(min=0).astype(int)
    high = np.floor((risk + 0.0005) * n + 1e-9).astype(int)
    return rng.integers(low, np.maximum(low, high) + 1)


# --------------------------------------------------------------- what tuning did


def tuning(study: StudyStore) -> pd.DataFrame:
    """Say for every cell what tuning chose, of how many candidates, and in how many seconds."""
    short = {long: name for name, long in NAMES.items()}
    short |= {long: f"{name} scaled" for name, long in SCALED.items()}
    rows = []
    for dataset, cells in study.all_details():
        for cell in cells:
            seconds = dict(zip(("tuning_s", "fit_s", "predict_s"), cell["seconds"], strict=True))
            about = {
                key: cell.get(key) for key in ("candidates", "candidates_scored", "tuning_score")
            }
            chosen = cell.get("best_params") or {}
            told = " ".join(f"{key}={of_number(value)}" for key, value in chosen.items())
            rows.append(
                {"dataset": dataset, "strategy": short[cell["strategy"]], "status": cell["status"]}
                | about
                | {"chosen": told}
                | seconds
            )
    return pd.DataFrame(rows).set_index(["dataset", "strategy"])


def of_number(value: object) -> str:
    """Write a parameter shortly."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def searched(cells: pd.DataFrame) -> pd.DataFrame:
    """Say of how many cells the whole grid was scored, and which share of it of the others."""
    done = cells[cells["status"] == "done"]
    share = done["candidates_scored"].fillna(done["candidates"]) / done["candidates"]
    seconds = done[["tuning_s", "fit_s", "predict_s"]].sum(axis=1)
    frame = pd.DataFrame({"share": share, "whole": share == 1, "seconds": seconds})
    return frame.groupby("strategy", sort=False).agg(
        cells=("share", "size"),
        whole_grid=("whole", "sum"),
        least_share=("share", "min"),
        median_share=("share", "median"),
        seconds=("seconds", "sum"),
    )


# --------------------------------------------------------------- all


def read(study: StudyStore) -> dict[str, pd.DataFrame]:
    """Make all tables of what is done."""
    results = results_of(study)
    counted, cells = counts(results), tuning(study)
    risks = table6(results, counted)
    return {
        "counts": counted.set_index(["dataset", "first", "second"]),
        "table6": risks,
        "table1": risks.loc[[name for name in IN_TABLE_1 if name in risks.index]].drop(
            columns=[name for name in risks if "adaBoost" in name]
        ),
        "tables2to4": tables2to4(counted, counts_on_scaled(study)),
        "scaled": scaled(study),
        "tuning": cells,
        "searched": searched(cells),
    }


def write(study: Path, folder: Path) -> dict[str, pd.DataFrame]:
    """Write each table as CSV and most of them in one Markdown page; draw the pairs."""
    tables = {**read(StudyStore(study)), "table4_reachable": reachable()}
    folder.mkdir(parents=True, exist_ok=True)
    page = []
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", float_format="%.6g")
        if name not in ("counts", "tuning"):
            shown = ma.ResultTable(name=name, frame=table, source="")
            page.append(f"## {name}\n\n{shown.to_markdown()}\n")
    (folder / "tables.md").write_text("\n".join(page), encoding="utf-8")
    return tables


if __name__ == "__main__":
    try:
        write(HERE / "study.h5", HERE / "results")
    except MlautError as error:
        sys.exit(f"{error} (python run.py makes the study)")
