"""Questions on how to read a table, with what each answer reads."""

import re
from collections.abc import Sequence
from dataclasses import replace

from mlaut.analysis.importers.asked import Asked, Questioned, QuestionError
from mlaut.analysis.importers.grids.building import results_of_reading
from mlaut.analysis.importers.grids.forms.grid import Grid
from mlaut.analysis.importers.grids.readings import answers_to, read_grid
from mlaut.analysis.importers.grids.sheet import Reading
from mlaut.analysis.results.results import Results
from mlaut.errors import AnalysisError, DirectionError, MlautError

ANSWERS = 4  # shown of a question


def followed(grid: Grid, question: QuestionError) -> QuestionError:
    """Return a question with answers that read the table; raise the error of an answer if none."""
    answers = answers_to(grid, question)
    if question.ways and not answers:
        try:
            read_grid(grid, question.ways[0])
        except QuestionError as further:
            if further.text != question.text:
                return followed(grid, further)
    return asking(question.text, answers, question.sheet)


def asking(
    text: str,
    answers: Sequence[tuple[Asked, Reading]],
    sheet: Questioned | None = None,
    most: int | None = None,
) -> QuestionError:
    """Return a question with its answers, and the results of each unless some have none yet.

    Of answers with the same scores, which only name the strategies in other words, the first stays.
    Those that leave most cells empty come last. Of the answers which of several tables counts the
    first ``most`` are shown, with the units of their numbers.
    """
    read, errors = list[tuple[Asked, Results]](), list[Exception]()
    for asked, reading in answers:
        try:
            try:
                read.append((asked, results_of_reading(reading, asked.greater)))
            except AnalysisError as error:
                if not most:
                    raise
                read.append(_with_units(asked, reading, error))
        except (MlautError, ValueError) as error:
            errors.append(error)
    if not read:
        why = f"; either way {errors[0]}" if errors else ""
        if errors and all(isinstance(x, DirectionError) for x in errors):
            return asking(text + why, both_ways(answers), sheet)
        return QuestionError(text + why, [x for x, _ in answers], sheet=sheet)
    first: dict[tuple[object, ...], tuple[Asked, Results]] = {}
    for answer in read:
        first.setdefault(_content(answer[1]), answer)
    kept = sorted(first.values(), key=lambda x: bool(x[1].scores.isna().to_numpy().mean() > 1 / 2))
    kept = kept[:most]
    return QuestionError(text, [x for x, _ in kept], {x.command(): y for x, y in kept}, sheet)


def _with_units(asked: Asked, reading: Reading, error: AnalysisError) -> tuple[Asked, Results]:
    """Return an answer that keeps the units of numbers, if an error offers that; else raise it."""
    if asked.greater is not None or not (
        way := re.search("better=(True|False) to keep", str(error))
    ):
        raise error
    kept = replace(asked, greater=way[1] == "True")
    return kept, results_of_reading(reading, kept.greater)


def both_ways(answers: Sequence[tuple[Asked, Reading]]) -> list[tuple[Asked, Reading]]:
    """Return answers with more as better, and the first with less as better."""
    signs = [(True, x) for x in answers[: ANSWERS - 1]] + [(False, x) for x in answers[:1]]
    return [(replace(asked, greater=sign), reading) for sign, (asked, reading) in signs]


def _content(results: Results) -> tuple[object, ...]:
    """Return what results say, whatever the strategies are called and in which order they stand."""
    scores = results.scores.sort_index()
    columns = sorted(scores[name].to_numpy().tobytes() for name in scores)
    metric = results.metric
    return (metric.name, metric.greater_is_better, *scores.index, *columns)
