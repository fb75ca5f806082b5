"""The pages of a leaderboard."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import pandas as pd
from markupsafe import Markup
from mlaut_exchange import Bundle, BundledDataset

from mlaut import __version__
from mlaut.files_io import SplitEntry, StrategyEntry, StudyStore
from mlaut.helpers.markup import csv_text
from mlaut.plugins import (
    ShownCell,
    ShownTable,
    TableColumn,
    as_html,
    decision_table,
    environment_of,
    ranks_of,
    source_of,
)
from mlaut.report import make_report

MARK = '<meta name="generator" content="MLaut leaderboard">'  # in the index of a site
_STRATEGY, _DATASET = "strategy", "dataset"  # kinds of pages


@dataclass(frozen=True)
class Entrant:
    """Bundle of a leaderboard, with the splits and strategies of its study."""

    place: str
    bundle: Bundle
    splits: Mapping[str, SplitEntry]
    strategies: tuple[StrategyEntry, ...]

    @classmethod
    def of(cls, place: str, bundle: Bundle) -> Self:
        """Return the entrant of a bundle that was opened at a place."""
        study = StudyStore(bundle.study)
        return cls(place, bundle, study.load_splits(), study.strategies)

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: the oldest bundle first, and on one day that with the fewest strategies."""
        return self.bundle.date, len(self.strategies), self.bundle.title, self.bundle.digest


