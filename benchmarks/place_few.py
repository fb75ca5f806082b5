"""Measure placements by few datasets: coverage, learners that an audit flags, claims of looks.

    python benchmarks/place_few.py LEADERBOARDS OUTPUT [BOARD ...]
    python benchmarks/place_few.py LEADERBOARDS OUTPUT parts

LEADERBOARDS has tables of GIFT-Eval and fev-bench (task, source, one column for each learner). Each
published learner is new in turn: its whole family is left out of the pool, of the ranks, the prior,
the list and the calibration. Families are those of the benchmark, or by correlation of ranks.
``parts`` measures lists on boards that have a random four fifths of the datasets: coverage on one
board depends on the list that it happens to have.

It needs the plug-in mlaut-boards: pip install ./plugins/exchange ./plugins/boards
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices: threads cost more than they bring

import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
from mlaut_boards.placing.few_datasets import PlacingCourse, choose_datasets, course_of
from scipy.stats import t as student

from mlaut.analysis import Results
from mlaut.errors import AnalysisError

SIZES = (5, 10, 20, 30)
LOOKS = (5, 10, 15, 20, 25, 30, 40)
RIVALS = 10
PARTS = 5
ALPHA = 0.1
FILES = {
    "GIFT-Eval, CRPS": "gift_eval_97x120_crps.csv",
    "GIFT-Eval, MASE": "gift_eval_97x120_mase.csv",
    "fev-bench, SQL": "fev_bench_100x26_sql.csv",
}
BOARDS = (
    "mlaut2018",
    "wainer2023",
    "fev-bench, SQL",
    "delgado2014",
    "GIFT-Eval, CRPS",
    "GIFT-Eval, MASE",
)


def read(name, folder):
    """Return the name of a published board, or the results of a leaderboard."""
    if name not in FILES:
        return name
    table = pd.read_csv(Path(folder) / FILES[name], index_col="task").drop(columns="source")
    return Results.from_table(table, metric="loss", greater_is_better=False)


def board_of(name, folder):
    """Return a board, and whether the designed arm is allowed on it."""
    against = read(name, folder)
    try:
        return course_of(against, 30, "measured").board, True
    except AnalysisError:
        made = course_of(against, 30, "measured", arm="random").board
        return replace(made, drawn=None), False


def course(others, drawn, looks, designed):
    """Return the course of a draw or of a list, as `course_of` does."""
    board = others if designed else replace(others, drawn=drawn)
    names = SimpleNamespace(strategies=list(range(len(others.families))))
    return PlacingCourse(board, names, drawn, *board.listed(len(drawn)), list(looks), ())


def no_calibration(others, looks):
    """Return zeros that replace a calibration if an arm needs none."""
    return np.zeros((4, len(looks), len(others.families)))


def seen_at(found, truth, arm, m, row, learners):
    """Add coverage and width of one placement."""
    scale = learners
    ends = (row["average rank low"] - 1) / scale, (row["average rank high"] - 1) / scale
    found[arm, "average rank", m].append((ends[0] <= truth[0] <= ends[1], scale * np.ptp(ends)))
    ends = row["score low"], row["score high"]
    found[arm, "clipped score", m].append((ends[0] <= truth[1] <= ends[1], np.ptp(ends)))


def plain(found, values, at, truth, learners):
    """Add Student's t on the mean of a random draw, without a prior."""
    n, m = len(values[0]), len(at)
    half = student.ppf(1 - ALPHA / 2, m - 1) * values[0][at].std(ddof=1)
    half *= np.sqrt(1 / m - 1 / n)
    off = abs(values[0][at].mean() - truth[0])
    found["plain t", "average rank", m].append((off <= half, 2 * learners * half))


def claims(found, arm, made, held, values, truth, rivals):
    """Add the claims of looks about rivals: whether false, whether decided, and after how many."""
    open_ = dict.fromkeys(rivals.tolist(), None)
    for i, m in enumerate(LOOKS):
        _, pairs = made.look(held[:, i], m, values, ALPHA / len(LOOKS))
        verdicts = pairs["verdict"].to_numpy()
        for rival in [one for one, said in open_.items() if said is None]:
            if verdicts[rival] != "undecided":
                open_[rival] = (verdicts[rival], m)
    for rival, said in open_.items():
        gap = truth[0] - made.board.means[0][rival]
        wrong = said is not None and (gap > 0) == (said[0] == "better")
        found[arm].append((wrong, said is not None, said[1] if said else LOOKS[-1], abs(gap)))


def plain_claims(found, board, others, k, rivals, drawn):
    """Add the claims of the paired t test of ranks on a random order, repeated at each look."""
    new, theirs = others.of(board.losses[:, [k]])[0][0], others.of(others.losses)[0]
    for rival in rivals:
        d, said = new - theirs[rival], None
        for m in LOOKS:
            x = d[drawn[:m]]
            half = student.ppf(1 - ALPHA / 2, m - 1) * x.std(ddof=1) / m**0.5
            if abs(x.mean()) > half:
                said = (x.mean() < 0, m)
                break
        gap = d.mean()
        wrong = said is not None and said[0] != (gap < 0)
        found["plain t, repeated"].append(
            (wrong, said is not None, said[1] if said else LOOKS[-1], abs(gap))
        )


