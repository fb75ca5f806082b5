"""A new study file, with a comment on each choice: `new_study.txt`, filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from mlaut.data.tables.folders import TARGETS, folder_tables, known_layout, load_file
from mlaut.errors import DataError, StudyError, some_of
from mlaut.helpers.markup import beside, counted, json_text
from mlaut.records import CLASSIFICATION, Dataset, as_list

_FEW = 20  # rows, up to which any column may have no value twice
# follows the roles that a user then names; ten folds measure more than the five of many datasets
_FOLDS = 10
_OF_A_TABLE = f"kfold_by_role({_FOLDS})"

USUAL: Mapping[str, Sequence[str]] = beside(__file__)
"""Names of the strategies of a new study file, by task."""


@dataclass(frozen=True)
class Origin:
    """Where the datasets of a new study file come from.

    Attributes
    ----------
    line : str
        Line of ``[data]`` that names them.
    task, title : str
        Their task, and the default title of reports.
    told : str
        What was chosen for the user, and how to choose otherwise.
    scheme : str
        Scheme of the split.
    target : str
        Target of a table.
    unlike : tuple of str
        Columns of a table that have no value twice.
    """

    line: str
    task: str
    title: str = ""
    told: str = ""
    scheme: str = "kfold(5)"
    target: str = ""
    unlike: tuple[str, ...] = ()


def origin_of(path: Path, data: Path | None = None, *, target: str = "", task: str = "") -> Origin:
    """Return the origin of the datasets of a new study file.

    Parameters
    ----------
    path : Path
        Path at which the study file will be written.
    data : Path, optional
        Folder of tables, or a table. By default, datasets that come with MLaut.
    target, task : str, optional
        Target of the table, and task, where the user names them.

    Raises
    ------
    DataError
        There is no such folder or file, or its table cannot be used.
    """
    if data is None:
        ours = 'collection = "starter"         # real datasets that come with MLaut'
        ours += '\n# datasets = ["iris", "wine"]  # only these; default all'
        return Origin(ours, task or CLASSIFICATION)
    # a path relative to the study file survives a move of both
    inside = data.resolve().is_relative_to(path.parent.resolve())
    place = data.resolve().relative_to(path.parent.resolve()) if inside else data.resolve()
    named = json_text(place.as_posix())
    if data.is_file():
        try:
            table = load_file(str(data), {"target": target} if target else {})
        except DataError as error:
            if target or "target" not in str(error):
                raise
            raise DataError(f"{error}; is it the target at all? --target names another") from None
        return _of_table(table, named, task, chosen=bool(target))
    if not data.is_dir():
        raise DataError(f"{data}: no such folder or file; check the path")
    told = ""
    if not task:
        tables = known_layout(data) or folder_tables(data)
        name, first = next(iter(tables.items()))
        one = first.read()
        task = first.task or one.task
        told = f"{counted(len(tables), 'dataset')}; task {task}, that of {name} (--task chooses)"
        told += f"; its target is {some_of(as_list(one.target))} ([data.roles] chooses)"
    line = f"folder = {named}  # CSV, TSV, ARFF or parquet, one a dataset"
    return Origin(line, task, data.resolve().name, told)


def _of_table(table: Dataset, named: str, task: str, *, chosen: bool) -> Origin:
    """Return the origin of a study of one table; the user has chosen its target, or not."""
    target, task = str(table.target), task or table.task
    frame = table.frame if table.array is not None else table.features
    # a feature of other numbers in each row is a measure; texts and whole numbers may be names
    names = [] if table.array is not None else [c for c in frame if frame[c].dtype.kind != "f"]
    unlike = tuple(str(c) for c in names if _FEW < frame[c].nunique() == len(frame))
    by_name = "by its name" if target.lower() in TARGETS else "the last column"
    why = "" if chosen else f" ({by_name}; --target chooses)"
    counts = dict(table.labels.value_counts()) if task == CLASSIFICATION else {}
    kinds = f", {len(counts)} classes" if counts else ""
    told = f"{counted(len(frame), 'row')}; target {target}{why}; {task}{kinds}"
    if unlike:
        told += f"; {some_of(unlike)}: another value in each row, is this a feature?"
    if rare := [f"{name} ({n})" for name, n in counts.items() if n < _FOLDS]:
        told += f"; classes with fewer rows than the {_FOLDS} folds: {some_of(rare)}"
    return Origin(f"datasets = [{named}]", task, table.name, told, _OF_A_TABLE, target, unlike)


def new_study_file(
    path: Path,
    origin: Origin,
    *,
    strategies: Sequence[str],
    question: str,
    metric: str,
    title: str = "",
) -> str:
    """Return the text of a new study file.

    Parameters
    ----------
    path : Path
        Path at which the file will be written.
    origin : Origin
        Where the datasets come from.
    strategies : sequence of str
        Names, families or tasks of strategies.
    question, metric : str
        Terms of the analysis.
    title : str, optional
        Title of reports; default the name of the file, of the folder or of the table.

    Raises
    ------
    StudyError
        There is a file at ``path``.
    """
    if path.exists():
        raise StudyError(f"{path}: exists, and nothing is overwritten; choose another name")
    template = files(__package__).joinpath("new_study.txt").read_text(encoding="utf-8")
    target = f"\ntarget = {json_text(origin.target)}"
    return template.format(
        file=path.name,
        title=json_text(title or origin.title or path.stem),
        output=json_text(f"{path.stem}.h5"),
        input=json_text(f"{path.stem}.datasets.h5"),
        source=origin.line,
        task=json_text(origin.task),
        lower=origin.task.lower(),
        roles=f"[data.roles]{target}" if origin.target else "# [data.roles]",
        ignored=json_text(list(origin.unlike or ("id",))),
        scheme=json_text(origin.scheme),
        strategies="\n".join(f"    {json_text(strategy)}," for strategy in strategies),
        smaller=_smaller(origin.task, strategies),
        question=json_text(question),
        metric=json_text(metric),
    )


def _smaller(task: str, strategies: Sequence[str]) -> str:
    """Return sections that leave slow strategies untuned; comments where these are not run."""
    *_, forest, boosting = USUAL[task]
    chosen = forest in strategies
    lines = [f"[strategies.parameters.{forest}]", "params = { n_estimators = 100 }"]
    lines += ["param_grid = {}"]
    if boosting in strategies:
        lines += ["", f"[strategies.parameters.{boosting}]", "param_grid = {}"]
    return "\n".join(lines if chosen else [f"# {line}" for line in lines]) + "\n"
