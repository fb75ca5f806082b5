"""Where cells run: in this process, in local workers, on a Dask cluster."""
