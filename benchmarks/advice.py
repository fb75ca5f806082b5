"""Judge the advice of decisions: on the other half of real boards, and where the truth is known.

    python benchmarks/advice.py WHAT SECONDS OUTPUT.csv [FOLDER]

WHAT is one of boards, levels, decisions, chances, forecasts and tables.

`boards` draws eight strategies and a part of the datasets of a board, and judges on all other
datasets what is claimed and chosen, beside autorank, Nemenyi's test (scikit-posthocs), Wilcoxon's
with Holm's correction, and baycomp (`pip install autorank baycomp scikit-posthocs`). Boards are the
published benchmarks that come with MLaut, and tables of FOLDER (an optional column ``source``).
`levels` and `decisions` simulate strategies with equal means (skewed ones of unequal spread differ
in ranks), and `forecasts` the first two of strategies that differ or not, and those of boards.
`chances` compares what P(best) says with what is the best on the rest of a board, or in truth.
`tables` looks for a change of the verdicts by a permutation, float32, percent and a copy, with
sources in half of the tables and a region in a third. All turns have seeds of their own: the
numbers of studies in the output say what was run.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from referee import ALPHA, Tally, rows_of, truths, until
from scipy.special import ndtr
from scipy.stats import beta, rankdata, ttest_1samp, wilcoxon
from scipy.stats import t as student

from mlaut.analysis import Results, compare, published
from mlaut.analysis.deciding.outlook import chance_to_tell
from mlaut.analysis.pairwise.corrections import adjust
from mlaut.analysis.sources.chances import chances
from mlaut.analysis.sources.flips import joint_test

PUBLISHED = ("delgado2014", "wainer2023", "mlaut2018", "garcia2008", "benavoli2017")
STRATEGIES = 8
SHARES = {"10": 10, "20": 20, "50": 50}  # datasets of a part; boards with sources are halved
Claims = set[tuple[int, int]]  # the first strategy is claimed to be better than the second

# ------------------------------------------------------------------------------- boards


def boards(folder: Path | None) -> dict[str, tuple[pd.DataFrame, np.ndarray | None]]:
    """Return the losses of each board, with the source of each dataset where it is known."""
    found: dict[str, tuple[pd.DataFrame, np.ndarray | None]] = {}
    for name in PUBLISHED:
        results = published(name)
        found[name] = (results.losses, None)
    for file in sorted(folder.glob("*.csv")) if folder else []:
        table = pd.read_csv(file, index_col=0)
        source = table.pop("source").to_numpy() if "source" in table else None
        found[file.stem] = (-table if "accuracy" in file.stem else table, source)
    return {name: one for name, one in found.items() if one[0].shape[1] >= 3}


def parts(
    rng: np.random.Generator, losses: pd.DataFrame, source: np.ndarray | None, size: str
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray | None, np.ndarray | None] | None:
    """Return a part of a board and all the rest of it, with their sources; None if it is small."""
    k = min(STRATEGIES, losses.shape[1])
    table = losses.iloc[:, rng.choice(losses.shape[1], k, replace=False)]
    whole = table.notna().all(axis=1).to_numpy()
    table, own = table[whole], None if source is None else source[whole]
    if own is None:
        n = SHARES[size]
        if len(table) < 2 * n:
            return None
        inside = np.isin(np.arange(len(table)), rng.choice(len(table), n, replace=False))
    else:
        names = np.unique(own)
        inside = np.isin(own, rng.choice(names, len(names) // 2, replace=False))
    return (
        table[inside],
        table[~inside],
        None if own is None else own[inside],
        None if own is None else own[~inside],
    )


def average(table: pd.DataFrame, source: np.ndarray | None, ranks: bool = True) -> np.ndarray:
    """Return the average ranks (or losses) over datasets, or over sources."""
    values = pd.DataFrame(rankdata(table, axis=1) if ranks else table.to_numpy())
    by = values.groupby(source).mean() if source is not None else values
    return by.mean().to_numpy()


def ours(table: pd.DataFrame, source: np.ndarray | None) -> tuple[Claims, list[int], Any]:
    """Return the claims of MLaut, the set of the best with the leader first, and the decision."""
    results = Results.from_table(table, metric="loss", greater_is_better=False)
    if source is not None:
        results = results.with_clusters(dict(zip(results.datasets, source, strict=True)))
    found = compare(results, n_samples=0)
    decision, names = found.decision(), list(results.strategies)
    p, better = (found.leading_pairs.table(key).to_numpy() for key in ("p_value", "better"))
    claims = {(a, b) for a, b in np.argwhere((p <= ALPHA) & (better > 0)).tolist()}
    best = decision.best or decision.first if decision.decided else decision.first
    chosen = [names.index(name) for name in best]
    if not decision.decided:
        chosen += [at for at in range(len(names)) if at not in chosen]
    return claims, chosen, decision


def by_ranks(table: pd.DataFrame, shown: np.ndarray) -> Claims:
    """Return the claims of a test without direction: the better average rank wins."""
    ranks = average(table, None)
    return {(a, b) for a, b in np.argwhere(shown).tolist() if ranks[a] < ranks[b]}


def wilcoxon_holm(table: pd.DataFrame) -> Claims:
    """Return the claims of Wilcoxon's test with Holm's correction."""
    pairs, values = list(combinations(range(table.shape[1]), 2)), table.to_numpy()
    p = [wilcoxon(values[:, a], values[:, b]).pvalue for a, b in pairs]
    shown = np.zeros((table.shape[1],) * 2, dtype=bool)
    for (a, b), corrected in zip(pairs, adjust(np.nan_to_num(p, nan=1.0), "holm"), strict=True):
        shown[a, b] = shown[b, a] = corrected <= ALPHA
    return by_ranks(table, shown)


def nemenyi(table: pd.DataFrame) -> Claims:
    """Return the claims of Nemenyi's test by scikit-posthocs."""
    from scikit_posthocs import posthoc_nemenyi_friedman

    return by_ranks(table, posthoc_nemenyi_friedman(table.to_numpy()).to_numpy() <= ALPHA)


