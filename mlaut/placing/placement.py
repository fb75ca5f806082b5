"""Strategies of a study among published ones: check, place and profile in one record."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlaut.analysis import PUBLISHED, Results, metric_names, performance_profile, published
from mlaut.analysis.importers.published import families_of
from mlaut.analysis.placing import beside_published, place, reproduction
from mlaut.analysis.placing.few_datasets import Placing, course_of
from mlaut.analysis.results.missing import treat_missing
from mlaut.errors import AnalysisError
from mlaut.estimators.searches.words import parse_budget
from mlaut.experiments import read_study_file
from mlaut.files_io import StudyStore
from mlaut.markup import csv_text
from mlaut.placing.protocols import BENCHMARK, ProtocolRun, protocol_datasets, run_protocol

if TYPE_CHECKING:
    from mlaut.analysis.common.result_types import ResultTable

_SHOWN = 8  # published strategies in the figure of the profile: with one's own it names nine


@dataclass(frozen=True)
class Placement:
    """Places of the strategies of a study among published ones.

    Attributes
    ----------
    check : ResultTable or None
        Strategies that were run again, beside their published columns (`mlaut.analysis.
        reproduction`); None where none was.
    place : Placing
        Places of one's own strategies, with their comparison with every published one.
    profile : ResultTable or None
        Performance profile of all; None with a budget.
    """

    check: ResultTable | None
    place: Placing
    profile: ResultTable | None = None

    @property
    def sentence(self) -> str:
        """Return the place of the best own strategy, and whether the check supports it."""
        if self.place.frame.empty:
            return f"No strategy was run on the datasets of the first look. {self.trust}"
        row = self.place.frame.sort_values("average rank").iloc[0]
        if "rank" in row:
            has = f"has rank {row['rank']:.0f} of {row['of']:.0f} (P(best) {row['P(best)']:.2f})"
        else:
            ends = f"{row['average rank low']:.1f} to {row['average rank high']:.1f}"
            has = f"has an average rank of {row['average rank']:.1f} ({ends}) of {row['of']:.0f}"
        return (
            f"{row.name} {has}: better than {row['better than']:.0f} published strategies, worse "
            f"than {row['worse than']:.0f}, undecided from {row['undecided']:.0f}. {self.trust}"
        )

    @property
    def trust(self) -> str:
        """Return what the strategies that were run again say about the comparison."""
        if self.check is None:
            return "No published strategy was run again, so nothing checks the comparison."
        off = [str(name) for name, ok in self.check.frame["agrees"].items() if not ok]
        if off:
            return (
                f"Beyond what folds explain: {', '.join(off)}. So others that were run here may "
                "not be comparable with the published ones either."
            )
        return f"Agrees with what was published: {', '.join(map(str, self.check.frame.index))}."

    def __str__(self) -> str:
        tables = [table for table in (self.check, self.place) if table is not None]
        return "\n\n".join([*map(repr, tables), self.sentence])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the tables as CSV, and the profile of one's own and the best as a figure."""
        from mlaut.analysis import profile_plot

        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        frames = {name: table.frame for name, table in vars(self).items() if table is not None}
        for name, frame in {**frames, "pairs": self.place.pairs}.items():
            (path / f"{name}.csv").write_text(csv_text(frame), "utf-8")
        if self.profile is not None:
            shares, own = self.profile.frame, list(self.place.frame.index)
            others = shares.drop(columns=own).mean().nlargest(_SHOWN).index
            few = replace(self.profile, frame=shares[[*own, *others]])
            profile_plot(few).savefig(path / "profile.svg")


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
) -> Placement:
    """Place the strategies of a study among published ones.

    A study file whose benchmark has a protocol here (`protocols.BENCHMARK`) is run by it first, or
    resumed. Of any other study the results are taken as they are.

    Parameters
    ----------
    study : path-like
        Study database, or study file.
    against : str
        Name of a published benchmark; a key of `mlaut.analysis.PUBLISHED`.
    strategies : iterable of str, optional
        Names of the strategies to place; default those of the study.
    same : mapping of str to str, optional
        Names of strategies of the study, each with that of the published strategy that it repeats.
        Those that the protocol runs as a check are added.
    check : collection of str, optional
        Published strategies that the protocol runs again; default all that it has.
    missing : str, default "row mean"
        Treatment of cells that were not published; see `mlaut.analysis.placing.place`.
    budget : str, optional
        Number of datasets, such as ``"10"``; or time, such as ``"2h cpu"``, for which ``few`` has
        costs in seconds. A protocol is run on these datasets alone, from look to look.
    few : mapping, optional
        Options with a budget, and ``seed``; see `mlaut.analysis.placing.place`.
    verbose : int, default 1
        0 shows nothing of a run, 1 the progress, 2 also each failure.
    **changes
        Keys of ``[run]`` that replace those of the study file.

    Returns
    -------
    Placement

    Raises
    ------
    StudyError, DataError
        The protocol cannot be run; see `run_protocol`.
    AnalysisError
        The benchmark is not known, or fewer than two datasets have the same name.
    """
    if against in PUBLISHED and (metric := PUBLISHED[against].metric) not in metric_names():
        raise AnalysisError(
            f"{against} has a {metric} by another metric on each dataset, so a study has no scores "
            f"to compare; download it with another metric, published({against!r}, metric="
            "...), and join the tables"
        )
    theirs = published(against)  # held here, so that it is read once for all below
    path, run = Path(study), None
    how = {"check": check, "verbose": verbose, **changes}
    options = {"families": families_of(against), **(few or {})}
    if budget:
        options["budget"] = _amount(budget, options)
    elif without := set(few or ()) - {"seed"}:
        raise AnalysisError(f"{', '.join(sorted(without))} needs a budget")
    if path.suffix == ".toml" and against == BENCHMARK:
        if budget:
            run, results, theirs = _run_few(path, against, strategies, options, how)
        else:
            run = run_protocol(path, against, **how)
            results = Results.from_study(run.path, theirs.metric)
    else:
        path = read_study_file(path).output if path.suffix == ".toml" else path
        results = Results.from_study(path, theirs.metric)
    same = {**(run.same if run else {}), **(same or {})}
    chosen = list(strategies or (run.candidates if run else results.strategies))
    checked = reproduction(results, against, same) if same else None
    if budget:
        placed = place(results, theirs, strategies=chosen, **options)
        return Placement(checked, replace(placed, notes=(*placed.notes, *_how(run))))
    placed = place(results, against, strategies=chosen, missing=missing, **(few or {}))
    beside = treat_missing(beside_published(results, against, chosen), missing)
    placed = replace(placed, notes=(*placed.notes, *_how(run)))
    return Placement(checked, placed, performance_profile(beside))


