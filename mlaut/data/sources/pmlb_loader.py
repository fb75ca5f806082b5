"""Loader of datasets of the Penn Machine Learning Benchmarks, through the package ``pmlb``."""

from mlaut.data.tables.frames import from_frame
from mlaut.errors import DataError, nearest_of
from mlaut.helpers.downloads import cache_folder, explained
from mlaut.helpers.optional import need
from mlaut.records import CLASSIFICATION, REGRESSION, Dataset

HOME = "https://epistasislab.github.io/pmlb"


def load_pmlb(name: str, *, target: str = "") -> Dataset:
    """Return a dataset of PMLB.

    Parameters
    ----------
    name : str
        Name in PMLB, for example ``"adult"``. PMLB has coded texts as numbers.
    target : str, optional
        Target column; default ``"target"``, as in all of PMLB.

    Raises
    ------
    DataError
        There is no such dataset, or it cannot be reached and is not in the cache.
    OptionalPackageError
        The package pmlb is not installed.
    """
    pmlb = need("pmlb", extra="pmlb", purpose="Loading from PMLB")
    if name not in pmlb.dataset_names:
        hint = nearest_of(name, pmlb.dataset_names)
        raise DataError(f"pmlb/{name}: the package pmlb knows no such dataset{hint}")
    with explained(f"pmlb/{name}", "https://github.com", cache_folder() / "pmlb"):
        frame = pmlb.fetch_data(name, dropna=False)
    classification = name in pmlb.classification_dataset_names
    task = CLASSIFICATION if classification else REGRESSION
    return from_frame(
        frame,
        target or "target",
        name=name,
        task="" if target else task,
        source="Penn Machine Learning Benchmarks (PMLB)",
        dataset_id=name,
        url=f"{HOME}/profile/{name}.html",
    )