def autorank_claims(table: pd.DataFrame) -> Claims:
    """Return the claims of autorank: by its critical difference, or its intervals."""
    from autorank import autorank

    numbered = table.set_axis([str(at) for at in range(table.shape[1])], axis=1)
    found = autorank(numbered.reset_index(drop=True), alpha=ALPHA, order="ascending", verbose=False)
    frame = found.rankdf.loc[numbered.columns]
    if found.pvalue > ALPHA:
        return set()
    if found.cd is not None:
        mean = frame["meanrank"].to_numpy()
        return by_ranks(table, np.abs(mean[:, None] - mean) > found.cd)
    low, high = frame["ci_lower"].to_numpy(), frame["ci_upper"].to_numpy()
    return {(a, b) for a, b in np.argwhere(high[:, None] < low[None]).tolist()}


def baycomp_claims(table: pd.DataFrame) -> Claims:
    """Return the claims of baycomp's signed rank test with a probability above 95 %."""
    from baycomp import SignedRankTest

    values, claims = table.to_numpy(), set()
    for a, b in combinations(range(table.shape[1]), 2):
        first, _, second = SignedRankTest.probs(values[:, a], values[:, b], 0.01, nsamples=2000)
        claims |= {(b, a)} if first > 1 - ALPHA else {(a, b)} if second > 1 - ALPHA else set()
    return claims


PEERS = {
    "Wilcoxon-Holm": wilcoxon_holm,
    "Nemenyi": nemenyi,
    "autorank": autorank_claims,
    "baycomp": baycomp_claims,
}