def audits(found, made, held, ranks, i, random):
    """Add whether an audit flags a learner, unchanged and tuned to the list."""
    at, n = made.order[: made.looks[i]], len(ranks)
    tuned = ranks.copy()
    tuned[at] = random.uniform(0, 0.1, len(at))
    poor = random.uniform(0.6, 1, n)
    poor[at] = tuned[at]
    kinds = {"as published": ranks, "top on the list, poor elsewhere": poor}
    if ranks.mean() > 0.5:
        kinds["below the median, made top on the list"] = tuned
    mild = ranks.copy()
    mild[at] = np.maximum(ranks[at] - 0.15, 0)
    kinds["0.15 better on the list"] = mild
    for kind, values in kinds.items():
        worse, _ = made.board.audited(at, made.random, values[None])
        p = (1 + (held[3, i] >= worse[0]).sum()) / (1 + held.shape[2])
        found[kind, made.looks[i]].append(p <= ALPHA)


def tuned_draws(found, others, listed, own, seed):
    """Add the coverage of draws for a learner that is best on a list of ten and poor elsewhere."""
    random = np.random.default_rng(seed)
    n, learners = others.losses.shape
    values = random.uniform(0.6, 1, n), own[1]
    values[0][listed] = random.uniform(0, 0.1, len(listed))
    made = course(others, random.permutation(n), SIZES, False)
    for i, m in enumerate(SIZES):
        row, _ = made.look(no_calibration(others, SIZES)[:, i], m, values, ALPHA)
        ends = np.array([row["average rank low"], row["average rank high"]]) - 1
        inside = ends[0] <= learners * values[0].mean() <= ends[1]
        found["random, tuned to a list", "average rank", m].append((inside, np.ptp(ends)))


def measure(name, folder):
    """Return rows of the three tables for a board."""
    board, designed = board_of(name, folder)
    covered, claimed, flagged = defaultdict(list), defaultdict(list), defaultdict(list)
    looks = sorted({*SIZES, *LOOKS})
    draws = 3 if designed else 40
    for number, family in enumerate(np.unique(board.families)):
        of_it = board.families == family
        others, values, _ = board.without(of_it, 1)
        n, learners = others.losses.shape
        random = np.random.default_rng(number)
        drawn = random.permutation(n)
        if designed:
            made = course(others, drawn, looks, True)
            held = others.held_out(looks, drawn)
            short = held[:, [looks.index(m) for m in LOOKS]]
        for j, k in enumerate(np.flatnonzero(of_it)):
            own = [value[j] for value in values]
            truth = [value.mean() for value in own]
            if designed:
                for m in SIZES:
                    row, _ = made.look(held[:, looks.index(m)], m, own, ALPHA)
                    seen_at(covered, truth, "designed", m, row, learners)
                    audits(flagged, made, held, own[0], looks.index(m), random)
                rivals = random.choice(learners, RIVALS, replace=False)
                claims(
                    claimed, "designed", made._replace(looks=list(LOOKS)), short, own, truth, rivals
                )
                plain_claims(claimed, board, others, k, rivals, random.permutation(n))
                made_random = course(others, random.permutation(n), LOOKS, False)
                nothing = no_calibration(others, LOOKS)
                claims(claimed, "random", made_random, nothing, own, truth, rivals)
                tuned_draws(covered, others, made.order[:10], own, [number, k])
            for _ in range(draws):
                made_random = course(others, random.permutation(n), SIZES, False)
                nothing = no_calibration(others, SIZES)
                for i, m in enumerate(SIZES):
                    row, _ = made_random.look(nothing[:, i], m, own, ALPHA)
                    seen_at(covered, truth, "random", m, row, learners)
                    plain(covered, own, made_random.order[:m], truth, learners)
    size = f"{name}, {board.losses.shape[0]} x {board.losses.shape[1]}, {number + 1}"
    return [table(size, *one) for one in ((covered, 1), (claimed, 2), (flagged, 3))]


