"""The screen of a table whose reading is a question: its readings, and no verdict."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from mlaut.analysis import QuestionError, Results
from mlaut.analysis.common.numerics import rank_losses
from mlaut.errors import shortened, some_of
from mlaut.markup import counted, json_text, marked, printable
from mlaut.report.shown import ShownTable, TableColumn, decimals_of, in_words_of
from mlaut.report.terminal import lines_of, wrapped
from mlaut.report.writing import in_markdown

_ROWS = 10  # strategies of the first reading that the screen shows
_NAMES = 3  # datasets and strategies of each reading by which one recognises the right one
_LONG = 60  # letters of a name
_TELLS = re.compile(r"means of \d|no result in \d").match  # what tells readings apart, and scores
_UNTESTED = "no test, no verdict: this only helps to see whether it is read right"


def question_content(question: QuestionError) -> dict[str, Any]:
    """Return what is asked, as JSON: the question, and each reading with its command."""
    content: dict[str, Any] = {"title": _title(question), "warnings": [], "studied": ""}
    content |= {"sections": [], "question": _question(question), "readings": []}
    for (command, results), told in zip(question.readings.items(), _told(question), strict=True):
        rows = _scores(results).reset_index().to_dict(orient="records")
        reading = {"command": command, "told": told, "how_read": results.how_read}
        content["readings"].append(reading | {"strategies": rows})
    return content


def question_json(question: QuestionError) -> str:
    """Return `question_content` as JSON."""
    return json_text(question_content(question), indent=1)


def question_text(question: QuestionError) -> str:
    """Return the question, what each reading is, its command, and the scores of the first one."""
    lines = [*wrapped([_title(question), "", f"Question: {_question(question)}"]), ""]
    for number, (command, told) in _numbered(question):
        first, *rest = wrapped([f"{number}. {told}"])
        lines += [first, *(f"   {line}" for line in rest), f"   {command}", ""]
    lines += [*wrapped([_ways_out(question)]), f"   {_by_columns(question)}", ""]
    lines += [*wrapped(_about_first(question)), ""]
    return printable("\n".join([*lines, *lines_of(_table(question)), *_rest(question)]))


def question_markdown(question: QuestionError) -> str:
    """Return the contents of `question_text` as Markdown."""
    lines = [f"# {marked(_title(question))}", "", marked(_question(question)), ""]
    for number, (command, told) in _numbered(question):
        lines += [f"{number}. {marked(told)}", "", f"       {command}", ""]
    lines += [marked(_ways_out(question)), "", f"    {_by_columns(question)}"]
    lines += (line for text in _about_first(question) for line in ("", marked(text)))
    return "\n".join([*lines, "", *in_markdown(_table(question)), "", *_rest(question)]) + "\n"


QUESTIONS = {
    "text": question_text,
    "full": question_text,
    "markdown": question_markdown,
    "json": question_json,
}


def _title(question: QuestionError) -> str:
    n = len(question.readings)
    how = f"the table can be read in {n} ways" if n > 1 else "one way to read the table was found"
    return f"{question.ways[0].where}: no verdict yet, {how}"


def _question(question: QuestionError) -> str:
    return question.text.removeprefix(f"{question.ways[0].where}: ")


def _numbered(question: QuestionError) -> Iterator[tuple[int, tuple[str, str]]]:
    return enumerate(zip(question.readings, _told(question), strict=True), 1)


def _told(question: QuestionError) -> list[str]:
    """Return what each reading is: its datasets, its strategies, and what the others do not do."""
    told = []
    each = [_parts(results) for results in question.readings.values()]
    for parts, results in zip(each, question.readings.values(), strict=True):
        datasets, strategies, score, *more = parts
        own = [x for x in (score, *filter(_TELLS, more)) if not all(x in y for y in each)]
        both = ((strategies, results.strategies), (datasets, results.datasets))
        named = [f"{x}: {some_of((shortened(z, _LONG) for z in y), _NAMES)}" for x, y in both]
        told.append("; ".join([*named, *own]))
    return told


def _parts(results: Results) -> list[str]:
    """Return the parts of the sentence on how results were read."""
    sentence = results.how_read.partition(" Another reading: ")[0]
    return sentence.removeprefix("Read: ").rstrip(".").split("; ")


def _ways_out(question: QuestionError) -> str:
    several = len(question.readings) > 1
    how = "of the right reading. If none is" if several else "if it is right. If it is not"
    return f"To get a report, run the command {how}, say what the columns are:"


def _by_columns(question: QuestionError) -> str:
    """Return the command that reads the table in a way that is none of the answers."""
    bare = replace(question.ways[0], columns={})
    return bare.with_columns(**dict.fromkeys(("dataset", "strategy", "score"), "COLUMN")).command()


def _about_first(question: QuestionError) -> Iterator[str]:
    """Yield how the first reading reads the table, and what its numbers are."""
    results = next(iter(question.readings.values()))
    yield f"Reading 1 ({_UNTESTED}):"
    yield f"Read: {'; '.join(_parts(results))}."
    if results.missing.to_numpy().any():
        yield "Some lack results: those with most come first, and their means do not compare."


def _scores(results: Results) -> pd.DataFrame:
    """Return rank and mean of each strategy; where results are missing, their number and mean."""
    scores, columns = results.scores, dict[str, Any]()
    missing = bool(scores.isna().to_numpy().any())
    if missing:
        columns["results"] = scores.notna().sum()
    else:
        ranks = rank_losses(results.losses.to_numpy(), results.noise_scale)
        columns["average rank"] = results.by_source(ranks).mean(axis=0)
    if not results.incomparable and not missing:
        columns[f"mean {results.metric.name}"] = results.by_source(scores.to_numpy()).mean(axis=0)
    elif not results.incomparable:
        columns[f"mean {results.metric.name}"] = scores.mean()
    frame = pd.DataFrame(columns, index=pd.Index(results.strategies, name="strategy"))
    return frame.sort_values(next(iter(columns)), ascending=not missing, kind="stable")


def _table(question: QuestionError) -> ShownTable:
    """Return the first strategies of the first reading as a table."""
    frame = _scores(next(iter(question.readings.values()))).head(_ROWS)
    return ShownTable.of(
        frame, [TableColumn(x, x, "", decimals_of(frame[x])) for x in map(str, frame)]
    )


def _rest(question: QuestionError) -> list[str]:
    results = next(iter(question.readings.values()))
    more = len(results.strategies) - _ROWS
    return [in_words_of(results)(f"... and {counted(more, 'strategy', 'strategies')} more")] * (
        more > 0
    )
