"""Content of a report: tables and sentences, independent of the format that shows them."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from mlaut.analysis import (
    Comparison,
    Decision,
    Results,
    ResultTable,
    Robustness,
    compare,
    mean_estimates,
    treat_missing,
    under_treatments,
)
from mlaut.analysis import metric as find_metric
from mlaut.analysis.common.arguments import position, positions
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.comparing.compare import pairs_by_test, with_draws
from mlaut.analysis.comparing.one_comparison import OneComparison
from mlaut.analysis.comparing.shared import compare_shared, is_patchy
from mlaut.analysis.deciding.decision import decide_study
from mlaut.analysis.deciding.evidence import primary_test
from mlaut.analysis.deciding.one_decision import decide_one, shown_alone
from mlaut.analysis.deciding.terms import DEFAULT_METRICS, Chosen, chosen_now, default_test
from mlaut.analysis.deciding.verdict_table import TREATED, Step, Way
from mlaut.analysis.deciding.verdicts import LIKELY, USE, is_baseline
from mlaut.analysis.deciding.words import listed
from mlaut.analysis.methods.bayes.dirichlet import DRAWS
from mlaut.analysis.methods.cross_validation.repeated_cv import retrained_mean_estimates
from mlaut.analysis.results.missing import with_means
from mlaut.analysis.results.study_results import sources_of
from mlaut.errors import AnalysisError, MlautError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.helpers.markup import counted
from mlaut.plugins.finding import race_of, scores_by_budget
from mlaut.records import TASKS, Analysis, Status
from mlaut.report.contents import Contents
from mlaut.report.records import Made, Section
from mlaut.report.state import ReadOnce, State, study_state
from mlaut.report.tables import TABLES, each_alone
from mlaut.report.terminal import first_screen

_PERCENT = re.compile("percentages").search
_FEW = 5  # datasets, each of which has a sentence
_MANY = 1_000  # pairs, of more a fifth of the draws: their table has two digits
_MOST_DRAWN = 5_000  # pairs of the Bayesian signed rank test, whose draws take long for more
_MOST_TESTS = 20_000  # tests of two strategies; they take about ten seconds
_NO_BOUNDS = (
    "there are too many pairs to examine the best and the worst case of missing cells here: see "
    "mlaut.analysis.under_treatments"
)
_RACED = (
    "the datasets are run as a race, in which strategies are stopped because of their results, so "
    "ranks and tests of the full table are not valid; evidence that is valid at every look is "
    "in the race, and 'mlaut run --complete' runs all cells"
)


_UNSETTLED = "ConvergenceWarning"
# Of another version of a library, or of fewer folds of tuning where a class is rare.
_HARMLESS = re.compile(
    r"FutureWarning|DeprecationWarning|PendingDeprecation|TuningWarning: \d+ tuning folds"
).match
_MAY = "this may change the choice"
_LONG = 60  # letters of a warning on the first screen; a table has all
_NAMES = 8  # names on the first screen of those that warned or were tuned


@dataclass(frozen=True)
class Choice:
    """Strategies and datasets of a report.

    Attributes
    ----------
    only, datasets : tuple of str
        Strategies and datasets to report on; empty for all.
    without : mapping of str to str
        Strategies to leave out, with the reason or an empty text.
    """

    only: tuple[str, ...]
    datasets: tuple[str, ...]
    without: Mapping[str, str]

    def apply(self, scored: Sequence[Results]) -> tuple[list[Results], dict[str, dict[str, str]]]:
        """Return the chosen part of results, and what was left out, each with the reason."""
        strategies = tuple(dict.fromkeys(name for results in scored for name in results.strategies))
        datasets = tuple(dict.fromkeys(name for results in scored for name in results.datasets))
        only = {strategies[i] for i in positions("strategy", self.only or None, strategies)}
        chosen = {datasets[i] for i in positions("dataset", self.datasets or None, datasets)}
        for name in self.without:
            position("strategy", name, strategies)
        parts = [
            results.select(strategies=names, datasets=own)
            for results in scored
            if (names := [s for s in results.strategies if s in only and s not in self.without])
            and (own := [name for name in results.datasets if name in chosen])
        ]
        if not parts:
            raise AnalysisError("the choice of strategies and datasets leaves nothing to report on")
        left_out = [s for s in strategies if s not in only or s in self.without]
        return parts, {
            "strategy": {name: self.without.get(name, "") for name in left_out},
            "dataset": {name: "" for name in datasets if name not in chosen},
        }


def _without(state: State, left_out: Mapping[str, Mapping[str, str]]) -> State:
    """Return a state that begins with what was left out, and whose tables do not show it."""
    words = [
        f"{what} {name}" + (f" ({reason})" if reason else "")
        for what, names in left_out.items()
        for name, reason in names.items()
    ]
    if not words:
        return state
    tables = dict(state.tables)
    for key, frame in tables.items():
        shown = frame.reset_index()
        for what in left_out.keys() & set(shown.columns):
            shown = shown[~shown[what].isin(left_out[what])]
        tables[key] = frame.iloc[shown.index]
    return replace(state, left_out=f"Left out of this report: {', '.join(words)}.", tables=tables)


class Report(Contents):
    """Report on a study or on results; its text, also in a notebook, is its first screen."""

    def __str__(self) -> str:
        return first_screen(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from mlaut.report.page import as_notebook  # jinja2 takes a while to load

        return as_notebook(self) or f"<pre>{escape(str(self))}</pre>"


def study_content(
    study: StudyStore, title: str, terms: Mapping[str, Any], choice: Choice
) -> Report:
    """Return the content of a report on a study; see `mlaut.report.make_report`."""
    study = ReadOnce(study)
    state = study_state(study)
    if Status.DONE not in state.cells:
        total = sum(state.cells.values())
        raise AnalysisError(f"{study.path}: none of {total} cells is done; run the study first")
    chosen = (Chosen.of(study) or chosen_now()).read_with(**terms)
    primary = chosen.analysis.metric
    metrics = [primary, *chosen.analysis.secondary] if primary else _metrics(state)
    tasks = state.tables["datasets"]["task"]
    read = [_scores(study, metric, choice.datasets, tasks) for metric in metrics]
    clusters = chosen.analysis.clusters
    read = [replace(x, clusters=sources_of(x.datasets, clusters) or x.clusters) for x in read]
    scored, left_out = choice.apply(read)
    if choice.datasets:
        left_out["dataset"] = {name: "" for name in tasks.index if name not in choice.datasets}
    state = _without(state, left_out)
    sections = _sections(scored, chosen, race_of(study), one_task=bool(primary))
    sections = tuple(_with_groups(part, study) for part in sections)
    sections = tuple(_with_cautions(part, state) for part in sections)
    if score := scores_by_budget(study):
        sections = tuple(_with_budgets(part, partial(score, study)) for part in sections)
    title = title or chosen.title or f"Comparison: {sections[0].title}"
    return Report(study.path, title, state, sections, study)


def _scores(study: StudyStore, metric: Any, names: Sequence[str], tasks: Any) -> Results:
    """Return scores of the named datasets of the metric's task: others may not suit the metric."""
    score = find_metric(metric)
    own = [name for name in names if score.task in (None, tasks.get(name, score.task))]
    return Results.from_study(study, score, datasets=own or None)


