"""Names of MLaut 0.1 and 0.2 answer with today's."""

import re

import pytest

import mlaut
from mlaut import AnalyseResults, Data
from mlaut.former_names import FORMER


@pytest.mark.parametrize("name", FORMER)
def test_a_former_name_answers_with_the_one_of_today(name):
    with pytest.raises(ImportError, match="is a name of an earlier version; today: ") as told:
        getattr(mlaut, name)
    for module, attribute in re.findall(r"(mlaut(?:\.[a-z]+)*)\.(\w+)", str(told.value)):
        assert hasattr(__import__(module, fromlist=[attribute]), attribute)


def test_from_import_answers_too():
    with pytest.raises(ImportError, match=r"today: mlaut\.estimators\.keras_network"):
        from mlaut.estimators import Deep_NN_Classifier  # noqa: F401


def test_former_arguments_answer_with_what_to_write():
    with pytest.raises(TypeError, match="'ascending' is an argument of an earlier version"):
        AnalyseResults().ranks({"A": [0.1, 0.2], "B": [0.2, 0.1]}, ascending=True)
    with pytest.raises(TypeError, match=r"'save_loc_hdf5' .* write save_loc="):
        Data().pandas_to_db(save_loc_hdf5="/")
