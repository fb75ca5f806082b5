"""Write the JSON schemas of the results that commands print with --json, into mlaut/cli/schemas.

    python tools/schemas.py

A version 1.y may add keys to a result; it removes none, and changes no type. The tests run every
command and check its result against its schema, without allowing further keys.
"""

import json
from pathlib import Path
from typing import Any

from mlaut.records import Status

FOLDER = Path(__file__).resolve().parent.parent / "mlaut" / "cli" / "schemas"
Schema = dict[str, Any]


def of(kind: str) -> Any:
    """Return a function that makes the schema of a value of this type, from its description."""
    return lambda about="": {"type": kind} | ({"description": about} if about else {})


text, number, whole, yes = of("string"), of("number"), of("integer"), of("boolean")


def one(about: str = "", /, **values: Schema) -> Schema:
    """Return the schema of an object; a name that begins with ``maybe_`` may be absent.

    One underscore in a name stands for itself; two stand for a blank.
    """
    names = {name: name.removeprefix("maybe_").replace("__", " ") for name in values}
    return {
        "type": "object",
        **({"description": about} if about else {}),
        "properties": {names[name]: value for name, value in values.items()},
        "required": [names[name] for name in values if not name.startswith("maybe_")],
    }


def many(item: Schema, about: str = "") -> Schema:
    """Return the schema of a list."""
    return {"type": "array", **({"description": about} if about else {}), "items": item}