def _with_cautions(part: Section, state: State) -> Section:
    """Return a section with what was run that weakens its answer."""
    cautions, decision = _cautions(part, state), part.decision
    decided = decision and replace(decision, cautions=cautions)
    return replace(part, cautions=cautions, decision=decided)


def _cautions(part: Section, state: State) -> tuple[Step, ...]:
    """Return what weakens the answer: cells not run yet, unequal tuning, and fits that warned."""
    race, decision, strategies = part.race, part.decision, state.tables["strategies"]
    best = list(decision.best or decision.first) if decision else list(race.left) if race else []
    likely = decision.named(LIKELY) if decision else ()
    near = [name for name in (*best, *likely) if name in strategies.index]  # not in a damaged one
    warned = state.tables.get("warnings", strategies[:0].assign(warning=""))
    warned = warned.loc[[_HARMLESS(text) is None for text in warned["warning"]]]
    same: dict[tuple[str, str], list[str]] = {}
    # Where none is to be used, how any of the best was run may change which of them leads.
    leaders = decision.ahead if decision and decision.named(USE) else best
    told = [Step(f"Run the rest of the study: {_MAY}.", of_choice=True)] * bool(state.partial)
    tuned = list(map(str, strategies.index[strategies["candidates"].notna()]))
    plain = [name for name in near if name not in tuned and not is_baseline(name)]
    if plain and not {*tuned}.isdisjoint(near):
        both = (f"{listed(x, _NAMES)} {'was' if len(x) == 1 else 'were'}" for x in (tuned, plain))
        text = f"{' tuned, but '.join(both)} not: {_MAY}."
        equal = f"Tune {listed(plain, _NAMES)} as well, and compare again."
        told.append(Step(equal, text, not {*leaders}.isdisjoint(near)))
    for name in (name for name in best if name in near):
        for _, row in warned[warned.index == name][:1].iterrows():
            fits = f"{row['cells']} of {strategies['done'][name]} fits"
            same.setdefault(_warned(row["warning"], fits), []).append(name)
    more = [name for name in dict.fromkeys(warned.index) if name not in best]
    others = f"; {listed(more, _NAMES)} warned too" if more else ""
    for (what, way_out), names in same.items():
        text = f"{listed(names, _NAMES)} {what}{others}: {_MAY}."
        to_do = f"{way_out.format(listed(names, _NAMES))}, and run again."
        told.append(Step(to_do, text, not {*leaders}.isdisjoint(names)))
        others = ""
    return tuple(told)


