"""Protocol of a published benchmark: the tuning of its strategies, and the rows of its scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ParameterGrid

from mlaut.analysis import Results, published
from mlaut.data import Data
from mlaut.errors import DataError, StudyError
from mlaut.estimators import DataShape, MlautEstimator, as_strategies
from mlaut.experiments import Orchestrator, read_study_file
from mlaut.files_io import FilesIO, SplitEntry, StudyStore
from mlaut.plugins import choose_strategies, one_of, prepare_data, without
from mlaut_boards.placing.archive import tuning_split

BENCHMARK = "delgado2014"
"""Published benchmark whose datasets can be had with their splits, so that its protocol can run."""

CHECKS = {"lda_R": LinearDiscriminantAnalysis(), "rforest_R": RandomForestClassifier(500)}
"""Published strategies, not tuned, that are run again to check that data and folds are the same.

The first has no random part, so that equal digits show equal rows and folds. The second, the fifth
best of 179, does not depend on how the features were scaled.
"""

_Strategies = Sequence[MlautEstimator]
_UNTUNED = {"param_grid": None, "search": None, "search_space": None, "budget": None}


class Protocol:
    """Study file whose strategies can be run by the protocol of `BENCHMARK`; it loads its datasets.

    Parameters
    ----------
    path : Path
        Path of the study file. ``folder`` in ``[data]`` names a copy of the benchmark's datasets.
    check : collection of str, optional
        Published strategies to run again; default all of `CHECKS`.
    **changes
        Keys of ``[run]`` that replace those of the file, for example ``n_jobs=2``.

    Attributes
    ----------
    file : StudyFile
    input_io : FilesIO
        Database of the datasets.
    entries : sequence of SplitEntry
        Datasets of the folder that the benchmark has, with their folds.
    strategies : sequence of MlautEstimator
        Strategies of the study file.
    same : mapping of str to str
        Names of the strategies that are run as a check, each with its published name.

    Raises
    ------
    StudyError
        The file names no folder, or has its own splits or a race; or fewer than two datasets of the
        folder belong to the benchmark.
    DataError
        A dataset of the folder lacks its splits.
    """

    def __init__(self, path: Path, check: Collection[str] | None = None, **changes: Any) -> None:
        again = [one_of("check", name, CHECKS) for name in (CHECKS if check is None else check)]
        self.same = {f"{name} (again)": name for name in again}
        self.file = file = read_study_file(path).changed(changes)
        if not file.data.folder:
            raise StudyError(
                f"{file.path}: [data] names no folder; name your copy of the datasets of "
                f"{BENCHMARK}, which has their splits; or place the study as it is ({file.output})"
            )
        if file.split.scheme or file.race is not None or file.run.shard:
            raise StudyError(
                f"{file.path}: the splits of {BENCHMARK} are fixed, and all strategies run on all "
                "of them; remove scheme in [split], [race] and shard"
            )
        self.input_io, paths = prepare_data(file)
        known = published(BENCHMARK).datasets
        there = [info for info in self.input_io.infos_of(paths) if info.name in known]
        if len(there) < 2:
            raise StudyError(
                f"{file.data.folder}: {len(there)} datasets of {BENCHMARK} in it; two are needed, "
                f"under the names that the benchmark has for them ({', '.join(known[:3])}, ...)"
            )
        if bare := [info.name for info in there if not info.split]:
            raise DataError(f"{file.data.folder}/{bare[0]}: has no folds; restore its files")
        self.entries = Data().make_splits(self.input_io, [info.path for info in there])
        self.strategies = choose_strategies(file)

    def run(self, datasets: Collection[str] = (), part: str = "", verbose: int = 1) -> Path:
        """Run the strategies and the checks, or resume them; return the path of their study.

        Each candidate of a strategy's grid is fitted on the training part of the split for tuning.
        The candidate with the best accuracy on its test part (the first of equal ones) is fitted on
        the folds of the benchmark. Both runs are studies in the folder of the study file's output:
        ``<output>.<benchmark>-tuning.h5`` and ``<output>.<benchmark>.h5``.

        Parameters
        ----------
        datasets : collection of str, optional
            Datasets to run; default all that the folder and the benchmark have.
        part : str, optional
            Ending of the name of the final study for a part of the datasets. It needs its own
            study, because chosen parameters are part of a strategy and differ between datasets.
        verbose : int, default 1
            0 shows nothing, 1 the progress, 2 also each failure.

        Raises
        ------
        StudyError
            A strategy has a search other than a list of candidates.
        """
        entries = [entry for entry in self.entries if not datasets or entry.name in datasets]
        checks = {name: clone(CHECKS[other]) for name, other in self.same.items()}
        every = (*self.strategies, *as_strategies(checks))
        candidates = {strategy.name: _candidates(strategy) for strategy in every}
        trials = [
            _with_parameters(strategy, chosen).set_params(name=trial)
            for strategy in every
            for trial, chosen in candidates[strategy.name].items()
        ]
        chosen: dict[str, Any] = {}
        if trials:
            folder = self.file.path.parent / self.file.data.folder
            halves = [replace(entry, split=tuning_split(folder, entry.name)) for entry in entries]
            tuning = self._run(f"{BENCHMARK}-tuning", halves, trials, verbose)
            names = [entry.name for entry in entries]
            scores = Results.from_study(tuning, "accuracy", datasets=names).scores
            for name, several in candidates.items():
                # the first of the best; a dataset on which every candidate failed is left out
                best = scores[[*several]].dropna(how="all").idxmax(axis=1).to_dict()
                chosen[name] = {dataset: several[trial] for dataset, trial in best.items()}
        final = [ByDataset(strategy, chosen.get(strategy.name, {})) for strategy in every]
        return self._run(BENCHMARK + part, entries, final, verbose)

    def _run(self, ending: str, on: Sequence[SplitEntry], every: _Strategies, verbose: int) -> Path:
        """Run strategies on splits, in a study beside the output of the file; return its path."""
        path = self.file.output.with_suffix(f".{ending}.h5")
        out_io, names = FilesIO(path, mode="a"), [entry.name for entry in on]
        StudyStore(path).save_splits(on)
        orchestrator = Orchestrator(self.input_io, out_io, names, seed=self.file.study.seed)
        orchestrator.run(every, verbose=verbose, **vars(self.file.run))
        return path


def _candidates(strategy: MlautEstimator) -> dict[Any, Mapping[str, Any]]:
    """Return the parameters of each candidate of a strategy's grid, by the name of its trial."""
    if (strategy.search or "grid") != "grid" or strategy.budget is not None:
        raise StudyError(
            f"strategy {strategy.name!r}: the benchmark tries a list of candidates on one split; "
            "give it a param_grid, without search and budget"
        )
    grid = without(strategy.param_grid, dict(strategy.params or {}))
    several = ParameterGrid(grid) if grid else ()
    return {f"{strategy.name} {number}": chosen for number, chosen in enumerate(several)}


