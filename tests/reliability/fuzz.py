"""Damage databases and input files at random, and see what reading them gives.

    python tests/reliability/fuzz.py --files 2000 [--seed 0] [--kinds bundles]

Each damaged file must give an `MlautError` of one line, or the data that was stored: never a crash
of the interpreter, a hang, an error of another kind, or other numbers without a word. A cell of a
study may come back as not done, for then it is run again. Tables that were made by others (CSV,
ARFF, parquet, TOML) have no digest, so there only crashes, hangs and other errors count; so it is
where JSON of a study is changed behind a new seal, for that is then what the study says. In a
bundle or a folder of another program (``folders.py``) any of its files is damaged; the manifest of
a bundle names the digests of the damaged files, as that of an author who means harm.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import folders
import h5py
import numpy as np
import pandas as pd

from mlaut import Data
from mlaut.data import load_folder
from mlaut.errors import MlautError, StoreWarning, TextWarning
from mlaut.experiments import read_study_file, study_status, verify_study
from mlaut.experiments.following.status import unfinished
from mlaut.files_io import (
    FilesIO,
    SplitEntry,
    StrategyEntry,
    StudyStore,
    accept_changes,
    merge_studies,
)
from mlaut.files_io.safe_files.texts import put_json
from mlaut.files_io.studies.models import models_folder, write_model
from mlaut.records import Cell, Dataset, Outcome, Split, Status
from mlaut.report import make_report, write_report

HANG_SECONDS = 240  # of the clock, on a machine that many use
BELIEVED = ("swapped JSON", "odd JSON")  # a change behind a new seal is what is then said
Digests = dict[str, str]


# --------------------------------------------------------------- what is damaged


def make_table(n_rows: int = 300) -> pd.DataFrame:
    """Every kind of column that a table has."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(n_rows, 3))
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    frame.loc[::9, "b"] = np.nan
    frame["count"] = np.arange(n_rows)
    frame["flag"] = numbers[:, 0] > 0
    frame["word"] = [f"word {i % 17} ü" for i in range(n_rows)]
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[np.arange(n_rows) % 3])
    frame["when"] = pd.date_range("2020-01-01", periods=n_rows, freq="h")
    frame["y"] = np.where(numbers[:, 1] > 0, "yes", "no")
    return frame


def make_input(path: Path, sealed: bool) -> None:
    """Make a database of two datasets; one that another program began has no seal."""
    if not sealed:
        with h5py.File(path, "w") as file:
            file["of another program"] = np.arange(10)
    frame = make_table()
    one = Dataset("one", frame, "y", "Classification")
    other = Dataset("other", frame[["a", "b", "count", "c"]], "c", "Regression", {"source": "x"})
    FilesIO(path, mode="a").save_datasets([one, other], "tables")


def make_study(path: Path, live: bool) -> None:
    """Make a study of two datasets; a live one has a journal that is not yet taken in."""
    generator = np.random.default_rng(1)
    study = StudyStore(path)
    folds = np.arange(60, dtype=np.int16)[None] % 3
    truth = generator.integers(0, 2, 60).astype(np.int32)
    entries = [
        SplitEntry(name, f"/{name}", "Classification", "f", ("n", "y"), truth, Split(folds, "k"))
        for name in ("one", "two")
    ]
    study.save_splits(entries)
    study.allocate([StrategyEntry(name, name, {"C": 1.0}) for name in ("A", "B")])
    with study.writing({"seed": 0}) as writer:
        for entry in entries:
            for s, name in enumerate(("A", "B")):
                for fold in range(3):
                    cell = Cell(entry.name, name, 0, fold)
                    if s and fold == 2:
                        writer.write(Outcome(cell, Status.ERROR, reason="no luck"))
                        continue
                    drawn = generator.dirichlet([1, 1], 20).astype(np.float32)
                    predictions = drawn.argmax(axis=1).astype(np.int32)
                    told = {"best_params": {"C": fold}}
                    writer.write(Outcome(cell, Status.DONE, predictions, drawn, details=told))
        if live:
            shutil.copytree(path.parent, path.parent.with_name("live"))
    if live:
        shutil.rmtree(path.parent)
        path.parent.with_name("live").rename(path.parent)