def each(value: Schema, about: str) -> Schema:
    """Return the schema of an object with names of the user as keys."""
    return {"type": "object", "description": about, "additionalProperties": value}


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that can be unknown, or not finite."""
    return schema | {"type": [schema["type"], "null"]}


def anything(about: str) -> Schema:
    """Return the schema of a value of any type."""
    return {"description": about}


STUDY = text("Path of the study")
COUNTS = {
    "type": "object",
    "description": "Cells by status; a status without a cell is absent",
    "propertyNames": {"enum": [status.word for status in Status]},
    "additionalProperties": whole(),
}
FILES = many(text(), "Paths of the files that were written")
WHO = text("Name of the strategy")
FIRST_DATASETS = text("Names of the first three datasets, and how many more there are")

RUN = one(
    "Summary of a run",
    study=STUDY,
    complete=yes("Whether every cell has predictions"),
    cells=whole("Cells of the study"),
    done=whole("Cells that have predictions, from this run or earlier ones"),
    this_run=COUNTS,
    failed_before=whole("Cells that failed in earlier runs and were not tried again"),
    skipped_before=whole("Cells that earlier runs skipped"),
    reasons=many(one(reason=text(), cells=whole()), "Failures of this run, by reason"),
    seconds=number("Wall seconds of this run"),
    maybe_race=text("Result of the race in words"),
    maybe_versions=text("What differs from the versions of earlier runs"),
    maybe_without_model=whole("Cells whose model could not be saved"),
)
STANDING = one(
    "Row of a strategy. More columns say by how much it is better than the others, in the words of "
    "the printed table",
    strategy=WHO,
    verdict=text("What the analysis decides"),
    maybe_failures=whole("Datasets on which it failed"),
    maybe_datasets=whole("Datasets on which it has a score"),
) | {"additionalProperties": True}
REPORT_KEYS = {
    "title": text("Title of the report"),
    "warnings": many(text(), "What was left out, or was not run yet"),
    "studied": text("What the report is about"),
    "maybe_how_read": many(text(), "How a table was read, and what of it is not used"),
    "sections": many(
        one(
            "Results by one metric; the first is the primary one",
            title=text(),
            headline=many(text(), "What is decided"),
            findings=many(text(), "Question, test, level, and what else was found"),
            maybe_what__next=many(text(), "What to do next, the most important first"),
            maybe_how__sure=many(text(), "How sure one can be"),
            maybe_strategies=many(STANDING, "One row a strategy, unrounded"),
        )
    ),
}
ASKED = {
    "maybe_question": text(
        "Where the reading of a table is a question: what is asked. Nothing is decided then: "
        "sections is empty, and the exit code is 7"
    ),
    "maybe_readings": many(
        one(
            command=text("Command that reads the table so"),
            told=text("Its strategies and datasets, and what tells it from the others"),
            how_read=text("How the table is read then, and what of it is not used"),
            strategies=many(
                one(strategy=text()) | {"additionalProperties": True},
                "Average rank and mean score of each strategy; where results are missing, their "
                "number. No test",
            ),
        ),
        "With question: each reading that was found",
    ),
    "maybe_columns": {
        "type": "object",
        "description": "With question: what each column of the table is taken for, and examples",
        "additionalProperties": text(),
    },
    "maybe_template": text(
        "With question: the command that reads the table once names of columns replace COLUMN"
    ),
}
STATUS_KEYS = {
    "study": STUDY,
    "complete": yes("Whether every cell has predictions"),
    "cells": COUNTS,
    "strategies": each(COUNTS, "Cells of each strategy"),
    "datasets": many(text(), "Names of the datasets"),
    "running": or_null(
        one(
            "Process that runs the study now",
            maybe_pid=whole("Its id"),
            maybe_host=text("Its machine"),
            maybe_since=text("When it began"),
            silent=number("Seconds since its last progress"),
        )
    ),
    "unsettled": yes("Whether a journal waits to be settled"),
    "remains": many(text(), "What interrupted work left behind"),
    "warned": whole("Cells with warnings"),
    "maybe_shard": text("Part of the study that this file has"),
}
DIGEST = text("SHA-256 of the manifest of the bundle")
DATASETS = one(
    name=text("Name of the dataset"),
    task=text("Classification or Regression"),
    rows=whole("Number of rows"),
    features=whole("Number of features"),
    classes=or_null(whole("Number of classes; null for regression")),
    source=text("Where it comes from"),
    path=text("Path in the database; empty for a dataset that comes with MLaut"),
)
METRICS = one(
    name=text("Name to write in a study file"),
    metric=text("Metric that this name stands for"),
    task=text("Classification, Regression or any"),
    better=text("less or greater"),
    range=text("Lowest and highest value"),
    needs=text("Form of predictions: labels or probabilities"),
    source=text("Package that defines it"),
)
STRATEGIES = one(
    name=text("Name to write in a study file"),
    family=text("Families, joined by commas"),
    task=text("Tasks, joined by commas"),
    collection=text("Collection that it belongs to; empty for the usual ones"),
    package=text("Package that has its learner"),
    maybe_wraps=text("Learner with its parameters, as code"),
    maybe_param_grid=anything("Parameters to tune, and their values"),
    maybe_n_candidates=or_null(whole("Candidates of its grid")),
    maybe_tuning=text("How it tunes"),
    maybe_preprocessing=anything("How it prepares the table"),
    maybe_normalize_labels=yes("Whether it standardises the target"),
    maybe_stops_after=anything("Limits of a fit"),
    maybe_size_limit=anything("Largest table on which it is run"),
    maybe_takes=each(yes(), "What it can take"),
    maybe_search_space=each(text(), "Spaces of a search, as code"),
    maybe_source=text("Where its default comes from"),
)
CHANGES = one(changes=many(text(), "What was changed, a line each"))
STANDINGS = many({"type": "object"}, "Rows of the table, with its columns as keys")

RESULTS: dict[str, Schema] = {
    "study-compact": one(
        database=text("Path of the file"),
        bytes_before=whole("Bytes on the disk before"),
        bytes_now=whole("Bytes on the disk now"),
    ),
    "list-datasets": many(DATASETS),
    "demo": one(
        study_file=text("Path of the study file"),
        run=RUN,
        report=one("As of 'mlaut report'", **REPORT_KEYS),
        files=FILES,
    ),
    "init": one(study_file=text("Path of the study file")),
    "load": one(
        database=text("Path of the database"),
        datasets=many(text(), "Paths of the datasets in the database"),
    ),
    "merge": one(**STATUS_KEYS),
    "list-metrics": many(METRICS),
    "study-models": one(
        study=STUDY,
        saved=whole("Number of models that were saved"),
        folder=text("Folder of the models"),
    ),
    "plan": one(
        study=STUDY,
        cells=whole("Cells of the study"),
        todo=whole("Cells that would run"),
        refusals=many(text(), "Why the run would be refused"),
        why=many(
            one(
                strategy=WHO,
                because=text("Why its cells run or not"),
                cells=whole("Number of these cells"),
                todo=whole("How many of them would run"),
                datasets=FIRST_DATASETS,
            ),
            "One row a strategy and reason",
        ),
        repeated_rows=each(whole(), "Rows that occur before, by dataset"),
        failing=many(text(), "Strategies that fail on a few rows, and why"),
        limits=text("Searches with a time limit, and what it cannot end"),
        forecast=one(
            "Time and disk space",
            cells=whole("Cells that would run"),
            n_workers=whole("Processes"),
            seconds=number("Seconds of all cells, one after the other"),
            basis=each(whole(), "Number of cells by what their time is estimated from"),
            bytes_now=whole("Size of the study"),
            bytes_then=whole("Size of the study after the run"),
            bytes_models=or_null(whole("Size of the models; null if not known")),
            bytes_free=whole("Free bytes on the disk"),
            wall_seconds=number("Seconds of the run"),
            fits=yes("Whether the disk has room"),
        ),
        maybe_race=text("Forecast of the race"),
    ),
    "study-remove": CHANGES,
    "study-rename": CHANGES,
    "report": one(
        **REPORT_KEYS,
        **ASKED,
        maybe_methods=text("With --methods: the paragraph for a paper"),
        maybe_bibtex=text("With --methods: its sources"),
        maybe_files=FILES | {"description": "With --output: the files that were written"},
    ),
    "run": RUN,
    "status": {
        "anyOf": [
            one(
                **STATUS_KEYS,
                maybe_race=text("State of the race in words"),
                maybe_cost=text("Cost of the race in words"),
                maybe_why=many(
                    one(
                        strategy=WHO,
                        status=text("Status of these cells"),
                        cells=whole("Number of these cells"),
                        datasets=FIRST_DATASETS,
                        reason=text("Reason, in one line"),
                        traceback=text("Traceback of the first of them; empty if there is none"),
                    ),
                    "With --why: why cells have no predictions",
                ),
                maybe_warnings=many(
                    one(strategy=WHO, warning=text(), cells=whole(), datasets=FIRST_DATASETS),
                    "With --why: warnings of the fits",
                ),
            ),
            one(
                "With --alive",
                healthy=yes("Whether a run makes progress, or the study is finished"),
                reason=text("Why, in one line"),
            ),
            one(
                "Of several files, or of a study that runs as shards",
                title=text("What the files are of"),
                cells=COUNTS,
                parts=many(
                    one(
                        file=text("Name of the file"),
                        cells=whole("Number of its cells; 0 if there is no file yet"),
                        done=whole("Number of those that are done"),
                        other=whole("Number of those with another outcome"),
                        missing=whole("Number of those without an outcome"),
                        now=text("What runs or holds it, in words"),
                    )
                ),
            ),
        ]
    },
    "list-strategies": many(STRATEGIES),
    "verify": one(
        study=text("Path of the study that was checked"),
        ok=yes("Whether no problem was found"),
        datasets=whole("Number of datasets"),
        unsettled=yes("Whether a journal waits to be settled"),
        remains=many(text(), "What interrupted work left behind"),
        cells=COUNTS,
        problems=many(many(text()), "Where, and what"),
        refitted=whole("Cells that were fitted again"),
        drifts=many(
            one(
                cell=text("Cell whose predictions differ"),
                what=text("What differs"),
                versions=each(anything("Then and now"), "Versions that differ"),
            ),
            "Cells that differ, and whose versions differ too",
        ),
        left_out=many(text(), "What could not be fitted again, and why"),
        unchecked=text("What was not checked; empty for nothing"),
        cleared=whole("Damaged cells that --mend cleared"),
        scores=each(
            each(or_null(number()), "Score of each dataset"),
            "With --metric: scores computed again, by strategy",
        ),
    ),
}


def schemas(results: dict[str, Schema] = RESULTS) -> dict[str, str]:
    """Return the text of each schema by the name of its file."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.json": json.dumps(
            head | {"title": f"mlaut {name.replace('-', ' ')} --json"} | schema, indent=1
        )
        + "\n"
        for name, schema in results.items()
    }


def write(folder: Path, results: dict[str, Schema]) -> None:
    """Write the schemas of results into a folder, and remove others."""
    folder.mkdir(exist_ok=True)
    for file in folder.glob("*.json"):
        file.unlink()
    for name, content in schemas(results).items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER, RESULTS)