def judge_boards(seconds: float, folder: Path | None) -> Tally:
    """Judge claims, verdicts and choices on the datasets that no method saw."""
    tally, every = Tally(), list(boards(folder).items())
    for turn in until(seconds):
        name, (losses, source) = every[turn % len(every)]
        rng = np.random.default_rng([44, turn])
        size = "half of the sources" if source is not None else list(SHARES)[turn // len(every) % 3]
        drawn = parts(rng, losses, source, size)
        if drawn is None:
            continue
        seen, rest, own, theirs = drawn
        try:
            claims, chosen, decision = ours(seen, own)
        except Exception as error:  # a part of a board that nobody can compare
            print(f"{name}: {error}")
            continue
        ranks, values = average(rest, theirs), rest.to_numpy()
        ahead = np.sign(values[:, None] - values[:, :, None])  # [n, a, b]: 1 if a is better
        ahead = pd.DataFrame(ahead.reshape(len(values), -1))
        wins = (ahead.groupby(theirs).mean() if theirs is not None else ahead).mean().to_numpy()
        wins = wins.reshape(values.shape[1], -1)
        order = np.argsort(average(seen, None), kind="stable").tolist()
        methods = {"MLaut": (claims, chosen)}
        for peer, function in PEERS.items():
            if peer == "baycomp" and (turn // len(every)) % 4:
                continue
            try:
                found = function(seen)
            except ImportError:  # a package that is not installed
                continue
            beaten = {worse for _, worse in found}
            methods[peer] = (found, [at for at in order if at not in beaten] or order[:1])
        for method, (found, best) in methods.items():
            _judge(tally, (method, size), found, best, wins, ranks)
        _judge_verdicts(tally, size, decision, list(seen.columns), ranks)
    return tally


def _judge(
    tally: Tally,
    key: tuple[str, str],
    claims: Claims,
    best: list[int],
    wins: np.ndarray,
    ranks: np.ndarray,
) -> None:
    """Add what became of the claims and of the choice of a method."""
    k = len(ranks)
    tally.add(*key, **{"pairs claimed": 2 * len(claims) / (k * (k - 1))})
    right = [wins[a, b] > 0 for a, b in claims]
    tally.add(*key, **{"studies with a reversal": any(wins[a, b] < 0 for a, b in claims)})
    for one in right:
        tally.add(*key, **{"claims that come out again": one})
    regret = ranks - ranks.min()
    tally.add(*key, **{"set of the best is one": len(best) == 1})
    tally.add(*key, **{"set holds the best": int(ranks.argmin()) in best})
    if len(best) > 1:
        tally.add(*key, **{"regret of the first of several": regret[best[0]] / 100})
        tally.add(*key, **{"regret of any of several": regret[best].mean() / 100})
    else:
        tally.add(*key, **{"regret of the only one": regret[best[0]] / 100})
    tally.add(*key, **{"regret of any strategy": regret.mean() / 100})
    tally.add(*key, **{"regret of the first": regret[best[0]] / 100})


def _judge_verdicts(
    tally: Tally, size: str, decision: Any, names: list[str], ranks: np.ndarray
) -> None:
    """Add how often a strategy with a verdict is worse than the leader on the other datasets."""
    if not decision.leader:
        return
    leader = ranks[names.index(decision.leader)]
    frame = decision.frame
    for name, verdict in frame["verdict"].items():
        if name != decision.leader:
            worse = ranks[names.index(name)] > leader
            tally.add("verdicts", size, **{f"{verdict}: worse than the leader": worse})
    if len(decision.best) > 1:
        rules = decision.chances.frame.loc[list(decision.best)]
        for rule, sign in (("P(best)", -1), ("expected rank", 1)):
            chosen = names.index((sign * rules[rule]).idxmin())
            regret = (ranks[chosen] - ranks.min()) / 100
            tally.add("MLaut", size, **{f"regret of the first of several by {rule}": regret})
    for name, chance in frame["P(best)"].items():
        low = next(edge for edge in EDGES if chance >= edge)
        best = names.index(name) == int(ranks.argmin())
        tally.add("P(best)", f"from {low:g}", said=chance, right=best)


# ------------------------------------------------------------------------------- levels

TRUTHS = ("normal", "heavy", "ceiling and ties", "skewed", "skewed, unequal spread")
SPREAD = np.array([1, 1, 2.5, 1, 2.5, 0.4, 1, 1])


def equal_losses(
    rng: np.random.Generator, truth: str, source: np.ndarray, correlation: float
) -> np.ndarray:
    """Return losses of eight strategies with the same mean, related within sources."""
    n, g, k = len(source), source.max() + 1, STRATEGIES
    shared, own = rng.normal(size=(g, k))[source], rng.normal(size=(n, k))
    z = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    difficulty = rng.normal(size=(n, 1))
    if truth == "normal":
        return z + difficulty
    u = ndtr(z).clip(1e-12, 1 - 1e-12)
    if truth == "heavy":
        return student.ppf(u, 2.2) * SPREAD + difficulty
    if truth == "ceiling and ties":  # shares of 20 test points, with the same mean
        p = beta.ppf(u, 0.8, 7.2)
        return rng.binomial(20, p) / 20
    losses = -np.log1p(-u) - 1
    return losses * (SPREAD if "unequal" in truth else 1.0) + difficulty


def sizes(g: int) -> np.ndarray:
    """Return the source of each dataset: sources of unequal sizes, the last with half of all."""
    few = np.resize([1, 1, 2, 1, 3, 1, 2, 4], g - 1)
    return np.repeat(np.arange(g), [*few, few.sum()])


def equal_studies(seconds: float, seed: int) -> Iterator[tuple[str, str, np.ndarray, Any, bool]]:
    """Yield truth, place, losses and sources of studies, and whether datasets share a source."""
    cells: list[tuple[str, str, np.ndarray, float]] = [
        (truth, f"{g} sources, correlation {rho}", sizes(g), rho)
        for truth in TRUTHS
        for g, rho in ((8, 0.6), (12, 0.3), (12, 0.9), (20, 0.6))
    ]
    cells += [
        (truth, f"{n} datasets", np.arange(n), 0.0) for truth in TRUTHS for n in (6, 10, 14, 25)
    ]
    for turn in until(seconds):
        truth, where, source, rho = cells[turn % len(cells)]
        losses = equal_losses(np.random.default_rng([seed, turn]), truth, source, rho)
        yield truth, where, losses, source, len(source) > source.max() + 1


def judge_levels(seconds: float, _: Path | None) -> Tally:
    """Count false claims on equal strategies."""
    tally = Tally()
    first, second = np.triu_indices(STRATEGIES, 1)
    for truth, where, losses, source, shared in equal_studies(seconds, 45):
        pairs = losses[:, first] - losses[:, second]
        joint = joint_test(pairs, source, shift=0.5 if shared else 0.0)
        tally.add(truth, where, **{"any wrong pair": (joint.adjusted <= ALPHA).any()})
    return tally


def judge_decisions(seconds: float, _: Path | None) -> Tally:
    """Count wrong verdicts on equal strategies, from end to end."""
    tally = Tally()
    for truth, _where, losses, source, shared in equal_studies(seconds, 48):
        _, chosen, decision = ours(pd.DataFrame(losses), source if shared else None)
        avoided = {*decision.named("avoid")}
        tally.add(
            truth,
            "all, with decisions",
            **{
                "one is to avoid": bool(avoided),
                "one is to avoid, with a size of the mean": bool(avoided & {*decision.by_mean}),
                "a given best one is ruled out": 0 not in chosen,
                "one is advised": bool(decision.named("use")),
            },
        )
    return tally


# ------------------------------------------------------------------------------- chances

APART = (
    *("normal 0.5", "normal 1", "normal 1.5", "normal 3", "normal 5"),
    *("half-normal + bad", "skewed", "near two groups", "near one star"),
)
EDGES = (0.8, 0.6, 0.4, 0.2, 0.05, 0)


def judge_chances(seconds: float, folder: Path | None) -> Tally:
    """Compare P(best) with what is the best on the rest of boards, and where the truth is known."""
    tally, every = Tally(), list(boards(folder).items())
    for turn in until(seconds):
        rng, at = np.random.default_rng([49, turn]), turn // 2
        if turn % 2:
            where, (losses, source) = every[at % len(every)]
            size = "half" if source is not None else list(SHARES)[at // len(every) % len(SHARES)]
            drawn = parts(rng, losses, source, size)
            if drawn is None:
                continue
            seen, rest, own, theirs = drawn
            ranks = pd.DataFrame(rankdata(seen, axis=1))
            rows = (ranks if own is None else ranks.groupby(own).mean()).to_numpy()
            kind, truth = "boards", average(rest, theirs)
        else:
            where, k, n = APART[at % len(APART)], int(rng.choice([3, 5, 8, 12])), (8, 12, 20, 40)
            error = (2 / n[at % len(n)]) ** 0.5
            truth = truths(rng, where.removeprefix("near "), k, error)
            truth = truth + where.startswith("near") * rng.normal(0, error / 2, k)
            noise = ("even", "sources", "heavy")[at // len(APART) % 3]
            rows = rankdata(rows_of(rng, truth, n[at % len(n)], noise), axis=1)
            kind = "simulated"
        said, right = chances(rows).of_best(), truth == truth.min()
        for chance, one in zip(said, right / right.sum(), strict=True):
            low = next(edge for edge in EDGES if chance >= edge)
            leads = (f"{kind}, leader",) * int(chance == said.max())
            for what in (kind, where, *leads):
                tally.add(what, f"from {low:g}", said=chance, right=one, excess=one - chance)
    return tally


# ------------------------------------------------------------------------------- forecasts


def judge_forecasts(seconds: float, folder: Path | None) -> Tally:
    """Compare what is forecast with what came, for leaders and rivals that are not separated."""
    tally, every = Tally(), list(boards(folder).items())
    for turn in until(seconds):
        rng = np.random.default_rng([46, turn])
        if turn % 2:
            board, (losses, source) = every[turn // 2 % len(every)]
            k = min(int(rng.choice([3, 4, 8, 12])), losses.shape[1])
            table = losses.iloc[:, rng.choice(losses.shape[1], k, replace=False)].dropna()
            ranks = rankdata(table, axis=1)
            if source is not None:
                own = source[losses.index.isin(table.index)]
                ranks = pd.DataFrame(ranks).groupby(own).mean().to_numpy()
            n = int(rng.choice([8, 10, 14, 20, 30, 50]))
            if len(ranks) < 2 * n:
                continue
            rows, where = rng.permutation(ranks)[: 2 * n], "boards"
        else:
            n, k = int(rng.choice([8, 12, 20, 25, 40])), int(rng.choice([3, 4, 8, 12]))
            truth = rng.normal(size=k) * rng.choice([0, 0.1, 0.3, 0.5, 0.8])
            noise = rng.normal(size=(2 * n, k)) if turn % 4 else rng.standard_t(3, (2 * n, k)) / 1.7
            rows, where = truth + noise, "simulated"
        seen = rows[:n]
        rows = rows[:, np.argsort(seen.mean(axis=0), kind="stable")]
        d = rows[:, 1] - rows[:, 0]
        if not d[:n].any() or ttest_1samp(d[:n], 0).pvalue <= ALPHA:
            continue
        said = chance_to_tell(rows[:n], n)
        came = bool(ttest_1samp(d, 0).pvalue <= ALPHA)
        low = next(edge for edge in (0.5, 0.35, 0.2, 0.1, 0) if said >= edge)
        for cell in ("all", f"from {low:g}", f"{k} strategies", f"{k} strategies, from {low:g}"):
            tally.add(where, cell, said=said, came=came)
        if turn % 2:
            tally.add(board, f"from {low:g}", said=said, came=came)
    return tally


# ------------------------------------------------------------------------------- tables


def changed(table: pd.DataFrame, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Return the same table in other forms; a copy of a strategy is called ``copy``."""
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])
    return {
        "permuted": table.iloc[rows, columns],
        "float32": table.astype(np.float32),
        "percent": 100 * table,
        "a copy": table.assign(copy=table.iloc[:, rng.integers(table.shape[1])]),
        "a float32 copy": table.assign(
            copy=table.iloc[:, rng.integers(table.shape[1])].astype(np.float32)
        ),
    }


def judge_tables(seconds: float, _: Path | None) -> Tally:
    """Count tables of which another form has other verdicts."""
    tally = Tally()
    for turn in until(seconds):
        rng = np.random.default_rng([47, turn])
        n, k = int(rng.integers(6, 26)), int(rng.integers(2, 7))
        gaps = rng.choice([0.0, 0.02, 0.05], size=k) * rng.random()
        scores = np.clip(0.8 + gaps + rng.normal(size=(n, k)) * 0.04, 0.05, 0.99)
        scores = np.round(scores, int(rng.choice([2, 3, 15])))
        names = [f"m{at}" for at in range(k)]
        table = pd.DataFrame(scores, [f"d{at}" for at in range(n)], names)
        how: dict[str, Any] = {"rope": 0.01 * (turn % 3 == 1)}
        if turn % 2:
            how["clusters"] = {name: f"s{at // 2}" for at, name in enumerate(table.index)}
        first = _verdicts(table, **how)
        for form, other in changed(table, rng).items():
            rope = how["rope"] * (100 if form == "percent" else 1)
            differ = _verdicts(other, **{**how, "rope": rope}) != first
            tally.add(form, "", changed=differ)
            if differ:
                print(
                    f"turn {turn}, {form}: {first} and {_verdicts(other, **{**how, 'rope': rope})}"
                )
    return tally


def _verdicts(table: pd.DataFrame, **how: Any) -> tuple[dict[str, str], set[str]]:
    """Return the verdicts, and who is first."""
    decision = compare(table, metric="accuracy", n_samples=0, **how).decision()
    verdicts = decision.frame["verdict"].drop("copy", errors="ignore").sort_index().to_dict()
    return verdicts, {x for name in decision.first for x in decision.copies_of(name)} - {"copy"}


JUDGES = {
    "boards": judge_boards,
    "levels": judge_levels,
    "decisions": judge_decisions,
    "chances": judge_chances,
    "forecasts": judge_forecasts,
    "tables": judge_tables,
}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, seconds, output, *folder = sys.argv[1:]
    found = JUDGES[what](float(seconds), Path(folder[0]) if folder else None)
    found.frame(["what", "where"]).to_csv(output, index=False)
