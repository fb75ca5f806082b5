"""Places of the strategies of a study among published ones, by their protocol if possible."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from mlaut.analysis import PUBLISHED, Results, metric_names, published, read_results
from mlaut.errors import AnalysisError
from mlaut.experiments import read_study_file
from mlaut.files_io import StudyStore
from mlaut.plugins import Kind, kind_of, parse_budget
from mlaut_boards.placing.few_datasets import Placing, course_of, families_of
from mlaut_boards.placing.protocols import BENCHMARK, Protocol
from mlaut_boards.placing.published_places import place, reproduction


def place_study(
    study: str | os.PathLike[str],
    against: str,
    *,
    strategies: Iterable[str] | None = None,
    same: Mapping[str, str] | None = None,
    check: Collection[str] | None = None,
    missing: str = "row mean",
    budget: str = "",
    few: Mapping[str, Any] | None = None,
    verbose: int = 1,
    **changes: Any,
) -> Placing:
    """Place the strategies of a study among published ones.

    If the benchmark has a protocol here (`protocols.BENCHMARK`), a study file is first run or
    resumed by this protocol. The results of any other study are used without a run.

    Parameters
    ----------
    study : path-like
        Study database, study file, or table of scores (`mlaut.analysis.importers.read_results`).
    against : str
        Name of a published benchmark; a key of `mlaut.analysis.PUBLISHED`.
    strategies : iterable of str, optional
        Names of the strategies to place; default those of the study.
    same : mapping of str to str, optional
        Names of strategies of the study, each with the name of the published strategy that it
        repeats. Strategies that the protocol runs as a check are added.
    check : collection of str, optional
        Published strategies that the protocol runs again; default all that it can run.
    missing : str, default "row mean"
        Treatment of cells that were not published; see `published_places.place`.
    budget : str, optional
        Number of datasets, such as ``"10"``; or time, such as ``"2h cpu"``, for which ``few`` has
        costs in seconds. A protocol is then run on these datasets only, look by look.
    few : mapping, optional
        Options with a budget, and ``seed``; see `published_places.place`.
    verbose : int, default 1
        0 shows nothing of a run, 1 the progress, 2 also each failure.
    **changes
        Keys of ``[run]`` that replace those of the study file.

    Returns
    -------
    Placing
        The places; they have a ``check`` if a published strategy was run again.

    Raises
    ------
    StudyError, DataError
        The protocol cannot be run; see `Protocol`.
    AnalysisError
        The benchmark is not known, or fewer than two datasets have the same name.
    """
    if against in PUBLISHED and PUBLISHED[against].metric not in metric_names():
        raise AnalysisError(
            f"{against} has a result by another metric on each dataset, so a study has no scores "
            f"to compare; join the tables with those of published({against!r}, metric=...)"
        )
    theirs = published(against)  # held here, so that it is read once for all below
    amount, path = parse_budget(budget or None), Path(study)
    options = dict(few or {}) | ({"budget": amount.amount} if amount else {})
    if not amount and (without := set(options) - {"seed"}):
        raise AnalysisError(f"{', '.join(sorted(without))} needs a budget")
    if amount and (amount.unit == "evaluations") == bool(options.get("costs")):
        raise AnalysisError(
            f"budget {budget!r}: a time needs the cost of each dataset in seconds, and a number of "
            "datasets needs none; give --costs with the time alone"
        )
    board: str | Results = against
    options["strategies"], tuned = [*(strategies or ())] or None, "not by"
    kind = kind_of(path)
    if kind is Kind.STUDY_FILE and against == BENCHMARK:
        protocol = Protocol(path, check, **changes)
        names = [strategy.name for strategy in protocol.strategies]
        options["strategies"] = options["strategies"] or names
        same, tuned = {**protocol.same, **(same or {})}, "by"
        if budget:
            known = {"families": families_of(against), "entry": ", ".join(sorted(names))}
            board = theirs.select(datasets=[entry.name for entry in protocol.entries])
            results = _run_few(protocol, board, options := known | options, verbose)
        else:
            results = Results.from_study(protocol.run(verbose=verbose), theirs.metric)
    else:
        path = read_study_file(path).output if kind is Kind.STUDY_FILE else path
        read = read_results if kind is Kind.RESULTS else Results.from_study
        results = read(path, PUBLISHED[against].metric)
    checked = reproduction(results, against, same) if same else None
    placed = place(results, board, missing=missing, **options)
    notes = (*placed.notes, f"tuning here: {tuned} the benchmark's protocol")
    return replace(placed, check=checked, notes=notes)


def _run_few(protocol: Protocol, theirs: Results, options: dict[str, Any], verbose: int) -> Results:
    """Run or resume a protocol on the datasets that a placement needs, look by look.

    The results of all looks are returned.
    """
    own, parts = {"audit", "strategies"}, list[Path]()
    course = course_of(theirs, **{name: x for name, x in options.items() if name not in own})
    more = tuple(theirs.datasets[j] for j in course.order[: course.looks[0]])
    while more:
        # chosen parameters are part of a strategy, so that those on further datasets are another's
        parts.append(protocol.run(more, f"-{len(parts) + 1}", verbose))
        blocks = chain.from_iterable(StudyStore(part).blocks() for part in parts)
        results = Results.from_blocks(blocks, theirs.metric)
        more = place(results, theirs, **options).more
    return results