def _warned(warning: str, fits: str) -> tuple[str, str]:
    """Return what a warning means, and a way out with a place for names."""
    kind, _, text = warning.partition(": ")
    if kind == _UNSETTLED:
        return f"did not converge in {fits}", "Scale the data for {}, or raise max_iter"
    short = shorten(text or kind, _LONG, placeholder=" ...")
    return f"warned in {fits} ({short})", "Look into the warnings of {}"


def _with_groups(part: Section, study: StudyStore) -> Section:
    """Return a section with the errors by group, where the table beside the study has groups."""
    if part.one is None:
        return part
    entry = study.load_splits()[part.scored.datasets[0]]
    with suppress(MlautError):  # no table, or another one
        datasets = FilesIO(study.path.with_name(f"{study.path.stem}.datasets.h5"), "r")
        columns = datasets.load_columns(entry.path).roles.get("group", ())
        stored = datasets.load_columns(entry.path, columns)
        if columns and stored.fingerprint == entry.fingerprint:
            return replace(part, groups=stored.frame[columns[0]].tolist())
    return part


def _with_budgets(part: Section, score: Callable[..., Any]) -> Section:
    """Return a section with the scores against the budget of tuning, where a strategy tunes."""
    try:
        budgets = score(part.scored.metric, datasets=part.scored.datasets)
    except AnalysisError:
        return part
    budgets = budgets[budgets.index.get_level_values(0).isin(part.scored.strategies)]
    if budgets.empty:
        return part
    return replace(part, budgets=budgets)


def results_content(
    name: str, scored: Sequence[Results], title: str, terms: Mapping[str, Any], choice: Choice
) -> Report:
    """Return the content of a report on results without a study."""
    scored, left_out = choice.apply(scored)
    notes = scored[0].notes
    read = next((note for note in notes if note.startswith("read as ")), "from a table of scores")
    line = f"{counted(len(scored[0].datasets), 'dataset')}, {read}."
    line += " The scores are percentages, and were divided by 100." * any(map(_PERCENT, notes))
    line = " ".join(dict.fromkeys(x.how_read for x in scored if x.how_read)) or line
    state, path = _without(State((line,), "", {}, {}, {}), left_out), Path(name)
    sections = _sections(scored, chosen_now(**terms))
    return Report(path, title or f"Comparison: {sections[0].title}", state, sections)


def _sections(
    scored: Sequence[Results], chosen: Chosen, race: Any = None, one_task: bool = True
) -> tuple[Section, ...]:
    """Return a section for each metric, of which the first is the primary one; or for each task."""
    if not one_task:
        return tuple(section(results, chosen.by(results.metric), race) for results in scored)
    first, *others = scored
    secondary = [section(results, chosen.by(results.metric), race) for results in others]
    primary = section(first, chosen.by(first.metric), race, secondary)
    line = f"A secondary metric: the primary one, which decides, is {first.metric.name}."
    marked = (replace(x, secondary=line) for x in secondary)
    return (primary, *marked)


def _metrics(state: State) -> list[str]:
    """Return the default metric of each task that has a done cell."""
    datasets = state.tables["datasets"]
    tasks = set(datasets.loc[datasets["done"] > 0, "task"])
    return [DEFAULT_METRICS[task] for task in TASKS if task in tasks]


