"""Datasets and strategies of a study get other names or leave; copies of its file."""

import h5py
import numpy as np
import pandas as pd
import pytest
from studies import assert_same_block, outcome

from mlaut.errors import StudyError
from mlaut.files_io import FilesIO, StudyStore
from mlaut.files_io.safe_files.hdf5 import change_h5

# ------------------------------------------------------------------- other names


def filled(study):
    with study.writing({"seed": 1}) as writer:
        for name in ("tree", "svc"):
            writer.write(*(outcome(study.load_split("iris"), name, fold=f) for f in range(2)))
        writer.write(outcome(study.load_split("cpu"), "svc"))
    terms = {"question": "control: svc", "missing": "svc", "losses": ["mse"]}
    study.store_analysis({"analysis": terms})
    study.store_analysis({"analysis": "of an earlier version"})
    return study.block("iris"), study.details("iris")


def test_renamed_and_removed_names_keep_every_other_outcome(study):
    before, details = filled(study)
    counts = study.restructure({"iris": "Iris", "cpu": None}, {"svc": "SVC", "tree": None})
    assert counts == {"iris": 4, "cpu": 1, "svc": 3, "tree": 2}
    assert study.datasets == ("Iris",)
    assert [one.name for one in study.strategies] == ["SVC"]
    assert study.strategies[0].metadata["named"] == ["svc"]
    assert study.load_split("Iris").named == ("iris",)
    after = study.block("Iris")
    np.testing.assert_array_equal(after.predictions, before.predictions[1:])
    np.testing.assert_array_equal(after.probabilities, before.probabilities[1:])
    expected = [{**one, "strategy": "SVC", "dataset": "Iris"} for one in details[2:]]
    assert study.details("Iris") == expected
    first, second = study.analyses
    assert first["analysis"] == {"question": "control: SVC", "missing": "SVC", "losses": ["mse"]}
    assert second["analysis"] == "of an earlier version"
    assert FilesIO(study.path).names_changed("strategy") == {"svc": "SVC", "tree": None}
    assert [run["seed"] for run in study.runs] == [1]


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        (({"cpu": "CPU"}, {}), {"cpu": 1}),
        (({}, {"tree": None}), {"tree": 2}),
        (({"iris": None}, {"svc": "SVC"}), {"iris": 4, "svc": 3}),
    ],
)
def test_outcomes_are_counted_of_what_gets_another_name(study, given, counts):
    filled(study)
    assert study.restructure(*given) == counts


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"irsi": "x"}, {}), "no dataset 'irsi'; did you mean 'iris'"),
        (({}, {"qqq": "x"}), "no strategy 'qqq'; it has tree, svc"),
        (({"iris": "cpu"}, {}), "dataset 'cpu' exists; use another name"),
        (({}, {"tree": "svc"}), "strategy 'svc' exists; use another name"),
    ],
)
def test_a_name_that_is_not_there_or_not_free_changes_nothing(study, given, message):
    before = study.path.read_bytes()
    with pytest.raises(StudyError, match=message):
        study.restructure(*given)
    assert study.path.read_bytes() == before


def test_a_race_keeps_its_strategies_and_datasets(study):
    study.store_analysis({"race": {"losses": 1}})
    with pytest.raises(StudyError, match="a race decides by all of its strategies and datasets"):
        study.restructure({"iris": None})
    assert study.datasets == ("cpu", "iris")


def test_a_copy_has_the_study_alone_and_the_same_bytes_each_time(study, tmp_path):
    before, details = filled(study)
    FilesIO(study.path, "a").save_pandas_dataset(
        pd.DataFrame({"a": [1.0, 2.0], "y": ["n", "y"]}),
        metadata={"class_name": "y", "dataset_name": "private"},
    )

    def plain(record):
        return {key: value for key, value in record.items() if key != "seed"}

    copies = [study.copy_to(tmp_path / f"{k}.h5", plain) for k in range(2)]
    if h5py.version.hdf5_version_tuple >= (2, 0):  # before, a file has the second of each group
        assert copies[0].path.read_bytes() == copies[1].path.read_bytes()
    assert_same_block(copies[0].block("iris"), before)
    assert copies[0].details("iris") == details
    assert [sorted(run) for run in copies[0].runs] == [["id"]]
    assert (copies[0].id, FilesIO(copies[0].path).list_datasets()) == (study.id, ([], []))


def test_a_file_of_datasets_without_a_study_is_compacted_too(tmp_path):
    io = FilesIO(tmp_path / "input.h5", "a")
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(9000), "y": ["n", "y"] * 4500})
    for name in ("a", "b"):
        io.save_pandas_dataset(frame, metadata={"class_name": "y", "dataset_name": name})
    with change_h5(io.path) as file:
        del file["a"]
    before, after = StudyStore(io.path).compact()
    assert after < before == 2 * after or after < 0.7 * before
    assert io.list_datasets()[0] == ["b"]
    assert io.load_dataset("b").frame.equals(frame)
