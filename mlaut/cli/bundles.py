"""The command that publishes studies."""

from collections.abc import Sequence
from pathlib import Path

import click

from mlaut.cli.inputs import PATH
from mlaut.cli.output import Answer, show


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
    from mlaut.bundles import publish_study
    from mlaut.bundles.publishing import study_file_beside

    bundle = publish_study(study, output, authors=authors, **options)
    show(f"{output}: {bundle}")
    outside = [one.name for one in bundle.datasets if not one.included]
    nowhere = [one.name for one in bundle.datasets if not (one.included or one.reference)]
    if outside:
        show(f"{len(outside)} of {len(bundle.datasets)} tables are named by digest, not included")
    file = None if study.suffix == ".toml" else study_file_beside(study)
    if file is not None:
        show(f"{file} is not in it: 'mlaut publish {file}' lets others fit its strategies again")
    if nowhere:
        show(f"nobody can load {', '.join(nowhere)}: --include all puts tables into the bundle")
    told = {"folder": output, "title": bundle.title, "digest": bundle.digest}
    return told | {"files": list(bundle.files), "outside": outside, "nowhere": nowhere}