def make_two(folder: Path) -> None:
    """Make a study with saved models, and another of the same cells to merge it with."""
    for name in ("study.h5", "other.h5"):
        path = folder / name
        make_study(path, live=False)
        folder_of_models = models_folder(path)
        with StudyStore(path).writing() as writer:
            for cell in (Cell(dataset, "A", 0, 0) for dataset in ("one", "two")):
                record = write_model(folder_of_models, cell, f"{cell}".encode() * 99, ".pickle")
                writer.forget(cell.dataset, ["A"], np.array([[[True, False, False]]]))
                predictions = np.zeros(20, dtype=np.int32)
                told = {"model": record}
                writer.write(Outcome(cell, Status.DONE, predictions, details=told))


def make_texts(folder: Path, suffix: str) -> None:
    """Make a folder with one table of this format, or a study file."""
    frame = make_table(40).drop(columns=["kind", "when"])
    if suffix == ".csv":
        frame.to_csv(folder / "t.csv", index=False)
    elif suffix == ".parquet":
        frame.to_parquet(folder / "t.parquet")
    elif suffix == ".arff":
        frame = frame.drop(columns="word")
        kinds = {"flag": "{True,False}", "y": "{no,yes}"}
        head = [f"@attribute {name} {kinds.get(name, 'numeric')}" for name in frame]
        rows = frame.to_csv(index=False, header=False, na_rep="?")
        (folder / "t.arff").write_text("@relation t\n" + "\n".join(head) + "\n@data\n" + rows)
    else:
        (folder / "study.toml").write_text(
            '[study]\noutput = "study.h5"\nseed = 3\n[data]\ncollection = "starter"\n'
            'datasets = ["iris", "wine"]\n[split]\nscheme = "kfold(5)"\nstratify = true\n'
            '[strategies]\nnames = ["SVC"]\n[strategies.parameters.SVC]\nverbose = 1\n'
            '[run]\nn_jobs = 2\ntimeout = "10m"\nmemory = "4GiB"\nretry = ["timeout"]\n'
        )


# -------------------------------------------------------------- how it is damaged


def flip(content: bytearray, generator: np.random.Generator) -> None:
    """Flip one to eight bits."""
    for position in generator.integers(0, len(content), generator.integers(1, 9)):
        content[position] ^= 1 << int(generator.integers(8))


def cut(content: bytearray, generator: np.random.Generator) -> None:
    """Cut off the end, take a piece out, or overwrite a piece by zeros or noise."""
    begin = int(generator.integers(0, len(content)))
    end = min(len(content), begin + int(generator.integers(1, 5000)))
    style = generator.integers(4)
    if style == 0:
        del content[begin:]
    elif style == 1:
        del content[begin:end]
    elif style == 2:
        content[begin:end] = bytes(end - begin)
    else:
        content[begin:end] = generator.bytes(end - begin)


def swap_type(path: Path, generator: np.random.Generator) -> None:
    """Store something of an HDF5 file as another type, shape or name, and accept the change."""
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        name = names[generator.integers(len(names))]
        item, style = file[name], generator.integers(6)
        if style == 0:
            del file[name]
        elif style == 1 and len(item.attrs):
            key = list(item.attrs)[generator.integers(len(item.attrs))]
            item.attrs[key] = [7, "other", 2.5, b"\xff", np.arange(3)][generator.integers(5)]
        elif isinstance(item, h5py.Group):
            del file[name]
            file[name] = np.arange(3)
        else:
            values = np.asarray(item[...])
            del file[name]
            if style == 2:
                file.create_group(name)
            elif style == 3:
                file[name] = values.reshape(-1)[: max(0, values.size - 1)]
            elif style == 4:
                file[name] = "text"
            else:
                other = ["<f4", "<i8", "u1", ">i2", "S3"][generator.integers(5)]
                if values.dtype.kind not in "biuf":  # a text is no number of any type
                    values = np.arange(values.size)
                with np.errstate(all="ignore"):
                    file[name] = values.astype(other)
    with contextlib.suppress(MlautError):
        accept_changes(path)


ODD = (None, True, -1, 2.5, 10**30, "", "../../x", "\ud800", "\x1b[2J", [], [[]], {}, {"a": []})


def swap_json(path: Path, generator: np.random.Generator) -> None:
    """Replace a value somewhere in the JSON of a study by something odd, and accept the change."""
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        kind = "encoding-type"
        file.visititems(lambda n, x: names.append(n) if x.attrs.get(kind) == "json" else None)
        name = names[generator.integers(len(names))]
        content = json.loads(file[name][...].tobytes())
        content = with_odd_value(content, generator)
        put_json(file[name].parent, name.rpartition("/")[2], content)
    accept_changes(path)


