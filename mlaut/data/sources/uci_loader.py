"""Loader of datasets of the UCI Machine Learning Repository, through ``ucimlrepo``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlaut.data.tables.frames import from_frame
from mlaut.errors import DataError, nearest
from mlaut.helpers.downloads import cache_folder, explained
from mlaut.helpers.lazy import pd
from mlaut.helpers.optional import need
from mlaut.records import TASKS, Dataset

HOME = "https://archive.ics.uci.edu"


def load_uci(which: str, *, target: str = "") -> Dataset:
    """Return a dataset of the UCI repository: its features and one target.

    Columns that the repository marks as identifiers or as "other" are left out, and so are other
    targets. Columns that it marks as categorical become categories.

    Parameters
    ----------
    which : str
        Number or name of the dataset, for example ``"53"`` or ``"Iris"``. Only datasets with an
        "import in Python" button on the site can be loaded.
    target : str, optional
        Target column; required where the repository names several targets, or none.

    Raises
    ------
    DataError
        There is no such dataset, it cannot be reached and is not in the cache, or a target must
        be chosen.
    OptionalPackageError
        The package ucimlrepo is not installed.
    """
    ucimlrepo = need("ucimlrepo", extra="uci", purpose="Loading from UCI")
    wanted: dict[str, Any] = {"id": int(which)} if which.isdigit() else {"name": which}
    with explained(f"uci/{which}", HOME, cache_folder() / "uci"):
        fetched = ucimlrepo.fetch_ucirepo(**wanted)
    about = fetched.metadata
    if "name" in wanted and about["name"].lower() != which.lower():
        raise DataError(
            f"uci/{which}: the repository has no dataset of exactly that name; the nearest is "
            f"'uci/{about['name']}', which is 'uci/{about['uci_id']}'"
        )
    frame = fetched.data.original
    by_role = fetched.variables.groupby("role")["name"].apply(list).to_dict()
    chosen = _target(target, by_role.get("Target", []), list(frame.columns), which)
    features = [name for name in by_role.get("Feature", []) if name != chosen]
    tasks = [task for task in TASKS if task in (about.get("tasks") or [])]
    return from_frame(
        _with_categories(frame[[*features, chosen]], fetched.variables, chosen),
        chosen,
        name=about["name"],
        task=tasks[0] if len(tasks) == 1 and not target else "",
        **_metadata(about),
    )


def _target(wanted: str, targets: Sequence[str], columns: Sequence[str], which: str) -> str:
    if wanted:
        if wanted not in columns:
            raise DataError(f"uci/{which}: no column {wanted!r}{nearest(wanted, columns)}")
        return wanted
    if len(targets) != 1:
        what = f"{len(targets)} targets ({', '.join(targets)})" if targets else "no target"
        example = targets[0] if targets else columns[-1]
        raise DataError(
            f"uci/{which}: it has {what}; name one, as in 'uci/{which}?target={example}'"
        )
    return targets[0]


def _with_categories(frame: pd.DataFrame, variables: pd.DataFrame, target: str) -> pd.DataFrame:
    kinds = dict(zip(variables["name"], variables["type"], strict=True))
    nominal = [name for name in frame if kinds.get(name) == "Categorical" and name != target]
    return frame.astype(dict.fromkeys(nominal, "category"))


def _metadata(about: Any) -> dict[str, Any]:
    """Return the repository's metadata; its interface does not provide licences."""
    known = {
        "source": "UCI Machine Learning Repository",
        "dataset_id": about["uci_id"],
        "url": about.get("repository_url"),
        "doi": about.get("dataset_doi"),
        "creators": "; ".join(about.get("creators") or []),
        "year": about.get("year_of_dataset_creation"),
    }
    return {key: value for key, value in known.items() if value}
