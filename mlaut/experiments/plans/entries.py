"""Entries of strategies for a study: their identities, recognised and compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlaut.errors import MlautError
from mlaut.estimators import Generic_Estimator, MlautEstimator
from mlaut.files_io import StrategyEntry, Study
from mlaut.identity.describer import python_version
from mlaut.identity.digests import digest
from mlaut.identity.former import former_identity, has_compiled_code, without_code

__all__ = ["as_stored", "changed_parameters", "strategy_entries"]

AS_COMPILED = "its compiled code is the same"
NOT_COMPARED = (
    "another version of Python compiled its stored code, which cannot be compared; all else is "
    "the same, so its results are kept"
)


def as_stored(
    strategies: Sequence[MlautEstimator], study: Study | None
) -> tuple[MlautEstimator, ...]:
    """Return strategies with the preprocessing that their study has for them.

    Older versions prepared tables in another way for some estimators of users; a study goes on with
    the way that it began with.
    """
    stored = {entry.name: entry for entry in study.strategies} if study else {}
    return tuple(_as_stored(strategy, study, stored.get(strategy.name)) for strategy in strategies)


def _as_stored(
    strategy: MlautEstimator, study: Study | None, stored: StrategyEntry | None
) -> MlautEstimator:
    if stored is None or not isinstance(strategy, Generic_Estimator):
        return strategy
    older = strategy.formerly()
    if older is None or strategy_entries([strategy], study)[0].is_same(stored):
        return strategy
    return older if strategy_entries([older], study)[0].is_same(stored) else strategy


def strategy_entries(
    strategies: Iterable[MlautEstimator], study: Study | None = None
) -> list[StrategyEntry]:
    """Return the entries under which a study stores strategies.

    Parameters
    ----------
    strategies : iterable of MlautEstimator
    study : Study, optional
        Study that may store the strategies already. A strategy that is stored under an identity of
        an older version of MLaut, or of another Python, is recognised: the entry then holds the
        old fingerprint under ``formerly``.
    """
    stored = {entry.name: entry for entry in study.strategies} if study else {}
    pythons = _pythons(study) if study else set()
    return [_entry(strategy, stored.get(strategy.name), pythons) for strategy in strategies]


def _entry(
    strategy: MlautEstimator, stored: StrategyEntry | None, pythons: set[str]
) -> StrategyEntry:
    found, about = strategy.identified(), strategy.metadata
    known: dict[str, Any] = {
        "estimator_family": list(about.estimator_family),
        "tasks": list(about.tasks),
    }
    if found.unseen:
        known["unseen"] = list(found.unseen)
    identity = found.identity
    fingerprint = digest(identity)
    if stored is not None:
        formerly = dict(stored.formerly)
        if stored.fingerprint != fingerprint:
            how = _recognised(strategy, identity, stored, pythons)
            formerly |= {stored.fingerprint: how} if how else {}
        if formerly:
            known["formerly"] = formerly
    return StrategyEntry(strategy.name, fingerprint, identity, known)


def _recognised(
    strategy: MlautEstimator, identity: Any, stored: StrategyEntry, pythons: set[str]
) -> str:
    """Return how a strategy was recognised as the stored one; empty if it was not."""
    if not has_compiled_code(stored.identity):
        return ""
    try:
        if digest(former_identity(strategy.made_of())) == stored.fingerprint:
            return AS_COMPILED
    except MlautError:  # older versions would have refused the strategy
        return ""
    if pythons == {python_version()}:  # the same Python compiled the stored code: it has changed
        return ""
    return NOT_COMPARED if without_code(identity) == without_code(stored.identity) else ""


def _pythons(study: Study) -> set[str]:
    """Return the versions of Python, major and minor, of the runs of a study."""
    found = (str(run.get("python", "")) for run in study.runs)
    return {".".join(version.split(".")[:2]) for version in found}


def changed_parameters(old: StrategyEntry, new: StrategyEntry) -> list[str]:
    """Return the differences between two identities, each as ``parameter: old -> new``."""
    if has_compiled_code(old.identity):  # by an older version: compiled code
        before, after = _flat(without_code(old.identity)), _flat(without_code(new.identity))
        if before == after:
            return ["code: as it was compiled -> another"]
    else:
        before, after = _flat(old.identity), _flat(new.identity)
    nothing = "(absent)"
    return [
        f"{key}: {_short(before.get(key, nothing))} -> {_short(after.get(key, nothing))}"
        for key in sorted({*before, *after})
        if before.get(key, nothing) != after.get(key, nothing)
    ]


def _short(text: str) -> str:
    """Return the first 12 digits of a SHA-256 digest, and any other text unchanged."""
    return text[:12] if re.fullmatch("[0-9a-f]{64}", text) else text


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    """Return the leaves of nested mappings and lists by path; (name, value) pairs by name."""
    if isinstance(value, list | tuple) and any(isinstance(v, Mapping | list) for v in value):
        named = all(isinstance(v, list) and len(v) == 2 and isinstance(v[0], str) for v in value)
        value = dict(value) if named else dict(enumerate(value))
    if not isinstance(value, Mapping) or not value:
        return {prefix: str(value)}
    parts: dict[str, str] = {}
    for key, inner in value.items():
        parts |= _flat(inner, f"{prefix}.{key}" if prefix else str(key))
    return parts