def section(
    scored: Results, chosen: Chosen, of_study: Any = None, secondary: Sequence[Section] = ()
) -> Section:
    """Return the section on the results by one metric."""
    missing = chosen.analysis.missing
    raced = of_study is not None and len(scored.missing) > 0
    shared = _shared(scored, chosen.analysis) if not raced else None
    reason = (_RACED,) if raced else shared.notes[:1] if shared is not None else ()
    alone = len(scored.datasets) == 1  # failures are left out: one dataset has no last rank
    results, problem = (scored, reason) if reason or alone else _treat(scored, missing)
    race = None
    if of_study is not None and scored.metric.name == find_metric(of_study.terms.metric).name:
        race = of_study.now()
    one, problem, results = (
        (None, problem, results) if reason else _on_one(results, problem, chosen)
    )
    tested = None if problem else _tested(results, chosen.analysis)
    decision = (
        _decided(tested, chosen, scored, secondary)
        if one is None
        else decide_one(one.one, one.tests, chosen, correction=one.correction, scored=scored)
    )
    n_strategies = counted(len(results.strategies), "strategy", "strategies")
    n_datasets = counted(len(results.datasets), "dataset") if one is None else results.datasets[0]
    return Section(
        title=f"{results.metric.name} of {n_strategies} on {n_datasets}",
        scored=scored,
        results=results,
        later=_Later(),
        chosen=chosen,
        problem=problem,
        tested=tested,
        decision=decision,
        race=race,
        shared=shared,
        one=one,
    )


class _Later:
    """What lies below the first screen of a section, computed when it is asked for."""

    def comparison(self, of: Section) -> Comparison | None:
        if of.tested is None:
            return None
        n = len(of.results.strategies)
        pairs = n * (n - 1) // 2
        draws = DRAWS if pairs <= _MANY else DRAWS // 5 if pairs <= _MOST_DRAWN else 0
        return with_draws(of.tested, draws)

    def estimates(self, of: Section) -> dict[str, ResultTable]:
        """Estimate the means in every scenario that the results allow."""
        if of.one is not None:
            return dict(of.one.estimates)
        valued = None if of.problem else with_means(of.results)
        if valued is None:
            return {}
        tables = dict(of.tested.estimates) if of.tested is not None else {}
        if "(a)" not in tables and valued.variances is not None:
            with suppress(AnalysisError):  # imputed cells have no variance
                tables["(a)"] = mean_estimates(valued, scenario="(a)", as_scores=True)
        with suppress(AnalysisError):  # scenario (b) needs more than one test set
            tables["(b)"] = retrained_mean_estimates(valued, as_scores=True)
        return dict(sorted(tables.items()))

    def robustness(self, of: Section) -> Robustness | None:
        if of.tested is None:
            return None
        return _robustness(of.scored, of.chosen.analysis.missing)

    def sentences(self, of: Section) -> tuple[str, ...]:
        start = (of.secondary,) if of.secondary else ()
        if race := of.race:
            start = (*start, race.sentence(), f"Cost: {race.cost_sentence()}.", *race.decisions)
        if of.shared is not None or of.one is not None:
            return (*start, *(of.shared.notes if of.shared is not None else ()))
        return (*start, *_sentences(of))

    def notes(self, of: Section) -> tuple[str, ...]:
        notes = [*of.results.notes_text(), *of.problem, *(of.race.notes_text() if of.race else ())]
        compared = of.comparison or of.one
        notes += compared.notes if compared is not None else ()
        notes += [note for table in of.estimates.values() for note in table.notes_text()]
        if of.robustness is not None:
            notes += of.robustness.notes_text()
            notes += [] if "best for the first" in of.robustness.frame else [_NO_BOUNDS]
        return tuple(dict.fromkeys(notes))

    def tables(self, of: Section) -> Made:
        return Made(TABLES, of)


def _on_one(
    results: Results, problem: tuple[str, ...], chosen: Chosen
) -> tuple[OneComparison | None, tuple[str, ...], Results]:
    """Return the comparison on the only dataset, why there is none, and what was compared."""
    if len(results.datasets) > 1 or len(results.strategies) < 2:
        return None, problem, results
    try:
        terms = chosen.analysis
        one = compare(results, alpha=terms.alpha, rope=terms.rope, missing="failures last")
    except AnalysisError as error:
        return None, problem or (str(error),), results
    assert isinstance(one, OneComparison)
    return one, (), one.results


