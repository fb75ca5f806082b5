"""`mlaut.analysis.Results` from a study, or from blocks of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mlaut.analysis.common.arguments import positions, shown
from mlaut.analysis.scores.base import CellScores, MLautScore
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.errors import AnalysisError, some_of
from mlaut.files_io.outcomes.study_records import foreign_sources
from mlaut.files_io.studies.study import StudyStore
from mlaut.helpers.lazy import pd
from mlaut.records import NOT_PLANNED, UNUSED, Block, Status

if TYPE_CHECKING:
    from mlaut.analysis.results.results import Results


def of_study(
    kind: type[Results],
    study: Any,
    metric: Any,
    strategies: Iterable[str] | None,
    datasets: Iterable[str] | None,
) -> Results:
    """Return the scores of a study; see `Results.from_study`."""
    study = open_study(study)
    score = find_metric(metric)
    names = list(study.datasets)
    notes: list[str] = []
    blocks = _parts(study, [names[i] for i in positions("dataset", datasets, names)])
    if datasets is None:
        blocks = _of_task(blocks, score, notes)
    chosen = None if strategies is None else list(strategies)
    by_source: dict[str, list[str]] = {}
    for name, source in foreign_sources(study.strategies).items():
        if chosen is None or name in chosen:
            by_source.setdefault(source, []).append(name)
    for source, of_source in by_source.items():
        notes.append(f"imported from {source}, not run here: {some_of(of_source)}")
    clusters = _sealed_clusters(study)
    return of_blocks(
        kind, blocks, score, chosen, load_block=study.block, notes=notes, clusters=clusters
    )


def _sealed_clusters(study: StudyStore) -> Mapping[str, Any]:
    """Return the sources of datasets that a study's analysis states; empty if it states none."""
    stored = getattr(study, "analyses", ())
    terms = stored[-1]["analysis"] if stored else {}
    clusters = terms.get("clusters") if isinstance(terms, dict) else None
    return clusters if isinstance(clusters, dict) else {}


