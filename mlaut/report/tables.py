"""The tables of a section. To add one, add the function that makes it to `TABLES`, in its place.

Pages show the tables in this order. What readers see of each, and where, is in `tables.toml`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from mlaut.analysis import (
    Comparison,
    Decision,
    Results,
    compare,
    dataset_estimates,
    elo_ratings,
    probability_of_best,
    rank_table,
    scale_free_table,
)
from mlaut.analysis.common.display import number
from mlaut.analysis.deciding.decision import training_seconds
from mlaut.analysis.estimates.behind import confusion_table, errors_by_part
from mlaut.analysis.estimates.error_intervals import error_intervals
from mlaut.analysis.results.study_results import mean_seconds
from mlaut.errors import AnalysisError
from mlaut.helpers.former_names import if_installed
from mlaut.records import Block, Status
from mlaut.report.records import Section, described
from mlaut.report.shown import decision_table

BUDGETS = "score against budget"
CONFUSION, WHERE = "confusion", "where the errors are"
_DRAWS = 200  # of samples for tables of a report; 2,000 would take most of its time
_OF_TESTS = {"statistic_name": "statistic", "statistic": "value", "df": "degrees of freedom"}
_OF_TESTS |= {"p_value": "p", "null": "null hypothesis", "source": "source"}
_STANDING = ("expected rank", "Elo", "won duels", "normalised score", "improvability")


def _summary(section: Section) -> pd.DataFrame:
    """Return the paper's Table 8: rank, mean score, standard error and training time, best first.

    A strategy has a mean score if it has every cell and if scores of different datasets have
    comparable scales. If no strategy has a mean score, the standard error and the interval belong
    to the average rank. Without a comparison the table has the number of datasets of each mean.
    """
    results, comparison = section.results, section.comparison
    mean = f"mean {results.metric.name}"
    ends = {"standard_error": "std error (c)", "low": "low (c)", "high": "high (c)"}
    if comparison is None:
        scores = results.scores
        table = pd.DataFrame({"datasets": scores.notna().sum()})
        order, ascending = ["datasets"], [False]
        # Strategies that left a race have other datasets, on which means do not compare.
        raced = Status.RACED_OUT.word in results.reasons.values()
        if not results.incomparable and not raced:
            table[mean] = scores.mean()
            # A mean over fewer datasets, where others were too hard, must not lead the table.
            order, ascending = [*order, mean], [False, not results.metric.greater_is_better]
    else:
        ranks = comparison.ranks.frame
        table = ranks[["average_rank"]].rename(columns={"average_rank": "average rank"})
        order, ascending = ["average rank"], [True]
        source = comparison.estimates["(c)"].frame if comparison.mean_strategies else ranks
        if comparison.mean_strategies:
            table[mean] = source["value"].reindex(table.index)
        else:
            ends = {name: f"rank {label}" for name, label in ends.items()}
        table[list(ends.values())] = source[list(ends)].reindex(table.index)
        if results.ranks_only:
            table[f"datasets without {results.metric.name}"] = _failed_on(results)
    chosen = section.scored.select(datasets=results.datasets, strategies=results.strategies)
    times = training_seconds(chosen)
    table["training seconds"] = np.nan if times is None else times.mean()
    if section.decision is not None:  # ties stand as on the first screen
        table = table.loc[[x for x in section.decision.frame.index if x in table.index]]
    return table.rename_axis("strategy").sort_values(order, ascending=ascending, kind="stable")


def _failed_on(results: Results) -> pd.Series:
    """Count the datasets on which a cell of each strategy counts as last."""
    assert results.imputed is not None
    return pd.Series(results.imputed.any(axis=(2, 3)).sum(axis=0), index=list(results.strategies))


def seconds_of_done(results: Results) -> np.ndarray:
    """Return the mean seconds of done cells for tuning, fitting and predicting: shape (N, K, 3)."""
    if results.seconds is None:
        return np.full((*results.cells.shape[:2], 3), np.nan)
    return mean_seconds(results.seconds, ~np.isnan(results.cells))


def _standing(section: Section) -> pd.DataFrame | None:
    """Return the numbers without a unit by which strategies are compared, the best rank first."""
    results = section.results
    if results.clusters is not None:  # Elo and shares of datasets take them as independent
        return None
    table = scale_free_table(results).frame
    chances = None if section.decision is None else section.decision.chances
    likely = (chances or probability_of_best(results)).frame
    rating = elo_ratings(results, n_samples=_DRAWS).frame
    return pd.concat(
        [likely.reindex(table.index), rating.add_prefix("Elo ").reindex(table.index), table], axis=1
    ).rename(columns={"Elo Elo": "Elo", "low": "rank low", "high": "rank high"})


def _each(section: Section) -> pd.DataFrame | None:
    """Return the answer on each dataset for itself, where they are too few to decide together."""
    results, decision = section.scored, section.decision
    if decision is None or decision.decided or len(results.datasets) == 1:
        return None
    found = each_alone(results, section.chosen.analysis.alpha)
    answers = {k: x if isinstance(x, str) else x.answer() for k, x in found.items()}
    return pd.DataFrame({"answer": answers}).rename_axis("dataset")


def each_alone(results: Results, alpha: float) -> dict[str, Decision | str]:
    """Return what each dataset decides for itself, all at one level, or why it decides nothing."""
    found: dict[str, Decision | str] = {}
    for name in results.datasets:
        one, level = results.select(datasets=[name]), alpha / len(results.datasets)
        try:
            found[name] = compare(one, alpha=level, missing="failures last").decision()
        except AnalysisError as error:
            found[name] = str(error)
    return found


def leader_of(section: Section) -> tuple[Block, str] | None:
    """Return the predictions on the only dataset, and the strategy that leads there.

    None if there are several datasets, or several targets.
    """
    if section.one is None or section.decision is None or section.scored.load_block is None:
        return None
    block = section.scored.load_block(section.scored.datasets[0])
    return None if block.targets else (block, section.decision.first[0])


def _confusion(section: Section) -> pd.DataFrame | None:
    found = leader_of(section)
    return confusion_table(*found) if found and found[0].classes else None


def _where(section: Section) -> pd.DataFrame | None:
    found = leader_of(section)
    if found is None or (section.groups is None and found[0].classes):
        return None  # the errors by class are in the confusion table
    return errors_by_part(*found, section.groups)


def _duels(comparison: Comparison) -> pd.DataFrame | None:
    """Return wins, ties, losses and p of all pairs: numbers that no other strategy changes."""
    if comparison.results.clusters is not None:  # by single datasets
        return None
    pairs, effect = comparison.pairs, "mean difference"
    columns = {"statistic": "wins", "ties": "ties", "losses": "losses"}
    table = pd.DataFrame(pairs["sign"].to_frame(), columns=list(columns)).fillna(0).astype(int)
    table = table.rename(columns=columns)
    test = "trinomial" if comparison.results.incomparable else "signed rank"
    if not comparison.results.incomparable:
        table[comparison.effect_name(effect)] = comparison.number("t", effect)
    table[f"p {test}"] = comparison.number(test, "p (unadjusted)")
    return table.rename_axis(_PAIR)


def _if_any(name: str, **how: Any) -> Callable[[Section], pd.DataFrame | None]:
    """Return a maker of a table: None without the plug-in that has it, or what it needs."""

    def frame(section: Section) -> pd.DataFrame | None:
        make = if_installed(name)
        try:
            return None if make is None else make(section.results, **how).frame
        except AnalysisError:
            return None

    return frame


def pair_table(comparison: Comparison) -> pd.DataFrame:
    """Return one row for each pair: effect sizes in the direction of the metric, and p-values.

    The effects are the mean difference with its interval and Cohen's d. If the scales of datasets
    are not comparable, the effect is the share of datasets on which the first strategy is better.
    """
    mains = {"t": "mean difference", "trinomial": "share better"}
    test = next((name for name in mains if name in comparison.pairs), comparison.leading)
    main = mains.get(test, "signed ranks")
    table = comparison.effect(test, main).rename(columns={"value": comparison.effect_name(main)})
    if test == "t":
        table["Cohen's d"] = comparison.number("t", "Cohen's d (paired)")
    for name in comparison.pairs:
        table[f"p {name}"] = comparison.number(name, "p_value")
    return table.rename_axis(["strategy", "against"])


def _best_first(section: Section, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the strategies in the order of the summary, then those that the summary leaves out.

    Spreads that a table of others prints stand behind its scores.
    """
    order = list(dict.fromkeys([*section.tables["summary"].index, *scores]))
    spreads = section.tables.get("spreads")
    if spreads is None:
        return scores[order]
    both = scores.map(number) + spreads.map(lambda x: "" if x != x else f" ± {number(x)}")
    return both.where(scores.notna())[order]


