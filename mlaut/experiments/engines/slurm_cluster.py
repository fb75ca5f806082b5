"""A cluster of Dask whose workers are jobs of Slurm: ``scheduler = "slurm"`` of a study file."""

import contextlib
import shlex
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from mlaut.experiments.cells.memory import parse_seconds
from mlaut.experiments.engines.dask_engine import DaskEngine
from mlaut.experiments.options import SlurmOptions
from mlaut.optional import need

_PATIENCE = 7 * 86400.0  # seconds: jobs may wait that long in a queue
_LEAVES = 0.9  # of its time: a worker then takes no further cells, and the next job takes its place


@contextlib.contextmanager
def slurm_engine(options: SlurmOptions, study: Path) -> Iterator[DaskEngine]:
    """Yield an engine whose workers come as jobs when cells wait; they end with the block.

    The scheduler runs in this process, and speaks TLS with certificates of its own, which lie in
    the folder ``.dask`` beside the study, readable by its owner only.
    """
    need("dask_jobqueue", extra="slurm", purpose="scheduler='slurm'")
    need("cryptography", extra="slurm", purpose="scheduler='slurm'")
    from dask_jobqueue.slurm import SLURMCluster

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
        yield DaskEngine(cluster, patience=_PATIENCE)
