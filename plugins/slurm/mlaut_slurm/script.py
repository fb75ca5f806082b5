"""Scripts of the jobs of a study: one task for each shard, and the job that merges them."""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from mlaut.errors import StudyError
from mlaut.plugins import Shard, SlurmOptions, parse_bytes, parse_seconds
from mlaut_slurm.queue import job_name, scripts_folder

_WARNING_SECONDS = 120  # before the time limit, at which a task stops and stores what it has done
_PLACE = re.compile(r"@([a-z]+)@")
_WITH_SCRATCH = re.compile(r"# with scratch\n.*?# end\n", re.DOTALL)
_DEATHS = 9  # restarts after which a task that is killed again and again is left to a person


@dataclass(frozen=True)
class JobScripts:
    """Scripts of the jobs of a study, made by submitit, which also submits them.

    Attributes
    ----------
    study : Path
        Path of the study file.
    output : Path
        Path of the merged study.
    count : int
        Number of shards.
    options : SlurmOptions
    """

    study: Path
    output: Path
    count: int
    options: SlurmOptions

    def shard(self, number: int) -> Path:
        """Return the path of the file of a shard."""
        return Shard(number, self.count).path(self.output)

    def task(self, shards: Sequence[int]) -> str:
        """Return the script of the tasks of these shards."""
        return str(self._executor(shards)._make_submission_file_text(self._task_lines(), ""))

    def submit_tasks(self, shards: Sequence[int]) -> str:
        """Submit the tasks of these shards; return the number of their job."""
        return _submitted(self._executor(shards), self._task_lines())

    def submit_merge(self, after: Sequence[str]) -> str:
        """Submit the merging of all shards, once these jobs have succeeded; return its number."""
        executor = self._executor((), after)
        return _submitted(executor, self._filled("merge.sh"))

    def _task_lines(self) -> str:
        if self.options.scratch and self._beside_file.parent != Path():
            raise StudyError(
                f"{self.study}: scratch in [slurm] needs the output beside the study file; it is "
                f"{self._beside_file}"
            )
        text = self._filled("task.sh")
        return text if self.options.scratch else _WITH_SCRATCH.sub("", text)

    def _filled(self, name: str) -> str:
        """Return a file of this folder with the names of the study in its places."""
        text = files(__package__).joinpath(name).read_text("utf-8")
        output = self._beside_file
        names = {
            "folder": self.study.resolve().parent,
            "stem": output.with_suffix(""),
            "study": self.study.name,
            "output": output,
            "new": output.with_name(f".{output.stem}.merging{output.suffix}"),
        }
        places = {key: shlex.quote(str(value)) for key, value in names.items()}
        # A study that exists has results of before; of equal cells, those of the shards are taken.
        places["old"] = f"{places['output']} " if self.output.exists() else ""
        places |= {"suffix": output.suffix, "count": str(self.count), "mlaut": self._command}
        places |= {"scratch": f'"{self.options.scratch}"', "deaths": str(_DEATHS)}
        return _PLACE.sub(lambda found: places[found[1]], text)

    @property
    def _beside_file(self) -> Path:
        """Path of the study from the folder of its study file, in which the jobs work."""
        return Path(os.path.relpath(self.output.resolve(), self.study.resolve().parent))

    @property
    def _command(self) -> str:
        """Command that is mlaut in the job: of the image, of ``setup``, or this one."""
        if self.options.image:
            image = shlex.quote(str(Path(self.options.image).absolute()))
            bound = ' --bind "$home"' if self.options.scratch else ""
            return f'apptainer exec --bind "$PWD"{bound} {image} mlaut'
        return "mlaut" if self.options.setup else f"{shlex.quote(sys.executable)} -m mlaut"

    def _executor(self, shards: Sequence[int] = (), after: Sequence[str] = ()) -> Any:
        from submitit import SlurmExecutor

        # submitit asks for Slurm even where it only writes a script; this makes one anywhere.
        plain = type("Executor", (SlurmExecutor,), {"affinity": classmethod(lambda _: 1)})
        asked, merges, folder = self.options, not shards, scripts_folder(self.output)
        name, log = job_name(self.output), "merge-%j.log" if merges else "%A_%a.log"
        seconds = parse_seconds(asked.time, "time") or 0.0
        more: dict[str, Any] = {
            "output": str(folder / log),
            "requeue": True,
            "array": bool(shards) and ",".join(map(str, shards)),
            "kill-on-invalid-dep": merges and "yes",
            "dependency": bool(after) and f"afterok:{':'.join(after)}",
            "partition": asked.partition or False,
            **asked.options,
        }
        executor = plain(folder)
        try:
            executor.update_parameters(
                job_name=f"{name}-{'merge' if merges else self.count}",
                time=max(1, round(seconds / 60)),
                cpus_per_task=1 if merges else asked.cpus,
                mem=f"{(parse_bytes(asked.memory) or 0) // 2**20}M",
                signal_delay_s=min(_WARNING_SECONDS, int(seconds / 4)),
                setup=list(asked.setup) or None,
                stderr_to_stdout=True,
                use_srun=False,
                wckey=None,
                additional_parameters={key: x for key, x in more.items() if x is not False},
            )
        except (TypeError, ValueError) as error:
            raise StudyError(f"[slurm]: {' '.join(str(error).split())[:200]}") from error
        return executor


def _submitted(executor: Any, lines: str) -> str:
    from submitit.core.utils import FailedJobError, FailedSubmissionError

    executor.folder.mkdir(parents=True, exist_ok=True)
    try:
        return str(executor._submit_command(lines).job_id)
    except (FailedJobError, FailedSubmissionError) as error:
        told = "; ".join(str(error).replace("sbatch: error: ", "").splitlines())
        raise StudyError(
            f"Slurm refused the job: {told[:300]}; change [slurm] (its 'options' are those of "
            "sbatch; 'sinfo -o \"%P %c %m %l\"' prints cores, MB and time of each partition), and "
            "call again"
        ) from error
