"""`AnalyseResults`: the analysis under the names and arguments of the MLaut paper, section 4.5."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mlaut.analysis.common.result_types import Pairwise, TestResult
from mlaut.analysis.estimates.intervals import mean_estimates
from mlaut.analysis.methods.bayes.correlated_t import correlated_t_datasets, correlated_t_test
from mlaut.analysis.methods.bayes.sign_tests import bayesian_sign_test, bayesian_signed_rank_test
from mlaut.analysis.methods.cross_validation.fold_tests import (
    cv_test,
    cv_test_datasets,
    fold_differences,
)
from mlaut.analysis.methods.cross_validation.statistics import find_cv_test
from mlaut.analysis.methods.frequentist import paired_tests as frequentist
from mlaut.analysis.methods.frequentist import portmanteau
from mlaut.analysis.methods.frequentist.mcnemar import mcnemar_test
from mlaut.analysis.methods.frequentist.ranks import average_ranks, post_hoc_p
from mlaut.analysis.methods.lacoste.pair_probabilities import poisson_binomial_test
from mlaut.analysis.pairwise.corrections import adjust_pairs
from mlaut.analysis.pairwise.pairs import Pairs, paired_losses
from mlaut.analysis.results.missing import treat_missing
from mlaut.analysis.results.results import Results
from mlaut.analysis.results.study_results import open_study, training_times
from mlaut.analysis.scores.contingency import contingency_table, cumulative_gain
from mlaut.errors import AnalysisError, with_checked_options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mlaut.analysis.comparing.comparison import Comparison
    from mlaut.files_io.studies.study import StudyStore

_PREDICTIONS = "experiments/predictions"

_REGION = {"p_better": "P(row better)", "p_equivalent": "P(equivalent)"}


class Tests(dict[tuple[str, str], TestResult]):
    """Results of a test by pair, with the test of all pairs in ``pairwise`` (`adjust_pairs`)."""

    def __init__(self, pairwise: Pairwise) -> None:
        super().__init__({pair: pairwise.pair(*pair) for pair in pairwise.pairs})
        self.pairwise = pairwise


class Errors(dict[str, pd.Series]):
    """Losses by strategy: a dict of Series over datasets, with their `Results` in ``results``.

    When it is printed, the name of the loss comes first, for example ``1 - roc_auc``.
    """

    def __init__(self, results: Results) -> None:
        losses, name = results.losses, results.metric.loss_name
        super().__init__({str(s): losses[s].rename(f"{name} of {s}") for s in losses.columns})
        self.results = results

    def __repr__(self) -> str:
        table = pd.DataFrame(dict(self)).rename_axis(columns=self.results.metric.loss_name)
        return f"{self.results.metric.loss_name}, lower is better:\n{table}"


@with_checked_options(AnalysisError)
class AnalyseResults:
    """Analysis of a study, or of errors from another source.

    Parameters
    ----------
    hdf5_output_io : FilesIO, Study, or path-like, optional
        The study. It can be omitted if all errors come from another source.
    hdf5_input_io : FilesIO, optional
        The input database. It is not read: the study holds all that the analysis needs.
    input_h5_original_datasets_group : str, optional
        Use only the datasets that came from this group of the input database.
    output_h5_predictions_group : str, default "experiments/predictions/"
        The group of the study that holds the predictions. No other value is accepted.
    missing : str, default "raise"
        How the tests treat missing cells: ``"raise"`` raises an error; the other treatments are
        those of `mlaut.analysis.treat_missing`, and every result then names the treatment.

    Notes
    -----
    All methods but `prediction_errors`, `results` and `average_training_time` take *errors*: the
    first value that `prediction_errors` returns, a `Results`, or losses from another source. Such
    losses are a dict by strategy, or a DataFrame with a column for each strategy and a row for each
    dataset. Errors are losses: lower is better. Returned numbers are not rounded.

    Examples
    --------
    >>> errors = {"A": [0.1, 0.2, 0.3, 0.2], "B": [0.2, 0.4, 0.35, 0.3]}
    >>> tests, table = AnalyseResults().t_test(errors)
    >>> table["B"].loc["A"].round(4).to_dict()
    {'t_stat': -3.5762, 'p_val': 0.0374}
    """

    def __init__(
        self,
        hdf5_output_io: Any = None,
        hdf5_input_io: Any = None,
        input_h5_original_datasets_group: str | None = None,
        output_h5_predictions_group: str = "experiments/predictions/",
        *,
        missing: str = "raise",
    ) -> None:
        if output_h5_predictions_group.strip("/") != _PREDICTIONS:
            raise AnalysisError(
                f"a study keeps its predictions in {_PREDICTIONS + '/'!r}, "
                f"not in {output_h5_predictions_group!r}"
            )
        self.study = None if hdf5_output_io is None else open_study(hdf5_output_io)
        self.input_io = hdf5_input_io
        self.group = input_h5_original_datasets_group
        self.missing = missing

    def __repr__(self) -> str:
        if self.study is None:
            return "AnalyseResults of errors from elsewhere (there is no study)"
        place = getattr(self.study, "path", "a study in memory")
        group = f" from {self.group!r}" if self.group else ""
        return (
            f"AnalyseResults of {place}: {len(self.study.strategies)} strategies on "
            f"{len(self._datasets())} datasets{group}; missing={self.missing!r}"
        )

    # ------------------------------------------------------------------ the study

    def results(self, metric: Any, estimators: Any = None) -> Results:
        """Return the scores of the study.

        Parameters
        ----------
        metric : str or MLautScore
            Metric that scores the predictions.
        estimators : strategies or names, optional
            Strategies to score, as the run was given them. Default: all that were tried.
        """
        study = self._need_study()
        chosen = None if estimators is None else _names(estimators, _tried(study))
        results = Results.from_study(study, metric, strategies=chosen)
        if self.group is None:
            return results
        group = self._datasets()
        return results.select(datasets=[name for name in results.datasets if name in group])

    def prediction_errors(
        self, metric: Any, estimators: Any = None
    ) -> tuple[Errors, dict[str, pd.Series], pd.DataFrame]:
        """Return the error of each strategy on each dataset.

        The tests take these errors. ``results(metric).scores`` has the scores in the metric's own
        direction.

        Parameters
        ----------
        metric : str or MLautScore
            An error is the loss form of the metric: for accuracy 1 - accuracy, for R2 1 - R2. Lower
            is better. Every returned table has the name of the loss.
        estimators : strategies or names, optional
            Strategies to score. Default: all strategies that were tried.

        Returns
        -------
        errors_per_estimator : dict of str to Series
            One Series for each strategy, with the datasets as index and the name
            ``"<loss> of <strategy>"``.
        errors_per_dataset_per_estimator : dict of str to Series
            One Series for each dataset, with the strategies as index and the name
            ``"<loss> on <dataset>"``.
        errors_per_dataset_per_estimator_df : DataFrame
            Rows are datasets, columns are strategies; the axis of the columns has the name of the
            loss. NaN where a cell is missing.
        """
        results = self.results(metric, estimators)
        loss = results.metric.loss_name
        table = results.losses
        per_dataset = {
            str(name): table.loc[name].rename(f"{loss} on {name}") for name in table.index
        }
        return Errors(results), per_dataset, table.rename_axis(columns=loss)

    def average_training_time(self, estimators: Any = None) -> pd.DataFrame:
        """Return the mean times of each strategy over its completed cells, in seconds.

        Parameters
        ----------
        estimators : strategies or names, optional
            Strategies to include. Default: all.

        Returns
        -------
        DataFrame
            One row for each strategy. ``tuning``, ``fitting`` and ``predicting`` are means over
            datasets of the mean over a dataset's cells; ``training`` is tuning plus fitting;
            ``std_error`` is the standard error of ``training`` over datasets; ``datasets`` is the
            number of datasets.
        """
        table = training_times(self._need_study(), self._datasets())
        return table if estimators is None else table.loc[_names(estimators, {*table.index})]

    def contingency_table(self, estimator: Any, dataset: str) -> pd.DataFrame:
        """Count the test points of a dataset by true (rows) and predicted class (columns)."""
        study, name = self._need_study(), _name(estimator)
        if dataset in _tried(study) - set(study.load_splits()):
            raise AnalysisError(f"{dataset!r} is a strategy: give the strategy, then the dataset")
        return contingency_table(study.block(dataset), name)

    def _need_study(self) -> StudyStore:
        if self.study is None:
            raise AnalysisError("there is no study to read: AnalyseResults needs hdf5_output_io")
        return self.study

    def _datasets(self) -> list[str]:
        return list(self._need_study().load_splits(self.group))

    # ------------------------------------------------------------------ estimates

    def average_and_std_error(
        self,
        errors: Any,
        *,
        scenario: str = "(c)",
        method: str = "bounded",
        confidence: float = 0.95,
    ) -> pd.DataFrame:
        """Return the average error of each strategy, with standard error and interval.

        Parameters
        ----------
        errors : errors
        scenario : {"(c)", "(a)"}, default "(c)"
            ``"(c)"``: strategies trained on a new dataset. ``"(a)"``: the fitted models used again.
            See `mlaut.analysis.mean_estimates`.
        method : {"bounded", "t", "normal", "bootstrap"}, default "bounded"
            Method of the interval; see `mlaut.analysis.mean_estimates`.
        confidence : float, default 0.95
            Confidence of the interval.

        Returns
        -------
        DataFrame
            One row for each strategy: average, std_error, low, high. The axis of the columns has
            the name of the loss; ``attrs["notes"]`` has the notes on how to read the numbers.
        """
        results = self._complete(errors)
        table = mean_estimates(results, scenario=scenario, method=method, confidence=confidence)
        frame = table.frame.rename(columns={"value": "average", "standard_error": "std_error"})
        frame.attrs["notes"] = table.notes_text()
        units = ", in unlike units" * bool(results.incomparable)
        return frame.rename_axis(columns=table.metric + units)

    def ranks(self, errors: Any) -> pd.DataFrame:
        """Return the average rank of each strategy with standard error and interval, best first."""
        return average_ranks(self._complete(errors)).frame

    def cohens_d(self, errors: Any) -> pd.DataFrame:
        """Return Cohen's d for paired samples of every pair of strategies: row against column.

        It is the mean difference of errors divided by the standard deviation of the differences.
        Where it is below 0, the row is better. The paper's own code used the unpaired d.
        """
        pairs = frequentist.t_test(self._complete(errors))
        return pairs.table("Cohen's d (paired)").rename_axis(columns=f"d of {pairs.metric}")

    # ---------------------------------------------------------------------- tests

    def t_test(
        self, errors: Any, *, alternative: str = "two-sided", correction: str = "none"
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the paired t-test of every pair; see `mlaut.analysis.t_test`.

        Parameters
        ----------
        errors : errors
        alternative : {"two-sided", "better", "worse"}, default "two-sided"
        correction : str, default "none"
            Correction for the number of pairs, such as ``"bonferroni"`` or ``"holm"``; see
            `mlaut.analysis.adjust`.

        Returns
        -------
        tests : dict of (str, str) to TestResult
            One result for each pair. `mlaut.analysis.adjust_pairs` takes it.
        table : DataFrame
            Rows are strategies; columns are pairs of a strategy and ``"t_stat"`` or ``"p_val"``.
            An entry compares row against column: a statistic below 0 means that the row has the
            smaller loss. The second level of the columns has the name of the loss.
        """
        how = {"alternative": alternative, "correction": correction}
        return self._tests(errors, frequentist.t_test, "t_stat", **how)

    def t_test_with_bonferroni_correction(
        self, errors: Any, *, alternative: str = "two-sided"
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the paired t-test of every pair with Bonferroni's correction.

        p-values are multiplied by the number of pairs. Returns the same form as `t_test`.
        """
        return self.t_test(errors, alternative=alternative, correction="bonferroni")

    def wilcoxon_test(
        self,
        errors: Any,
        *,
        alternative: str = "two-sided",
        zeros: str = "wilcox",
        correction: str = "none",
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute Wilcoxon's signed rank test of every pair; see `mlaut.analysis.wilcoxon_test`.

        Takes and returns the same as `t_test`, with ``"statistic"`` (W+ - W-) in place of
        ``"t_stat"``.
        """
        how = {"alternative": alternative, "zeros": zeros, "correction": correction}
        return self._tests(errors, frequentist.wilcoxon_test, "statistic", **how)

    def sign_test(
        self,
        errors: Any,
        *,
        alternative: str = "two-sided",
        ties: str = "trinomial",
        correction: str = "none",
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the sign test of every pair.

        Parameters
        ----------
        errors, alternative, correction
            As for `t_test`.
        ties : {"trinomial", "drop", "split"}, default "trinomial"
            Treatment of ties. ``"trinomial"``: the trinomial test, which the paper uses for ties
            and which equals the sign test without ties. ``"drop"``, ``"split"``: the binomial test
            with ties dropped, or shared between the two strategies.

        Returns
        -------
        tests, table
            The same form as `t_test`, with ``"wins"`` in place of ``"t_stat"``.
        """
        how = {"alternative": alternative, "correction": correction}
        if isinstance(ties, str) and ties == "trinomial":
            return self._tests(errors, frequentist.trinomial_test, "wins", **how)
        return self._tests(errors, frequentist.sign_test, "wins", ties=ties, **how)

    def unpaired_t_test(
        self, errors: Any, *, alternative: str = "two-sided", correction: str = "none"
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the t-test of the paper's Appendix A.1, which takes two samples as independent.

        The paper calls this test paired. For strategies on the same datasets use `t_test`; see
        `mlaut.analysis.methods.frequentist.unpaired_t_test`. Takes and returns the same as
        `t_test`.
        """
        how = {"alternative": alternative, "correction": correction}
        return self._tests(errors, frequentist.unpaired_t_test, "t_stat", **how)

    def ranksum_test(
        self, errors: Any, *, alternative: str = "two-sided", correction: str = "none"
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the rank-sum test of every pair, which ignores that the datasets are the same.

        The paper's toolbox uses this name. For the same datasets use `wilcoxon_test`; see
        `mlaut.analysis.methods.frequentist.ranksum_test`. Takes and returns the same as `t_test`,
        with ``"statistic"`` (U) in place of ``"t_stat"``.
        """
        how = {"alternative": alternative, "correction": correction}
        return self._tests(errors, frequentist.ranksum_test, "statistic", **how)

    def friedman_test(self, errors: Any) -> tuple[dict[str, TestResult], pd.DataFrame]:
        """Compute Friedman's test of all strategies, with the F and the chi-square statistic.

        The paper uses F.

        Returns
        -------
        tests : dict of str to TestResult
            Results by statistic: ``"F"`` and ``"chi2"``.
        table : DataFrame
            One row for each statistic: statistic, df1, df2 (NaN for chi-square), p_value.
        """
        results = self._complete(errors)
        tests = {name: portmanteau.friedman_test(results, statistic=name) for name in ("F", "chi2")}
        rows = {
            name: [test.statistic, *_two(test.df), test.p_value] for name, test in tests.items()
        }
        columns = ["statistic", "df1", "df2", "p_value"]
        return tests, pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def nemenyi(self, errors: Any) -> pd.DataFrame:
        """Return p-values of Nemenyi's test of every pair; see `mlaut.analysis.nemenyi_test`.

        scikit-posthocs computes them, as those of `conover` and `siegel`. They account for the
        number of pairs.
        """
        of = paired_losses(self._complete(errors))
        p = np.maximum(post_hoc_p(of, "nemenyi"), 1e-12)  # its distribution has twelve decimals
        return of.pairs.square(p, p)

    def conover(self, errors: Any, *, correction: str = "none") -> pd.DataFrame:
        """Return p-values of Conover's test of every pair, by scikit-posthocs.

        See `mlaut.analysis.methods.frequentist.conover_test`, and `t_test` for ``correction``.
        """
        return adjust_pairs(portmanteau.conover_test(self._complete(errors)), correction).p_values

    def siegel(self, errors: Any, *, correction: str = "none") -> pd.DataFrame:
        """Return p-values of Siegel and Castellan's test of every pair, by scikit-posthocs.

        See `mlaut.analysis.methods.frequentist.post_hoc_test`, and `t_test` for ``correction``.
        """
        return adjust_pairs(portmanteau.post_hoc_test(self._complete(errors)), correction).p_values

    def compare(self, errors: Any, **how: Any) -> Comparison:
        """Compute all comparisons at once; see `mlaut.analysis.compare`."""
        from mlaut.analysis.comparing.compare import compare

        return compare(self._complete(errors), **how)

    # ------------------------------------------------------------- Bayesian tests

    def bayesian_sign_test(
        self, errors: Any, *, rope: float = 0.0, prior: float = 1.0
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the Bayesian sign test of every pair; see `mlaut.analysis.bayesian_sign_test`.

        Returns the same form as `t_test`, with probabilities in place of ``"t_stat"`` and
        ``"p_val"``: ``"p_better"``, that the row is better, and ``"p_equivalent"``, that neither is
        better by more than ``rope``.
        """
        return self._tests(errors, bayesian_sign_test, _REGION, rope=rope, prior=prior)

    def bayesian_signed_rank_test(
        self, errors: Any, *, rope: float = 0.0, prior: float = 0.5, seed: int = 0
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the Bayesian signed rank test of every pair by sampling.

        Returns the same form as `bayesian_sign_test`; see
        `mlaut.analysis.bayesian_signed_rank_test`.
        """
        how = {"rope": rope, "prior": prior, "seed": seed}
        return self._tests(errors, bayesian_signed_rank_test, _REGION, **how)

    def poisson_binomial_test(
        self, errors: Any, *, prior: float = 1.0
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute the Poisson binomial test of every pair (Lacoste et al. 2012, section 5).

        It needs the losses of single test points: errors of a study as `prediction_errors` returned
        them. Returns the same form as `bayesian_sign_test`, without ``"p_equivalent"``; see
        `mlaut.analysis.methods.lacoste.poisson_binomial_test`.
        """
        better = {"p_better": "P(row better)"}
        return self._tests(errors, poisson_binomial_test, better, prior=prior)

    def correlated_t_test(
        self, errors: Any, *, rope: float = 0.0
    ) -> tuple[dict[tuple[str, str, str], TestResult], pd.DataFrame]:
        """Compute the Bayesian correlated t-test of every pair on each dataset: scenario (b).

        It needs folds: errors of a study as `prediction_errors` returned them. See
        `mlaut.analysis.methods.bayes.correlated_t_test`.

        Returns
        -------
        tests : dict of (str, str, str) to TestResult
            One result for each dataset and pair.
        table : DataFrame
            One row for each dataset and pair: expected difference (first minus second), its
            interval, and three probabilities.
        """
        results = self._complete(errors)
        tests = {
            (folds.dataset, *pair): correlated_t_test(
                x, rope, pair, results.metric.loss_name, folds.test_to_train
            )
            for folds in fold_differences(results)
            for pair, x in zip(Pairs.of(results.strategies).labels, folds.differences, strict=True)
        }
        return tests, correlated_t_datasets(results, rope=rope).frame

    # ---------------------------------------------------------------- one dataset

    def cv_test(
        self,
        errors: Any,
        *,
        test: str = "use all data",
        df: float | str = "calibrated",
        alternative: str = "two-sided",
        correction: str = "none",
    ) -> tuple[dict[tuple[str, str, str], TestResult], pd.DataFrame]:
        """Compute a test on cross-validation of every pair on each dataset: scenario (b).

        It needs folds, as `correlated_t_test` does.

        Parameters
        ----------
        errors : errors
        test, df
            A test of Bouckaert (2003) and its degrees of freedom, see
            `mlaut.analysis.methods.cross_validation.cv_test`; ``test="k-fold", df="default"`` is
            the paired t-test on the folds.
        alternative, correction
            As for `t_test`; the correction is for all datasets and pairs together.

        Returns
        -------
        tests : dict of (str, str, str) to TestResult
            One result for each dataset and pair, with the corrected p-value.
        table : DataFrame
            One row for each dataset and pair: mean difference of the losses (first minus second)
            with the interval of the test, statistic, df and p-value.
        """
        results, row = self._complete(errors), find_cv_test(test)
        how: dict[str, Any] = {"test": test, "df": df, "alternative": alternative}
        table = cv_test_datasets(results, **how, correction=correction).frame
        more: dict[str, Any] = how | {"metric": results.metric.loss_name}
        tests = {}
        for folds in fold_differences(results):
            for pair, x in zip(Pairs.of(results.strategies).labels, folds.differences, strict=True):
                x = x.reshape(-1) if row.resampling else x
                of = {"strategies": pair, "test_to_train": folds.test_to_train}
                p = float(table.loc[(folds.dataset, *pair), "p_value"])
                tests[folds.dataset, *pair] = replace(cv_test(x, **more, **of), p_value=p)
        return tests, table

    def mcnemar_test(
        self,
        errors: Any,
        dataset: str,
        *,
        method: str = "mid-p",
        alternative: str = "two-sided",
        correction: str = "none",
    ) -> tuple[Tests, pd.DataFrame]:
        """Compute McNemar's test of every pair of fitted classifiers on one dataset: scenario (a).

        It needs the losses of single test points, as `poisson_binomial_test` does. Takes and
        returns the same as `t_test`, with ``"wrong alone"`` in place of ``"t_stat"``; see
        `mlaut.analysis.methods.frequentist.mcnemar_test`.
        """
        how = {"dataset": dataset, "method": method}
        how |= {"alternative": alternative, "correction": correction}
        return self._tests(errors, mcnemar_test, "wrong alone", **how)

    # -------------------------------------------------------------------- figures

    def plot_boxcharts(self, errors: Any, *, order: str = "mean", top: int | None = None) -> Figure:
        """Draw the scores of each strategy over datasets as boxes; see `mlaut.analysis.box_plot`.

        The best mean is on top, as in Figure 5 of the paper, or with ``order="median"`` the best
        median; ``top`` is how many are drawn. Missing cells have no dot, even if a treatment fills
        them for the tests.
        """
        from mlaut.analysis.plots.look import Look
        from mlaut.analysis.plots.rank_plots import box_plot

        kept = self._complete(errors)
        seen = as_results(errors).select(datasets=kept.datasets, strategies=kept.strategies)
        return box_plot(seen, order=order, look=Look(top=top))

    def plot_cumulative_gain(self, estimator: Any, dataset: str, label: Any) -> Figure:
        """Draw the share of a class that is among the test points with its largest probabilities.

        See `mlaut.analysis.scores.cumulative_gain`. The dashed line is a random order.
        """
        from mlaut.analysis.plots.canvas import GREY, canvas, style

        name = _name(estimator)
        gain = cumulative_gain(self._need_study().block(dataset), name, label)
        figure, axes = canvas(None, None, (5.0, 4.0))
        axes.plot(gain["taken"], gain["gain"], label=name)
        axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="random order")
        axes.set(xlabel="share of test points", ylabel=f"share of those of {label}, {dataset}")
        axes.legend()
        style(axes)
        return figure

    def plot_critical_difference(
        self, errors: Any, *, alpha: float = 0.05, top: int | None = None
    ) -> Figure:
        """Draw average ranks with Nemenyi's critical difference (Figure 6 of the paper).

        ``top`` is how many are drawn, the best first; ranks and the critical difference are those
        of all strategies. See `mlaut.analysis.critical_difference_diagram`.
        """
        from mlaut.analysis.plots.look import Look
        from mlaut.analysis.plots.rank_plots import critical_difference_diagram

        kept = self._complete(errors)
        return critical_difference_diagram(kept, alpha=alpha, look=Look(top=top))

    # -------------------------------------------------------------------- helpers

    def _complete(self, errors: Any) -> Results:
        return treat_missing(as_results(errors), self.missing)

    def _tests(
        self, errors: Any, test: Callable[..., Pairwise], shown: str | Mapping[str, str], **how: Any
    ) -> tuple[Tests, pd.DataFrame]:
        """Return the results of all pairs, and a table of them.

        ``shown`` maps the names of columns to the tables that they show. Or it is the name of the
        statistic; the second column then has the p-value.
        """
        correction = how.pop("correction", "none")
        pairwise = test(self._complete(errors), **how)
        if correction != "none":
            pairwise = adjust_pairs(pairwise, correction)
        numbers = {shown: "statistic", "p_val": "p_value"} if isinstance(shown, str) else shown
        table = pd.concat(
            {name: pairwise.table(key) for name, key in numbers.items()}, axis="columns"
        ).swaplevel(axis="columns")
        columns = [(name, part) for name in pairwise.strategies for part in numbers]
        table = table[columns].rename_axis(columns=["against", pairwise.metric])
        return Tests(pairwise), table


def _two(df: float | tuple[float, ...] | None) -> tuple[float, float]:
    return (df[0], df[1]) if isinstance(df, tuple) else (float(df or np.nan), np.nan)


def _names(estimators: Any, tried: Collection[str]) -> list[str]:
    """Return the names of strategies.

    ``estimators`` are names, objects with a ``name``, (name, object) pairs, a dict by name, or a
    single one of these. Those that a word for several chose, and that were not ``tried``, are left
    out, since the run left out those of another task.
    """
    if isinstance(estimators, str) or not isinstance(estimators, Iterable):
        estimators = [estimators]
    named = ((_name(one), getattr(one, "chosen_by", "")) for one in estimators)
    return [name for name, word in named if name in tried or not word]


def _tried(study: StudyStore) -> set[str]:
    return {entry.name for entry in study.strategies}


def _name(strategy: Any) -> str:
    if isinstance(strategy, str):
        return strategy
    if isinstance(strategy, tuple):
        return str(strategy[0])
    return str(getattr(strategy, "name", type(strategy).__name__))


def as_results(errors: Any) -> Results:
    """Return errors, which are losses (lower is better), as `Results`.

    Parameters
    ----------
    errors : Results, Errors, dict of str to Series or list, or DataFrame
    """
    if isinstance(errors, Results):
        return errors
    if isinstance(errors, Errors) and _unchanged(errors):
        return errors.results.select(strategies=list(errors))
    if isinstance(errors, Mapping):
        try:
            errors = pd.DataFrame(dict(errors))
        except ValueError as error:
            sizes = ", ".join(f"{name} has {np.size(values)}" for name, values in errors.items())
            raise AnalysisError(
                f"every strategy needs an error for each dataset: {sizes}"
            ) from error
    if not isinstance(errors, pd.DataFrame):
        raise AnalysisError(
            "errors must be what prediction_errors returns, a dict of strategies, a DataFrame or "
            f"Results, not {type(errors).__name__}"
        )
    return Results.from_table(errors, metric="error", greater_is_better=False)


def _unchanged(errors: Errors) -> bool:
    losses = errors.results.losses
    return all(name in losses and losses[name].equals(series) for name, series in errors.items())
