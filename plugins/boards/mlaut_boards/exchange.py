"""Results in the formats of other projects, with their intervals.

Every Eval Ever (schema 0.3.0, https://github.com/evaleval/every_eval_ever) has a JSON file for each
strategy. The evaluation results of the Hugging Face Hub (https://huggingface.co/docs/hub/eval-results)
are a YAML file in the repository of a model. This has no field for an interval: its notes name it.
"""

import hashlib
import math
import os
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mlaut import __version__
from mlaut.analysis import MLautScore
from mlaut.errors import AnalysisError
from mlaut.helpers.markup import json_text
from mlaut.plugins import write_file
from mlaut.report import Report

_NO_NAME = re.compile(r"[^\w.-]+", re.ASCII)  # what no folder's name has, on any system
_HUB = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)  # a dataset of the Hub: owner/name
_CONFIDENCE = 0.95  # of the intervals in a report
_OVER_POINTS = "over test points"  # the method of scores that are no study: `dataset_estimates`


class _Score(NamedTuple):
    """Score of a strategy on a dataset, with its interval, whose ends are NaN where none is known.

    ``n_test`` is the number of rows that one repeat tests; 0 where it is not known.
    """

    metric: MLautScore
    dataset: str
    value: float
    low: float = math.nan
    high: float = math.nan
    standard_error: float = math.nan
    method: str = ""
    note: str = ""
    n_test: int = 0

    @property
    def bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def _scores(report: Report) -> Iterator[tuple[str, list[_Score]]]:
    """Yield each strategy, and its scores by the primary metrics; those of failed cells are NaN."""
    for strategy in dict.fromkeys(s for x in report.sections for s in x.scored.strategies):
        own = []
        for section in report.sections:
            scored = section.scored
            rows: Any = section.tables.get("estimates by dataset")
            if section.secondary or strategy not in scored.strategies:
                continue
            for d, dataset in enumerate(scored.datasets):
                about = {} if rows is None else rows.loc[(dataset, strategy)].to_dict()
                about = {"method": _OVER_POINTS if about else ""} | about
                fields = {name: about[name] for name in _Score._fields if name in about}
                fields["n_test"] = 0 if scored.n_test is None else int(scored.n_test[d, 0].sum())
                value = float(scored.scores[strategy][dataset])
                own.append(_Score(scored.metric, dataset, **fields | {"value": value}))
        yield strategy, own


def to_every_eval_ever(
    report: Report, folder: str | os.PathLike[str], organisation: str
) -> tuple[Path, ...]:
    """Write a JSON file for each strategy: ``data/TITLE/ORGANISATION/STRATEGY/UUID.json``.

    Parameters
    ----------
    report : Report
        Its primary metrics are written. A dataset without a score is named, and has no entry.
    folder : path-like
        The file of an earlier call with the same title, organisation and strategy is replaced.
    organisation : str
        Who ran the strategies. They are identified as ``ORGANISATION/STRATEGY``.

    Returns
    -------
    tuple of Path

    Raises
    ------
    AnalysisError
        The organisation is empty.

    Examples
    --------
    >>> import json, tempfile
    >>> import pandas as pd
    >>> from mlaut.analysis import Results
    >>> from mlaut.report import make_report
    >>> table = pd.DataFrame({"tree": [0.9, 0.8], "forest": [0.95, 0.9]}, index=["iris", "zoo"])
    >>> report = make_report(Results.from_table(table, metric="accuracy", n_test=50))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path, _ = to_every_eval_ever(report, folder, "Ada")
    ...     results = json.loads(path.read_text())["evaluation_results"]
    >>> interval = results[0]["score_details"]["uncertainty"]["confidence_interval"]
    >>> results[0]["evaluation_name"], round(interval["lower"], 2), round(interval["upper"], 2)
    ('iris', 0.79, 0.96)
    """
    if not organisation.strip():
        raise AnalysisError("say who ran the strategies (--organisation, organisation=)")
    now, run = str(int(time.time())), report.source is not None
    paths = []
    for strategy, scores in _scores(report):
        identifier = f"{organisation}/{strategy}"
        lacking = ", ".join(score.dataset for score in scores if math.isnan(score.value))
        details = {"conclusion": " ".join(report.sections[0].headline), "studied": report.studied}
        deployed = {"deployment_type": "self_deployed" if run else "unknown"}
        content = {
            "schema_version": "0.3.0",
            "evaluation_id": f"{report.title}/{identifier}/{now}",
            "retrieved_timestamp": now,
            "source_metadata": {
                "source_name": report.title,
                "source_type": "evaluation_run" if run else "documentation",
                "source_organization_name": organisation,
                "evaluator_relationship": "other",
                "additional_details": details | ({"without a score": lacking} if lacking else {}),
            },
            "eval_library": {"name": "mlaut", "version": __version__},
            "model_info": {
                "name": strategy,
                "id": identifier,
                "additional_details": deployed | {"model_availability": "unknown"},
            },
            "evaluation_results": [_evaluation(x) for x in scores if not math.isnan(x.value)],
        }
        key = f"{report.title}\n{identifier}".encode(errors="backslashreplace")
        name = uuid.UUID(bytes=hashlib.sha256(key).digest()[:16], version=4)
        parts = map(_folder, (report.title, organisation, strategy))
        text = json_text(content, indent=1) + "\n"
        paths.append(write_file(Path(folder, "data", *parts, f"{name}.json"), text))
    return tuple(paths)


