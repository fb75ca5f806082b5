"""Read a published table of fold scores through every method of mlaut.analysis that it allows.

The table is a CSV file with a column ``dataset``, a column ``fold``, a column ``run`` (or
``repeat``) where the cross-validation was repeated, and a column of scores for each strategy::

    python read.py benavoli2017_folds.csv.gz --percent --out benavoli2017

Each method gives one verdict on each pair of strategies: the first is better, the second is
better, the two are practically equivalent, or nothing is decided. The folder gets the verdicts,
how many pairs each method decides, how far the methods agree, the pairs on which they do not, the
verdicts on single datasets, the tests of all strategies together, and three figures.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import ndtr

import mlaut.analysis as ma
from mlaut.analysis import pairwise
from mlaut.analysis.methods import bayes, cross_validation, frequentist
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_pairs
from mlaut.errors import AnalysisError

FIRST, SECOND, SAME, OPEN = "first", "second", "equivalent", "undecided"
SURE, BETTER, EQUIVALENT = 0.95, "P(row better)", "P(equivalent)"
PLACES = ("dataset", "run", "repeat", "fold")
CORRECTIONS = ("bonferroni", "hochberg", "hommel", "shaffer", "benjamini-hochberg")
QUARRELS = ["direction", "equivalent or better", "decided or not"]
REFERENCE = "corrected repeated k-fold"


@dataclass(frozen=True, kw_only=True)
class Method:
    """The verdicts of one method on all pairs.

    Attributes
    ----------
    name : str
    scenario : str
        What it guarantees something for; see docs/statistics.md.
    correction : str
        For the number of pairs.
    verdicts : Series
        One of ``first``, ``second``, ``equivalent``, ``undecided`` by pair; NaN where not asked.
    """

    name: str
    scenario: str
    correction: str
    verdicts: pd.Series

    @classmethod
    def of(cls, pairs: ma.Pairwise, name: str, correction: str) -> Method:
        """Take the verdicts of a result for all pairs, by p-values or by probabilities."""
        frame = pairs.to_frame()
        if "p_value" in frame:
            sign = np.where(frame["p_value"] <= 1 - SURE, frame["better"], 0)
            verdicts = _by_sign(sign, frame.index)
        else:
            same = frame.get(EQUIVALENT, pd.Series(0.0, frame.index))
            verdicts = by_probability(frame[BETTER], same, 1 - frame[BETTER] - same)
        return cls(name=name, scenario=pairs.scenario, correction=correction, verdicts=verdicts)


def by_probability(first: pd.Series, same: pd.Series, second: pd.Series) -> pd.Series:
    """Decide where one of three probabilities is above 0.95."""
    at = [first > SURE, second > SURE, same > SURE]
    return pd.Series(np.select(at, [FIRST, SECOND, SAME], OPEN), index=first.index)


def _by_sign(sign: np.ndarray, index: pd.Index) -> pd.Series:
    return pd.Series(np.select([sign > 0, sign < 0], [FIRST, SECOND], OPEN), index=index)


# ------------------------------------------------------------------------ the table


def read_folds(path: Path, metric: str = "accuracy", percent: bool = False) -> ma.Results:
    """Read a table of fold scores; ``percent`` takes them from 0 to 100 to 0 to 1."""
    table = pd.read_csv(path)
    places = [name for name in PLACES if name in table]
    if places[:1] != ["dataset"] or "fold" not in places:
        raise SystemExit(f"{path} needs the columns dataset and fold, and has {list(table)[:5]}")
    scores = table.set_index(places)
    return ma.Results.from_table(scores / 100 if percent else scores, metric=metric)


# ---------------------------------------------------------------------- the methods


def all_methods(results: ma.Results, rope: float, draws: int) -> list[Method]:
    """Decide on every pair by every method for which one table of folds is enough."""
    return [
        *over_datasets(results),
        *corrections(results),
        *bayesian(results, 0.0, draws),
        *bayesian(results, rope, draws),
        *claims(results, draws),
        *seen_datasets(results),
    ]


def over_datasets(results: ma.Results) -> Iterator[Method]:
    """Test all pairs over datasets, each pair alone and with Holm's correction."""
    tests: dict[str, ma.Pairwise] = {
        "t": ma.t_test(results),
        "signed rank": ma.wilcoxon_test(results),
        "sign": ma.sign_test(results),
        "trinomial": ma.trinomial_test(results),
        "rank sum (unpaired)": frequentist.ranksum_test(results),
        "ranks after Friedman": frequentist.post_hoc_test(results),
        "Conover": frequentist.conover_test(results),
    }
    for name, pairs in tests.items():
        yield Method.of(pairs, name, "none")
        yield Method.of(ma.adjust_pairs(pairs, "holm"), f"{name}, Holm", "holm")
    yield Method.of(ma.nemenyi_test(results), "Nemenyi", "studentized range")


