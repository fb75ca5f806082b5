"""The command that submits studies to Slurm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mlaut.plugins import PATH, Answer, in_own_words, show


@click.command()
@click.argument("study_file", type=PATH)
@click.option("--jobs", type=int, help="Number of shards at the most.")
@click.option("--time", help="Time limit of a task, such as 4h; it is requeued where it ends.")
@click.option("--cpus", type=int, help="Cores of a task.")
@click.option("--mem", "memory", help="Memory of a task, such as 64GB.")
@click.option("--partition", help="Partition of the cluster.")
@click.option("--script", is_flag=True, help="Print the script of the tasks; submit nothing.")
@click.option("--cancel", is_flag=True, help="Cancel the study's jobs; what they did is stored.")
def submit(study_file: Path, script: bool, cancel: bool, **given: Any) -> Answer:
    """Submit a study to Slurm, a task for each shard.

    A job that merges them follows. The command checks the study file, loads its datasets, and
    submits the shards that are unfinished and not in the queue: call it again when tasks have
    failed. The options, and more, can stand in [slurm] of the study file. 'mlaut status study.toml'
    shows all shards. The Python file that [strategies] names is executed.

    \b
    mlaut submit study.toml --jobs 20 --time 4h --cpus 16 --mem 64GB
    mlaut submit study.toml --script
    mlaut submit study.toml --cancel
    """
    from mlaut.experiments import read_study_file
    from mlaut_slurm import queue
    from mlaut_slurm.submit import submit_study

    if cancel:
        output = read_study_file(study_file).output
        tasks = queue.cancel(output)
        show(f"{output}: {len(tasks)} tasks cancelled; what they have done is stored")
        return {"study": output, "cancelled": [task.job for task in tasks]}
    changes = {name: value for name, value in given.items() if value is not None}
    done = submit_study(study_file, only_script=script, **changes)
    show(done.script.rstrip() if script else in_own_words(done))
    return done.to_dict()