def _with_parameters(strategy: MlautEstimator, chosen: Mapping[str, Any]) -> Any:
    """Return a strategy with further parameters and without a grid."""
    params = {**(strategy.params or {}), **chosen}
    return clone(strategy).set_params(params=params, **_UNTUNED)


class ByDataset(MlautEstimator):
    """Strategy with fixed parameters for each dataset, which are not tuned again.

    Parameters
    ----------
    strategy : MlautEstimator
        Strategy whose name, preprocessing and limits are used; its tuning grid is not.
    chosen : mapping of str to mapping
        Parameters of the wrapped estimator by the name of a dataset. Other datasets use the
        parameters of ``strategy``.
    """

    properties = property(lambda self: self.strategy.metadata)

    def __init__(self, strategy: Any, chosen: Mapping[str, Mapping[str, Any]]) -> None:
        self.strategy, self.chosen = strategy, chosen
        given = {name: getattr(strategy, name) for name in signature(MlautEstimator).parameters}
        super().__init__(**{**given, **_UNTUNED})

    def made_of(self) -> dict[str, Any]:
        """Return the objects that `identity` describes: the strategy and the chosen parameters."""
        fixed = _with_parameters(self.strategy, {}).made_of()
        return {"by dataset": fixed, "chosen": dict(self.chosen)}

    def describe(self) -> dict[str, Any]:
        """Return the description of the strategy; its tuning is that of the benchmark."""
        return {**super().describe(), "tuning": "once for each dataset, on the split for tuning"}

    def _core(self, shape: DataShape | None) -> Any:
        chosen = self.chosen.get(shape.dataset, {}) if shape is not None else {}
        return _with_parameters(self.strategy, chosen)._core(shape)
