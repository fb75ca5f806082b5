"""`Study`: the datasets, runs, results and report of a study in one object.

`Study` holds two paths, a seed and no other state. Each method is one step of the workflow and
calls the packages that do it: `mlaut.data`, `mlaut.experiments`, `mlaut.analysis`, `mlaut.report`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from mlaut import estimators, experiments, files_io
from mlaut.errors import DataError, StudyError, with_checked_options
from mlaut.experiments.options import RunKeywords, shows_options
from mlaut.plugins.finding import the_plugin
from mlaut.records import CLASSIFICATION, Analysis

if TYPE_CHECKING:
    import pandas as pd

    from mlaut.analysis import Comparison, Results
    from mlaut.report import Report


@with_checked_options(StudyError)
class Study:
    """Benchmark study: datasets, strategies run on all of their folds, and their comparison.

    An existing study is opened, and a run continues where the last one stopped, also one of
    ``mlaut run study.toml``. Nothing is written before a dataset is added.

    Parameters
    ----------
    path : path-like
        The HDF5 file of the study: splits, strategies and outcomes.
    datasets : path-like, optional
        The HDF5 file of the datasets. Default: ``<name>.datasets.h5`` in the folder of the study;
        if there is none, the file of the last run, if it lies inside that folder: of it, the study
        has the datasets that were run and those that are added.
    seed : int, optional
        Seed of the splits and of the cells. Default: that of the last run, or 0 for a new study.

    Raises
    ------
    StudyError, StoreError
        The file is no study.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> study = Study(folder.name + "/study.h5")
    >>> study.add_datasets(["starter/iris", "starter/wine", "starter/zoo"])
    ['iris', 'wine', 'zoo']
    >>> strategies = ["BaselineClassifier", "GaussianNaiveBayes"]
    >>> summary = study.run(strategies, split="kfold(3)", engine="inline", verbose=0)
    >>> summary.n_done
    18
    >>> study.results("accuracy").scores.round(2)
    strategy  BaselineClassifier  GaussianNaiveBayes
    dataset
    iris                    0.32                0.96
    wine                    0.40                0.98
    zoo                     0.41                0.92
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        datasets: str | os.PathLike[str] | None = None,
        *,
        seed: int | None = None,
    ) -> None:
        given = Path(os.path.expanduser(path))
        self._path = (given, given.absolute())
        self._elsewhere = ""
        self._added: set[str] | None = None
        found = self._found_datasets() if datasets is None else Path(os.path.expanduser(datasets))
        self._datasets_path = (found, found.absolute())
        self.seed = self._found_seed() if seed is None else seed
        self._seed_given = seed is not None

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r}, datasets={str(self.datasets_path)!r})"

    @property
    def path(self) -> Path:
        """File of the study; an absolute path after a change of the working directory."""
        return _still(*self._path)

    @property
    def datasets_path(self) -> Path:
        """File of the datasets; an absolute path after a change of the working directory."""
        return _still(*self._datasets_path)

    @property
    def datasets(self) -> list[str]:
        """Names of the datasets in the study's file of datasets, in stored order."""
        return self._named_paths()[0]

    def _named_paths(self) -> tuple[list[str], list[str]]:
        """Return names and paths of the datasets of the study in its file of datasets."""
        self._check_where()
        if not self.datasets_path.exists():
            return [], []
        names, paths = self._datasets_io("r").list_datasets()
        if self._added is None:  # a file of this study alone, or one that was named
            return names, paths
        places = {entry.path for entry in self._store.load_splits().values()} | self._added
        of_study = [one for one in zip(names, paths, strict=True) if one[1] in places]
        return [name for name, _ in of_study], [path for _, path in of_study]

    def add_datasets(
        self,
        datasets: Any,
        *,
        name: str = "",
        target: str | list[Any] = "target",
        task: str | None = None,
        overwrite: bool = False,
        roles: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Store datasets in the study's file of datasets; stored datasets are not changed.

        Parameters
        ----------
        datasets : str, path-like, Dataset, table, pair of table and labels, or iterable of these
            A collection such as ``"starter"``, a reference such as ``"openml/s/99"``
            (`mlaut.data.parse_reference`), a folder of tables (`mlaut.data.load_folder`) or a file
            of one, also ``"scans.h5?X=images&y=labels"``, a table
            with its target column (of pandas, polars, pyarrow), or ``(X, y)``, where X may also be
            an array, a sparse matrix or a list of series of different lengths. A mapping holds
            tables by name. Tables that are given together are stored together, or none of them.
        name : str
            Name of the dataset if ``datasets`` is a table, or a new one for a `Dataset`.
        target : str or list, default "target"
            Name of the target column of a table, or names of several.
        task : {"Classification", "Regression"}, optional
            Keep only the datasets of this task. The default task of a DataFrame is inferred from
            its target.
        overwrite : bool, default False
            Whether to replace stored datasets that have the same name and other content.
        roles : mapping, optional
            Columns that are no features, by role: ``{"group": "patient", "weight": "w", "time":
            "day", "id": "number", "ignore": ["a", "b"]}`` (`mlaut.data.with_roles`). Beside
            ``(X, y)``, also an array with a value for each row: ``{"group": patients}``.

        Returns
        -------
        list of str
            Names of the requested datasets, whether they were stored now or before.

        Raises
        ------
        DataError
            A text is no collection, no reference and no folder, or a table cannot be used.
        StoreError
            The file has a dataset of that name with other content, whatever its source.
        """
        from mlaut.data.adding import add_datasets
        from mlaut.files_io.safe_files.names import from_h5

        how: dict[str, Any] = {"target": target, "task": task, "overwrite": overwrite}
        paths = add_datasets(self._datasets_io("a"), datasets, name=name, roles=roles, **how)
        if self._added is not None:
            self._added.update(paths)
        return [from_h5(path.rpartition("/")[2]) for path in paths]

    def analysis(self, title: str = "", **terms: Any) -> Analysis:
        """Return the analysis of the study; store its terms, preferably before the first result.

        If nothing is stored, `run` stores the default terms before its first cell. Later changes
        are allowed: every later report names them.

        Parameters
        ----------
        title : str
            Title of the reports; by default it does not change.
        **terms
            ``question``, ``metric``, ``secondary``, ``test``, ``alpha``, ``rope``, ``missing``,
            ``least``, as `mlaut.records.Analysis` describes them; other terms do not change.

        Returns
        -------
        Analysis

        Raises
        ------
        AnalysisError
            A term is unknown or not possible.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> study = Study(folder.name + "/study.h5")
        >>> study.analysis(metric="mcc", question="control: SVC").test
        'signed rank'
        >>> study.report()
        Traceback (most recent call last):
        mlaut.errors.AnalysisError: ...study.h5: none of 0 cells is done; run the study first
        >>> folder.cleanup()
        """
        from mlaut.analysis.deciding.terms import Chosen, chosen_now, store_analysis

        before = Chosen.of(self._store) if self._store.exists else None
        chosen = (before or chosen_now()).read_with(**terms).analysis
        if not terms and not title:
            return chosen
        if not self._store.exists:
            self._store.save_splits([])
        names = [entry.name for entry in self._store.strategies]
        return store_analysis(self._store, names, self._tasks, analysis=chosen, title=title)

    @shows_options
    def run(
        self,
        strategies: Any,
        *,
        split: Any = "",
        stratify: bool = True,
        race: Mapping[str, Any] | None = None,
        verbose: int = 1,
        complete: bool = False,
        trial: bool = False,
        **options: Unpack[RunKeywords],
    ) -> experiments.RunSummary:
        """Run strategies on every fold of every dataset; completed cells are not run again.

        Parameters
        ----------
        strategies : strategies
            Names, scikit-learn estimators or pipelines, ``(name, estimator)`` pairs, or lists of
            these (`mlaut.estimators.as_strategies`).
        split : str, splitter, list of pairs, or mapping of these by dataset, optional
            How rows are assigned to folds, for example ``"kfold(10)"``, or ``{"visits":
            "group_kfold(5)", "*": "kfold(5)"}``, or ``"kfold_by_role(5)"``, which keeps groups and
            times apart where a dataset has them (`mlaut.Data.split_datasets`). Beside new datasets,
            those that are split already keep their split, and a warning says so if it differs.
            Default: the split that a dataset has in the study; for a new dataset the scheme of the
            others; for a new study the split that was stored with the dataset, else a hold-out of a
            third of the rows.
        stratify : bool, default True
            Whether each fold has the same share of each class.
        race : mapping, optional
            Run the study as a race, which ends when its question is answered: the keys of
            ``[race]`` in a study file, for example ``{"question": "best", "rope": 0.01}``; ``{}``
            for the defaults. Each later call needs the same ones, or ``complete=True``, which runs
            the cells that the race left out.
        verbose, complete, trial, **options
            As `mlaut.Orchestrator.run` takes them.

        Returns
        -------
        RunSummary

        Raises
        ------
        MlautError
            The arguments contradict the stored study; nothing is run.
        RunInterrupted
            The run was stopped; the same call continues it.
        """
        from mlaut.experiments.plans.run_options import checked_options
        from mlaut.experiments.runs.done_before import named_before, nothing_to_do
        from mlaut.experiments.workers.server import start_server

        start_server(self.path, options.get("engine", "local"))
        deciding = None
        if race is not None:
            deciding = the_plugin("races", "races are run").make_race(**race)
        strategies = list(strategies) if isinstance(strategies, Iterator) else strategies
        special = bool(race is not None or complete or trial)
        tasks = {} if special else named_before(self._store, strategies, options)
        names = list(tasks)
        if not tasks:
            names = [strategy.name for strategy in estimators.as_strategies(strategies)]
            checked_options(options, names)  # what is refused stores no split
        given = self._prepared(split, stratify)
        if race is None:  # the terms of a race are its analysis
            self._seal(names, told=verbose > 0)
        if tasks and (found := nothing_to_do(self._store, given[0], tasks)):
            return found
        done: experiments.RunSummary = experiments.Orchestrator(*given, seed=self.seed).run(
            strategies, race=deciding, verbose=verbose, complete=complete, trial=trial, **options
        )
        return done

    def _seal(self, names: Sequence[str], told: bool) -> None:
        """Store the analysis before the first result, with present facts about the study."""
        from mlaut.analysis.deciding.terms import store_analysis
        from mlaut.files_io.tables.datasets import clusters_of

        unchosen = told and not self._store.analyses
        clusters = clusters_of(self._datasets_io("r").dataset_infos())
        about = (self._store, names, self._tasks, clusters)
        chosen = store_analysis(*about, analysis=Analysis(), keep=True)
        if unchosen and chosen.metric:
            sys.stderr.write(
                f"mlaut: primary metric: {chosen.metric}, as none was chosen; reports name a later "
                "change, so choose before the first run: study.analysis(metric=...)\n"
            )

    def save_models(self, strategies: Any = None, **options: Any) -> int:
        """Save the fitted models of done cells, if `run` has saved none.

        Each cell is fitted again from its stored seed. Its model is kept only if its predictions
        equal the stored ones to the last bit.

        Parameters
        ----------
        strategies : strategies, optional
            The same as for `run`; default the strategies of the study that come with MLaut.
        **options
            ``n_jobs``, ``timeout``, ``engine`` and ``scheduler``, as
            `mlaut.Orchestrator.save_models` takes them.

        Returns
        -------
        int
            Number of models that were saved; 0 if all existed.

        Raises
        ------
        StudyError
            There is no study yet; or cells now have other predictions than the stored ones. The
            message names these cells, and the models of the others are saved.
        """
        if not self._store.exists:
            raise StudyError(
                f"{self.path}: nothing was run yet, so there are no models; run it first"
            )
        orchestrator = experiments.Orchestrator(
            self._datasets_io("r"), files_io.FilesIO(self.path, "a"), seed=self.seed
        )
        return int(orchestrator.save_models(strategies, **options))

    def import_predictions(
        self,
        table: pd.DataFrame | str | os.PathLike[str],
        *,
        strategy: str,
        source: str,
        overwrite: bool = False,
        **how: Any,
    ) -> int:
        """Store predictions of another program as a strategy that is marked as foreign.

        Parameters
        ----------
        table : DataFrame or path-like
            One row for each test row of each fold; `mlaut_exchange.import_predictions` lists the
            columns. Or the file or folder of another program (`mlaut_exchange.read_predictions`).
        strategy : str
            Name of the strategy in this study.
        source : str
            Origin of the predictions, which every report shows.
        overwrite : bool, default False
            Whether to replace predictions of this strategy that differ from the new ones.
        **how
            Options of `mlaut_exchange.read_predictions`: ``model``, ``dataset``, ``splits``.

        Returns
        -------
        int
            Number of cells that were stored.

        Raises
        ------
        StudyError
            The plug-in mlaut-exchange is missing, or the table does not fit the study; nothing is
            written.
        """
        exchange = the_plugin("exchange", "predictions of other programs are stored")
        if isinstance(table, str | os.PathLike):
            table = exchange.read_predictions(table, self._store.load_splits(), **how)
        about = {"strategy": strategy, "source": source, "overwrite": overwrite}
        return int(exchange.import_predictions(self._store, table, **about))

    def status(self) -> experiments.StudyStatus:
        """Return the progress of the study, also while it runs, and before its first run."""
        from mlaut.experiments.following.status import nothing_run, study_status

        has_run = self._store.exists and self._store.strategies
        return study_status(self.path) if has_run else nothing_run(self.path, self.datasets)

    def race(self) -> Any:
        """Return the present state of the race of the study, also while it runs.

        One may look as often as one likes: the evidence stays valid.

        Raises
        ------
        StudyError
            The study was not run as a race (``race=`` of `run`).
        """
        if not self._store.exists or self._store.race is None:
            raise StudyError(
                f"{self.path}: no race; run it as one, for example with race={{'question': 'best'}}"
            )
        return the_plugin("races", "races are followed").StudyRace.of(self._store).now()

    def results(self, metric: str | Any = "", **options: Any) -> Results:
        """Return the losses of all strategies on all datasets.

        Parameters
        ----------
        metric : str or metric, optional
            A metric that `mlaut.analysis.metric` accepts. Default: the primary metric of the
            analysis. A study with both tasks needs a name.
        **options
            Options of `mlaut.Results.from_study`.
        """
        from mlaut.analysis import Results

        self._check_run()
        chosen = metric or self.analysis().metric or self._default_metric()
        return Results.from_study(self.path, chosen, **options)

    def predictions(
        self, dataset: str, strategies: str | Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return what strategies predicted for each test row of a dataset.

        Parameters
        ----------
        dataset : str
            Name of the dataset.
        strategies : str or sequence of str, optional
            Names of strategies; default all of the study. Only theirs are read.

        Returns
        -------
        DataFrame
            One row per strategy and test row of each done cell, by strategy, repeat and row:
            ``dataset``, ``strategy``, ``repeat``, ``fold``, ``row`` (position in the dataset,
            from 0), ``truth``, ``prediction`` (labels or numbers), and for classification
            ``confidence.<label>``, the probability of each class (float32; NaN where a strategy
            has none). The index is that of the dataset's table; without its file of datasets, the
            row. `import_predictions` takes such a table.

        Raises
        ------
        StudyError
            The study has no such dataset or strategy, or none of these cells is done.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> folder = tempfile.TemporaryDirectory()
        >>> study = Study(folder.name + "/study.h5")
        >>> table = pd.DataFrame(
        ...     {"age": [50, 61, 38, 70, 44, 67], "ill": ["no", "yes"] * 3}, index=[*"ABCDEF"]
        ... )
        >>> study.add_datasets(table, name="patients", target="ill")
        ['patients']
        >>> _ = study.run("GaussianNaiveBayes", split="kfold(2)", engine="inline", verbose=0)
        >>> found = study.predictions("patients")
        >>> found[["fold", "row", "truth", "prediction", "confidence.yes"]].head(3)
           fold  row truth prediction  confidence.yes
        A     0    0    no        yes             1.0
        B     1    1   yes         no             0.0
        C     1    2    no         no             0.0
        >>> folder.cleanup()
        """
        from mlaut.files_io.studies.predictions import predictions_of

        self._check_run()
        entry, index = self._store.load_splits().get(dataset), None
        if entry and not self._elsewhere and self.datasets_path.exists():
            with suppress(DataError):  # the file may lack it by now
                stored = self._datasets_io("r").load_columns(entry.path)
                index = stored.frame.index if stored.fingerprint == entry.fingerprint else None
        return predictions_of(self._store, dataset, strategies, index)

    def compare(self, metric: str | Any = "", **options: Any) -> Comparison:
        """Compare all strategies by estimates, tests and probabilities.

        Parameters
        ----------
        metric : str or metric, optional
            The metric; see `results`.
        **options
            ``alpha``, ``control``, ``missing``, ``rope`` and the other options of
            `mlaut.compare`; default the terms of the `analysis`. For a study without an analysis,
            ``missing`` is ``"raise"``.
        """
        from mlaut.analysis import compare
        from mlaut.analysis.deciding.terms import Chosen

        results = self.results(metric)
        chosen = Chosen.of(self._store)
        if chosen is None:
            return compare(results, **options)
        terms = {key: x for key, x in options.items() if key in ("alpha", "missing", "rope")}
        chosen = chosen.read_with(**terms, **({"metric": results.metric} if metric else {}))
        own = {key: vars(chosen.analysis)[key] for key in ("alpha", "missing", "rope")}
        return replace(compare(results, **{**own, **options}), chosen=chosen)

    def report(self, output: str | os.PathLike[str] | None = None, **options: Any) -> Report:
        """Return the report of the study; write it to ``output`` if that is given.

        Parameters
        ----------
        output : path-like, optional
            A file that ends in ``.html``, ``.md``, ``.tex``, ``.csv`` or ``.txt``, or a folder,
            which gets all of these formats and every table.
        **options
            ``metric`` and ``missing``; see `mlaut.report.make_report`.
        """
        from mlaut.report import make_report, write_report

        self._check_run()
        report = make_report(self.path, **options)
        if output is not None:
            write_report(report, output)
        return report

    def publish(self, output: str | os.PathLike[str], **options: Any) -> Any:
        """Publish the study as a bundle: a folder of files that anyone can verify and extend.

        Parameters
        ----------
        output : path-like
            Folder of the bundle, which must not exist, or be empty.
        **options
            ``title``, ``authors``, ``licence``, ``include`` and ``date`` of
            `mlaut_exchange.publish_study`, whose docstring states what is published.

        Returns
        -------
        mlaut_exchange.Bundle

        Raises
        ------
        StudyError
            The plug-in mlaut-exchange is missing, or the study cannot be published.
        """
        self._check_where()
        publish = the_plugin("exchange", "studies are published").publish_study
        return publish(self.path, output, datasets=self.datasets_path, **options)

    # ------------------------------------------------------------------ inside

    def _found_datasets(self) -> Path:
        beside = self.path.with_name(f"{self.path.stem}.datasets.h5")
        if beside.exists() or not self.path.exists():
            return beside
        if self._store.exists:
            from mlaut.experiments.checking.verify import recorded_input

            recorded, self._elsewhere = recorded_input(self._store)
            self._added = set() if recorded else None
            return recorded or beside
        # Looking for datasets also refuses files of MLaut 0.1 and 0.2.
        if files_io.FilesIO(self.path, "r").list_datasets()[0]:
            raise StudyError(
                f"{self.path}: a database of datasets, not a study; name another file for the "
                f"study: Study('study.h5', datasets={str(self.path)!r})"
            )
        return beside

    def _found_seed(self) -> int:
        """Return the seed of the study's last run, so that new cells use the same seed."""
        runs = self._store.runs if self._store.exists else ()
        seeds = [run["seed"] for run in runs if isinstance(run.get("seed"), int)]
        return seeds[-1] if seeds else 0

    @property
    def _store(self) -> files_io.StudyStore:
        return files_io.StudyStore(self.path)

    @property
    def _tasks(self) -> set[str]:
        """Tasks of the datasets that are split."""
        return {entry.task for entry in self._store.load_splits().values()}

    def _check_run(self) -> None:
        if not self.path.exists():
            raise StudyError(f"{self.path}: nothing was run yet; run the study first")

    def _check_where(self) -> None:
        if self._elsewhere:
            raise StudyError(
                f"{self.path}: {self._elsewhere}; name them yourself: Study(..., datasets='...')"
            )

    def _datasets_io(self, mode: Any) -> files_io.FilesIO:
        self._check_where()
        opened = files_io.FilesIO(self.datasets_path, mode)
        opened.names_differ = True
        return opened

    def _prepared(self, split: Any, stratify: bool) -> tuple[files_io.FilesIO, files_io.FilesIO]:
        """Store the missing splits; return the file of the datasets and that of the study."""
        from mlaut.experiments.study_files.splits import complete_splits

        names, paths = self._named_paths()
        if not names:
            raise StudyError(
                f"{self.path}: no dataset in {self.datasets_path}; copy that file there if it is "
                "elsewhere, or add some, for example with add_datasets('starter')"
            )
        datasets, study = self._datasets_io("r"), files_io.FilesIO(self.path, "a")
        name_of = dict(zip(paths, names, strict=True))
        seed: dict[str, Any] = {"seed": self.seed, "any_seed": not self._seed_given}
        complete_splits(datasets, study, name_of, split, stratify=stratify, **seed)
        return datasets, study

    def _default_metric(self) -> str:
        tasks = self._tasks
        if len(tasks) > 1:
            raise StudyError(
                f"{self.path}: has datasets for classification and for regression; name a metric, "
                "for example metric='accuracy' or metric='r2'"
            )
        return "accuracy" if tasks == {CLASSIFICATION} else "r2"


def _still(given: Path, whole: Path) -> Path:
    """Return a path that names the same file as when it was given."""
    return given if given.absolute() == whole else whole
