"""Draw docs/gallery/beside-others.png: one diagram by aeon, autorank, MLaut and scikit-posthocs.

It needs aeon besides the packages of the tests, and takes 5 s of CPU. Each figure is saved as its
package makes it, without options.
"""

import io
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pandas as pd
from PIL import Image

from mlaut.analysis import Results, critical_difference_diagram, published, treat_missing

OUT = Path(__file__).parent.parent / "docs" / "gallery" / "beside-others.png"
DPI = 52


def figures(losses: pd.DataFrame) -> Iterator[matplotlib.figure.Figure]:
    """Yield the diagram of each package, in the order of their names."""
    import autorank
    import scikit_posthocs
    from aeon.visualisation import plot_critical_difference
    from matplotlib import pyplot

    names = list(losses.columns)
    yield plot_critical_difference(losses.to_numpy(), names, lower_better=True)[0]
    autorank.plot_stats(autorank.autorank(losses, alpha=0.05, verbose=False, order="ascending"))
    yield pyplot.gcf()
    yield critical_difference_diagram(Results.from_table(losses, metric="error"))
    figure = pyplot.figure(figsize=(10, 3))
    p = scikit_posthocs.posthoc_nemenyi_friedman(losses.to_numpy())
    p.index = p.columns = losses.columns
    scikit_posthocs.critical_difference_diagram(losses.rank(axis=1).mean(), p)
    yield figure


def main() -> None:
    """Write the picture: 9 strategies on the left, 30 with names of 60 characters on the right."""
    matplotlib.use("agg")
    warnings.simplefilter("ignore")
    nine = published("mlaut2018").losses
    delgado = treat_missing(published("delgado2014"), "row mean").losses.iloc[:, :30]
    long = delgado.rename(columns=lambda name: f"{name}, with a name of sixty characters as"[:60])
    columns = []
    for losses in (nine, long):
        pictures = []
        for figure in figures(losses):
            target = io.BytesIO()
            figure.savefig(target, format="png", dpi=DPI)
            pictures.append(Image.open(target).convert("RGB"))
        columns.append(pictures)
    widths = [max(one.width for one in column) for column in columns]
    heights = [max(pair[0].height, pair[1].height) for pair in zip(*columns, strict=True)]
    sheet = Image.new("RGB", (sum(widths) + 20, sum(heights)), "white")
    for column, across in zip(columns, (0, widths[0] + 20), strict=True):
        for row, one in enumerate(column):
            sheet.paste(one, (across, sum(heights[:row])))
    sheet.quantize(48, dither=Image.Dither.NONE).save(OUT, optimize=True)


if __name__ == "__main__":
    main()
