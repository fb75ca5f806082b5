"""The screen of a table whose reading is a question: its readings, and no verdict."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from mlaut.analysis import QuestionError, Results
from mlaut.analysis.common.numerics import rank_losses
from mlaut.analysis.importers.asked import Asked
from mlaut.errors import shortened, some_of
from mlaut.helpers.markup import counted, json_text, marked, printable
from mlaut.report.shown import ShownTable, TableColumn, decimals_of, in_words_of
from mlaut.report.terminal import lines_of, wrapped
from mlaut.report.writing import in_markdown

_ROWS = 10  # strategies of the first reading that the screen shows
_NAMES = 3  # datasets and strategies of each reading by which one recognises the right one
_LONG = 60  # letters of a name
_TELLS = re.compile(r"means of \d|no result in \d").match  # what tells readings apart, and scores
_COLUMNS = 16  # of the table that the screen shows
_UNUSED = "not used"
_UNTOLD = "This command answers; it may ask more:"
_SAY = "To get a report, say what the columns are"
_ABOUT_COLUMNS = (
    "COLUMN is one of these, or several joined by '+' (beside each: what it is taken for). Where "
    "each strategy has a column of scores, name them all as score, and leave strategy out; where "
    "each dataset has one, leave dataset out:"
)
_UNTESTED = "no test, no verdict: this only helps to see whether it is read right"


def question_content(question: QuestionError) -> dict[str, Any]:
    """Return what is asked, as JSON: the question, each reading, and what the columns are."""
    content: dict[str, Any] = {"title": _title(question), "warnings": [], "studied": ""}
    content |= {"sections": [], "question": _question(question), "readings": []}
    content |= {"columns": question.columns, "template": question.template}
    for (command, results), told in zip(question.readings.items(), _told(question), strict=True):
        rows = _scores(results).reset_index().to_dict(orient="records")
        reading = {"command": command, "told": told, "how_read": results.how_read}
        content["readings"].append(reading | {"strategies": rows})
    return content


def question_json(question: QuestionError) -> str:
    """Return `question_content` as JSON."""
    return json_text(question_content(question), indent=1)


def question_text(question: QuestionError) -> str:
    """Return the question, each reading with its command, the columns, and the first scores."""
    lines = [*wrapped([_title(question), "", f"Question: {_question(question)}"]), ""]
    for number, (command, told) in enumerate(_answers(question), 1):
        first, *rest = wrapped([f"{number}. {told or _UNTOLD}"])
        lines += [first, *(f"   {line}" for line in rest), f"   {command}", ""]
    if question.columns:  # else only whether more is better is asked
        lines += [*wrapped([_ways_out(question)]), f"   {question.template}", ""]
        lines += [*wrapped([_ABOUT_COLUMNS]), *(f"   {line}" for line in _columns(question)), ""]
    if question.readings:
        lines += [*wrapped(_about_first(question)), "", *lines_of(_table(question))]
    return printable("\n".join([*lines, *_rest(question)]))


def question_markdown(question: QuestionError) -> str:
    """Return the contents of `question_text` as Markdown."""
    lines = [f"# {marked(_title(question))}", "", marked(_question(question)), ""]
    for number, (command, told) in enumerate(_answers(question), 1):
        lines += [f"{number}. {marked(told or _UNTOLD)}", "", f"       {command}", ""]
    if question.columns:
        lines += [marked(_ways_out(question)), "", f"    {question.template}", ""]
        lines += [marked(_ABOUT_COLUMNS), "", *(f"- {marked(x)}" for x in _columns(question))]
    if question.readings:
        lines += (line for text in _about_first(question) for line in ("", marked(text)))
        lines += ["", *in_markdown(_table(question))]
    return "\n".join([*lines, "", *_rest(question)]) + "\n"


QUESTIONS = {
    "text": question_text,
    "full": question_text,
    "markdown": question_markdown,
    "json": question_json,
}


def _title(question: QuestionError) -> str:
    n = len(question.ways)
    how = f"the table can be read in {n} ways" if n > 1 else "one way to read the table was found"
    return f"{_where(question)}: no verdict yet, {how if n else 'the table is not read'}"


def _where(question: QuestionError) -> str:
    return (question.sheet.asked if question.sheet else question.ways[0]).where


def _question(question: QuestionError) -> str:
    text = question.text.removeprefix(f"{_where(question)}: ")
    return text if not question.ways or text.endswith("?") else f"{text}:"


def _answers(question: QuestionError) -> Iterator[tuple[str, str]]:
    """Yield the command of each reading, and what it reads, if that is known."""
    if question.readings:
        return zip(question.readings, _told(question), strict=True)
    return ((way.command(), _said(way)) for way in question.ways)


def _said(way: Asked) -> str:
    """Return what columns are, by the words of an answer whose scores are not known."""
    given = way.given.items()
    return "; ".join(f"{role}: {' + '.join(f'`{x}`' for x in names)}" for role, names in given)


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
    n = len(question.ways)
    run = "run the command of the right reading. If none is" if n > 1 else "run the command, if it "
    run += "" if n > 1 else "is right. If it is not"
    return f"To get a report, {run}, say what the columns are:" if n else f"{_SAY}:"


def _columns(question: QuestionError) -> list[str]:
    """Return a line on each column with what it is taken for; those not used share lines."""
    lines, left = list[str](), dict[str, list[str]]()
    for name, told in question.columns.items():
        shown = f"`{shortened(name, _LONG)}`"
        if told.startswith(_UNUSED):
            left.setdefault(told.rpartition(" (")[0], []).append(shown)
        else:
            lines.append(f"{shown}: {told}")
    more = len(lines) - _COLUMNS
    lines = lines[:_COLUMNS] + [f"... and {counted(more, 'column')} more"] * (more > 0)
    return lines + [f"{why}: {some_of(names, _COLUMNS)}" for why, names in left.items()]


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
    for results in [*question.readings.values()][:1]:
        if (more := len(results.strategies) - _ROWS) > 0:
            n = counted(more, "strategy", "strategies")
            return [in_words_of(results)(f"... and {n} more")]
    return []
