"""Limits of a run on a cluster: those of its workers."""

from mlaut_dask.engine import DaskEngine

from mlaut.experiments.options import RunOptions
from mlaut.experiments.plans.run_options import cell_options


def test_cells_of_a_cluster_are_not_bound_by_the_job_of_the_run(monkeypatch, tmp_path):
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "2048")
    for engine in ("dask", DaskEngine("tcp://127.0.0.1:1")):
        assert RunOptions(engine=engine).elsewhere
        assert cell_options(RunOptions(engine=engine), tmp_path).memory is None
