"""Terms of an analysis, which are checked, stored before the first result, and read again.

Every change is stored with its time and the number of results that were known at that time, so
that each later report can name the change. A new term is a field of `Analysis` with its default,
which says how it is stored, read and named. Its check, if it needs one, is here; one that says what
is compared, and not how, is in `_COMPARED`.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from mlaut.analysis.common.arguments import one_of, position, share, shown
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.results.missing import check_treatment
from mlaut.analysis.scores.base import MLautScore
from mlaut.analysis.scores.metric_names import metric as find_metric
from mlaut.errors import AnalysisError, StudyError
from mlaut.files_io import SplitEntry, StudyStore
from mlaut.helpers.markup import counted
from mlaut.records import TASKS, Analysis, Status

# R2 has no unit. Errors in the units of each target cannot be averaged over datasets.
DEFAULT_METRICS = dict(zip(TASKS, ("accuracy", "r2"), strict=True))

QUESTIONS = {
    "best": "which strategies may be as good as all others",
    "all best": "the same, and the level holds for all of the best together",
    "control: NAME": "which strategies differ from the strategy NAME",
    "all pairs": "which of two strategies is better, for all pairs",
}
_COMPARED = ("secondary", "missing", "clusters", "least")  # terms that leave the way as it is
_CONTROL = "control:"
_NOW = "chosen after the scores were known"
_BEFORE = "before the first result"


def control_of(question: str, strategies: Sequence[str]) -> int | None:
    """Return the position of the control that a question names; None if it names none.

    Raises
    ------
    AnalysisError
        The question or its control is not known.

    Examples
    --------
    >>> control_of("control: B", ["A", "B"])
    1
    """
    if question.startswith(_CONTROL):
        return position("strategy", question.removeprefix(_CONTROL).strip(), strategies)
    one_of("question", question, QUESTIONS)
    return None


def default_test(metric: MLautScore) -> str:
    """Return the default test: the trinomial test if only signs are comparable between datasets."""
    return "trinomial" if metric.incomparable else "signed rank"


def fewest_datasets(n_strategies: int, analysis: Analysis, sources: bool = False) -> int:
    """Return the number of datasets below which nothing is decided.

    For this smallest n, a strategy that wins on every dataset is shown to be better: the two-sided
    p-value of n wins, 2 / 2^n, is at most alpha. Joint tests of all pairs by flips of signs need
    the same number for any number of pairs; for other tests, and against a control, alpha is
    divided by the number of pairs. Tests that could reject with fewer datasets (t) would rest on
    their assumptions alone.

    Examples
    --------
    >>> [fewest_datasets(k, Analysis()) for k in (2, 9, 100)]
    [6, 6, 6]
    >>> [fewest_datasets(k, Analysis(test="t")) for k in (2, 9, 100)]
    [6, 11, 18]
    """
    control = analysis.question.startswith("control")
    pairs = n_strategies - 1 if control else n_strategies * (n_strategies - 1) // 2
    flipped = not analysis.test or bool(TESTS[analysis.test].joint)
    jointly = sources or (not control and flipped)
    needed = 1 + math.log2((1 if jointly else max(pairs, 1)) / analysis.alpha)
    return max(analysis.least, math.ceil(needed - 1e-9))  # rounding adds no dataset


def check_analysis(
    analysis: Analysis, strategies: Sequence[str] = (), tasks: Collection[str] = ()
) -> None:
    """Check the terms of an analysis.

    Without strategies or tasks, the checks that need them are skipped.

    Raises
    ------
    AnalysisError
        A term is not possible; the message lists all such terms.
    """
    mistakes = []
    for test in (_check_question, _check_metrics, _check_numbers, _check_words, _check_clusters):
        try:
            test(analysis, strategies, tasks)
        except AnalysisError as error:
            mistakes.append(str(error))
    if mistakes:
        raise AnalysisError("; ".join(mistakes))


def _check_question(analysis: Analysis, strategies: Sequence[str], _: Collection[str]) -> None:
    if strategies or not analysis.question.startswith(_CONTROL):
        control_of(analysis.question, strategies)


def _check_metrics(analysis: Analysis, _: Sequence[str], tasks: Collection[str]) -> None:
    for name in filter(None, (analysis.metric, *analysis.secondary)):
        known = find_metric(name)
        if tasks and known.task not in (None, *tasks):
            raise AnalysisError(f"metric {name!r} suits no dataset ({', '.join(sorted(tasks))})")
        if analysis.rope and name == analysis.metric and known.incomparable:
            raise AnalysisError(
                f"rope is in units of the metric, and {known.name} has another unit on each "
                "dataset: leave it out, or choose another metric"
            )


def check_targets(metrics: Iterable[str], entries: Iterable[SplitEntry]) -> None:
    """Raise `AnalysisError` for a metric of one target where a dataset has several, or reverse."""
    for entry in entries:
        for name in filter(None, metrics):
            find_metric(name).check_targets(entry.name, entry.task, bool(entry.targets))


def _check_classes(metrics: Iterable[str], study: StudyStore) -> None:
    """Raise `AnalysisError` for a metric that the classes of a dataset exclude.

    A study that has results was begun by a version that did not look, and can be resumed.
    """
    for entry in study.load_splits().values():
        for metric in map(find_metric, filter(None, metrics)):
            if metric.task != entry.task:
                continue
            try:
                metric.check_classes(entry.name, entry.classes)
            except AnalysisError:
                if not _results(study):
                    raise


def _check_numbers(analysis: Analysis, *_: Any) -> None:
    share("alpha", analysis.alpha)
    for name, value in vars(analysis).items():
        if isinstance(vars(Analysis).get(name), int | float) and not 0 <= value < math.inf:
            raise AnalysisError(f"{name} = {value} is not a number of 0 or more")


def _check_words(analysis: Analysis, strategies: Sequence[str], _: Collection[str]) -> None:
    one_of("test", analysis.test, ("", *TESTS))
    if strategies:
        check_treatment(analysis.missing, strategies)


def _check_clusters(analysis: Analysis, *_: Any) -> None:
    for dataset, source in analysis.clusters.items():
        if not isinstance(source, str) or not source:
            raise AnalysisError(
                f"clusters: the source of {dataset!r} is {shown(source)} and no text; write for "
                f"example {{{dataset!r}: 'solar'}}"
            )


@dataclass(frozen=True)
class Chosen:
    """Analysis, with texts on when it was chosen and what was changed later.

    Attributes
    ----------
    analysis : Analysis
    when : str
    changes : tuple of str
        Changes that were made after results were known.
    title : str
        Title of the study; empty if it has none.
    """

    analysis: Analysis
    when: str = _NOW
    changes: tuple[str, ...] = ()
    title: str = ""

    @property
    def planned(self) -> bool:
        """Return whether the analysis was chosen before the first result."""
        return self.when.endswith(_BEFORE)

    def usual(self, metric: MLautScore) -> bool:
        """Return whether no analysis was stored and no term of the default one was changed."""
        own, test = self.analysis, default_test(metric)
        test = "sign" if test == "trinomial" and own.test == "sign" else test  # that of sources
        compared = {name: getattr(own, name) for name in _COMPARED}
        return self.when == _NOW and own == Analysis(metric=metric.name, test=test, **compared)

    @classmethod
    def of(cls, study: StudyStore) -> Self | None:
        """Return the stored analysis of a study, or None if it has none.

        The analysis of a race has the terms of the race.

        Raises
        ------
        StudyError
            The stored terms are damaged.
        """
        stored = [_StoredTerms.read(record, study.path) for record in study.analyses]
        titles = [record.title for record in stored if record.title]
        if (race := study.race) is not None:
            kind = race.get("kind")  # an earlier version did not store the test
            terms = {"test": "t" if kind == "mean" else kind} | race
            record = {"analysis": terms, "title": "", "chosen": "", "results": 0}
            stored = [replace(_StoredTerms.read(record, study.path), when="with the race")]
        if not stored:
            return None
        first = max((i for i, record in enumerate(stored) if not record.results), default=0)
        before = stored[first]
        when = f"chosen {before.when}, {_known(before.results)}"
        changes = []
        for after in stored[first + 1 :]:
            if words := differences(before.analysis, after.analysis):
                changes.append(f"changed {after.when}, {_known(after.results)}: {words}")
            before = after
        return cls(before.analysis, when, tuple(changes), titles[-1] if titles else "")

    def read_with(self, **terms: Any) -> Self:
        """Return the analysis with terms changed for one report; the changes name them."""
        unknown = set(terms) - set(vars(self.analysis))
        if unknown:
            one_of("term", min(unknown), vars(self.analysis))
        wanted = self._as_stored(replace(self.analysis, **terms))
        check_analysis(wanted)
        if terms.get("metric") and "test" not in terms and _has_default_test(self.analysis):
            wanted = replace(wanted, test=default_test(find_metric(wanted.metric)))
        words = differences(self.analysis, wanted)
        if not words or self.when == _NOW:
            return replace(self, analysis=wanted)
        changed = f"changed for this report, when the results were known: {words}"
        return replace(self, analysis=wanted, changes=(*self.changes, changed))

    def _as_stored(self, wanted: Analysis) -> Analysis:
        """Return an analysis whose default metric and test are filled in, as in a stored one."""
        if not wanted.metric and self.analysis.metric in DEFAULT_METRICS.values():
            wanted = replace(wanted, metric=self.analysis.metric)
        if not wanted.test and self.analysis.test and wanted.metric:
            wanted = replace(wanted, test=default_test(find_metric(wanted.metric)))
        return wanted

    def by(self, metric: MLautScore) -> Self:
        """Return the analysis for a metric; a default test is replaced by that of the metric."""
        test = "" if _has_default_test(self.analysis) else self.analysis.test
        return replace(self, analysis=replace(self.analysis, metric=metric.name, test=test))


def chosen_now(**terms: Any) -> Chosen:
    """Return an analysis that is chosen after the results are known."""
    return Chosen(Analysis()).read_with(**terms)


def differences(before: Analysis, after: Analysis) -> str:
    """Return the terms that differ, in words; empty if none does.

    Examples
    --------
    >>> differences(Analysis(), Analysis(metric="mcc", alpha=0.01))
    'metric from the default to mcc, alpha from 0.05 to 0.01'
    >>> differences(Analysis(metric="absolute"), Analysis(metric="mae"))
    ''
    """
    texts = (
        f"{name} from {_text(old)} to {_text(getattr(after, name))}"
        for name, old in vars(before).items()
        if _text(old) != _text(getattr(after, name))
        and name != "secondary"
        and not (name == "metric" and _is_one(before, after))
    )
    return ", ".join(texts)


def _is_one(before: Analysis, after: Analysis) -> bool:
    """Return whether two analyses name one metric, as ``auc`` and ``roc_auc`` do."""
    with suppress(AnalysisError):  # a metric that is not known here
        return find_metric(before.metric).name == find_metric(after.metric).name
    return False


def _text(value: Any) -> str:
    if value is None or value == {}:
        return "none"
    if isinstance(value, Mapping):
        return f"{counted(len({*value.values()}), 'source')} of {counted(len(value), 'dataset')}"
    value = value.name if isinstance(value, MLautScore) else value
    return "0" if value == 0 else str(value) or "the default"


def _has_default_test(analysis: Analysis) -> bool:
    with suppress(AnalysisError):  # a metric that is not known here
        return bool(analysis.metric) and analysis.test == default_test(find_metric(analysis.metric))
    return False


def _known(results: int) -> str:
    return f"when {results} results were known" if results else _BEFORE


def store_analysis(
    study: StudyStore,
    strategies: Sequence[str] = (),
    tasks: Iterable[str] = (),
    clusters: Mapping[str, str] | None = None,
    *,
    analysis: Analysis,
    title: str = "",
    keep: bool = False,
) -> Analysis:
    """Store an analysis in a study, unless it is the one that the study has.

    Parameters
    ----------
    study : StudyStore
    strategies : sequence of str
        Strategies of the study, to check the terms that name one.
    tasks : iterable of str
        Tasks of its datasets. The default metric and test are filled in if there is one task.
    clusters : mapping of str to str, optional
        Sources of datasets by their metadata, which are the default before the first result.
    analysis : Analysis
    title : str
        Title of the study; if it is empty, the study keeps its title.
    keep : bool, default False
        Whether a study that has an analysis keeps it; ``analysis`` is then ignored.

    Returns
    -------
    Analysis
        The stored analysis.

    Raises
    ------
    AnalysisError
        A term is not possible.
    """
    tasks, last = set(tasks), [_StoredTerms.read(x, study.path) for x in study.analyses[-1:]]
    before = last[0] if last else None
    wanted = before.analysis if before and keep else analysis
    named = title or (before.title if before else "")
    for metric in (wanted.metric, *wanted.secondary):
        if not isinstance(metric, str):
            raise AnalysisError(
                f"{shown(metric)} has no name by which a study could find it again: store the name "
                "of a metric, and give yours to results, compare and report"
            )
    usual = DEFAULT_METRICS[min(tasks)] if len(tasks) == 1 else ""
    own = clusters or {}
    if before and before.analysis.clusters != own and _results(study):
        own = before.analysis.clusters
    filled = replace(wanted, metric=wanted.metric or usual, clusters=wanted.clusters or own)
    check_analysis(filled, strategies, tasks)
    metrics = (filled.metric, *filled.secondary)
    check_targets(metrics, study.load_splits().values())
    _check_classes(metrics, study)
    if not filled.test and filled.metric:
        filled = replace(filled, test=default_test(find_metric(filled.metric)))
    if before is None or (before.analysis, before.title) != (filled, named):
        now = datetime.now(UTC).isoformat(timespec="seconds")
        about = {"title": named, "chosen": now, "results": _results(study)}
        study.store_analysis({"analysis": _plain(filled), **about})
    return filled


def _plain(analysis: Analysis) -> dict[str, Any]:
    """Return the terms as a record has them: lists for tuples, and dicts for mappings."""
    return {
        name: list(x) if isinstance(x, tuple) else dict(x) if isinstance(x, Mapping) else x
        for name, x in vars(analysis).items()
    }


def _results(study: StudyStore) -> int:
    """Return the number of cells of a study that have a result."""
    stored = study.statuses().values() if study.strategies else ()
    return sum(int((cells != Status.MISSING).sum()) for _, cells in stored)


@dataclass(frozen=True)
class _StoredTerms:
    """Record of an analysis, as a study stores it."""

    analysis: Analysis
    title: str
    when: str
    results: int

    @classmethod
    def read(cls, record: Mapping[str, Any], place: object) -> Self:
        """Return the record from plain values, which may be damaged or made by anyone.

        A term that studies of before do not have, because it came later, has its default.
        """
        terms, usual = record["analysis"], _plain(Analysis())
        known = usual | terms if isinstance(terms, dict) else {}
        values: dict[str, Any] = {}
        for name, default in usual.items():
            value, kind = known.get(name), type(default)
            kinds = (int, float) if kind is float else kind
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise StudyError(f"{place}: the stored analysis has no valid {name!r}")
            values[name] = tuple(map(str, value)) if isinstance(value, list) else value
        title, when, results = (record.get(key) for key in ("title", "chosen", "results"))
        if not (isinstance(title, str) and isinstance(when, str) and isinstance(results, int)):
            raise StudyError(f"{place}: the stored analysis has no valid title, time or results")
        return cls(Analysis(**values), title, f"on {when[:10]}", results)
