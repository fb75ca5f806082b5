"""Bundles, and folders of other programs, which ``fuzz.py`` damages; mlaut-boards is needed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

import mlaut
from mlaut.files_io import StudyStore, merge_studies

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins" / "boards" / "tests"))

# --------------------------------------------------------------------- bundles


def make_bundle(folder: Path) -> None:
    """Publish a small study, and leave it beside the bundle."""
    from mlaut_exchange import publish_study

    os.environ["MLAUT_CACHE"] = str(folder / "cache")
    made = mlaut.Study(folder / "other.h5", seed=7)
    made.add_datasets(["starter/iris", "starter/zoo"])
    names = ["BaselineClassifier", "GaussianNaiveBayes"]
    made.run(names, split="kfold(2)", engine="inline", verbose=0)
    publish_study(folder / "other.h5", folder / "bundle", title="A study")


def name_anew(bundle: Path) -> None:
    """Let the manifest name what is in the folder, as an author can do who means harm."""
    manifest = bundle / "bundle.json"
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, OSError):
        content = json.loads(manifest.read_bytes())
        for name, about in content["files"].items():
            data = (bundle / name).read_bytes()
            about |= {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        manifest.write_text(json.dumps(content))


def verified(bundle: Path) -> None:
    """Verify as ``mlaut verify`` does, with cells that are fitted again."""
    from mlaut_exchange import verify_bundle

    opened, found = verify_bundle(bundle, refit="20%", engine="inline")
    str(opened), str(found)


def merged(bundle: Path) -> None:
    """Merge the study of the bundle with the one that was published."""
    merge_studies([study_in(bundle), bundle.parent / "other.h5"], bundle.parent / "new.h5")


def study_in(bundle: Path) -> Path:
    """Return the study of a bundle, as ``mlaut report`` does."""
    from mlaut_exchange import open_bundle

    return open_bundle(bundle).study


# ---------------------------------------------------- folders of other programs


def make_predictions(folder: Path, program: str, names: Iterable[str] = ("pets", "prices")) -> None:
    """Write the predictions of some datasets as another program does."""
    import test_predictions_of_programs as forms

    theirs = folder / "theirs"
    for name in names:
        if program == "OpenML":
            forms.write_openml(theirs / name, name)
        elif program == "TabArena":
            forms.write_tabarena(theirs, name)
        elif program == "AutoML benchmark":
            forms.write_amlb(theirs, name, ordered=False)
        else:
            at = theirs / "tsf" / name
            at.mkdir(parents=True)
            for repeat, fold, rows, truth, predictions, _ in forms.cells(name):
                if not repeat:
                    table = {"index": rows, "y_true": truth, "y_pred": predictions}
                    forms.pd.DataFrame(table).to_csv(at / f"tsf_test_{fold}.csv", index=False)


def imported(theirs: Path, program: str) -> None:
    """Import what another program predicted; what is stored must be values that can be."""
    import test_predictions_of_programs as forms

    study = StudyStore(theirs.parent / "study.h5")
    forms.save_datasets(study)
    splits = sorted(theirs.rglob("datasplits.arff"))[:1]
    options = {"model": "forest"} if program == "TabArena" else {}
    options |= {"splits": splits[0]} if splits else {}
    how = {"strategy": "theirs", "source": "elsewhere", **options}
    mlaut.Study(study.path).import_predictions(theirs, **how)
    for block in study.blocks():
        for s, repeat, fold in np.argwhere(block.done).tolist():
            test = block.split.rows(repeat, fold)[1]
            seconds = block.seconds[s, repeat, fold]
            assert np.isfinite(block.predictions[s, repeat, test].astype(float)).all()
            if block.probabilities is not None:
                shares = block.probabilities[s, repeat, test]
                assert not ((shares < 0) | (shares > 1.001)).any()
            assert not (np.isinf(seconds) | (seconds < 0)).any()


def scored(theirs: Path, read: str) -> None:
    """Score what another program predicted, with a reader of the plug-in mlaut-boards."""
    str(getattr(mlaut.analysis, read)(theirs, "accuracy"))


PROGRAMS = ("OpenML", "TabArena", "AutoML benchmark", "sktime")
READERS = {
    **{
        f"{name} predictions": (
            partial(make_predictions, program=name),
            partial(imported, program=name),
        )
        for name in PROGRAMS
    },
    "OpenML runs": (
        partial(make_predictions, program="OpenML", names=["pets"]),
        partial(scored, read="read_openml_runs"),
    ),
    "sktime results": (
        partial(make_predictions, program="sktime", names=["pets"]),
        partial(scored, read="read_sktime"),
    ),
}
"""How each folder is made, and how it is read."""