def sources_of(datasets: Sequence[str], clusters: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the source of each dataset, by default its own name; None if no two share one."""
    sources = tuple(str(clusters.get(name, name)) for name in datasets)
    return sources if len(set(sources)) < len(sources) else None


def open_study(output: Any) -> StudyStore:
    """Return the study at a path or of a `FilesIO`; a study is returned unchanged."""
    if hasattr(output, "blocks"):
        return output
    path = getattr(output, "path", output)
    if not isinstance(path, str | os.PathLike):
        raise AnalysisError(f"{shown(output)} is neither a study nor the path of one")
    return StudyStore(path)


def training_times(study: StudyStore, datasets: Iterable[str]) -> pd.DataFrame:
    """Return mean seconds of the completed cells of each strategy, averaged over datasets.

    The columns are those that `AnalyseResults.average_training_time` describes.
    """
    tables = [
        pd.DataFrame(
            mean_seconds(block.seconds, block.done),
            index=list(block.strategies),
            columns=["tuning", "fitting", "predicting"],
        )
        for block in _parts(study, datasets)
    ]
    seconds = pd.concat(tables, keys=range(len(tables)))
    seconds.insert(0, "training", seconds["tuning"] + seconds["fitting"])
    seconds = seconds.dropna(subset=["training"])
    groups = seconds.groupby(level=1, sort=False)
    table = groups.mean()
    table.insert(1, "std_error", groups["training"].sem())
    table["datasets"] = groups.size()
    table.index.name = "strategy"
    return table


def _parts(study: StudyStore, datasets: Iterable[str]) -> Iterable[Block]:
    """Return the blocks of datasets in parts of bounded memory, if the study has parts."""
    return getattr(study, "parts", study.blocks)(datasets)


def _of_task(blocks: Iterable[Block], score: MLautScore, notes: list[str]) -> Iterator[Block]:
    """Yield the blocks of the metric's task; append a note on the other datasets to ``notes``."""
    others: dict[str, None] = {}
    for block in blocks:
        if score.task in (None, block.task):
            yield block
        else:
            others[block.dataset] = None
    if others:
        notes.append(f"{score.name} is for {score.task}; left out: {some_of(others)}")


def of_blocks(
    kind: type[Results],
    blocks: Iterable[Block],
    metric: Any,
    strategies: Iterable[str] | None,
    *,
    load_block: Callable[[str], Block] | None = None,
    notes: Sequence[str] = (),
    clusters: Mapping[str, Any] | None = None,
) -> Results:
    """Return the scores of blocks; only one block is in memory at a time."""
    score, blocks = find_metric(metric), _only_blocks(blocks)
    if load_block is None:
        kept = {block.dataset: block for block in blocks}
        blocks, load_block = kept.values(), kept.__getitem__
    each = (_Scored.of(block.main, score) for block in blocks)
    scored = [_Scored.joined(list(parts)) for _, parts in groupby(each, lambda part: part.dataset)]
    if not scored:
        of = (score.task or "any task").lower()
        raise AnalysisError(f"no dataset suits the metric {score.name!r}, which is for {of}")
    names, never = _strategy_names(scored, strategies)
    notes = list(notes)
    if never:
        notes.append(f"tried on none of the datasets, left out: {some_of(never)}")
    gaps = (f"{some_of(never)} left out: tried on none",) if never else ()
    if score.average and any(part.n_test.size > 1 for part in scored):
        notes.append(
            "several test sets share training rows: standard errors of scenario (a) are "
            "approximate under cross-validation"
        )
    return replace(
        _assemble(kind, scored, names, score),
        clusters=sources_of([part.dataset for part in scored], clusters or {}),
        notes=tuple(notes),
        gaps=gaps,
        load_block=partial(_main, load_block, names),
    )


def _main(load_block: Callable[[str], Block], strategies: Sequence[str], dataset: str) -> Block:
    return _with_missing(load_block(dataset), strategies).main


def _with_missing(block: Block, strategies: Sequence[str]) -> Block:
    """Return a block with all of some strategies; those that it lacks have no cell there."""
    new = tuple(name for name in strategies if name not in block.strategies)
    parts: dict[str, Any] = {
        name: np.concatenate([values, np.full((len(new), *values.shape[1:]), no, values.dtype)])
        for name, no in (
            ("status", Status.MISSING),
            ("predictions", -1 if block.classes else np.nan),
            ("probabilities", np.nan),
            ("seconds", np.nan),
        )
        if new and (values := getattr(block, name)) is not None
    }
    return replace(block, strategies=(*block.strategies, *new), **parts)


def mean_seconds(seconds: np.ndarray, done: np.ndarray) -> np.ndarray:
    """Return the mean seconds of done cells for tuning, fitting and predicting.

    Parameters
    ----------
    seconds : ndarray, shape (..., R, F, 3)
    done : ndarray of bool, shape (..., R, F)

    Returns
    -------
    ndarray, shape (..., 3)
        NaN where no cell is done.
    """
    total = np.where(done[..., None], seconds, 0.0).sum(axis=(-3, -2))
    number = done.sum(axis=(-2, -1))[..., None]
    return total / np.where(number > 0, number, np.nan)


def _only_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks; raise `AnalysisError` for anything that is not a block."""
    if not isinstance(blocks, Iterable):
        raise AnalysisError(f"{shown(blocks)} are not blocks, such as Study.blocks() returns")
    for block in blocks:
        if not isinstance(block, Block):
            raise AnalysisError(f"{shown(block)} is not a block, such as Study.block() returns")
        yield block


@dataclass(frozen=True, eq=False)
class _Scored:
    """Parts of a block that stay in memory after it is scored."""

    dataset: str
    fingerprint: str
    strategies: tuple[str, ...]
    scores: CellScores
    seconds: np.ndarray
    tried: np.ndarray
    n_test: np.ndarray
    n_train: np.ndarray
    weighted: bool

    @classmethod
    def of(cls, block: Block, score: MLautScore) -> Self:
        folds, numbers = block.split.folds, np.arange(block.split.n_folds)
        n_test = (folds[:, None, :] == numbers[:, None]).sum(axis=2)
        not_tried = [Status.MISSING, Status.SKIPPED, Status.RACED_OUT]
        tried = np.asarray(~np.isin(block.status, not_tried).all(axis=(1, 2)))
        return cls(
            dataset=block.dataset,
            fingerprint=block.fingerprint,
            strategies=block.strategies,
            scores=score.evaluate(block),
            seconds=block.seconds,
            tried=tried,
            n_test=n_test,
            n_train=(folds != UNUSED).sum(axis=1)[:, None] - n_test,
            weighted=block.weights is not None,
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return one dataset from parts with some of its strategies each."""
        if len(parts) == 1:
            return parts[0]
        starts = np.cumsum([0, *(len(part.strategies) for part in parts)]).tolist()
        reasons = {
            (s + start, *at): why
            for start, part in zip(starts, parts, strict=False)
            for (s, *at), why in part.scores.reasons.items()
        }
        cells, losses, variances = (
            np.concatenate([getattr(part.scores, name) for part in parts])
            for name in ("cells", "losses", "variances")
        )
        return replace(
            parts[0],
            strategies=tuple(name for part in parts for name in part.strategies),
            scores=CellScores(cells, losses, variances, reasons),
            seconds=np.concatenate([part.seconds for part in parts]),
            tried=np.concatenate([part.tried for part in parts]),
        )


def _strategy_names(
    scored: Sequence[_Scored], chosen: Iterable[str] | None
) -> tuple[list[str], list[str]]:
    """Return the names of the strategies to compare, and of the strategies never tried."""
    tried: dict[str, bool] = {}
    for table in scored:
        for name, was_tried in zip(table.strategies, table.tried.tolist(), strict=True):
            tried[name] = tried.get(name, False) or was_tried
    if chosen is not None:
        names = list(tried)
        return [names[i] for i in positions("strategy", chosen, names)], []
    never = [name for name, was_tried in tried.items() if not was_tried]
    if len(never) == len(tried):
        raise AnalysisError("no cell of this study was tried yet: run it first")
    return [name for name in tried if name not in never], never


def _assemble(
    kind: type[Results], scored: Sequence[_Scored], names: Sequence[str], score: MLautScore
) -> Results:
    """Return the scores of all datasets in arrays of one shape."""
    repeats, folds = np.max([table.n_test.shape for table in scored], axis=0)
    shape = (len(scored), len(names), repeats, folds)
    cells, losses, variances = np.full((3, *shape), np.nan)
    seconds = np.full((*shape, 3), np.nan)
    sizes = np.zeros((2, len(scored), repeats, folds), dtype=int)
    reasons: dict[tuple[int, int, int, int], str] = {}
    weighted = any(table.weighted for table in scored)
    for i, table in enumerate(scored):
        r, f = table.n_test.shape
        sizes[:, i, :r, :f] = table.n_test, table.n_train
        for k, name in enumerate(names):
            if name not in table.strategies:
                reasons |= {(i, k, a, b): NOT_PLANNED for a in range(r) for b in range(f)}
                continue
            s = table.strategies.index(name)
            cells[i, k, :r, :f] = table.scores.cells[s]
            losses[i, k, :r, :f] = table.scores.losses[s]
            variances[i, k, :r, :f] = table.scores.variances[s]
            seconds[i, k, :r, :f] = table.seconds[s]
        for (s, a, b), why in table.scores.reasons.items():
            if table.strategies[s] in names:
                reasons[i, names.index(table.strategies[s]), a, b] = why
    return kind(
        metric=score,
        datasets=tuple(table.dataset for table in scored),
        strategies=tuple(names),
        cells=cells,
        cell_losses=losses,
        expected=sizes[0] > 0,
        reasons=reasons,
        variances=variances if score.average and not weighted else None,
        n_test=sizes[0],
        n_train=sizes[1],
        seconds=seconds,
        fingerprints=tuple(table.fingerprint for table in scored),
    )
