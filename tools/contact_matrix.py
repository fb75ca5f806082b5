"""Run every learner on every kind of table, and store the outcomes in benchmarks/results.

The learners are all classifiers and regressors of scikit-learn and, if they are installed, of
XGBoost, LightGBM, CatBoost, imbalanced-learn, skorch, keras and interpret. Each runs in a worker,
on one hold-out. If a table has only complete numbers, the predictions are compared with those of a
plain ``fit`` and ``predict`` on the same rows. All of it takes about twenty CPU minutes; with
``--only`` or ``--kinds``, the other cells are kept. `docs/conf.py` makes a page of the tables:

    python tools/contact_matrix.py [--only REGEX] [--kinds REGEX] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits

from mlaut import Data, Generic_Estimator, MlautError, Orchestrator
from mlaut.data import from_frame
from mlaut.estimators import Preprocessor
from mlaut.estimators.strategy.generic_estimator import name_of
from mlaut.files_io import StudyStore
from mlaut.files_io.tables.roles import role_values
from mlaut.records import CLASSIFICATION, REGRESSION, Dataset, Status

ROWS = 60
RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
FOREIGN = {
    "xgboost": ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
    "catboost": ("CatBoostClassifier", "CatBoostRegressor"),
    "imblearn.ensemble": ("BalancedRandomForestClassifier", "EasyEnsembleClassifier"),
    "interpret.glassbox": ("ExplainableBoostingClassifier", "ExplainableBoostingRegressor"),
    "pytabkit": ("RealMLP_TD_Classifier", "RealMLP_TD_Regressor"),
}
SMALL: dict[str, Any] = {  # so that a fit takes milliseconds; each is set where a learner has it
    "n_estimators": 10,
    "random_state": 0,
    "verbose": 0,
    "verbosity": 0,
    "thread_count": 1,
    "allow_writing_files": False,
    "max_rounds": 5,
    "outer_bags": 2,
    "interactions": 0,
    "n_epochs": 3,
    "device": "cpu",
}
FIT = {"epochs": 3, "verbose": 0}  # of keras

Kind = Callable[[str], Dataset]
KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[Kind], Kind]:
    """Return a decorator that adds a kind of table under a name."""

    def add(make: Kind) -> Kind:
        KINDS[name] = make
        return make

    return add


def numbers(n_rows: int = ROWS, n_columns: int = 4) -> pd.DataFrame:
    """Return a table of numbers."""
    values = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    return pd.DataFrame(values, columns=[f"x{column}" for column in range(n_columns)])


def dataset(frame: pd.DataFrame, task: str, labels: Any = ("a", "b", "c"), **roles: Any) -> Dataset:
    """Return a dataset whose target follows from the first column."""
    signal = pd.to_numeric(frame.iloc[:, 0], errors="coerce").fillna(0).rank(method="first")
    if task == CLASSIFICATION:
        codes = (signal * len(labels) / (len(frame) + 1)).astype(int)
        target: Any = np.array(labels)[codes]
    else:
        target = signal.to_numpy() * 1.5 + 1
    return from_frame(frame.assign(y=target), "y", name="d", task=task, roles=roles)


@kind("text labels")
def _text_labels(task: str) -> Dataset:
    return dataset(numbers(), task)


for _name, _labels in {
    "labels 1 to K": (1, 2, 3),
    "bool labels": (False, True),
    "float labels": (1.0, 2.0, 4.0),
}.items():
    KINDS[_name] = lambda task, labels=_labels: dataset(numbers(), task, labels)


@kind("categories")
def _categories(task: str) -> Dataset:
    codes = pd.Categorical(np.array(["red", "green", "blue"])[np.arange(ROWS) % 3])
    return dataset(numbers(n_columns=2).assign(colour=codes), task)


@kind("gaps")
def _gaps(task: str) -> Dataset:
    frame = numbers()
    return dataset(frame.mask(np.random.default_rng(1).random(frame.shape) < 0.2), task)


@kind("texts")
def _texts(task: str) -> Dataset:
    return dataset(numbers(n_columns=2).assign(note=[f"n {i % 7}" for i in range(ROWS)]), task)


@kind("dates")
def _dates(task: str) -> Dataset:
    return dataset(numbers(n_columns=2).assign(day=pd.date_range("2020", periods=ROWS)), task)


@kind("constant columns")
def _constant(task: str) -> Dataset:
    return dataset(numbers().assign(one=1.0, nothing=0.0), task)


@kind("12 rows")
def _few_rows(task: str) -> Dataset:
    return dataset(numbers(12), task, ("a", "b"))


@kind("a class of two")
def _rare_class(task: str) -> Dataset:
    made = dataset(numbers(), task, ("a", "b"))
    if task == CLASSIFICATION:
        made.frame.loc[[3, 40], "y"] = "rare"
    return from_frame(made.frame, "y", name="d", task=task)


@kind("2,000 columns")
def _wide(task: str) -> Dataset:
    return dataset(numbers(ROWS, 2000), task)


@kind("weights")
def _weights(task: str) -> Dataset:
    return dataset(numbers().assign(w=1.0 + np.arange(ROWS) % 3), task, weight="w")


@kind("groups")
def _groups(task: str) -> Dataset:
    return dataset(numbers().assign(who=np.arange(ROWS) % 9), task, group="who")


@kind("polars")
def _polars(task: str) -> Dataset:
    made = dataset(numbers(), task)
    polars = importlib.import_module("polars")
    frame = polars.DataFrame({name: made.frame[name].tolist() for name in made.frame})
    return from_frame(frame, "y", name="d", task=task)


def learners(task: str) -> Iterator[tuple[str, Any]]:
    """Yield all learners of a task, with few and small parts."""
    word = "classifier" if task == CLASSIFICATION else "regressor"
    found = dict(all_estimators(type_filter=word))
    for module, names in FOREIGN.items():
        try:
            loaded = importlib.import_module(module)
        except ImportError:
            continue
        found |= {name: getattr(loaded, name) for name in names if name.endswith(word.title())}
    base = LogisticRegression() if task == CLASSIFICATION else Ridge()
    for name, made in found.items():
        model = _made(made, base)
        known = {**inspect.signature(made).parameters, **model.get_params()}
        small = {key: SMALL[key] for key in SMALL if key in known and known[key] is not False}
        if name.startswith("LGBM"):
            small["verbosity"] = -1
        yield name, model.set_params(**small)
    yield from _others(task)


def _made(cls: Any, base: Any) -> Any:
    for arguments in ({}, {"estimator": base}, {"estimators": [("a", base), ("b", clone(base))]}):
        try:
            made = cls(**arguments)
        except TypeError:
            continue
        return made.set_params(estimator=base) if "SelfTraining" in cls.__name__ else made
    raise TypeError(f"{cls} cannot be made")


def _others(task: str) -> Iterator[tuple[str, Any]]:
    with contextlib.suppress(ImportError):
        yield "skorch network", network(task)
    with contextlib.suppress(ImportError):
        yield "keras network", keras_network(task)
    try:
        from imblearn.over_sampling import RandomOverSampler
        from imblearn.pipeline import Pipeline as ImbalancedPipeline
    except ImportError:
        return
    if task == CLASSIFICATION:
        steps = [("over", RandomOverSampler(random_state=0)), ("model", LogisticRegression())]
        yield "imblearn pipeline", ImbalancedPipeline(steps)


def network(task: str) -> Any:
    """Return a pipeline of a skorch network, which needs prepared numbers of 32 bits."""
    torch = importlib.import_module("torch")
    skorch = importlib.import_module("skorch")

    class Sized(skorch.callbacks.Callback):
        """Callback that sets one output for each class, as skorch's guide does."""

        def on_train_begin(self, net: Any, y: Any = None, **_: Any) -> None:
            net.set_params(module__out_features=len(np.unique(y)))

    settings = {
        "module": torch.nn.LazyLinear,
        "module__out_features": 1,
        "max_epochs": 3,
        "train_split": None,
        "verbose": 0,
    }
    floats = FunctionTransformer(seeded_floats, check_inverse=False)
    if task == CLASSIFICATION:
        settings |= {"criterion": torch.nn.CrossEntropyLoss, "callbacks": [Sized()]}
        net = skorch.NeuralNetClassifier(**settings)
        return make_pipeline(Preprocessor(), floats, net)
    net = make_pipeline(Preprocessor(), floats, skorch.NeuralNetRegressor(**settings))
    return TransformedTargetRegressor(net, transformer=clone(floats))


