"""A new study file, with a comment on each choice: `new_study.txt`, filled in."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from mlaut.errors import DataError, StudyError
from mlaut.markup import json_text
from mlaut.records import CLASSIFICATION, REGRESSION

# A baseline, a linear model, and the two ensembles that lead most comparisons on tables: few
# strategies, of which each suits many datasets, so that a first run ends soon.
_USUAL = {
    CLASSIFICATION: (
        "BaselineClassifier",
        "LogisticRegression",
        "RandomForestClassifier",
        "HistGradientBoostingClassifier",
    ),
    REGRESSION: (
        "BaselineRegressor",
        "RidgeRegression",
        "RandomForestRegressor",
        "HistGradientBoostingRegressor",
    ),
}


def usual_strategies(task: str) -> tuple[str, ...]:
    """Return the names of the strategies of a new study file."""
    return _USUAL[task]


def new_study_file(
    path: Path,
    *,
    task: str,
    strategies: Sequence[str],
    question: str,
    metric: str,
    folder: Path | None = None,
    title: str = "",
) -> str:
    """Return the text of a new study file.

    Parameters
    ----------
    path : Path
        Path at which the file will be written.
    task : str
        ``"Classification"`` or ``"Regression"``.
    strategies : sequence of str
        Names, families or tasks of strategies.
    question, metric : str
        Terms of the analysis.
    folder : Path, optional
        Folder of tables. By default, datasets that come with MLaut.
    title : str, optional
        Title of reports; default the name of the file or of the folder.

    Raises
    ------
    DataError
        The folder does not exist.
    StudyError
        There is a file at ``path``.
    """
    if path.exists():
        raise StudyError(f"{path}: exists, and nothing is overwritten; choose another name")
    if folder is None:
        source = 'collection = "starter"         # real datasets that come with MLaut'
    elif folder.is_dir():
        # a path relative to the study file survives a move of both
        inside = folder.resolve().is_relative_to(path.parent.resolve())
        place = folder.resolve().relative_to(path.parent.resolve()) if inside else folder.resolve()
        named = json_text(place.as_posix())
        source = f"folder = {named}  # CSV, TSV, ARFF or parquet, one a dataset"
    else:
        raise DataError(f"{folder}: no such folder; check the path")
    name = path.stem if folder is None else folder.resolve().name
    template = files(__package__).joinpath("new_study.txt").read_text(encoding="utf-8")
    return template.format(
        file=path.name,
        title=json_text(title or name),
        output=json_text(f"{path.stem}.h5"),
        input=json_text(f"{path.stem}.datasets.h5"),
        source=source,
        task=json_text(task),
        lower=task.lower(),
        scheme=json_text("kfold(5)"),
        strategies="\n".join(f"    {json_text(strategy)}," for strategy in strategies),
        smaller=_smaller(task, strategies),
        question=json_text(question),
        metric=json_text(metric),
    )


def _smaller(task: str, strategies: Sequence[str]) -> str:
    """Return sections that leave slow strategies untuned; comments where these are not run."""
    *_, forest, boosting = _USUAL[task]
    chosen = forest in strategies
    lines = [f"[strategies.parameters.{forest}]", "params = { n_estimators = 100 }"]
    lines += ["param_grid = {}"]
    if boosting in strategies:
        lines += ["", f"[strategies.parameters.{boosting}]", "param_grid = {}"]
    return "\n".join(lines if chosen else [f"# {line}" for line in lines]) + "\n"