def corrections(results: ma.Results) -> Iterator[Method]:
    """Correct the signed rank test for the number of pairs in every other way."""
    pairs = ma.wilcoxon_test(results)
    for correction in CORRECTIONS:
        name = f"signed rank, {correction.title()}"
        yield Method.of(ma.adjust_pairs(pairs, correction), name, correction)


def bayesian(results: ma.Results, rope: float, draws: int) -> Iterator[Method]:
    """Decide by probabilities over datasets; equivalence is a verdict where ``rope`` is not 0."""
    told = f", rope {rope:g}" if rope else ""
    yield Method.of(ma.bayesian_sign_test(results, rope=rope), f"Bayesian sign{told}", "none")
    ranked = ma.bayesian_signed_rank_test(results, rope=rope, n_samples=draws)
    yield Method.of(ranked, f"Bayesian signed rank{told}", "none")
    if not rope:
        better, metric = probabilities_on_datasets(results), results.metric.loss_name
        pairs = poisson_binomial_pairs(better, results.strategies, metric)
        yield Method.of(pairs, "Poisson binomial", "none")


def probabilities_on_datasets(results: ma.Results) -> np.ndarray:
    """Say with which probability each strategy is the better one on each dataset.

    Test points are not published, so that the correlated t-test stands in for Theorem 4.1.
    """
    frame = bayes.correlated_t_datasets(results).frame
    n, k = len(results.datasets), len(results.strategies)
    better = np.full((k, k, n), 0.5)
    first, second = np.triu_indices(k, 1)
    better[first, second] = frame["P(first better)"].to_numpy().reshape(n, -1).T
    better[second, first] = 1 - better[first, second]
    return better


def claims(results: ma.Results, draws: int) -> Iterator[Method]:
    """Claim as many pairs as keeps the expected share of false claims at 5 %."""
    ranked = ma.bayesian_signed_rank_test(results, n_samples=draws)
    made = set(ma.decide(ranked.table(BETTER), false_share=1 - SURE).claims)
    sign = [int(pair in made) - int(pair[::-1] in made) for pair in ranked.pairs]
    verdicts = _by_sign(np.array(sign), ranked.to_frame().index)
    name = "claims from Bayesian signed rank"
    yield Method(name=name, scenario="(c)", correction="false claims 5 %", verdicts=verdicts)


def seen_datasets(results: ma.Results) -> Iterator[Method]:
    """Test the mean difference over these datasets, the strategies trained again: scenario (b).

    Given the datasets they are independent, so that the variances of their means add up.
    """
    frame = cross_validation.cv_test_datasets(results, test=REFERENCE).frame
    error = (frame["mean difference"] / frame["statistic"]).fillna(0)
    summed = pd.DataFrame({"mean": frame["mean difference"], "variance": error**2})
    summed = summed.groupby(level=["first", "second"], sort=False).sum()
    z = (summed["mean"] / np.sqrt(summed["variance"])).to_numpy()
    p = np.clip(2 * ndtr(-np.abs(z)), np.finfo(float).tiny, 1)
    for told, correction in (("", "none"), (", Holm", "holm")):
        shown = pairwise.adjust(p, correction) <= 1 - SURE
        verdicts = _by_sign(np.where(shown, -np.sign(z), 0), summed.index)
        name = f"mean over these datasets (b){told}"
        yield Method(name=name, scenario="(b)", correction=correction, verdicts=verdicts)


