"""Scores of unfinished searches beside a study."""

from mlaut import Study
from mlaut.experiments.cells.search_checkpoints import checkpoint_of, checkpoints_folder
from mlaut.records import Cell


def test_scores_of_finished_cells_that_a_killed_run_left_are_removed(tmp_path):
    study = Study(tmp_path / "study.h5")
    study.add_datasets(["starter/iris"])
    names = ["BaselineClassifier"]
    study.run(names, split="kfold(2)", engine="inline", verbose=0)
    folder = checkpoints_folder(study.path)
    folder.mkdir()
    checkpoint_of(folder, Cell("iris", *names, 0, 1)).write_text("scores")
    study.run(names, engine="inline", verbose=0)  # nothing is left to do
    assert not folder.exists()
    folder.mkdir()
    left = checkpoint_of(folder, Cell("iris", "GaussianNaiveBayes", 0, 1))
    left.write_text("scores")
    study.run([*names, "GaussianNaiveBayes"], engine="inline", verbose=0)
    assert not folder.exists()
