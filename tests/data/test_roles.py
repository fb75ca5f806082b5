"""Roles of columns from folders, references, study files and `Study.add_datasets`."""

import numpy as np
import pandas as pd
import pytest

from mlaut import Data, Study
from mlaut.data import fetch, from_frame, load_folder, parse_reference, with_roles
from mlaut.errors import DataError, MlautError, StoreError, StudyError
from mlaut.experiments import plan_study, run_study
from mlaut.files_io import FilesIO
from mlaut.files_io import StudyStore as Store

TABLE = pd.DataFrame(
    {
        "x": np.arange(24) % 7,
        "who": [f"p{number % 8}" for number in range(24)],
        "w": 1 + np.arange(24) % 3,
        "y": list("ab") * 12,
        "note": "n",
    }
)


def folder_of(tmp_path, manifest=None):
    folder = tmp_path / "tables"
    folder.mkdir()
    TABLE.to_csv(folder / "one.csv", index=False)
    TABLE.to_csv(folder / "two.csv", index=False)
    if manifest:
        (folder / "manifest.csv").write_text(manifest)
    return folder


def test_a_manifest_names_roles(tmp_path):
    rows = "file,target,roles\none.csv,y,group=who;weight=w;ignore=note\ntwo.csv,y,\n"
    one, two = load_folder(folder_of(tmp_path, rows))
    assert dict(one.roles) == {"weight": ("w",), "group": ("who",), "ignore": ("note",)}
    assert list(one.features) == ["x"]
    assert list(two.features) == ["x", "who", "w", "note"]
    with pytest.raises(DataError, match=r"one\.csv: dataset 'one': no role 'grop'; did you mean"):
        load_folder(folder_of(tmp_path / "b", "file,target,roles\none.csv,y,grop=who\n"))


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    (tmp_path / "b").mkdir()


def test_references_name_roles():
    reference = parse_reference("openml/d/61?name=i&group=a&ignore=b&ignore=c")
    assert reference.roles == (("group", "a"), ("ignore", "b"), ("ignore", "c"))
    assert parse_reference(str(reference)) == reference
    (zoo,) = fetch("starter/zoo?group=f13&ignore=f1")
    assert dict(zoo.roles) == {"group": ("f13",), "ignore": ("f1",)}
    with pytest.raises(DataError, match="it has many datasets; name one of them"):
        fetch("starter?group=f13")
    with pytest.raises(DataError, match=r"unknown option 'grup'; did you mean 'group'\?"):
        parse_reference("starter/zoo?grup=legs")


def test_stored_datasets_keep_their_roles_and_others_are_refused(tmp_path):
    data = Data()
    io = data.open_hdf5(tmp_path / "in.h5", "a")
    data.load("starter/zoo?group=f13", hdf5_io=io)
    assert io.dataset_info("starter/zoo").roles == {"group": ("f13",)}
    with pytest.raises(StoreError, match="roles group=f13 are now none"):
        data.load("starter/zoo", hdf5_io=io)
    data.load("starter/zoo", hdf5_io=io, roles={"group": "f13"})
    data.load("starter/zoo", hdf5_io=io, roles={"target": "target", "group": "f13"})
    assert data.load("starter/zoo", hdf5_io=io, overwrite=True) == ["/starter/zoo"]
    assert io.dataset_info("starter/zoo").roles == {}


def test_another_target_is_a_role_too():
    dataset = from_frame(TABLE, "y", name="d", source="s")
    other = with_roles(dataset, {"target": "w", "ignore": "y"})
    assert (other.target, other.task, list(other.features)) == (
        "w",
        "Classification",
        ["x", "who", "note"],
    )
    assert other.metadata == {"source": "s"}
    own = with_roles(dataset, {"ignore": "note", "d": {"group": "who"}, "e": {"group": "x"}})
    assert dict(own.roles) == {"group": ("who",), "ignore": ("note",)}


def test_a_study_takes_roles_with_its_datasets(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(TABLE, name="d", target="y", roles={"group": "who", "ignore": "note"})
    folder = folder_of(tmp_path)
    study.add_datasets(folder, roles={"target": "y", "two": {"group": "who"}, "weight": "w"})
    roles = {info.name: dict(info.roles) for info in FilesIO(study.datasets_path).dataset_infos()}
    assert roles == {
        "d": {"group": ("who",), "ignore": ("note",)},
        "one": {"weight": ("w",)},
        "two": {"weight": ("w",), "group": ("who",)},
    }


FILE = """
[study]
output = "study.h5"
[data]
folder = "tables"
datasets = ["one", "two"]
[data.roles]
target = "y"
ignore = ["note", "w"]
group = "who"
[split]
scheme = "group_kfold(4)"
[strategies]
names = ["BaselineClassifier", "GaussianNaiveBayes"]
[run]
engine = "inline"
"""


def test_a_study_file_names_roles_and_splits_by_them(tmp_path):
    folder_of(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    assert plan_study(path).plan.n_todo == 16
    assert run_study(path, verbose=0).n_done == 16
    split = Store(tmp_path / "study.h5").load_split("two").split
    assert split.scheme == "group_kfold(n_folds=4)"
    for train, test in split:
        assert not set(TABLE["who"][train]) & set(TABLE["who"][test])
    assert "nothing to do" in str(run_study(path, verbose=0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('group = "who"', 'grup = "who"'), "no role 'grup'; did you mean 'group'?"),
        (('group = "who"', 'group = "whom"'), "no column 'whom' for the role 'group'"),
        (('group = "who"', 'weight = "who"'), "weight 'who': .* weights are numbers"),
        (('group = "who"\n', ""), r"group_kfold\(n_folds=4\) needs the group of each row"),
        (("[data.roles]", "[data.rolls]"), "unknown key 'rolls' in .data.; did you mean 'roles'"),
    ],
)
def test_mistakes_in_roles_of_a_study_file_are_one_line(tmp_path, change, message):
    folder_of(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(FILE.replace(*change))
    for call in (plan_study, run_study):
        with pytest.raises(MlautError, match=message) as found:
            call(path)
        assert "\n" not in str(found.value)


def test_other_roles_than_the_stored_ones_are_refused(tmp_path):
    folder_of(tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(FILE)
    run_study(path, verbose=0)
    path.write_text(FILE.replace('"note", "w"', '"note"'))
    with pytest.raises((StoreError, StudyError, DataError), match="roles"):
        run_study(path, verbose=0)
    read_only = FILE.replace('folder = "tables"\n', 'group = "tables"\n').replace(
        'group = "who"', 'group = "x"'
    )
    path.write_text(read_only)
    with pytest.raises(DataError, match="'one' is stored with the roles target=y, group=who, ig"):
        run_study(path, verbose=0)