def seeded_floats(table: Any) -> np.ndarray:
    """Return a table as floats of 32 bits, and seed the weights that a network draws next.

    It uses one thread, as in a worker: several threads sum a row of 2,000 columns in another order.
    """
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return np.asarray(table, dtype=np.float32)


def keras_network(task: str) -> Any:
    """Return a network in the wrapper of keras for scikit-learn."""
    wrappers = importlib.import_module("keras.wrappers")
    made = wrappers.SKLearnClassifier if task == CLASSIFICATION else wrappers.SKLearnRegressor
    activation = "softmax" if task == CLASSIFICATION else "linear"
    settings = {"model_kwargs": {"activation": activation}, "fit_kwargs": FIT}
    return made(model=seeded_layers, **settings)


def seeded_layers(X: Any, y: Any, activation: str) -> Any:
    """Return one compiled layer with an output for each column of the target."""
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Dense(np.reshape(y, (len(X), -1)).shape[1], activation)])
    model.compile("adam", "mse" if activation == "linear" else "categorical_crossentropy")
    return model


def by_hand(model: Any, data: Dataset, train: np.ndarray, test: np.ndarray) -> np.ndarray | None:
    """Return plain predictions; None if the table needs preparation, or if the fit fails."""
    features, labels = data.features, data.labels.to_numpy()
    if not all(isinstance(t, np.dtype) and t.kind in "iuf" for t in features.dtypes):
        return None
    if features.isna().any(axis=None):
        return None
    weights = role_values(data, ["weight"])
    given = {"sample_weight": weights["weight"][train]} if weights else {}
    found, codes = np.unique(labels[train], return_inverse=True)
    for target, decode in ((labels[train], None), (codes, found)):
        copied = clone(model)
        try:
            copied.fit(features.iloc[train], target, **given)
            answer = np.asarray(copied.predict(features.iloc[test])).reshape(len(test), -1)[:, 0]
        except Exception:
            if data.task == REGRESSION:
                return None
            continue
        if decode is not None:
            return decode[answer.astype(int)]
        if data.task == REGRESSION or set(answer.tolist()) <= set(labels.tolist()):
            return answer  # else texts in place of floats, as from explainable boosting
    return None


