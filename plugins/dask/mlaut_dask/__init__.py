"""Engine of MLaut that runs the cells of a study on a Dask cluster: `mlaut_dask.engine.DaskEngine`.

Workers import parts of this package, which need no scikit-learn; so nothing is imported here.
"""

__version__ = "1.0.0rc1"
