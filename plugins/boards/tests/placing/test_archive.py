"""The archive of 121 datasets (JMLR 15, 2014), from made-up copies in its layout.

The layout is that of the authors' ``data.tar.gz``, as it is stored in public repositories: the
folders ``lenses`` (one table) and ``monks-1`` (two) were looked at.
"""

import pytest
from mlaut_boards.placing.archive import tuning_split

from mlaut.data import Data, load_folder
from mlaut.errors import DataError
from mlaut.files_io import StudyStore

ROWS = [(0.5, -1.2, 0), (1.5, 0.3, 1), (-0.25, 0, 0), (2, 1, 2), (0, 0, 1), (3, 1, 2)]


def table(rows):
    lines = ["\tf1\tf2\tclase"]
    lines += ["\t".join(map(str, (number, *row))) for number, row in enumerate(rows, start=1)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def archive(tmp_path):
    one, two = tmp_path / "data" / "lenses", tmp_path / "data" / "monks-1"
    for folder in (one, two):
        folder.mkdir(parents=True)
        (folder / "conxuntos.dat").write_text("0 1 \n2 3 \n")
    (one / "lenses.txt").write_text("n_entradas= 2\nn_clases= 3\nfich1= lenses_R.dat\n")
    (one / "lenses_R.dat").write_text(table(ROWS))
    (one / "conxuntos_kfold.dat").write_text("2 0 1 \n3 5 \n0 4 3 \n5 1 \n")
    (two / "monks-1.txt").write_text("fich1= monks-1_train_R.dat\nfich2= monks-1_test_R.dat\n")
    (two / "monks-1_train_R.dat").write_text(table(ROWS[:4]))
    (two / "monks-1_test_R.dat").write_text(table(ROWS[4:]))
    (tmp_path / "data" / "list.txt").write_text("lenses\nmonks-1\n")
    return tmp_path / "data"


def error_of(call, *arguments, **named):
    with pytest.raises(DataError) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_the_archive_is_known_by_its_layout(archive):
    lenses, monks = load_folder(archive)
    assert (lenses.name, lenses.target, lenses.task) == ("lenses", "clase", "Classification")
    assert list(lenses.frame) == ["f1", "f2", "clase"]
    assert [tuple(row) for row in lenses.frame.itertuples(index=False)] == ROWS
    assert monks.labels.tolist() == [row[-1] for row in ROWS]
    assert lenses.metadata["source"].startswith("Fernandez-Delgado et al. (2014)")


def test_the_splits_are_those_of_the_authors(archive, tmp_path):
    lenses, monks = load_folder(archive)
    # the four pairs of the real archive overlap too: row 5 tests twice
    assert lenses.split.folds.tolist() == [[-1, -1, -1, 0, -2, 0], [-1, 0, -2, -1, -1, 0]]
    assert monks.split.folds.tolist() == [[-1, -1, -1, -1, 0, 0]]
    data = Data()
    io = data.open_hdf5(tmp_path / "input.h5", mode="a")
    assert data.load_folder(archive, hdf5_io=io) == ["/data/lenses", "/data/monks-1"]
    data.split_datasets(io, data.open_hdf5(tmp_path / "study.h5", mode="a"))
    split = StudyStore(tmp_path / "study.h5").load_split("monks-1").split
    assert split.scheme == "the test set of the archive"


def test_a_part_of_the_archive(archive):
    assert [one.name for one in load_folder(archive, names=["monks-1"])] == ["monks-1"]
    assert [one.name for one in load_folder(archive, names="lenses")] == ["lenses"]
    assert load_folder(archive, task="regression") == ()
    assert "no dataset 'lense'; did you mean 'lenses'?" in error_of(
        load_folder, archive, names="lense"
    )


def test_without_the_text_file_and_without_pairs(archive):
    for file in ("lenses/lenses.txt", "lenses/conxuntos_kfold.dat", "monks-1/monks-1.txt"):
        (archive / file).unlink()
    lenses, monks = load_folder(archive)
    assert lenses.split is None
    assert monks.split.folds.tolist() == [[-1, -1, -1, -1, 0, 0]]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("lenses_R.dat", "a\tb\n1\t2\n", "lenses_R.dat: its last column is not 'clase'; restore"),
        ("lenses_R.dat", "", "lenses_R.dat: cannot be read (No columns to parse from file)"),
        ("lenses.txt", "n_clases= 3\n", "lenses.txt: it names no table (fich1=); restore"),
        ("lenses.txt", "fich1= no_R.dat\n", "no_R.dat: cannot be read (No such file or directory)"),
        (
            "lenses.txt",
            "fich1= ../x_R.dat\n",
            "lenses.txt: '../x_R.dat' is not a table of this folder",
        ),
        ("conxuntos_kfold.dat", "0 1\n1 2\n", "kfold.dat: pair 0: a row both trains and tests"),
        (
            "conxuntos_kfold.dat",
            "0 1\n9\n",
            "a test row is outside 0 to 5; correct the file, or remove",
        ),
        ("conxuntos_kfold.dat", "0 x\n1\n", "conxuntos_kfold.dat: invalid literal for int()"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(archive, file, text, message):
    (archive / "lenses" / file).write_text(text)
    assert message in error_of(load_folder, archive)


def test_the_halves_for_tuning_are_those_of_the_authors(archive):
    assert tuning_split(archive, "lenses").folds.tolist() == [[-1, -1, 0, 0, -2, -2]]
    # halves of the training table: the rows of the test table have no part in them
    assert tuning_split(archive, "monks-1").folds.tolist() == [[-1, -1, 0, 0, -2, -2]]
    (archive / "lenses" / "conxuntos.dat").unlink()
    assert "the rows for tuning are not known" in error_of(tuning_split, archive, "lenses")
