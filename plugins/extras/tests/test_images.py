"""Folders of images by class."""

import numpy as np
import pytest
from PIL import Image

from mlaut import Study
from mlaut.data import load_folder
from mlaut.errors import DataError
from mlaut.files_io import FilesIO

RNG = np.random.default_rng(0)


def images(folder, n=2, shape=(5, 6), dtype="u1", labels=("cat", "dog"), ending="png"):
    """Write n images of each class, and return them."""
    made = RNG.integers(0, 255, (len(labels), n, *shape)).astype(dtype)
    for label, some in zip(labels, made, strict=True):
        (folder / label).mkdir(parents=True, exist_ok=True)
        for number, image in enumerate(some):
            Image.fromarray(image).save(folder / label / f"{number}.{ending}")
    return made.reshape(-1, *shape)


@pytest.mark.parametrize(("shape", "dtype"), [((5, 6), "u1"), ((5, 6, 3), "u1"), ((5, 6), "u2")])
def test_a_folder_for_each_class_is_a_dataset(tmp_path, shape, dtype):
    made = images(tmp_path / "pets", shape=shape, dtype=dtype)
    for where in (tmp_path, tmp_path / "pets"):
        (pets,) = load_folder(where)
        assert (pets.name, pets.labels.tolist(), pets.split) == (
            "pets",
            ["cat"] * 2 + ["dog"] * 2,
            None,
        )
        assert pets.array.dtype == dtype
        assert np.array_equal(pets.array, made)


def test_parts_are_the_split_and_grey_beside_colour_is_colour(tmp_path):
    grey = images(tmp_path / "pets/train")
    images(tmp_path / "pets/test", n=1, shape=(5, 6, 3))
    images(tmp_path / "plants")
    study = Study(tmp_path / "study.h5")
    assert study.add_datasets(tmp_path) == ["pets", "plants"]
    pets = FilesIO(study.datasets_path).load_dataset(f"{tmp_path.name}/pets")
    assert pets.split.folds.tolist() == [[-1, -1, -1, -1, 0, 0]]
    assert np.array_equal(pets.array[:4], np.repeat(grey[..., None], 3, axis=-1))


def test_tables_with_figures_beside_them_are_tables(tmp_path):
    images(tmp_path)
    (tmp_path / "iris.csv").write_text("x,class\n1,a\n2,b\n")
    assert [one.name for one in load_folder(tmp_path)] == ["iris"]


def test_what_does_not_suit_is_told_in_one_line(tmp_path):
    def told(name):
        with pytest.raises(DataError) as found:
            load_folder(tmp_path / name)
        assert "\n" not in str(found.value)
        return str(found.value)

    images(tmp_path / "sizes")
    Image.new("L", (7, 5)).save(tmp_path / "sizes/dog/9.png")
    some = "(dog/1.png is (6, 5), dog/9.png is (7, 5))"
    assert f"its images are not of one size {some}; make them so, as Pillow's" in told("sizes")
    images(tmp_path / "deep", dtype="u2")
    Image.new("L", (6, 5)).save(tmp_path / "deep/dog/9.png")
    assert "its images are not of one kind (dog/1.png is I;16)" in told("deep")
    images(tmp_path / "clear")
    Image.new("RGBA", (6, 5)).save(tmp_path / "clear/dog/0.png")
    assert "0.png: no image that can be read (it is transparent in part; put it on" in told("clear")
    images(tmp_path / "films")
    frames = [Image.new("L", (6, 5), grey) for grey in (0, 9)]
    frames[0].save(tmp_path / "films/dog/0.gif", save_all=True, append_images=frames[1:])
    assert "0.gif: no image that can be read (it has several frames" in told("films")
    images(tmp_path / "broken")
    (tmp_path / "broken/cat/0.png").write_text("no image")
    assert "0.png: no image that can be read (cannot identify" in told("broken")
