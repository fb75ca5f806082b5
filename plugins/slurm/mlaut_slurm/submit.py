"""Submit a study to Slurm: what is unfinished and not in the queue, and the merge behind it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from mlaut.errors import StoreError, StudyError
from mlaut.experiments import Preview, StudyFile, plan_study, read_study_file
from mlaut.files_io import StudyStore
from mlaut.helpers.markup import Displayed, counted
from mlaut.plugins import (
    NOTHING,
    Shard,
    SlurmOptions,
    check_report,
    holder_of,
    holder_words,
    open_shards,
    prepare_data,
    requested_cells,
    shard_counts,
)
from mlaut.records import Status
from mlaut_slurm.queue import QueuedTask, asked, of_shards, queued
from mlaut_slurm.script import JobScripts

_SHORTEST = 600.0  # seconds that a shard should take: a task costs some seconds and its wait


@dataclass(frozen=True, repr=False)
class Submission(Displayed):
    """The shards of a study that a call of `submit_study` has submitted, and those it has not.

    Attributes
    ----------
    study : Path
        Path of the merged study.
    shards : int
        Number of shards of the study.
    submitted : tuple of int
        Shards that were submitted now.
    job, merge : str
        Numbers of their job, and of the job that merges; empty if none was needed.
    finished : tuple of int
        Shards whose cells all have an outcome.
    waiting : mapping of int to str
        What holds other shards: a task in the queue, or a run.
    notes : tuple of str
        What was decided for the user.
    script : str
        Script of the tasks, if only that was asked for.
    """

    study: Path
    shards: int
    submitted: tuple[int, ...] = ()
    job: str = ""
    merge: str = ""
    finished: tuple[int, ...] = ()
    waiting: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    script: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {**vars(self), "study": str(self.study), "waiting": {**self.waiting}}

    def _lines(self) -> list[str]:
        done = f"{self.study}: {len(self.finished)} of {counted(self.shards, 'shard')} finished"
        done += f", {len(self.waiting)} queued or running before" * bool(self.waiting)
        array = f"submitted {counted(len(self.submitted), 'shard')} as job {self.job}"
        merge = f"job {self.merge} merges all of them into {self.study} at the end"
        jobs = [array] * bool(self.job) + [merge] * bool(self.merge)
        return [*self.notes, done, *(jobs or ["nothing to submit"])]


def submit_study(
    path: str | os.PathLike[str], *, only_script: bool = False, **changes: Any
) -> Submission:
    """Submit the unfinished shards of a study file that are not in the queue, and their merge.

    Parameters
    ----------
    path : path-like
        Path of the study file.
    only_script : bool, default False
        Whether to return the script of the tasks, and submit nothing.
    **changes
        Keys of ``[slurm]`` that replace those of the file.

    Raises
    ------
    StudyError
        The study cannot be run, it is a race, or Slurm is missing or refuses the job.
    """
    file = read_study_file(path)
    options = replace(file.slurm, **changes)
    if file.race is not None:
        raise StudyError(
            f"{file.path}: a race decides on the results of all cells, and has no shards; run it "
            "in one job: sbatch --wrap 'mlaut run ...'"
        )
    tasks = [] if only_script else queued(file.output)
    preview = plan_study(path, check=check_report, trial=not only_script)
    preview.plan.check()
    count, notes = _shards_of(file, preview, options, tasks)
    jobs = JobScripts(file.path, file.output, count, options)
    if only_script:
        return Submission(file.output, count, notes=notes, script=jobs.task(range(1, count + 1)))
    prepare_data(file)  # once, here: nodes may have no network
    return _submit(jobs, preview, tasks, (*preview.failing, *notes))


def _submit(
    jobs: JobScripts, preview: Preview, tasks: Sequence[QueuedTask], notes: tuple[str, ...]
) -> Submission:
    wanted = {one.entry.name: one.strategies for one in preview.plan.datasets}
    numbers = range(1, jobs.count + 1)
    holders = {number: holder_of(jobs.shard(number)) for number in numbers}
    waiting = {number: holder_words(holder) for number, holder in holders.items() if holder}
    waiting |= {task.shard: str(task) for task in tasks if task.shard}
    in_queue = of_shards(tasks, jobs.output)
    rest = [number for number in numbers if number not in waiting]
    finished = [number for number in rest if _is_finished(number, jobs, wanted)]
    todo = [number for number in rest if number not in finished]
    merging = [task.job for task in tasks if not task.shard]
    job = jobs.submit_tasks(todo) if todo else ""
    merge = ""
    if todo or (not merging and open_shards(jobs.output, in_queue)):
        before = [task.job for task in tasks if task.shard]
        try:
            merge = jobs.submit_merge([job, *before] if job else before)
        except StudyError:  # an array that no node can ever run is accepted, and this job is not
            if job:
                asked("scancel", job)
            raise
        if merging:  # it waits for the tasks of before alone
            asked("scancel", *merging)
    return Submission(
        jobs.output, jobs.count, tuple(todo), job, merge, tuple(finished), waiting, notes
    )


def _is_finished(number: int, jobs: JobScripts, wanted: Mapping[str, Sequence[str]]) -> bool:
    """Return whether all cells that a shard has of a plan have an outcome."""
    study = StudyStore(jobs.shard(number))
    try:
        if not study.exists:
            return False
        cells, statuses = requested_cells(study, Shard(number, jobs.count)), study.statuses()
    except StoreError:  # a writer was killed while it made the file
        return False
    for dataset, strategies in wanted.items():
        names, status = statuses.get(dataset, ((), np.zeros((0, 0, 0))))
        missing = np.isin(names, list(strategies))[:, None, None] & (status == Status.MISSING)
        if set(strategies) - set(names) or (cells[dataset] & missing).any():
            return False
    return True


def _shards_of(
    file: StudyFile, preview: Preview, options: SlurmOptions, tasks: Sequence[QueuedTask]
) -> tuple[int, tuple[str, ...]]:
    """Return the number of shards, and lines on why it is not the one that was asked for."""
    if begun := shard_counts(file.output, of_shards(tasks, file.output)):
        if len(begun) > 1:
            raise StudyError(
                f"{file.output}: has shards of {' and of '.join(map(str, begun))}, which cannot be "
                "merged; remove those of one division (mlaut submit --cancel ends the jobs)"
            )
        return begun[0], (f"it goes on with its {begun[0]} shards",) * (begun[0] != options.jobs)
    if options.jobs < 1:
        raise StudyError(f"jobs {options.jobs}: must be at least 1")
    forecast, most = preview.forecast, max(2, min(options.jobs, preview.plan.n_cells))
    if forecast.basis.get(NOTHING, 0) == forecast.cells:
        return most, ("no times of cells are known yet that the shards could be fitted to",)
    fitting = max(2, ceil(forecast.seconds / options.cpus / _SHORTEST))
    if fitting >= most:
        return most, ()
    short = f"{options.jobs} shards would take less than ten minutes each"
    return fitting, (f"{short} by the times known so far: {fitting} shards",)