def _amount(budget: str, options: Mapping[str, Any]) -> float:
    """Return a budget as a number of datasets or of seconds."""
    amount = parse_budget(budget)
    if amount is None or (amount.unit == "evaluations") == bool(options.get("costs")):
        raise AnalysisError(
            f"budget {budget!r}: a time needs the cost of each dataset in seconds, and a number of "
            "datasets needs none; give --costs with the time alone"
        )
    return amount.amount


def _run_few(
    path: Path,
    against: str,
    strategies: Iterable[str] | None,
    options: dict[str, Any],
    how: Mapping[str, Any],
) -> tuple[ProtocolRun, Results, Results]:
    """Run the protocol on the datasets that a placement asks for, look by look, or resume it.

    The last run, the results of all, and the published ones on the datasets that the folder has
    are returned; ``options`` get the entry.
    """
    datasets, entry = protocol_datasets(path, against)
    theirs = published(against).select(datasets=datasets)
    options.setdefault("entry", entry)
    course = course_of(theirs, **{name: x for name, x in options.items() if name != "audit"})
    more = tuple(theirs.datasets[j] for j in course.order[: course.looks[0]])
    parts: list[Path] = []
    while more:
        # chosen parameters are part of a strategy, so that those on further datasets are another's
        run = run_protocol(path, against, datasets=more, part=f"-{len(parts) + 1}", **how)
        parts.append(run.path)
        blocks = chain.from_iterable(StudyStore(part).blocks() for part in parts)
        results = Results.from_blocks(blocks, theirs.metric)
        more = place(results, theirs, strategies=strategies or [*run.candidates], **options).more
    return run, results, theirs


def _how(run: ProtocolRun | None) -> tuple[str, ...]:
    """Return the notes on the tuning of one's own strategies."""
    if run is None:
        return ("tuning here: as the study says, and not by the benchmark's protocol",)
    parts = [
        f"{name} ({count} candidates)" if count else f"{name} (without a grid: not so tuned)"
        for name, count in run.candidates.items()
    ]
    return (f"tuning here: by the benchmark's protocol: {', '.join(parts)}",)
