"""What a path leads to, by its name."""

import pytest

from mlaut.files_io.kinds import MANIFEST, Kind, kind_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.zip", Kind.BUNDLE), ("HTTPS://a.org/b.csv", Kind.BUNDLE), ("a.TOML", Kind.STUDY_FILE),
     ("-", Kind.RESULTS), ("a.json", Kind.RESULTS), ("a.tsv.gz", Kind.RESULTS),
     ("a.HDF5", Kind.STUDY), ("study", Kind.STUDY), ("a.docx", Kind.STUDY)],
)  # fmt: skip
def test_a_name_tells_the_kind(name, kind):
    assert kind_of(name) is kind


def test_a_file_of_an_unknown_ending_may_be_a_plugins_unless_it_is_of_hdf5(tmp_path):
    (tmp_path / "a.benchy").write_text("iris;svm;0.9")
    (tmp_path / "study.db").write_bytes(b"\x89HDF\r\n\x1a\n")
    assert kind_of(tmp_path / "a.benchy") is Kind.RESULTS
    assert kind_of(tmp_path / "study.db") is Kind.STUDY


def test_a_file_that_cannot_be_read_counts_as_a_study_whose_opening_says_why(tmp_path, monkeypatch):
    (tmp_path / "a.benchy").touch()

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert kind_of(tmp_path / "a.benchy") is Kind.STUDY


def test_a_folder_is_a_bundle_by_its_manifest(tmp_path):
    assert kind_of(tmp_path) is Kind.RESULTS
    (tmp_path / MANIFEST).touch()
    assert kind_of(tmp_path) is Kind.BUNDLE