def run_kind(folder: Path, data: Dataset, chosen: dict[str, Any]) -> dict[str, str]:
    """Return the state of each learner on a dataset."""
    setup = Data()
    input_io = setup.open_hdf5(folder / "in.h5", "a")
    out_io = setup.open_hdf5(folder / "study.h5", "a")
    input_io.save_datasets([data])
    scheme = "group_kfold(3)" if "group" in data.roles else "holdout"
    setup.split_datasets(input_io, out_io, scheme=scheme)
    strategies, states = {}, {}
    for name, model in chosen.items():
        try:
            strategies[name] = Generic_Estimator(model, name=name)
            strategies[name].identity()
        except MlautError as error:
            states[name] = f"refused: {str(error).replace(name_of(model), 'it')}"
            strategies.pop(name, None)
    if "weight" in data.roles:
        without = [name for name in strategies if not strategies[name].takes_weights()]
        states |= dict.fromkeys(without, "refused: its fit takes no sample_weight")
        strategies = {name: one for name, one in strategies.items() if name not in states}
    if not strategies:
        return states
    run = Orchestrator(input_io, out_io)
    run.run(list(strategies.values()), verbose=0, timeout="120s", n_jobs=2)
    study = StudyStore(out_io.path)
    block = study.block("d")
    reasons = {record["strategy"]: record.get("reason", "") for record in study.details("d")}
    train, test = block.split.rows(0, 0)
    for name in strategies:
        s = block.strategies.index(name)
        status = Status(int(block.status[s, 0, 0]))
        plain = by_hand(chosen[name], data, train, test)
        if status != Status.DONE:
            nonsense = reasons[name].startswith("predict")  # NaN, which a plain script returns
            failed = status == Status.ERROR and (plain is None or nonsense)
            word = "refused" if failed else "FAULT"
            states[name] = f"{word}: {reasons[name] or status.word}"
            continue
        found = block.predictions[s, 0, test]
        labels = np.array(block.classes)[found] if block.classes else found
        if plain is None:
            states[name] = "runs"
        elif block.classes:
            states[name] = "=" if (labels == plain).all() else "FAULT: other predictions"
        else:
            close = np.allclose(labels, plain.astype(float), rtol=1e-9, atol=1e-12)
            states[name] = "=" if close else "FAULT: other predictions"
    return states


