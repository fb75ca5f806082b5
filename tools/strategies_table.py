"""Make the tables of all strategies from the registry; `docs/conf.py` makes a page of them."""

import sys
from typing import Any

from sklearn.pipeline import Pipeline

from mlaut.estimators import REGISTRY, Preprocessor, SizeLimit, instantiate_default_estimators

TITLE = """\
# Tables of all strategies

These tables are made from the registry; [the default strategies](../strategies.md) explains their
columns and words. A parameter with (*) is not in the grid that the MLaut paper prints;
`param_grid="paper"` leaves it out."""
TABLES = {
    "Classification": {"tasks": "Classification", "collection": ""},
    "Regression": {"tasks": "Regression", "collection": ""},
    "Lacoste2012": {"collection": "Lacoste2012"},
}
HEAD = """\
| name | family | wraps | table | candidates | grid | stops after | size limit |
|---|---|---|---|---:|---|---|---|"""


def values(given: list[Any]) -> str:
    """Return the values of a parameter as text: all if they are few, else the ends."""
    shown = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in given]
    if len(shown) <= 4:
        return ", ".join(shown)
    return f"{shown[0]}, {shown[1]}, ..., {shown[-1]} ({len(shown)})"


def preparation(transformer: Any) -> str:
    """Return a few words on how the table is prepared."""
    if isinstance(transformer, Pipeline):
        return ", ".join(preparation(step) for _, step in transformer.steps)
    if not isinstance(transformer, Preprocessor):
        name = type(transformer).__name__
        return {"UnitDistance": "distances scaled"}.get(name, name)
    scaled = ["scaled"] if transformer.normalize_features else []
    as_needed = ["as needed"] if transformer.as_needed else []
    return ", ".join([*scaled, transformer.categories, *as_needed])


def limit(size: dict[str, Any]) -> str:
    """Return the largest size of data on which a strategy is run, as text."""
    size = vars(SizeLimit(**size))
    limits = [f"{size[kind]:,} {kind}" for kind in ("rows", "values") if size[kind]]
    return ("; ".join(limits) + (" x classes" if size["per_class"] else "")) or "none"


def row(strategy: Any) -> str:
    """Return a row of the table."""
    about = strategy.describe()
    beyond = dict.fromkeys(strategy.metadata.beyond_paper, " (*)")
    grid = "; ".join(
        f"`{k}`{beyond.get(k, '')}: {values(v)}" for k, v in (about["param_grid"] or {}).items()
    )
    cells = [
        f"`{about['name']}`",
        ", ".join(about["estimator_family"]),
        f"`{about['wraps'].partition('(')[0]}`",
        preparation(strategy.preprocessing) + ", target scaled" * strategy.normalize_labels,
        str(about["n_candidates"]),
        grid or "none",
        ", ".join(f"{n:,} iterations" for n in about["stops_after"].values()) or "its end",
        limit(about["size_limit"]),
    ]
    return f"| {' | '.join(cells)} |"


def space(given: dict[str, Any]) -> str:
    """Return a search space as text, without parameters that are the same for all candidates."""
    parts = []
    for name, range_ in given.items():
        name = name.removeprefix("estimator__")
        if isinstance(range_, list):
            parts += [f"`{name}`: {values(list(dict.fromkeys(range_)))}"] if range_[1:] else []
        else:
            scale = " (log)" if range_.log else ""
            parts.append(f"`{name}`: {range_.low:g} to {range_.high:g}{scale}")
    return "; ".join(parts)


def today() -> str:
    """Return the table of the learners of today; their packages need not be installed."""
    lines = [
        "| names | package | takes | search space | source |",
        "|---|---|---|---|---|",
    ]
    words = {"missing": "gaps", "early_stopping": "early stopping", "gpu": "GPU"}
    kinds = ("categories", "missing", "weights", "early_stopping", "threads", "gpu")
    classifiers = REGISTRY.search("Today", tasks="Classification")
    for about in (spec.load().properties for spec in classifiers):
        other = about.name.replace("Classifier", "Regressor")
        cells = [
            f"`{about.name}`, `{other}`",
            about.package,
            ", ".join(words.get(kind, kind) for kind in kinds if getattr(about, kind)),
            space(about.search_space),
            "TabArena" if "TabArena" in about.source else "Auto-Sklearn 2.0",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def table(kind: str) -> str:
    """Return the table of a group of strategies."""
    names = [s.name for s in REGISTRY.search(package="scikit-learn", **TABLES[kind])]
    return "\n".join([HEAD, *map(row, instantiate_default_estimators(names))])


def page() -> str:
    """Return the page of all tables."""
    tables = {kind: table(kind) for kind in TABLES} | {"Today": today()}
    parts = [f"## {kind.replace('_', ' ')}\n\n{text}" for kind, text in tables.items()]
    return "\n\n".join([TITLE, *parts]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