def _spreads(section: Section) -> pd.DataFrame | None:
    """Return the spreads that a table of others prints; means of those of repeats and folds."""
    scored = section.scored
    if scored.spreads is None:
        return None
    frame = scored.scores.copy()
    frame[:] = np.ma.masked_invalid(scored.spreads).mean(axis=(2, 3)).filled(np.nan)
    return frame


def _losses(section: Section) -> pd.DataFrame:
    """Return the losses, without the placeholders of cells that count as last."""
    results = section.results
    if results.imputed is None or not results.ranks_only:
        return results.losses
    return results.losses.mask(np.asarray(results.imputed.any(axis=(2, 3))))


def _missing_cells(section: Section) -> pd.DataFrame | None:
    """Return the missing cells, with the imputed score of each if scores were imputed.

    If missing cells count as last, no score is imputed: the table then shows which cells count as
    last and which are left out.
    """
    results, table = section.results, section.scored.missing
    if not len(table):
        return None
    if results.imputed is None:
        return table
    if results.ranks_only:
        is_last = table["dataset"].isin(results.datasets)
        is_last &= table["strategy"].isin(results.strategies)
        return table.assign(**{"counts as": np.where(is_last, "last", "left out")})
    return table.assign(imputed=results.cells[results.imputed])


def _estimates_by_dataset(section: Section) -> pd.DataFrame | None:
    if section.scored.load_block is not None:
        table = error_intervals(section.scored, as_scores=True).to_frame()
        return table if table["low"].notna().any() else None
    if section.scored.variances is None:
        return None
    return dataset_estimates(section.scored, as_scores=True).to_frame()