def _shared(scored: Results, analysis: Analysis) -> ResultTable | None:
    """Return the comparison of pairs on shared datasets, where too many cells were never run."""
    patchy = analysis.missing == Analysis().missing and is_patchy(scored)
    if not patchy or len(scored.strategies) < 2:
        return None
    with suppress(AnalysisError):  # no two strategies share a dataset
        return compare_shared(scored, analysis.alpha)
    return None


def _treat(scored: Results, missing: str) -> tuple[Results, tuple[str, ...]]:
    """Return treated results, or the scored results and the reason why none can be compared."""
    try:
        return treat_missing(scored, missing), ()
    except AnalysisError as error:
        if not missing.startswith("drop ") and missing != "failures last":
            raise
        return scored, (str(error),)


def _tested(results: Results, analysis: Analysis) -> Comparison | None:
    """Return the comparison with the draws of a Bayesian test only if that test decides."""
    if len(results.strategies) < 2 or len(results.datasets) < 2:
        return None
    key = analysis.test or default_test(results.metric)
    asked = TESTS[key].bayesian
    how: dict[str, Any] = {"alpha": analysis.alpha, "rope": analysis.rope}
    return compare(results, **how, test="" if asked else key, n_samples=DRAWS if asked else 0)


def _decided(
    comparison: Comparison | None, chosen: Chosen, scored: Results, secondary: Sequence[Section]
) -> Decision | None:
    """Return what is decided, and whether other metrics and treatments would decide the same."""
    if comparison is None:
        return None
    test = chosen.analysis.test or default_test(scored.metric)
    others = {
        Way(f"metric {part.scored.metric.name}"): primary_test(part.tested, part.decision.chosen)
        for part in secondary
        if part.tested is not None and part.decision is not None
    }
    for treatment in TREATED if len(scored.missing) else ():
        with suppress(AnalysisError):  # the treatment would leave nothing, or is not valid
            treated = treat_missing(scored, treatment)
            if treated.notes != comparison.results.notes:
                way = Way.treated(treatment, len(treated.datasets))
                others[way] = pairs_by_test(test, treated, comparison.correction)
    decision = decide_study(comparison, chosen, scored=scored, others=others)
    if decision.decided or not 2 <= len(scored.datasets) <= _FEW:
        return decision
    each = each_alone(scored, chosen.analysis.alpha)  # few datasets may have many repeats
    if not any(x.n_shown for x in each.values() if not isinstance(x, str)):
        return decision
    return replace(decision, each=tuple(shown_alone(name, one) for name, one in each.items()))


def _sentences(of: Section) -> tuple[str, ...]:
    decision, problem = of.decision, of.problem
    if of.tested is not None:
        few = decision is not None and not decision.decided
        whole = of.comparison
        assert whole is not None
        sentences = decision.headline() if decision and few else whole.sentences()
    elif problem:
        start = "No tests of the full table" if _RACED in problem else "Nothing can be compared yet"
        sentences = (f"{start}: {problem[0]}.",)
    else:
        reasons = f" ({'; '.join(of.results.gaps)})" if of.results.gaps else ""
        sentences = (f"One strategy has no other to be compared with{reasons}.",)
    return sentences if of.robustness is None else (*sentences, of.robustness.sentence())


def _robustness(scored: Results, missing: str) -> Robustness | None:
    """Repeat the tests of pairs under several treatments of missing cells.

    The first treatment is the one of the report. Datasets without any done cell are left out.
    """
    seen = ~np.isnan(scored.cells).all(axis=(1, 2, 3))
    begun = scored.select(
        datasets=[name for name, any_done in zip(scored.datasets, seen, strict=True) if any_done]
    )
    if not len(begun.missing) or len(begun.strategies) < 2 or len(begun.datasets) < 2:
        return None

    compared = partial(pairs_by_test, default_test(scored.metric), correction="joint")
    treatments = list(dict.fromkeys([missing, *TREATED]))
    again = under_treatments(begun, compared, treatments=treatments, bounds=_affordable(begun))
    return None if again.frame.empty else again


def _affordable(results: Results) -> bool:
    """Return whether there is time for the best and worst case of each strategy's missing cells.

    The bounds repeat all tests once for each strategy with missing cells, and once more.
    """
    runs, n = results.missing["strategy"].nunique() + 1, len(results.strategies)
    return runs * n * (n - 1) // 2 <= _MOST_TESTS
