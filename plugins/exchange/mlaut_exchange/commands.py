"""The command that publishes a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from mlaut.errors import some_of
from mlaut.plugins import PATH, Answer, Kind, kind_of, show


@click.command()
@click.argument("study", type=PATH)
@click.option("-o", "--output", required=True, type=PATH, help="Folder of the bundle.")
@click.option("--title", default="", help="Title; default: that of the study.")
@click.option("--author", "authors", multiple=True, help="Name of an author (repeatable).")
@click.option(
    "--licence",
    required=True,
    help="SPDX identifier of the licence of the results, as CC-BY-4.0; tables keep their own.",
)
@click.option(
    "--include",
    default="licensed",
    show_default=True,
    type=click.Choice(["licensed", "all", "none"]),
    help="Tables to put into the bundle: those whose licence allows it, all, or none. Others are "
    "named by reference and digest.",
)
@click.option("--input", "datasets", type=PATH, help="Database of the datasets.")
def publish(study: Path, output: Path, authors: Sequence[str], **options: str) -> Answer:
    """Publish a study as a bundle of plain files.

    Anyone can verify and extend the bundle, which is a folder. STUDY is a study database, or a
    study file, which is published too with the Python file that it names. No absolute path and no
    name of this machine is published.

    \b
    mlaut publish study.h5 -o bundle --licence CC-BY-4.0 --author "Ada Lovelace"
    mlaut verify bundle --refit 1%
    mlaut run bundle --add mine.py -o mine.h5
    mlaut merge bundle mine.h5 -o all.h5
    """
    from mlaut_exchange.publishing import publish_study, study_file_beside

    bundle = publish_study(study, output, authors=authors, **options)
    show(f"{output}: {bundle}")
    outside = [dataset.name for dataset in bundle.datasets if not dataset.included]
    nowhere = [d.name for d in bundle.datasets if not (d.included or d.reference)]
    if outside:
        show(f"{len(outside)} of {len(bundle.datasets)} tables are named by digest, not included")
    if kind_of(study) is Kind.STUDY and (file := study_file_beside(study)):
        show(f"{file} is not in it: 'mlaut publish {file}' lets others fit its strategies again")
    if nowhere:
        show(f"nobody can load {some_of(nowhere)}: --include all puts tables into the bundle")
    answer = {"folder": output, "title": bundle.title, "digest": bundle.digest}
    return answer | {"files": list(bundle.files), "outside": outside, "nowhere": nowhere}
