"""From the table that a user has to the table that a strategy needs."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer
from sklearn.utils.estimator_checks import check_estimator

from mlaut import Study
from mlaut.errors import DataError, StrategyError
from mlaut.estimators import Generic_Estimator, Preprocessor
from mlaut.estimators.preparing.preprocessing import describe_preprocessing

from .tables import awkward


def one(values, **parameters):
    """Fit on one column; give the transformer."""
    return Preprocessor(**parameters).fit(pd.DataFrame({"x": values}))


def of(transformer, values):
    return np.asarray(transformer.transform(pd.DataFrame({"x": values})), dtype=float).tolist()


def test_a_gap_becomes_the_training_median():
    fitted = one([1.0, 2.0, 10.0, None])
    assert of(fitted, [None, 5.0, np.inf]) == [[2.0], [5.0], [2.0]]


def test_scaling_is_that_of_the_training_rows():
    fitted = one([1.0, 3.0], normalize_features=True)
    assert of(fitted, [1.0, 3.0, 7.0]) == [[-1.0], [1.0], [5.0]]


def test_a_constant_column_is_0_when_scaled():
    assert of(one([4, 4], normalize_features=True), [4, 4]) == [[0.0], [0.0]]


def test_an_empty_column_is_0_even_where_later_rows_have_values():
    assert of(one([None, None]), [3.0, None]) == [[0.0], [0.0]]


def test_one_hot_puts_rare_and_unseen_together_and_gaps_apart():
    fitted = one(["a", "a", "b", "b", "rare", None, None])
    columns = of(fitted, ["a", "b", None, "rare", "unseen"])
    assert [row.index(1.0) for row in columns] == [0, 1, 2, 3, 3]
    assert all(sum(row) == 1 for row in columns)


def test_one_hot_gives_an_unseen_category_no_column_where_none_is_rare():
    assert of(one(["a", "a", "b", "b"]), ["unseen", None]) == [[0, 0], [0, 0]]


def test_one_hot_is_never_wider_than_asked_for():
    many = [f"c{i}" for i in range(200)] * 2
    assert Preprocessor().fit_transform(pd.DataFrame({"x": many})).shape == (400, 50)


def test_ordinal_marks_unseen_and_gaps():
    fitted = one(["b", "a", None], categories="ordinal")
    assert of(fitted, ["a", "b", "z", None]) == [[0], [1], [-1], [-2]]


def test_native_keeps_gaps_and_categories_and_drops_the_rarest():
    frame = pd.DataFrame({"x": ["b", "b", "a", "a", "c", None] * 2, "y": [1.0, None] * 6})
    frame.loc[len(frame)] = ["a", 5.0]
    frame = pd.concat([frame, frame], ignore_index=True)
    given = Preprocessor(categories="native", max_categories=2).fit(frame).transform(frame)
    assert list(given.columns) == ["y", "x"]
    assert given["x"].cat.categories.tolist() == ["a", "b"]
    assert given["x"].isna().sum() == 8
    assert given["y"].isna().sum() == 12
    assert given["y"].dtype == np.float64


def test_native_fills_a_column_with_too_few_values_for_tuning_folds():
    fitted = one([1.0, 3.0, 3.0, None], categories="native")
    assert of(fitted, [None, 9.0]) == [[3.0], [9.0]]


def test_every_kind_of_column_becomes_a_finite_number():
    fitted = Preprocessor(normalize_features=True).fit(awkward())
    for frame in (awkward(), awkward(20, seed=1, unseen=True)):
        given = fitted.transform(frame)
        assert given.dtype == np.float64
        assert np.isfinite(given).all()


def test_nothing_is_learnt_from_later_rows():
    fitted = Preprocessor(normalize_features=True).fit(awkward())
    first = fitted.transform(awkward())
    fitted.transform(awkward(20, seed=1, unseen=True))
    np.testing.assert_array_equal(fitted.transform(awkward()), first)


def test_columns_are_found_by_name():
    fitted = Preprocessor().fit(awkward())
    mixed = awkward()[list(reversed(awkward().columns))].assign(more=1)
    np.testing.assert_array_equal(fitted.transform(mixed), fitted.transform(awkward()))


def test_an_absent_column_is_named():
    fitted = Preprocessor().fit(awkward())
    with pytest.raises(DataError, match=r"column 'flag' .* \(1 of 12 columns are absent\)"):
        fitted.transform(awkward().drop(columns="flag"))


def test_two_columns_of_one_name_are_two_columns():
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["x", "x"])
    assert Preprocessor().fit_transform(frame).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    native = Preprocessor(categories="native").fit_transform(frame)
    assert list(native.columns) == ["0 x", "1 x"]


def test_a_column_that_changes_its_type_is_read_as_before():
    fitted = one([1, 2, 3])
    assert of(fitted, pd.Series(["2", "x", None], dtype=object)) == [[2.0], [2.0], [2.0]]
    assert of(one([True, False]), pd.Series([True, None], dtype=object)) == [[1.0], [0.5]]


def test_an_array_is_a_table():
    assert Preprocessor().fit_transform([[1.0, np.nan], [3.0, 4.0]]).tolist() == [[1, 4], [3, 4]]
    mixed = np.array([["a", 1], ["a", 2]], dtype=object)
    assert Preprocessor().fit_transform(mixed).tolist() == [[1, 1], [2, 1]]


def test_what_is_no_table_is_passed_on_or_refused():
    with pytest.raises(DataError, match=r"rows and columns, this has shape \(3,\)"):
        Preprocessor().fit(np.zeros(3))
    for given in (sparse.eye_array(3).tocsr(), np.zeros((2, 3, 4))):
        prepared = Preprocessor(categories="ordinal")
        assert prepared.fit_transform(given) is given
        assert prepared.transform(given[:1]).shape == given[:1].shape
    with pytest.raises(DataError, match=r"a sparse matrix is not scaled, .* preprocessing=None"):
        Preprocessor(normalize_features=True).fit(sparse.eye_array(3).tocsr())


def test_columns_without_names_are_counted():
    fitted = Preprocessor().fit(np.zeros((3, 4)))
    with pytest.raises(DataError, match="X has 2 features, but Preprocessor is expecting 4"):
        fitted.transform(np.zeros((3, 2)))


@pytest.mark.parametrize(("shape", "what"), [((0, 2), "sample"), ((2, 0), "feature")])
def test_a_table_of_nothing_is_refused(shape, what):
    with pytest.raises(DataError, match=rf"0 {what}\(s\) \(shape=.*\) while a minimum of 1"):
        Preprocessor().fit(pd.DataFrame(np.zeros(shape)))


def test_complete_numbers_pass_untouched_if_as_needed():
    frame = pd.DataFrame({"a": np.array([1.5, 2], dtype=np.float32), "b": [1, 2]})
    fitted = Preprocessor(as_needed=True).fit(frame)
    assert fitted.transform(frame) is frame
    array = frame.to_numpy()
    assert Preprocessor(as_needed=True).fit(array).transform(array) is array
    gaps = frame.assign(b=[None, 7.0])
    assert fitted.transform(gaps).columns.tolist() == ["a", "b"]
    assert fitted.transform(gaps).to_numpy().tolist() == [[1.5, 1.5], [2.0, 7.0]]


@pytest.mark.parametrize("categories", ["native", "text"])
def test_names_that_boosting_refuses_become_spaces_also_in_tables_of_numbers(categories):
    table = pd.DataFrame({"[<]": [1, 2, 3], 'a "b"': [0.5, 0.25, 1.0]})
    made = Preprocessor(as_needed=True, categories=categories).fit_transform(table)
    assert list(made) == ["   ", "a  b "]
    assert np.array_equal(made.to_numpy(), table.to_numpy())
    assert Preprocessor(as_needed=True).fit_transform(table) is table


@pytest.mark.parametrize("columns", [["a", "b"], [0, "b"]])
def test_what_scikit_learn_would_refuse_is_not_passed_on(columns):
    values = [[1.0, 1.0], [2.0, np.inf]] if columns[0] == "a" else [[1.0, 1.0], [2.0, 3.0]]
    frame = pd.DataFrame(values, columns=columns)
    assert Preprocessor(as_needed=True).fit(frame).transform(frame) is not frame


def test_an_unknown_way_with_categories_is_refused():
    with pytest.raises(StrategyError, match="categories='onehot' is not known; use one of one-hot"):
        Preprocessor(categories="onehot").fit(awkward())


@pytest.mark.parametrize("as_needed", [False, True])
def test_it_follows_the_rules_of_scikit_learn(as_needed):
    outcomes = check_estimator(Preprocessor(as_needed=as_needed), on_skip=None)
    assert sum(outcome["status"] == "passed" for outcome in outcomes) > 30


def test_it_is_an_estimator():
    changed = Preprocessor().set_params(categories="ordinal")
    assert clone(changed).get_params() == changed.get_params()


def test_it_says_what_it_does():
    words = Preprocessor(normalize_features=True, categories="ordinal").describe()
    assert words["numbers"].endswith("scaled to mean 0 and standard deviation 1")
    assert words["categories"].startswith("alphabetical position")
    both = describe_preprocessing(make_pipeline(Preprocessor(), PowerTransformer()))
    assert both["preprocessor"]["empty columns"] == "0"
    assert both["powertransformer"] == {"PowerTransformer": "PowerTransformer()"}


def test_a_strategy_gets_one_form_of_table_where_it_asks_for_it():
    mixed = pd.DataFrame({"n [m]": [1.0, None, 3.0], "sex": ["f", "m", "f"]})
    numbers = pd.DataFrame({"n [m]": [1.0, 2.0]}, index=pd.Index(["p", "q"], name="patient"))
    of_codings = {"one-hot": ["n  m ", "sex_f", "sex_m"], "ordinal": ["n  m ", "sex"]}
    for categories, names in of_codings.items():
        preprocessor = Preprocessor(categories=categories, min_frequency=1)
        arrays = preprocessor.fit_transform(mixed)
        framed = clone(preprocessor).set_output(transform="pandas").fit_transform(mixed)
        assert framed.columns.tolist() == names
        np.testing.assert_array_equal(framed.to_numpy(), arrays)
    framed = Preprocessor(as_needed=True).set_output(transform="pandas").fit_transform(numbers)
    pd.testing.assert_frame_equal(framed, numbers)
    asked = Generic_Estimator(
        KNeighborsClassifier(), preprocessing=Preprocessor().set_output(transform="pandas")
    )
    plain = Generic_Estimator(KNeighborsClassifier(), preprocessing=Preprocessor())
    assert asked.identity()["output"] == {"transform": "pandas"}
    assert "output" not in plain.identity()


class NotesTables(ClassifierMixin, BaseEstimator):
    """Classifier that notes the tables that it is fitted on."""

    def fit(self, X, y):
        TABLES.append(X)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


TABLES = []


def test_a_study_gives_the_form_of_table_that_was_asked_for(tmp_path):
    index = pd.Index([f"p{i}" for i in range(12)], name="patient")
    numbers = pd.DataFrame({"a": np.arange(12.0), "target": ["x", "y"] * 6}, index=index)
    study = Study(tmp_path / "study.h5")
    study.add_datasets({"numbers": numbers, "texts": numbers.assign(t=["u", "v", "w"] * 4)})
    framed = Preprocessor().set_output(transform="pandas")
    for name, preprocessing in {"frame": framed, "array": Preprocessor()}.items():
        TABLES.clear()
        strategy = Generic_Estimator(NotesTables(), name=name, preprocessing=preprocessing)
        assert study.run(strategy, engine="inline", verbose=0).complete
        kinds = {type(table) for table in TABLES}
        assert kinds == {pd.DataFrame if name == "frame" else np.ndarray}
        if name == "frame":
            assert [list(table) for table in TABLES] == [["a"], ["a", "t_u", "t_v", "t_w"]]
            assert {table.index.name for table in TABLES} == {"patient"}
