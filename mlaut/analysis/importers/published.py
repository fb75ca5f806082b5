"""Results that were published: tables that come with MLaut, and others that are downloaded.

To add a benchmark, add an entry to ``tables/published.toml``, with a table beside it, or with an
address and a reader. The tables hold the published numbers only, which are facts.
`Benchmark.licence` names the licence of the file or the repository that they were taken from.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd

from mlaut.analysis.common.arguments import shown
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, nearest
from mlaut.helpers.downloads import downloaded

# They say how the file is read.
_NO_PROTOCOL = ("greater_is_better", "percent", "index", "reader", "options")
_TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Published benchmark and its protocol.

    Attributes
    ----------
    source, licence : str
        The publication, and the licence of the file that the numbers were taken from.
    datasets, splits, tuning, failures : str
        Protocol: the datasets; their training and test sets; how parameters were chosen; and what
        a missing cell means.
    metric : str
        Metric of the scores; for downloaded results, the default metric.
    advice : str
        Advice for readers of these numbers.
    greater_is_better : bool, optional
        Direction of a metric that MLaut does not know.
    percent : bool, default False
        Whether the file has percentages; the results have shares.
    index : tuple of str, default ("dataset",)
        Columns of the file that name a cell.
    url : str
        Address of results that do not come with MLaut. They are downloaded once, into the cache
        (`mlaut.data.cache_folder`). ``#blob=...`` is the digest of the file, if it is known.
    reader : str
        Function of ``mlaut.analysis.importers`` that reads the file.
    options : mapping
        Options of the reader, which the options of a caller replace.
    """

    source: str
    licence: str
    datasets: str
    splits: str
    tuning: str
    failures: str
    metric: str
    advice: str = ""
    greater_is_better: bool | None = None
    percent: bool = False
    index: tuple[str, ...] = ("dataset",)
    url: str = ""
    reader: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return "\n".join(
            f"{k}: {text}" for k, text in texts.items() if text and k not in _NO_PROTOCOL
        )


def _benchmark(about: dict[str, Any]) -> Benchmark:
    index = tuple(about.pop("index", ["dataset"]))
    return Benchmark(**about, index=index)


PUBLISHED = {
    name: _benchmark(about)
    for name, about in tomllib.loads((_TABLES / "published.toml").read_text("utf-8")).items()
}
"""Published benchmarks by name; `published` returns their results."""


# Results are immutable: whoever asks again while somebody holds them gets the same.
_HELD: WeakValueDictionary[tuple[str, ...], Results] = WeakValueDictionary()


def published(name: str, **options: Any) -> Results:
    """Return the results of a published benchmark.

    Parameters
    ----------
    name : str
        A key of `mlaut.analysis.PUBLISHED`, whose value is the benchmark's source and protocol.
        ``"delgado2014"`` (121 datasets, 179 classifiers), ``"mlaut2018"``, ``"demsar2006"``,
        ``"garcia2008"``, ``"benavoli2017"`` and ``"wainer2023"`` come with MLaut. ``"amlb2023"``
        and ``"tabarena2025"`` are downloaded once.
    **options
        Options of the reader of downloaded results: for ``"amlb2023"`` ``constraint`` and
        ``metric`` (`read_automlbenchmark`) and for ``"tabarena2025"`` ``imputed``
        (`read_tabarena`).

    Returns
    -------
    Results
        Scores, as shares where the source has percentages. Cells without a published result
        are missing, and a note names the protocol.

    Raises
    ------
    AnalysisError
        There is no such benchmark, or it has no such results.
    DataError
        The benchmark cannot be downloaded and is not in the cache.

    Examples
    --------
    >>> from mlaut.analysis import PUBLISHED, average_ranks, published
    >>> garcia = published("garcia2008")
    >>> average_ranks(garcia).frame["average_rank"].round(3).to_dict()
    {'C4.5': 2.1, 'NaiveBayes': 2.2, 'CN2': 3.117, 'k-NN(k=1)': 3.25, 'Kernel': 4.333}
    >>> PUBLISHED["garcia2008"].failures
    'no cell is missing'
    """
    if not isinstance(name, str) or name not in PUBLISHED:
        hint = nearest(str(name), PUBLISHED) or f"; there are {', '.join(PUBLISHED)}"
        raise AnalysisError(f"no published results have the name {shown(name)}{hint}")
    key = name, repr(PUBLISHED[name]), repr(sorted(options.items()))
    results = _HELD.get(key)
    if results is None:
        results = _HELD[key] = _read(name, options)
    return results


def _read(name: str, options: Mapping[str, Any]) -> Results:
    benchmark = PUBLISHED[name]
    note = f"published results {name}: their protocol is mlaut.analysis.PUBLISHED[{name!r}]"
    notes = (note, benchmark.advice) if benchmark.advice else (note,)
    if benchmark.url:
        read = getattr(import_module("mlaut.analysis.importers"), benchmark.reader)
        theirs = read(downloaded(benchmark.url, name), **{**benchmark.options, **options})
        return replace(theirs, notes=(*notes, *theirs.notes))
    if options:
        raise AnalysisError(
            f"{name} comes with MLaut and has no options, such as {next(iter(options))}"
        )
    table = pd.read_csv(_TABLES / f"{name}.csv.xz", index_col=list(benchmark.index))

    results = Results.from_table(
        table / 100 if benchmark.percent else table,
        metric=benchmark.metric,
        greater_is_better=benchmark.greater_is_better,
    )
    at = np.argwhere(np.isnan(results.cells) & results.expected[:, None])
    reasons: Any = {tuple(cell): "no published result" for cell in at.tolist()}
    return replace(results, reasons=reasons, notes=notes)
