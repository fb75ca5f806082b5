"""A cluster of Dask whose workers are jobs of Slurm: ``scheduler = "slurm"`` of a study file."""

import contextlib
import shlex
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

from mlaut.errors import OptionalPackageError
from mlaut.plugins import SlurmOptions, parse_seconds

_LEAVES = 0.9  # of its time: a worker then takes no further cells, and the next job takes its place


@contextlib.contextmanager
def slurm_cluster(options: SlurmOptions, study: Path) -> Iterator[Any]:
    """Yield a cluster whose workers come as jobs when cells wait; they end with the block.

    The scheduler runs in this process, and speaks TLS with certificates of its own, which lie in
    the folder ``.dask`` beside the study, readable by its owner only.
    """
    try:
        import cryptography  # noqa: F401 - makes the certificates
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError as error:
        raise OptionalPackageError(
            f"scheduler='slurm' needs {error.name}, not installed here: "
            "pip install './plugins/dask[slurm]' in a copy of MLaut's repository"
        ) from error
    folder = study.resolve().parent / ".dask"
    folder.mkdir(mode=0o700, exist_ok=True)
    seconds = ceil(parse_seconds(options.time, "time") or 0)
    extra = [
        f"--{key}" if value is True else f"--{key}={shlex.quote(str(value))}"
        for key, value in options.options.items()
        if value is not False
    ]
    with SLURMCluster(
        queue=options.partition or None,
        cores=options.cpus,
        processes=1,
        memory=options.memory,
        walltime=f"{ceil(seconds / 60)}",  # Slurm takes minutes
        job_extra_directives=extra,
        job_script_prologue=list(options.setup),
        python="python" if options.setup else sys.executable,
        worker_extra_args=["--lifetime", f"{seconds * _LEAVES:.0f}s", "--no-dashboard"],
        scheduler_options={"dashboard": False},
        interface=options.interface or None,
        local_directory=options.scratch or None,
        log_directory=str(folder),
        protocol="tls://",
        security=True,
        shared_temp_directory=str(folder),
    ) as cluster:
        cluster.adapt(minimum_jobs=0, maximum_jobs=options.jobs)
        yield cluster