def _evaluation(score: _Score) -> dict[str, Any]:
    """Return the entry of a dataset."""
    low, high = (x if math.isfinite(x) else f"{'-' * (x < 0)}Infinity" for x in score.metric.bounds)
    named: dict[str, Any] = {"metric_id": score.metric.name, "metric_name": score.metric.name}
    named["lower_is_better"] = not score.metric.greater_is_better
    details: dict[str, Any] = {"score": score.value}
    if score.bounded:
        ends = {"lower": score.low, "upper": score.high, "confidence_level": _CONFIDENCE}
        uncertain: dict[str, Any] = {"confidence_interval": ends | {"method": score.method}}
        if math.isfinite(score.standard_error):
            uncertain["standard_error"] = {"value": score.standard_error, "method": score.method}
        details["uncertainty"] = uncertain | ({"num_samples": score.n_test} if score.n_test else {})
    return {
        "evaluation_name": score.dataset,
        "source_data": {"dataset_name": score.dataset, "source_type": "other"},
        "metric_config": named | {"score_type": "continuous", "min_score": low, "max_score": high},
        "score_details": details | ({"details": {"note": score.note}} if score.note else {}),
    }


def to_hugging_face(
    report: Report, folder: str | os.PathLike[str], benchmark: str, source: str = ""
) -> tuple[Path, ...]:
    """Write ``STRATEGY/.eval_results/TITLE.yaml``, which belongs into the strategy's repository.

    Parameters
    ----------
    report : Report
        Its primary metrics are written. A dataset without a score has no entry.
    folder : path-like
    benchmark : str
        The Hub's dataset that has the board: ``OWNER/NAME``. Its tasks have the datasets' names.
    source : str, optional
        Address of the results, for example of a bundle.

    Returns
    -------
    tuple of Path

    Raises
    ------
    AnalysisError
        The benchmark has another form, or two strategies would have the same file.
    """
    if not _HUB.fullmatch(benchmark):
        raise AnalysisError(f"benchmark {benchmark!r}: write the Hub's dataset as OWNER/NAME")
    paths = []
    for strategy, scores in _scores(report):
        lines = []
        for score in scores:
            notes = f"{score.metric.name}; MLaut {__version__}"
            if score.bounded:
                notes += f"; {_CONFIDENCE:.0%} interval {score.low:.6g} to {score.high:.6g}"
                notes += f" ({score.method})"
            notes += f"; {score.note}" * bool(score.note)
            if not math.isnan(score.value):
                lines += ["- dataset:", f"    id: {json_text(benchmark)}"]
                lines += [f"    task_id: {json_text(score.dataset)}", f"  value: {score.value!r}"]
                lines += ["  source:", f"    url: {json_text(source)}"] if source else []
                lines += [f"  notes: {json_text(notes)}"]
        path = Path(folder, _folder(strategy), ".eval_results", f"{_folder(report.title)}.yaml")
        if path in paths:
            raise AnalysisError(
                f"strategy {strategy!r}: another strategy also has the file {path}; rename one"
            )
        paths.append(write_file(path, "\n".join(lines) + "\n"))
    return tuple(paths)


def _folder(name: str) -> str:
    """Return a name that a folder can have on any system."""
    return _NO_NAME.sub("-", name).strip(".-") or "unnamed"