def with_odd_value(content: object, generator: np.random.Generator) -> object:
    """Return JSON with a value somewhere replaced by something odd."""
    above = root = [content]
    key = 0
    while isinstance(above[key], list | dict) and len(above[key]) and generator.integers(4):
        above = above[key]
        keys = list(above) if isinstance(above, dict) else range(len(above))
        key = keys[generator.integers(len(keys))]
    above[key] = ODD[generator.integers(len(ODD))]
    return root[0]


def odd_json(content: bytearray, generator: np.random.Generator) -> None:
    """Replace a value somewhere in a JSON file by something odd."""
    content[:] = json.dumps(with_odd_value(json.loads(content), generator)).encode()


def edit(content: bytearray, generator: np.random.Generator) -> None:
    """Replace a piece of a text by some characters of its kind."""
    at, size = (int(generator.integers(most)) for most in (len(content) + 1, 30))
    content[at : at + size] = bytes(
        generator.choice(list(MARKS), generator.integers(0, 6)).tolist()
    )


MARKS = b",;'\"\n0123456789abcxyz{}[]<>?-+.e% \t\0\xff"
STYLES = {"bit flips": flip, "cuts": cut, "other characters": edit, "odd JSON": odd_json}
SUFFIXES = {"swapped type": ".h5", "swapped JSON": ".h5", "odd JSON": ".json"}


def damage(path: Path, style: str, generator: np.random.Generator) -> Path:
    """Damage a file in place, which is one of those in a folder; return its path."""
    if path.is_dir():
        files = [
            file for file in sorted(path.rglob(f"*{SUFFIXES.get(style, '')}")) if file.is_file()
        ]
        path = files[generator.integers(len(files))]
    if style in ("swapped type", "swapped JSON"):
        (swap_type if style == "swapped type" else swap_json)(path, generator)
        return path
    content = bytearray(path.read_bytes())
    STYLES[style](content, generator)
    path.write_bytes(content)
    return path


# ------------------------------------------------------------------- what is read


def digest(*arrays: object) -> str:
    """Digest of arrays by type, shape and bits."""
    found = hashlib.sha256()
    for array in map(np.ascontiguousarray, arrays):
        found.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def digest_of_column(values: pd.Series) -> str:
    """Digest of what a column says, whether a number is stored as this type or that."""
    if pd.api.types.is_numeric_dtype(values):
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        return digest(np.where(np.isnan(numbers), np.nan, numbers))  # no NaN is another number
    return digest(values.astype(str).to_numpy(dtype="U64"))


def read_input(path: Path) -> Digests:
    """Digests of every dataset of an input database."""
    found = {}
    io = FilesIO(path)
    for name, where in zip(*io.list_datasets(), strict=True):
        dataset = io.load_dataset(where)
        found[f"{name} about"] = f"{dataset.target} {dataset.task} {list(dataset.frame)}"
        for column, values in dataset.frame.items():
            found[f"{name} {column}"] = digest_of_column(values)
    return found


def read_study(path: Path) -> Digests:
    """Digests of each cell that is done, after whatever a journal holds is taken in."""
    study = StudyStore(path)
    found = {}
    for moment in range(2):
        study_status(path)
        for block in study.blocks():
            found[f"{block.dataset} truth"] = digest(block.truth, block.split.folds)
            for s, repeat, fold in np.argwhere(block.done).tolist():
                test = block.split.rows(repeat, fold)[1]
                key = f"{block.dataset} {block.strategies[s]} {repeat} {fold}"
                values = [
                    part[s, repeat, test] for part in (block.predictions, block.probabilities)
                ]
                found[key] = digest(*values) + f"{block.classes} {block.task}"
        for _ in study.all_details():
            pass
        if not moment:
            with warnings.catch_warnings(category=StoreWarning, action="ignore"):
                study.settle()  # a journal with damage in its middle is kept, and told
    return found


def read_report(path: Path) -> Digests:
    """Digests of each score of a report, which is written in every form too."""
    made = make_report(path)
    write_report(made, path.parent / "report")
    found = {}
    for section in made.sections:
        cells = section.scored.cells
        for place in np.argwhere(~np.isnan(cells)).tolist():
            d, s, repeat, fold = place
            key = f"{section.scored.datasets[d]} {section.scored.strategies[s]} {repeat} {fold}"
            found[key] = digest(cells[d, s, repeat, fold])
    return found