def site_pages(
    study: StudyStore,
    entrants: Sequence[Entrant],
    title: str,
    history: Sequence[Mapping[str, Any]] = (),
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of a leaderboard, for a merged study."""
    added: dict[str, Entrant] = {}
    for entrant in entrants:
        for entry in entrant.strategies:
            added.setdefault(entry.name, entrant)
    # What the oldest bundle says of a dataset holds.
    about = {dataset.name: dataset for x in reversed(entrants) for dataset in x.bundle.datasets}
    report, splits = make_report(study, title=title), study.load_splits()
    sections = [section for section in report.sections if not section.secondary]
    date = max(entrant.bundle.date for entrant in entrants)
    render = _renderer(title, date)
    yield (
        "index.html",
        render(
            "index.html",
            leads=[_lead(section) for section in sections],
            standings=[_standing(section, added) for section in sections],
            history=_of_rows("Every entry that was judged, by its claim.", history),
            bundles=_bundles(entrants, added),
            datasets=_datasets(splits, about),
        ),
    )
    for entry in study.strategies:
        name = entry.name
        values = {
            "entrant": added[name].bundle,
            "tables": [_of_strategy(x, name) for x in sections if name in x.scored.strategies],
            "identity": json.dumps(entry.identity, indent=1),
        }
        yield _page(_STRATEGY, name), render("strategy.html", heading=name, **values)
    for name, split in splits.items():
        tables = [_of_dataset(x, name) for x in sections if name in x.scored.datasets]
        values = {"facts": _facts(split, about[name]), "tables": tables}
        yield _page(_DATASET, name), render("dataset.html", heading=name, **values)
    yield "report.html", as_html(replace(report, study=Path("all bundles")), made=date)
    yield "scores.csv", _scores(sections)


def _renderer(title: str, date: str) -> Any:
    environment = environment_of("mlaut_boards", "mlaut.report")
    style = environment.get_template("site.css").render()
    common = {
        "page_of": _page,
        "title": title,
        "date": date,
        "version": __version__,
        "style": Markup(style),
        "style_hash": source_of(style),
        "mark": Markup(MARK),
    }
    return lambda name, **values: environment.get_template(name).render(**common, **values)


def _page(kind: str, name: str) -> str:
    """Return the name of a page, which does not change when other pages are added.

    Examples
    --------
    >>> _page("strategy", "SVC, C = 1")
    'strategy-SVC-C-1-4a8272.html'
    """
    short = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{kind}-{short}-{digest}.html"


class _SiteTable(NamedTuple):
    caption: str
    shown: ShownTable
    kind: str = ""  # of the pages to which the names of the rows lead


def _lead(section: Any) -> tuple[str, ...]:
    decided = section.decision
    return tuple(section.sentences) if decided is None else tuple(decided.headline())


def _standing(section: Any, added: Mapping[str, Entrant]) -> _SiteTable:
    """Return the table over all strategies, the best average rank first."""
    metric = section.scored.metric.name
    if section.decision is None:
        shown = ShownTable.of(section.scored.scores.mean().to_frame(metric).rename_axis("strategy"))
    else:
        shown = decision_table(section.decision)
    bundles = {name: entrant.bundle for name, entrant in added.items()}
    authors = {name: f"{', '.join(x.authors)}, {x.date}" for name, x in bundles.items()}
    places, ends = section.tables.get("standing", pd.DataFrame()), ("low", "high")
    ranks = {
        name: " to ".join(f"{place[f'average rank {end}']:.1f}" for end in ends)
        for name, place in places.iterrows()
    }
    rows = tuple(
        (names, (*cells, ShownCell("", ranks.get(names[0], "")), ShownCell("", authors[names[0]])))
        for names, cells in shown.rows
    )
    more = ("rank, 95% interval", "added by")
    columns = (*shown.columns, *(TableColumn(name, name) for name in more))
    return _SiteTable(f"By {metric}.", replace(shown, columns=columns, rows=rows), _STRATEGY)


def _of_rows(caption: str, rows: Sequence[Mapping[str, Any]], kind: str = "") -> _SiteTable | None:
    """Return rows as a table, or None if there are none; the first value of a row names it."""
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    return _SiteTable(caption, ShownTable.of(frame.set_index(frame.columns[0])), kind)


def _bundles(entrants: Sequence[Entrant], added: Mapping[str, Entrant]) -> _SiteTable | None:
    rows = [
        {
            "bundle": entrant.bundle.title,
            "authors": ", ".join(entrant.bundle.authors),
            "day": entrant.bundle.date,
            "licence": entrant.bundle.licence,
            "strategies that it added": ", ".join(n for n, x in added.items() if x is entrant),
            "digest": entrant.bundle.digest[:16],
        }
        for entrant in entrants
    ]
    return _of_rows("Who added what, the oldest first.", rows)


def _datasets(
    splits: Mapping[str, SplitEntry], about: Mapping[str, BundledDataset]
) -> _SiteTable | None:
    rows = [
        {
            "dataset": name,
            "task": entry.task,
            "rows": entry.split.n_rows,
            "classes": len(entry.classes) or "",
            "split": entry.split.scheme,
            "source": about[name].source,
            "licence": about[name].licence,
        }
        for name, entry in splits.items()
    ]
    return _of_rows("The datasets.", rows, _DATASET)


def _of_strategy(section: Any, name: str) -> _SiteTable:
    """Return the score and the rank of a strategy on each dataset."""
    scores = section.scored.scores
    ranks = ranks_of(section.scored)
    metric = section.scored.metric.name
    frame = pd.DataFrame({metric: scores[name], "rank": ranks[name]})
    frame["of"] = scores.notna().sum(axis=1).astype(object)
    caption = f"{metric} on each dataset, and the rank among the strategies that have a result."
    return _SiteTable(caption, ShownTable.of(frame), _DATASET)


def _of_dataset(section: Any, name: str) -> _SiteTable:
    """Return the score of each strategy on a dataset, the best first."""
    order = ranks_of(section.scored).T[name].sort_values(kind="stable").index
    frame = section.scored.scores.loc[name, order].to_frame(section.scored.metric.name)
    shown = ShownTable.of(frame.rename_axis("strategy"))
    return _SiteTable("All strategies, the best first.", shown, _STRATEGY)


def _facts(entry: SplitEntry, about: BundledDataset) -> dict[str, str]:
    facts = {
        "task": entry.task,
        "rows": str(entry.split.n_rows),
        "classes": str(len(entry.classes) or ""),
        "split": f"{entry.split.scheme}, {entry.split.n_repeats} x {entry.split.n_folds} folds",
        "source": about.source,
        "reference": about.reference,
        "licence": about.licence,
        "fingerprint": entry.fingerprint,
    }
    return {key: value for key, value in facts.items() if value}


def _scores(sections: Iterable[Any]) -> str:
    """Return all scores by dataset and strategy as CSV."""
    frames = [
        section.scored.scores.rename_axis(index="dataset", columns="strategy")
        .melt(ignore_index=False, value_name="score")
        .dropna()
        .reset_index()
        .assign(metric=section.scored.metric.name)
        for section in sections
    ]
    return csv_text(pd.concat(frames), index=False)