def matrix(task: str, only: str, kinds: str) -> pd.DataFrame:
    """Return the states of all learners of a task: one row for each, one column for each kind."""
    columns = {}
    for name, make in KINDS.items():
        if not re.search(kinds, name) or (task == REGRESSION and name.endswith(" labels")):
            continue
        chosen = {key: model for key, model in learners(task) if re.search(only, key)}
        try:
            data = make(task)
        except (ImportError, MlautError) as error:
            sys.stdout.write(f"{name}: {error}\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            columns[name] = run_kind(Path(folder), data, chosen)
        counts = pd.Series(columns[name]).str.split(":").str[0].value_counts().to_dict()
        faults = [f"    {key}: {s}\n" for key, s in columns[name].items() if s.startswith("FAULT")]
        sys.stdout.write(f"{task}, {name}: {counts}\n{''.join(faults)}")
        sys.stdout.flush()
    return pd.DataFrame(columns)


def page(matrices: dict[str, pd.DataFrame]) -> str:
    """Return the matrices as a page in Markdown."""
    lines = [Path(__file__).with_name("contact_matrix.md").read_text(encoding="utf-8")]
    for task, found in matrices.items():
        reasons = {r: n for n, r in enumerate(_reasons(found), start=1)}
        shown = found.map(lambda state, known=reasons: known.get(state, state))
        lines += [f"## {task}\n", shown.to_markdown(), ""]
        lines += [f"{number}. {reason}" for reason, number in reasons.items()] + [""]
    return "\n".join(lines)


def file_of(task: str, folder: Path = RESULTS) -> Path:
    """Return the file of a task's matrix."""
    return folder / f"contact_{task.lower()}.csv"


def stored(folder: Path = RESULTS) -> dict[str, pd.DataFrame]:
    """Return the matrices that are stored in a folder."""
    files = {task: file_of(task, folder) for task in (CLASSIFICATION, REGRESSION)}
    return {
        task: pd.read_csv(file, index_col=0, keep_default_na=False) for task, file in files.items()
    }


def joined(found: pd.DataFrame, kept: pd.DataFrame) -> pd.DataFrame:
    """Return the new states, and the stored ones for all other cells, in their order."""
    rows = dict.fromkeys([*kept.index, *found.index])
    columns = dict.fromkeys([*kept.columns, *found.columns])
    return found.combine_first(kept).loc[[*rows], [*columns]]


def _reasons(found: pd.DataFrame) -> list[str]:
    states = found.to_numpy().ravel().tolist()
    return list(dict.fromkeys(state for state in states if ":" in state))


def _reason(state: str) -> str:
    """Return a state without the numbers that differ from table to table."""
    text = re.sub(r"array\(.*", "...", state)
    return re.sub(r"\d[\d.e+-]*", "N", text) if ":" in state else state


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        found = {t: matrix(t, given.only, given.kinds) for t in (CLASSIFICATION, REGRESSION)}
    if given.output:
        if given.only or given.kinds:
            kept = stored(given.output)
            found = {task: joined(found[task], kept[task]) for task in found}
        for task, states in found.items():
            states.map(_reason).to_csv(file_of(task, given.output), lineterminator="\n")


if __name__ == "__main__":
    main()
