"""Tables that more than one form of the report shows."""

from __future__ import annotations

import pandas as pd

from mlaut.analysis import Comparison
from mlaut.report.content import Section, seconds_of_done

__all__ = ["dataset_table", "pair_table"]


def pair_table(comparison: Comparison) -> pd.DataFrame:
    """Give one row a pair: the mean difference with its interval, effect size and p-values."""
    t = comparison.pairs["t"].to_frame()
    table = pd.DataFrame(
        {
            "mean difference": t["mean difference"],
            "low": t["mean difference low"],
            "high": t["mean difference high"],
            "Cohen's d": t["Cohen's d (paired)"],
        }
    )
    for name, pairs in comparison.pairs.items():
        table[f"p {name}"] = pairs.to_frame()["p_value"]
    return table.rename_axis(["strategy", "against"])


def dataset_table(section: Section, dataset: str) -> pd.DataFrame:
    """Give one row a strategy on one dataset, the best first; with the reason where it has none."""
    scored = section.scored
    place = scored.datasets.index(dataset)
    table = pd.DataFrame({scored.metric.name: scored.scores.loc[dataset]})
    estimates = section.tables.get("estimates by dataset")
    if estimates is not None and dataset in section.results.datasets:
        here = estimates.loc[dataset]
        table[f"{scored.metric.loss_name} low (a)"] = here["low"]
        table[f"{scored.metric.loss_name} high (a)"] = here["high"]
    if scored.seconds is not None:
        phases = ["tuning seconds", "fitting seconds", "predicting seconds"]
        table[phases] = seconds_of_done(scored)[place]
    missing = scored.missing[scored.missing["dataset"] == dataset]
    if len(missing):
        reasons = missing.groupby("strategy")["reason"].agg(lambda why: ", ".join(sorted(set(why))))
        table["missing"] = reasons.reindex(table.index).fillna("")
    ascending = not scored.metric.greater_is_better
    return table.sort_values(scored.metric.name, ascending=ascending, kind="stable")