def _portmanteau(section: Section) -> pd.DataFrame | None:
    comparison = section.comparison
    if comparison is None or not comparison.portmanteau:
        return None
    return pd.concat([test.to_frame() for test in comparison.portmanteau.values()])


def _probabilities(comparison: Comparison) -> pd.DataFrame | None:
    return comparison.probabilities().rename_axis(_PAIR) if comparison.bayesian else None


_PAIR = ["strategy", "against"]
TABLES = described(
    __file__,
    {
        "decision": lambda s: s.decision.frame,
        "summary": _summary,
        "intervals": lambda s: pd.concat(
            {scenario: table.frame for scenario, table in s.estimates.items()},
            names=["scenario", "strategy"],
        ),
        BUDGETS: lambda s: s.budgets,
        "shared datasets": lambda s: s.shared.frame,
        "race": lambda s: s.race.to_frame(),
        "race cost": lambda s: s.race.cost,
        "race pairs": lambda s: s.race.pairs.to_frame().rename_axis(_PAIR),
        "standing": _standing,
        "interquartile means": _if_any("interquartile_means", n_samples=_DRAWS),
        "profile": _if_any("performance_profile"),
        "portmanteau tests": _portmanteau,
        "pairs": lambda s: s.comparison.to_frame(),
        "pairs of one dataset": lambda s: s.one.pair_frame() if s.one.pairs else None,
        "each dataset": _each,
        CONFUSION: _confusion,
        WHERE: _where,
        "duels": lambda s: _duels(s.comparison),
        "probabilities": lambda s: _probabilities(s.comparison),
        "ranks": lambda s: rank_table(s.results),
        "losses": _losses,
        "estimates by dataset": _estimates_by_dataset,
        "spreads": _spreads,
        "scores": lambda s: s.scored.scores,
        "treatments of missing cells": lambda s: s.robustness.to_frame(),
        "missing cells": _missing_cells,
    },
    {
        "decision": lambda s, _: decision_table(s.decision, below=True),
        "standing": lambda _, frame: frame[[name for name in _STANDING if name in frame]],
        "portmanteau tests": lambda _, frame: frame[list(_OF_TESTS)].rename(columns=_OF_TESTS),
        "pairs": lambda s, _: pair_table(s.comparison),
        "scores": _best_first,
        "treatments of missing cells": lambda s, _: s.robustness.flips.rename_axis(_PAIR),
        "missing cells": lambda _, frame: frame.set_index("dataset"),
    },
)
