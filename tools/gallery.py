"""Draw the figures of the gallery: python tools/gallery.py (40 s of CPU).

`docs/conf.py` makes the page of them when the documentation is built.
"""

import ast
import io
from pathlib import Path
from typing import Any

import matplotlib
from PIL import Image

DOCS = Path(__file__).parent.parent / "docs"
DPI = 75

START = """\
from mlaut.analysis import *
from mlaut.analysis.methods.bayes import signed_rank_posterior
from mlaut.analysis.plots import rank_plot
from mlaut_extras import *  # the plug-in mlaut-extras

nine = published("mlaut2018")  # errors of 9 strategies on 121 datasets
delgado = treat_missing(published("delgado2014"), "row mean")  # accuracies of 179
"""

# Names of sixty characters and groups, which the long figures need and the page does not show.
HIDDEN = """\
thirty = delgado.select(strategies=delgado.strategies[:30])
hundred = delgado.select(strategies=delgado.strategies[:100])
long = Look(names={name: f"{name}, with a name of sixty characters as reports write them"[:60] \
for name in delgado.strategies})
"""

FIGURES: dict[str, tuple[str, str]] = {
    "boxes": ("Scores over datasets", "box_plot(nine)"),
    "ranks": (
        "Average ranks, with groups by the signed rank test after Holm's correction",
        'critical_difference_diagram(nine, pairs=adjust_pairs(wilcoxon_test(nine), "holm"))',
    ),
    "nemenyi": (
        "The same by Nemenyi's test, as Demsar drew it",
        "critical_difference_diagram(nine)",
    ),
    "heat": ("Every score, similar strategies and datasets side by side", "heat_map(nine)"),
    "best": (
        "The probability of each rank, and of being the best",
        "rank_plot(probability_of_best(nine))",
    ),
    "elo": ("Elo ratings with intervals", "forest_plot(elo_ratings(nine))"),
    "means": ("Means with intervals", "forest_plot(mean_estimates(nine))"),
    "profile": ("Performance profile", "profile_plot(performance_profile(nine))"),
    "duels": (
        "Multi-comparison matrix",
        "multi_comparison_matrix(multi_comparison(nine),\n"
        "                        rows=list(average_ranks(nine).frame.index[:4]))",
    ),
    "pairs": (
        "All pairs",
        'pairwise_matrix(adjust_pairs(wilcoxon_test(nine), "holm"),\n'
        "                order=average_ranks(nine).frame.index)",
    ),
    "simplex": (
        "Posterior of a Bayesian test with a region of practical equivalence",
        'best = "RandomForestClassifier"\n'
        'simplex_plot(signed_rank_posterior(nine.losses[best] - nine.losses["SVC"], rope=0.01),\n'
        '             [best, "SVC"])',
    ),
    "decision": ("The decision of a report", "decision_plot(compare(nine).decision(), nine)"),
    "top": (
        "Ten of 100 strategies in groups",
        'neural = [s for s in hundred.strategies if "nnet" in s.lower() or "mlp" in s]\n'
        'vectors = [s for s in hundred.strategies if "svm" in s.lower()]\n'
        'look = Look(groups={"neural networks": neural, "support vectors": vectors}, top=10)\n'
        "critical_difference_diagram(hundred, look=look)",
    ),
    "ranks-30": (
        "Thirty strategies with names of 60 characters",
        "critical_difference_diagram(thirty, look=long)",
    ),
    "boxes-30": ("", "box_plot(thirty, look=long)"),
    "pairs-100": (
        "A hundred strategies",
        'pairwise_matrix(adjust_pairs(wilcoxon_test(hundred), "holm"),\n'
        "                order=average_ranks(hundred).frame.index)",
    ),
    "heat-100": ("", "heat_map(hundred)"),
}

PAGE = """\
# Gallery of figures

Each figure is drawn by the lines above it. `ax=`, `figsize=` and `look=` (names, colours, groups,
`top=`) fit it into a paper: see [reports](../reports.md). Tests draw figures of 5 to 100
strategies, also with names of 60 characters, and check that nothing is cut. `PUBLISHED` names the
origin of the [published results](../other-results.md).

```python
{start}```

{figures}
`budget_plot` draws scores against the budget of tuning: see [tuning](../tuning.md).

## Beside other packages

The diagram of ranks by aeon, autorank, MLaut and scikit-posthocs, from above, of 9 strategies and
of 30 with long names, saved as each makes it, without options (`tools/gallery_others.py`). Their
tests differ: aeon and MLaut take Wilcoxon's with Holm's correction, the other two Nemenyi's.

![The same diagram by four packages](../gallery/beside-others.png)
"""


def smaller(figure: Any) -> bytes:
    """Return a figure as a PNG of few colours."""
    drawn, target = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    picture = Image.open(drawn).convert("RGB").quantize(96, dither=Image.Dither.NONE)
    picture.save(target, format="png", optimize=True)
    return target.getvalue()


def draw(code: str, names: dict[str, Any]) -> Any:
    """Run code whose last statement is a figure, and return the figure."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "gallery", "exec"), names)
    return eval(compile(ast.Expression(last.value), "gallery", "eval"), names)


def page() -> str:
    """Return the page of all figures."""
    parts = []
    for name, (heading, code) in FIGURES.items():
        title = f"## {heading}\n\n" if heading else ""
        picture = f"![{heading or code}](../gallery/{name}.png)"
        parts.append(f"{title}```\n{code}\n```\n\n{picture}\n")
    return PAGE.format(start=START, figures="\n".join(parts))


def main() -> None:
    """Write docs/gallery/*.png."""
    matplotlib.use("agg")
    names: dict[str, Any] = {}
    exec(START + HIDDEN, names)
    folder = DOCS / "gallery"
    folder.mkdir(exist_ok=True)
    total = 0
    for name, (_, code) in FIGURES.items():
        content = smaller(draw(code, names))
        (folder / f"{name}.png").write_bytes(content)
        total += len(content)
    print(f"{len(FIGURES)} figures, {total / 1000:.0f} kB")  # noqa: T201


if __name__ == "__main__":
    main()
