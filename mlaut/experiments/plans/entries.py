"""Entries of strategies for a study: their identities, recognised and compared."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlaut.estimators import MlautEstimator
from mlaut.estimators.libraries.session import SETTINGS
from mlaut.estimators.looking import looked_at
from mlaut.estimators.strategy.scoring import tuned_by
from mlaut.files_io import StrategyEntry, StudyStore
from mlaut.identity import names_in, without_modules
from mlaut.identity.describer import Description
from mlaut.identity.digests import digest


def as_stored(
    strategies: Sequence[MlautEstimator], study: StudyStore | None, metric: str = ""
) -> tuple[MlautEstimator, ...]:
    """Return strategies as their study stores them: they tune by the score that it began with.

    New strategies tune by the metric of the study.

    Parameters
    ----------
    strategies : sequence of MlautEstimator
    study : StudyStore or None
    metric : str
        Metric of the analysis that will be stored; default that of the study.
    """
    stored = {entry.name: entry for entry in study.strategies} if study else {}
    metrics = dict.fromkeys(filter(None, (metric, *metrics_of(study))))
    forms = []
    for one in strategies:
        with looked_at(one.name):
            forms.append(_as_stored(one, study, stored.get(one.name), metrics))
    return tuple(forms)


def metrics_of(study: StudyStore | None) -> list[str]:
    """Return the metrics of the analyses of a study, the present one first."""
    records = [record.get("analysis") for record in study.analyses] if study else []
    return [str(terms.get("metric", "")) for terms in records[::-1] if isinstance(terms, dict)]


def _as_stored(
    strategy: MlautEstimator,
    study: StudyStore | None,
    stored: StrategyEntry | None,
    metrics: Iterable[str],
) -> MlautEstimator:
    forms = [tuned_by(strategy, metric) for metric in metrics]
    if stored is None:
        return next(iter(forms), strategy)
    forms += [strategy] if strategy not in forms else []
    if len(forms) == 1:
        return strategy
    same = (form for form in forms if strategy_entries([form], study)[0].is_same(stored))
    return next(same, forms[0])


def strategy_entries(
    strategies: Iterable[MlautEstimator], study: StudyStore | None = None
) -> list[StrategyEntry]:
    """Return the entries under which a study stores strategies.

    Parameters
    ----------
    strategies : iterable of MlautEstimator
    study : StudyStore, optional
        Study that may store the strategies already: their entries keep their former names.
    """
    stored = {entry.name: entry for entry in study.strategies} if study else {}
    return [_entry(strategy, stored.get(strategy.name)) for strategy in strategies]


def _entry(strategy: MlautEstimator, stored: StrategyEntry | None) -> StrategyEntry:
    identified, about = strategy.identified(), strategy.metadata
    metadata: dict[str, Any] = {
        "estimator_family": list(about.estimator_family),
        "tasks": list(about.tasks),
    }
    if getattr(strategy, "scoring", None) is not None and (score := strategy.tunes_by()):
        metadata["tunes_by"] = score
    if identified.unseen:
        metadata["unseen"] = list(identified.unseen)
    if stored is not None and "named" in stored.metadata:
        metadata["named"] = stored.metadata["named"]
    identity = _former(stored, strategy, identified) or identified.identity
    return StrategyEntry(strategy.name, digest(identity), identity, metadata)


def _former(
    stored: StrategyEntry | None, strategy: MlautEstimator, now: Description
) -> Mapping[str, Any]:
    """Return the stored identity of the same strategy, if it is of a former form; else nothing.

    It has names of modules, and is kept: cells of a strategy have one identity.
    """
    if stored is None or not now.modules or stored.fingerprint == digest(now.identity):
        return {}
    for described in (now, strategy.identified(former=True)):
        for modules in (now.modules, _modules_of(stored.identity, described.identity)):
            if digest(without_modules(stored.identity, modules)) == digest(described.identity):
                return stored.identity
    return {}


def _modules_of(former: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    """Return the modules in the names of a former identity, by the names without them."""
    names = set(names_in(now))
    return {
        named.removesuffix(f".{name}")
        for named in names_in(former)
        for name in names
        if named.endswith(f".{name}")
    }


def described_change(old: StrategyEntry, new: StrategyEntry) -> str:
    """Return the first differences between two identities, in one line."""
    what = changed_parameters(old, new)
    return "; ".join(what[:3]) + ("; ..." if len(what) > 3 else "")


def changed_parameters(old: StrategyEntry, new: StrategyEntry) -> list[str]:
    """Return the differences between two identities, each as ``parameter: old -> new``."""
    modules = _modules_of(old.identity, new.identity)
    before, after = _flat(without_modules(old.identity, modules)), _flat(new.identity)
    return [
        f"{_as_written(key)}: {_short(key, before)} -> {_short(key, after)}"
        for key in sorted(before | after)
        if before.get(key) != after.get(key) and not _came_or_went(key, before, after)
    ]


def _came_or_went(key: str, *both: Mapping[str, str]) -> bool:
    """Return whether one of two identities lacks the whole object that a parameter is of."""
    owner = f"{key.rpartition('.parameters.')[0]}.class"
    return len({owner in values for values in both}) == 2


def _as_written(key: str) -> str:
    """Return the name of a parameter as an estimator's ``set_params`` takes it.

    Examples
    --------
    >>> _as_written("assembled.parameters.steps.estimator.parameters.steps.svm.parameters.C")
    'svm__C'
    """
    head, _, rest = key.partition("assembled.")
    if head or not rest:
        return key.removeprefix("parameters.").removeprefix(_SETTINGS)
    parts = [part for part in rest.split(".") if part not in ("parameters", "steps")]
    return "__".join(parts[1:] if parts[0] == "estimator" and parts[1:] else parts)


_SETTINGS = f"{SETTINGS}."


def _short(key: str, values: Mapping[str, str]) -> str:
    """Return a value: of a SHA-256 digest the first 12 digits, any other text unchanged."""
    text = values.get(key, "default" if key.startswith(_SETTINGS) else "(absent)")
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
