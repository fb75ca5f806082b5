"""Run cells in this process, in local workers, on a Dask cluster."""
