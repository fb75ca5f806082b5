"""Results that were published: tables that come with MLaut, and others that are downloaded.

A new one is an entry, with a file in ``tables`` or with an address and a reader. The tables hold
the published numbers only, which are facts; `Benchmark.licence` names the licence of the file or
the repository that they were taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
import pandas as pd

from mlaut.analysis.results.sources import results_from_table
from mlaut.errors import AnalysisError, nearest

__all__ = ["PUBLISHED", "Benchmark", "results_from_published"]

R = TypeVar("R")

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
        Metric of the scores; of downloaded results by default.
    advice : str
        What a reader of these numbers should know.
    greater_is_better : bool, optional
        Direction of a metric that MLaut does not know.
    percent : bool, default False
        Whether the file has percentages; the results have shares.
    index : tuple of str, default ("dataset",)
        Columns of the file that name a cell.
    url : str
        Address of results that do not come with MLaut. They are downloaded once, into the cache
        (`mlaut.data.cache_folder`).
    reader : str
        Function of ``mlaut.analysis.importers.online`` that downloads and reads them.
    options : mapping
        Its options, unless the caller has others.
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
        texts = {one.name: getattr(self, one.name) for one in fields(self)}
        return "\n".join(
            f"{k}: {text}" for k, text in texts.items() if text and k not in _NO_PROTOCOL
        )


_NO_FAILURE = "no cell is missing"
_BY_TASK = "AUC for two classes, log loss for more, RMSE for regression"
PUBLISHED = {
    "amlb2023": Benchmark(
        source="Gijsbers et al., AMLB: an AutoML benchmark, JMLR 25(101), 2024; results of 2023",
        licence="repository of the results (PGijsbers/amlb-results), MIT",
        datasets="104 tasks of OpenML (suites 271 and 269): 71 classification, 33 regression",
        splits="10-fold cross-validation, the folds of the OpenML tasks",
        tuning="by each framework itself, in one hour on 8 cores (constraint='4h8c_gp3': four)",
        failures="the framework failed or ran out of time or memory; the paper puts in the result "
        "of a constant predictor",
        metric="result",
        advice="the score of a task is by the metric that it optimised, of which more is better: "
        + _BY_TASK,
        url="https://raw.githubusercontent.com/PGijsbers/amlb-results/main/data/amlb_all.csv",
        reader="amlb",
        options={"constraint": "1h8c_gp3"},
    ),
    "benavoli2017": Benchmark(
        source="Benavoli, Corani, Demsar and Zaffalon, Time for a change, JMLR 18(77), 2017",
        licence="repository of the paper's tutorial, GPL-3",
        datasets="54; the names in the source do not fit its rows everywhere, so go by the numbers "
        "d01 to d54 before the names",
        splits="10 runs of 10-fold cross-validation",
        tuning="none is described: naive Bayes, AODE, hidden naive Bayes, J48 and grafted J48 of "
        "WEKA",
        failures=_NO_FAILURE,
        metric="accuracy",
        percent=True,
        index=("dataset", "run", "fold"),
    ),
    "delgado2014": Benchmark(
        source="Fernandez-Delgado, Cernadas, Barro and Amorim, Do we need hundreds of classifiers "
        "to solve real world classification problems?, JMLR 15, 2014",
        licence="results of the authors; no licence is stated",
        datasets="121, most of them from UCI; 179 classifiers of 17 families",
        splits="called 4-fold cross-validation, the same for all classifiers; but the folds that "
        "the authors published, of 95 datasets, are four independent random splits into three "
        "quarters for training and one for testing, so 31.6 % of the rows are in no test set and "
        "others in up to four; datasets that come with a test set use that one",
        tuning="by the test accuracy on one split into halves, whose rows are also in the folds: "
        "scores of tuned classifiers may be too good",
        failures="449 of 21,659 cells: the classifier gave no result there",
        metric="accuracy",
        advice="the printed ranks come out if each missing cell gets the mean of its dataset",
        percent=True,
    ),
    "demsar2006": Benchmark(
        source="Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, "
        "2006, Table 6",
        licence="printed in the paper",
        datasets="14 with two classes, of UCI but for rheum",
        splits="one mean for each dataset; the text about the table does not say how it was "
        "estimated",
        tuning="by AUC in internal 5-fold cross-validation on the training rows, where the name "
        "has m (of 0, 1, 2, 3, 5, 10, 15, 20, 50) or cf (of 0, 0.1, 0.25, 0.5); else m = 0 and cf "
        "= 0.25",
        failures=_NO_FAILURE,
        metric="roc_auc",
        advice="the paper ranked AUCs with more digits than it printed: 'demsar2006_ranks' has its "
        "ranks",
    ),
    "demsar2006_ranks": Benchmark(
        source="Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, "
        "2006, Table 6: the ranks",
        licence="printed in the paper",
        datasets="as demsar2006",
        splits="as demsar2006",
        tuning="as demsar2006",
        failures=_NO_FAILURE,
        metric="rank",
        greater_is_better=False,
    ),
    "garcia2008": Benchmark(
        source="Garcia and Herrera, An extension on statistical comparisons of classifiers over "
        "multiple data sets for all pairwise comparisons, JMLR 9, 2008",
        licence="the R package scmamp, GPL-2, which has the table of the paper",
        datasets="30; a star marks those that the paper sampled",
        splits="one mean for each dataset",
        tuning="see the paper: the table does not say",
        failures=_NO_FAILURE,
        metric="accuracy",
        advice="Friedman's statistic was printed without a correction for ties",
    ),
    "mlaut2018": Benchmark(
        source="Kazakov and Kiraly, notebook of MLaut 0.1, 2018; the study of Machine Learning "
        "Automation Toolbox (MLaut), 2019",
        licence="BSD-3-Clause",
        datasets="the 121 of delgado2014; 9 strategies",
        splits="one split of each dataset: two thirds for training, one third for testing",
        tuning="grid search by 5-fold cross-validation within the training set; none for networks",
        failures=_NO_FAILURE,
        metric="misclassification",
        advice="errors have five decimals",
    ),
    "openml-cc18": Benchmark(
        source="Bischl et al., OpenML benchmarking suites, NeurIPS 2021; runs of users of OpenML",
        licence="OpenML, CC BY 4.0",
        datasets="72 classification tasks (suite 99)",
        splits="10-fold cross-validation, the folds of the OpenML tasks",
        tuning="as each user chose: the flows do not say on which rows",
        failures="nobody has uploaded a run; strategies with fewer than half of the tasks are left "
        "out (coverage=)",
        metric="accuracy",
        advice="runs are uploaded by anybody, and the last run of a flow counts",
        url="https://www.openml.org/api/v1/json",
        reader="openml_suite",
        options={"suite": 99},
    ),
    "tabarena2025": Benchmark(
        source="Erickson et al., TabArena: a living benchmark for machine learning on tabular "
        "data, 2025",
        licence="files of the authors; the code is Apache-2.0",
        datasets="51 of OpenML (suite tabarena-v0.1), 16 methods and AutoGluon",
        splits="3-fold cross-validation: 10 repeats up to 2,500 rows, 3 repeats above",
        tuning="default, best of 201 configurations by 8-fold cross-validation within the "
        "training part ('tuned'), and an ensemble of them ('tuned + ensemble')",
        failures="the method cannot run on so many rows, columns or classes; the authors put in "
        "the default random forest (imputed=True)",
        metric="metric_error",
        advice="the error is by the metric of the dataset: " + _BY_TASK,
        greater_is_better=False,
        url="https://tabarena.s3.us-west-2.amazonaws.com/results/df_results_leaderboard.parquet",
        reader="tabarena",
    ),
    "wainer2023": Benchmark(
        source="Wainer, A Bayesian Bradley-Terry model to compare multiple ML algorithms on "
        "multiple data sets, arXiv 2208.04935, 2023",
        licence="the package bbtcomp, MIT",
        datasets="132 of PMLB; 16 classifiers",
        splits="4 folds",
        tuning="see the paper: the table does not say",
        failures="2 cells: qda has no result on two folds of lymphography",
        metric="accuracy",
        advice="accuracies have 6 digits",
        index=("dataset", "fold"),
    ),
}
"""Published benchmarks by name; `mlaut.analysis.Results.published` returns their results."""


# Results are immutable: whoever asks again while somebody holds them gets the same.
_HELD: WeakValueDictionary[tuple[str, ...], Any] = WeakValueDictionary()


def results_from_published(make: Callable[..., R], name: str, options: Mapping[str, Any]) -> R:
    """Return published results; see `Results.published`."""
    key = name, repr(PUBLISHED.get(name)), repr(sorted(options.items()))
    found = _HELD.get(key)
    if found is None:
        found = _HELD[key] = _read(make, name, options)
    return cast("R", found)


def _read(make: Callable[..., R], name: str, options: Mapping[str, Any]) -> R:
    if name not in PUBLISHED:
        hint = nearest(name, PUBLISHED) or f"; there are {', '.join(PUBLISHED)}"
        raise AnalysisError(f"no published results have the name {name!r}{hint}")
    benchmark = PUBLISHED[name]
    note = f"published results {name}: their protocol is mlaut.analysis.PUBLISHED[{name!r}]"
    notes = (note, benchmark.advice) if benchmark.advice else (note,)
    if benchmark.url:
        # A reader returns Results, which are built above this folder, so its module has a name.
        read = getattr(import_module("mlaut.analysis.importers.online"), benchmark.reader)
        found = read(benchmark.url, name, **{**benchmark.options, **options})
        return cast("R", replace(found, notes=(*notes, *found.notes)))
    if options:
        raise AnalysisError(
            f"{name} comes with MLaut and has no options, such as {next(iter(options))}"
        )
    table = pd.read_csv(_TABLES / f"{name}.csv.xz", index_col=list(benchmark.index))

    def with_reasons(**fields: object) -> R:
        holes = np.isnan(np.asarray(fields["cells"]))
        at = np.argwhere(holes & np.asarray(fields["expected"])[:, None])
        reasons = {tuple(cell): "no published result" for cell in at.tolist()}
        return make(**fields, reasons=reasons, notes=notes)

    return results_from_table(
        with_reasons,
        table / 100 if benchmark.percent else table,
        metric=benchmark.metric,
        greater_is_better=benchmark.greater_is_better,
    )
