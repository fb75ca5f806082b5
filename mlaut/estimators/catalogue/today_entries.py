"""The strategies of the collection ``"Today"``, from the learners in `today.toml`."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlaut.estimators.strategy.listed_strategy import TODAY as COLLECTION
from mlaut.estimators.strategy.listed_strategy import Strategy
from mlaut.records import CLASSIFICATION, REGRESSION


def _entries() -> Iterator[Strategy]:
    """Yield the entries of a classifier and of a regressor of each learner."""
    learners = tomllib.loads(Path(__file__).with_name("today.toml").read_text("utf-8"))
    sources = learners.pop("sources")
    for about in learners.values():
        inside = "estimator__" * about.get("stops", False)  # the learner inside `EarlyStopping`
        space = {f"{inside}{name}": values for name, values in about.pop("space").items()}
        unseeded = {"random_state": None} if about.pop("seeded", False) else {}
        common: dict[str, Any] = {
            **about,
            "settings": {**about.get("settings", {}), **unseeded},
            "takes": frozenset(about["takes"]),
            "source": sources[about["source"]],
            "search_space": space,
            "collection": COLLECTION,
        }
        for kind, task in (("Classifier", CLASSIFICATION), ("Regressor", REGRESSION)):
            words = {key: about[key].format(kind) for key in ("name", "class_name", "wraps")}
            yield Strategy(**{**common, **words}, tasks=task)


TODAY = tuple(_entries())
"""Entries of the collection; a classifier and a regressor of each learner."""