def table(size, found, kind):
    """Return the measurements as rows."""
    rows = []
    if kind == 1:
        for arm in ("designed", "random", "random, tuned to a list", "plain t"):
            for measure_ in ("average rank", "clipped score"):
                cells = [np.array(found.get((arm, measure_, m), [])) for m in SIZES]
                if not len(cells[0]):
                    if arm == "designed":
                        rows.append([size, arm, measure_, "refused", ""])
                    continue
                digits = 1 if measure_ == "average rank" else 2
                shares = " / ".join(f"{100 * one[:, 0].mean():.0f}" for one in cells)
                widths = " / ".join(f"{np.median(one[:, 1]):.{digits}f}" for one in cells)
                rows.append([size, arm, measure_, shares, widths])
    elif kind == 2:
        for arm, said in found.items():
            said = np.array(said, dtype=float)
            rows.append(
                [
                    size,
                    arm,
                    len(said),
                    f"{100 * said[:, 0].mean():.2f}",
                    f"{100 * said[:, 1].mean():.0f}",
                    f"{said[:, 2].mean():.1f}",
                ]
            )
    else:
        for learner in dict.fromkeys(key for key, _ in found):
            cells = [found[learner, m] for m in SIZES]
            rows.append(
                [
                    size,
                    learner,
                    len(cells[0]),
                    " / ".join(f"{100 * np.mean(one):.0f}" for one in cells),
                ]
            )
    return rows


def rankings(folder, output):
    """Write how well lists keep the ranking of the families that did not choose them."""
    rows = []
    for name in ("delgado2014", "GIFT-Eval, CRPS"):
        against = read(name, folder)
        kept = choose_datasets(against, 30).frame
        drawn = choose_datasets(against, 30, arm="random", entry="measured").frame
        for m in (5, round(0.1 * len(course_of(against, 30, "").board.losses)), 20, 30):
            row = kept.iloc[m - 1]
            spearman = f"{row['Spearman']:.3f} ± {row['SD']:.3f}"
            rows.append([name, m, spearman, f"{row['Kendall']:.2f}", f"{row['left']:.1f}",
                         f"{drawn['Spearman'].iloc[m - 1]:.3f}"])  # fmt: skip
    heads = ["board", "datasets", "Spearman", "Kendall", "left, ranks", "Spearman of a draw"]
    frame = pd.DataFrame(rows, columns=heads)
    frame.to_csv(Path(output) / "place_few_rankings.csv", index=False)


def covered_by_lists(board):
    """Return whether lists cover each learner: of rank and score, by size; shape (2, 4, K)."""
    inside = np.zeros((2, len(SIZES), board.losses.shape[1]), dtype=bool)
    drawn = np.arange(len(board.losses))
    for family in np.unique(board.families):
        of_it = board.families == family
        others, values, order = board.without(of_it, max(SIZES))
        errors = others.held_out(SIZES, drawn)
        for i, m in enumerate(SIZES):
            for kind, value in enumerate(values):
                found, sd, _ = others.predicted(kind, order[:m], value)
                off = np.abs(found - value.mean(axis=1))
                inside[kind, i, of_it] = off <= others.reach(errors[kind, i], ALPHA) * sd
    return inside


def parts(folder, output):
    """Write the coverage of lists on boards of a random four fifths of the datasets."""
    shares, rows = defaultdict(list), []
    for number in range(PARTS):
        random = np.random.default_rng(number)
        for name in ("GIFT-Eval, MASE", "delgado2014", "GIFT-Eval, CRPS"):
            board, _ = board_of(name, folder)
            n = len(board.losses)
            kept = np.sort(random.choice(n, round(0.8 * n), replace=False))
            part = replace(board, losses=board.losses[kept], costs=board.costs[kept])
            shares[name].append(100 * covered_by_lists(part).mean(axis=-1))
            print(number, name, shares[name][-1].round(1).tolist(), flush=True)
    for name, found in shares.items():
        for kind, measure_ in enumerate(("average rank", "clipped score")):
            of_kind = np.array(found)[:, kind]
            cells = zip(of_kind.mean(axis=0), of_kind.std(axis=0, ddof=1), strict=True)
            text = " / ".join(f"{mean:.0f} ± {sd:.0f}" for mean, sd in cells)
            rows.append([name, measure_, len(found), text])
    heads = ["board", "of", "parts", "covered, % (5 / 10 / 20 / 30), ± SD over parts"]
    frame = pd.DataFrame(rows, columns=heads)
    frame.to_csv(Path(output) / "place_few_parts.csv", index=False)


def main(folder, output, *boards):
    """Measure the boards, and write three tables."""
    heads = (
        ["board, learners, families", "arm", "of", "covered, % (5 / 10 / 20 / 30)", "width"],
        ["board", "order", "pairs", "false claims, %", "decided, %", "mean datasets"],
        ["board", "learner", "learners", "flagged, % (5 / 10 / 20 / 30)"],
    )
    rows = ([], [], [])
    for name in boards or BOARDS:
        start = time.process_time()
        for all_, new in zip(rows, measure(name, folder), strict=True):
            all_ += new
        print(name, f"{time.process_time() - start:.0f} s", flush=True)
        for part, head, all_ in zip(("coverage", "claims", "audits"), heads, rows, strict=True):
            frame = pd.DataFrame(all_, columns=head)
            frame.to_csv(Path(output) / f"place_few_{part}.csv", index=False)
    rankings(folder, output)


if __name__ == "__main__":
    if sys.argv[3:] == ["parts"]:
        parts(*sys.argv[1:3])
    else:
        main(*sys.argv[1:])