def read_verification(path: Path) -> Digests:
    """Nothing to compare: what is wrong is what is looked for."""
    str(verify_study(path))
    unfinished(path)
    return {}


def read_merged(path: Path) -> Digests:
    """Digests of each cell of the study that it makes with a whole one, and of its models."""
    folder = path if path.is_dir() else path.parent
    while not (folder / "other.h5").exists():
        folder = folder.parent
    new = folder / "new" / "merged.h5"
    shutil.rmtree(new.parent, ignore_errors=True)
    new.parent.mkdir()
    try:
        merged = merge_studies([folder / "study.h5", folder / "other.h5"], new)
    except MlautError:
        if left := [file for file in new.parent.rglob("*") if file.is_file()]:
            raise RuntimeError(f"a merge that was refused has left {left}") from None
        raise
    found = read_study(merged.path)
    for model in models_folder(new).rglob("*.*"):
        if model.is_file():
            found[f"model {model.relative_to(models_folder(new))}"] = digest_of_file(model)
    return found


def read_bundle(bundle: Path, command: Callable[[Path], None]) -> Digests:
    """Do what a command does with a bundle whose manifest has the digests of its files."""
    folders.name_anew(bundle)
    command(bundle)
    return {}


def read_bundled_report(bundle: Path) -> Digests:
    """Digests of each score of a report of a bundle."""
    folders.name_anew(bundle)
    return read_report(folders.study_in(bundle))


def read_folder(folder: Path, read: Callable[[Path], None]) -> Digests:
    """Nothing to compare: what another program wrote has no digest."""
    read(folder)
    return {}


