"""Tables that more than one format of the report shows."""

from __future__ import annotations

import pandas as pd

from mlaut.analysis import Comparison
from mlaut.report.content import Section, seconds_of_done

__all__ = ["dataset_table", "pair_table"]


def pair_table(comparison: Comparison) -> pd.DataFrame:
    """Return one row for each pair: effect sizes in the direction of the metric, and p-values.

    The effects are the mean difference with its interval and Cohen's d. If the scales of datasets
    are not comparable, the effect is the share of datasets on which the first strategy is better.
    """
    main = "mean difference" if "t" in comparison.pairs else "share better"
    effect = comparison.effect("t" if "t" in comparison.pairs else "trinomial", main)
    table = effect.rename(columns={"value": comparison.effect_name(main)})
    if "t" in comparison.pairs:
        table["Cohen's d"] = comparison.effect("t", "Cohen's d (paired)")["value"]
    every = comparison.to_frame()
    for name in comparison.pairs:
        table[f"p {name}"] = every[name]["p_value"]
    return table.rename_axis(["strategy", "against"])


def dataset_table(section: Section, dataset: str) -> pd.DataFrame:
    """Return one row for each strategy on one dataset, the best first, with reasons for gaps."""
    scored = section.scored
    place = scored.datasets.index(dataset)
    table = pd.DataFrame({scored.metric.name: scored.scores.loc[dataset]})
    estimates = section.tables.get("estimates by dataset")
    if estimates is not None:
        here = estimates.loc[dataset]
        table[["low (a)", "high (a)"]] = here[["low", "high"]]
    if scored.seconds is not None:
        phases = ["tuning seconds", "fitting seconds", "predicting seconds"]
        table[phases] = seconds_of_done(scored)[place]
    missing = scored.missing[scored.missing["dataset"] == dataset]
    if len(missing):
        reasons = missing.groupby("strategy")["reason"].agg(lambda why: ", ".join(sorted(set(why))))
        table["missing"] = reasons.reindex(table.index).fillna("")
    ascending = not scored.metric.greater_is_better
    return table.sort_values(scored.metric.name, ascending=ascending, kind="stable")