def hierarchical(results: ma.Results, pairs: Sequence[tuple[str, str]], rope: float) -> Method:
    """Ask the hierarchical test, which takes seconds a pair, about some pairs."""
    found = pd.Series(np.nan, index=ma.t_test(results).to_frame().index, dtype=object)
    for first, second in pairs:
        result = bayes.hierarchical_test(results, pair=(first, second), rope=rope)
        p = [pd.Series([value]) for value in result.probabilities.values()]
        found.loc[(first, second)] = by_probability(*p).iloc[0]
    name = f"Bayesian hierarchical, rope {rope:g}"
    return Method(name=name, scenario="(c)", correction="none", verdicts=found)


# -------------------------------------------------------------- agreement and quarrels


def verdict_table(methods: Sequence[Method]) -> pd.DataFrame:
    """Return one row a pair, one column a method."""
    table = pd.DataFrame({method.name: method.verdicts for method in methods})
    return table.rename_axis(["strategy", "against"])


def method_table(methods: Sequence[Method]) -> pd.DataFrame:
    """Return one row a method: how many pairs it decides, and how."""
    rows = {}
    for method in methods:
        said = method.verdicts.dropna()
        decided = int(said.isin([FIRST, SECOND]).sum())
        same, asked = int((said == SAME).sum()), len(said)
        rows[method.name] = {
            "scenario": method.scenario,
            "correction": method.correction,
            "pairs": asked,
            "one is better": decided,
            "equivalent": same,
            "undecided": asked - decided - same,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def agreement(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the share of equal verdicts for each two methods, and Cohen's kappa.

    Methods that were not asked about every pair are left out. Kappa is NaN where two methods give
    the same single verdict on every pair: nothing is left to chance.
    """
    verdicts = verdicts.dropna(axis="columns")
    names = verdicts.columns
    share = pd.DataFrame(1.0, names, names)
    kappa = share.copy()
    for one in names:
        for other in names:
            a, b = verdicts[one], verdicts[other]
            equal = float(np.mean(a == b))
            chance = sum(float(np.mean(a == v) * np.mean(b == v)) for v in a.unique())
            share.loc[one, other] = equal
            kappa.loc[one, other] = (equal - chance) / (1 - chance) if chance < 1 else np.nan
    return share, kappa


def contested_pairs(results: ma.Results, verdicts: pd.DataFrame, rope: float) -> pd.DataFrame:
    """Return the pairs on which methods differ, with what may explain it.

    First those where methods decide for different strategies (``direction``), then those where one
    says better and another equivalent, then those where some decide and others do not.
    """
    counts = pd.DataFrame({v: (verdicts == v).sum(axis=1) for v in (FIRST, SECOND, SAME, OPEN)})
    said = counts > 0
    either = said[FIRST] | said[SECOND]
    at = [said[FIRST] & said[SECOND], either & said[SAME], said.sum(axis=1) > 1]
    kinds = pd.Series(np.select(at, QUARRELS, ""), index=counts.index, name="quarrel")
    agreed = (counts.max(axis=1) / counts.sum(axis=1)).rename("most common share")
    table = pd.concat([kinds, counts, agreed, differences(results, rope)], axis=1)
    order = pd.DataFrame({"kind": kinds.map([*QUARRELS, ""].index), "share": agreed})
    return table.loc[order.sort_values(["kind", "share"]).index].query("quarrel != ''")


def differences(results: ma.Results, rope: float) -> pd.DataFrame:
    """Describe the differences of the losses of each pair over datasets (below 0: first better)."""
    losses = results.losses
    index = ma.t_test(results).to_frame().index
    d = pd.DataFrame({pair: losses[pair[0]] - losses[pair[1]] for pair in index})
    d = d.where(d.abs() > np.finfo(float).eps * 8, 0.0)
    d.columns = index
    columns = {
        "mean difference": d.mean(),
        "median difference": d.median(),
        "skewness": d.skew(),
        "first better on": (d < 0).mean(),
        "ties": (d == 0).sum(),
        "within rope": (d.abs() <= rope).mean(),
    }
    return pd.DataFrame(columns).rename_axis(["strategy", "against"])


# ------------------------------------------------------------- one dataset at a time


def on_each_dataset(results: ma.Results, rope: float) -> pd.DataFrame:
    """Decide on every pair on every single dataset by every test on cross-validation.

    Calibrated degrees of freedom are used for 10 x 10 folds only, for which they were measured.
    ``as reference`` is the share of equal verdicts with the corrected repeated k-fold t-test.
    """
    found = {}
    measured = results.expected.shape[1:] == (10, 10) and results.expected.all()
    tests = [name for name, test in cross_validation.CV_TESTS.items() if not test.resampling]
    for name in sorted(tests, key=REFERENCE.__ne__):
        df = "calibrated" if measured and cross_validation.CV_TESTS[name].calibrated else "default"
        try:
            frame = cross_validation.cv_test_datasets(results, test=name, df=df).frame
        except AnalysisError:  # not for this number of folds and runs
            continue
        sign = np.where(frame["p_value"] <= 1 - SURE, -np.sign(frame["mean difference"]), 0)
        found[f"{name} ({df} df)"] = _by_sign(sign, frame.index)
    for width in (0.0, rope):
        frame = bayes.correlated_t_datasets(results, rope=width).frame
        p = (frame[c] for c in ("P(first better)", EQUIVALENT, "P(second better)"))
        found[f"Bayesian correlated t, rope {width:g}"] = by_probability(*p)
    reference = next(iter(found.values()))
    rows = {
        name: {
            "verdicts": len(said),
            "one is better": int(said.isin([FIRST, SECOND]).sum()),
            "equivalent": int((said == SAME).sum()),
            "as reference": float((said == reference).mean()),
        }
        for name, said in found.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test on one dataset")


# -------------------------------------------------------------- all strategies at once


def all_together(results: ma.Results) -> pd.DataFrame:
    """Test all strategies at once."""
    tests = {
        "Friedman F": ma.friedman_test(results),
        "Friedman chi2": ma.friedman_test(results, statistic="chi2"),
        "Friedman chi2, no tie correction": ma.friedman_test(results, statistic="chi2", ties=False),
        "Quade": frequentist.quade_test(results),
    }
    rows = {name: {"statistic": t.statistic, "p": t.p_value} for name, t in tests.items()}
    rows["Kendall's W"] = {"statistic": frequentist.kendalls_w(results).value, "p": np.nan}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("test")


def strategy_table(results: ma.Results) -> pd.DataFrame:
    """Return rank and mean loss of each strategy, with intervals for scenarios (b) and (c)."""
    ranks = ma.average_ranks(results, method="t").frame
    parts = {
        "(c)": ma.mean_estimates(results, method="t").frame,
        "(b)": cross_validation.retrained_mean_estimates(results).frame,
    }
    table = ranks[["average_rank"]].assign(**{"mean loss": parts["(c)"]["value"]})
    for scenario, frame in parts.items():
        table[f"low {scenario}"], table[f"high {scenario}"] = frame["low"], frame["high"]
    return table.rename_axis("strategy")


def robustness(results: ma.Results) -> pd.DataFrame:
    """Say which conclusions of the signed rank test hang on how missing cells are treated."""
    if results.missing.empty:
        return pd.DataFrame()
    return ma.under_treatments(results, ma.wilcoxon_test).flips


# ------------------------------------------------------------------------- figures


def agreement_figure(share: pd.DataFrame) -> Figure:
    """Draw the shares of equal verdicts."""
    side = 0.27 * len(share)
    figure = Figure(figsize=(side + 3.6, side + 2.6), layout="constrained")
    axes = figure.add_subplot()
    low = float(np.floor(10 * np.nanmin(share.to_numpy())) / 10)
    image = axes.imshow(share, cmap="cividis", vmin=low, vmax=1)
    axes.set_xticks(range(len(share)), share.columns, rotation=90, fontsize=8)
    axes.set_yticks(range(len(share)), share.index, fontsize=8)
    figure.colorbar(image, ax=axes, shrink=0.5, label="share of pairs with the same verdict")
    return figure


def figures(results: ma.Results, share: pd.DataFrame) -> dict[str, Figure]:
    """Draw agreement, critical differences, and who beats whom."""
    order = ma.average_ranks(results).frame.index.tolist()
    pairs = ma.adjust_pairs(ma.wilcoxon_test(results), "holm")
    return {
        "agreement": agreement_figure(share),
        "ranks": ma.critical_difference_diagram(results, pairs=ma.nemenyi_test(results)),
        "pairs": ma.pairwise_matrix(pairs, order=order),
    }


# --------------------------------------------------------------------------- all of it


def read(
    results: ma.Results, *, rope: float = 0.01, draws: int = 10_000, slow_pairs: int = 10
) -> dict[str, pd.DataFrame]:
    """Make every table from complete results.

    Parameters
    ----------
    results : Results
        Without missing cells.
    rope : float, default 0.01
        Half width of the region of practical equivalence, in units of the metric.
    draws : int, default 10,000
        Of the Bayesian signed rank test.
    slow_pairs : int, default 10
        The hierarchical test is asked about so many pairs, the most contested ones first.
    """
    methods = all_methods(results, rope, draws)
    contested = contested_pairs(results, verdict_table(methods), rope).index[:slow_pairs]
    if len(contested):
        methods.append(hierarchical(results, contested.tolist(), rope))
    verdicts = verdict_table(methods)
    share, kappa = agreement(verdicts)
    return {
        "strategies": strategy_table(results),
        "all_together": all_together(results),
        "methods": method_table(methods),
        "verdicts": verdicts,
        "agreement": share,
        "kappa": kappa,
        "contested": contested_pairs(results, verdicts, rope),
        "on_each_dataset": on_each_dataset(results, rope),
        **_planned(results),
    }


def _planned(results: ma.Results) -> dict[str, pd.DataFrame]:
    """Return the table of the datasets that are needed; none without the plug-in mlaut-races."""
    try:
        from mlaut_races import pilot_design
    except ImportError:
        return {}
    return {"planning": pilot_design(results).frame.rename_axis(["strategy", "against"])}


def save(tables: dict[str, pd.DataFrame], drawn: dict[str, Figure], folder: Path) -> None:
    """Write each table as CSV, the short ones in one Markdown page too, and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    page = []
    for name, table in tables.items():
        if table.empty:
            continue
        table.to_csv(folder / f"{name}.csv", float_format="%.6g")
        if name not in ("verdicts", "agreement", "kappa", "planning"):
            shown = ma.ResultTable(name=name, frame=table.head(40), source="")
            page.append(f"## {name}\n\n{shown.to_markdown()}\n")
    (folder / "tables.md").write_text("\n".join(page), encoding="utf-8")
    for name, figure in drawn.items():
        figure.savefig(folder / f"{name}.png", dpi=80, pil_kwargs={"optimize": True})


def main(arguments: Sequence[str] | None = None, say: Callable[[str], object] = print) -> None:
    """Read the table that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("table", type=Path, help="CSV file of fold scores")
    parser.add_argument("--metric", default="accuracy", help="a metric that mlaut.analysis knows")
    parser.add_argument("--percent", action="store_true", help="the scores are from 0 to 100")
    parser.add_argument("--missing", default="drop datasets", help="treatment of missing cells")
    parser.add_argument("--rope", type=float, default=0.01, help="half width of equivalence")
    parser.add_argument("--draws", type=int, default=10_000, help="of the signed rank test")
    parser.add_argument("--slow-pairs", type=int, default=10, help="for the hierarchical test")
    parser.add_argument("--out", type=Path, help="default: a folder named after the table")
    chosen = parser.parse_args(arguments)
    wall, cpu = time.perf_counter(), time.process_time()
    table = read_folds(chosen.table, chosen.metric, chosen.percent)
    results = ma.treat_missing(table, chosen.missing)
    tables = read(results, rope=chosen.rope, draws=chosen.draws, slow_pairs=chosen.slow_pairs)
    tables["missing_cells_flip"] = robustness(table)
    folder = chosen.out or Path(chosen.table.name.partition(".")[0])
    save(tables, figures(results, tables["agreement"]), folder)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    say(f"{table.title()}: {folder}, {wall:.0f} s of wall time, {cpu:.0f} s of CPU time")


if __name__ == "__main__":
    main(sys.argv[1:])