def digest_of_file(path: Path) -> str:
    """Digest of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_texts(path: Path) -> Digests:
    """Nothing to compare: what another program wrote has no digest."""
    if path.suffix == ".toml":
        read_study_file(path)
    else:
        io = Data().open_hdf5(path.parent / "loaded.h5", mode="a")
        with warnings.catch_warnings(category=TextWarning, action="ignore"):
            io.save_datasets(
                load_folder(path.parent), "tables"
            )  # a digit is a letter now, and told
    return {}


Kind = tuple[Callable[[Path], None], str, Callable[[Path], Digests], tuple[str, ...]]
RAW = ("bit flips", "cuts")
OF_BUNDLES = (*RAW, "swapped type", "swapped JSON", "odd JSON", "odd JSON", "other characters")
KINDS: dict[str, Kind] = {
    "input database": (
        lambda folder: make_input(folder / "input.h5", sealed=True),
        "input.h5",
        read_input,
        (*RAW, "swapped type"),
    ),
    "input database of another program": (
        lambda folder: make_input(folder / "input.h5", sealed=False),
        "input.h5",
        read_input,
        (*RAW, "swapped type"),
    ),
    "study": (
        lambda folder: make_study(folder / "study.h5", live=False),
        "study.h5",
        read_study,
        (*RAW, "swapped type"),
    ),
    "study that was interrupted": (
        lambda folder: make_study(folder / "study.h5", live=True),
        "study.h5",
        read_study,
        (*RAW, "swapped type"),
    ),
    "journal": (
        lambda folder: make_study(folder / "study.h5", live=True),
        "study.h5.journal",
        lambda path: read_study(path.with_suffix("")),
        RAW,
    ),
    **{
        f"{what} study": (
            lambda folder: make_two(folder),
            "study.h5",
            read,
            (*RAW, "swapped type", "swapped JSON", "swapped JSON"),
        )
        for what, read in (
            ("reported", read_report),
            ("verified", read_verification),
            ("merged", read_merged),
        )
    },
    "merged model": (
        lambda folder: make_two(folder),
        "study.h5.models/one/A/r0-f0.pickle",
        read_merged,
        RAW,
    ),
    **{
        f"{suffix} file": (
            lambda folder, suffix=suffix: make_texts(folder, suffix),
            f"study{suffix}" if suffix == ".toml" else f"t{suffix}",
            read_texts,
            RAW,
        )
        for suffix in (".toml", ".csv", ".arff", ".parquet")
    },
}
FOLDERS: dict[str, Kind] = {
    "reported bundle": (folders.make_bundle, "bundle", read_bundled_report, OF_BUNDLES),
    **{
        f"{command.__name__} bundle": (
            folders.make_bundle,
            "bundle",
            partial(read_bundle, command=command),
            OF_BUNDLES,
        )
        for command in (folders.verified, folders.merged)
    },
    **{
        kind: (make, "theirs", partial(read_folder, read=read), (*RAW, *["other characters"] * 3))
        for kind, (make, read) in folders.READERS.items()
    },
    "TabArena metadata": (
        *(folders.READERS["TabArena predictions"][0], "theirs"),
        partial(read_folder, read=folders.READERS["TabArena predictions"][1]),
        ("odd JSON",),
    ),
}
EVERY = KINDS | FOLDERS
GROUPS = {
    "all": EVERY,
    "files": KINDS,
    "bundles": [kind for kind in FOLDERS if kind.endswith("bundle")],
    "predictions": [kind for kind in FOLDERS if not kind.endswith("bundle")],
}


# ------------------------------------------------------------------- one after the other


def look(path: Path, read: Callable[[Path], Digests], whole: Digests) -> str:
    """Say what reading a damaged file gives, seen from a process of its own."""
    listens, tells = os.pipe()
    child = os.fork()
    if not child:
        verdict = "an error of another kind"
        try:
            verdict = judged(read, path, whole)
        except BaseException:
            os.write(tells, traceback.format_exc()[-4000:].encode())
        os.write(tells, verdict.encode())
        os._exit(0)
    os.close(tells)
    until = time.monotonic() + HANG_SECONDS
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "hang"
        time.sleep(0.002)
    with os.fdopen(listens) as told:
        words = told.read()
    return words if not ended[1] else f"crash {ended[1]}"


def judged(read: Callable[[Path], Digests], path: Path, whole: Digests) -> str:
    """Compare what is read with what was stored."""
    try:
        found = read(path)
    except MlautError as error:
        return "MlautError" if "\n" not in str(error) else f"more than a line: {error}"
    if not whole or all(whole.get(key) == value for key, value in found.items()):
        return "right"
    return f"wrong: {[key for key in found if whole.get(key) != found[key]][:5]}"


def fuzz(files: int, seed: int, kinds: list[str], folder: Path) -> dict[str, object]:
    """Damage and read so many files; give how many were told, right, or worse."""
    generator = np.random.default_rng(seed)
    begun, counts, worse = time.monotonic(), Counter(), []
    whole: dict[str, Digests] = {}
    for kind in kinds:
        make, name, read, _ = EVERY[kind]
        for place in ("original", "whole"):
            (folder / place / kind / "x").mkdir(parents=True)
        make(folder / "original" / kind / "x")
        shutil.copytree(folder / "original" / kind, folder / "whole" / kind, dirs_exist_ok=True)
        whole[kind] = read(folder / "whole" / kind / "x" / name)
    for number in range(files):
        kind = kinds[number % len(kinds)]
        _, name, read, styles = EVERY[kind]
        style = styles[number // len(kinds) % len(styles)]
        here = folder / "damaged"
        shutil.rmtree(here, ignore_errors=True)
        shutil.copytree(folder / "original" / kind / "x", here)
        damaged = damage(here / name, style, generator)
        kept = damaged.read_bytes()
        verdict = look(here / name, read, {} if style in BELIEVED else whole[kind])
        counts[f"{kind}, {style}: {verdict.split(maxsplit=1)[0]}"] += 1
        if verdict not in ("MlautError", "right"):
            file = folder / f"worse-{seed}-{number}-{damaged.name}"
            file.write_bytes(kept)
            worse.append({"file": str(file), "kind": kind, "style": style, "verdict": verdict})
    return {
        "files": files,
        "told": sum(n for key, n in counts.items() if key.endswith("MlautError")),
        "right": sum(n for key, n in counts.items() if key.endswith("right")),
        "worse": worse,
        "counts": dict(sorted(counts.items())),
        "seconds": round(time.monotonic() - begun, 1),
    }


def main() -> None:
    """Read the command line, damage, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", choices=GROUPS, default="all", help="which files or folders")
    parser.add_argument("--folder", type=Path, help="where to work, and to keep what went wrong")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mlaut-fuzz-") as passing:
        folder = given.folder or Path(passing)
        found = fuzz(given.files, given.seed, [*GROUPS[given.kinds]], folder)
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    sys.exit(bool(found["worse"]))


if __name__ == "__main__":
    main()
