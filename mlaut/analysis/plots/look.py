"""Look of the strategies in a figure: names, colours, groups, and how many are drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.patches import Patch

from mlaut.errors import AnalysisError

# The colours of Okabe and Ito, which colour-blind readers can distinguish.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_LONGEST = 60  # characters; a longer name takes more room than the plot beside it
_LEAST = 3  # characters on each side of the part in which names differ
_PLACES: dict[str, dict[str, Any]] = {
    "above": {"loc": "lower right", "bbox_to_anchor": (1, 1)},
    "inside": {"loc": "upper right", "bbox_to_anchor": (1, 1)},
    # 5 times the size of the font below the axes, under the two lines that say what is drawn
    "below": {"loc": "upper right", "bbox_to_anchor": (1, 0), "borderaxespad": 5},
}
Name = TypeVar("Name", bound=str)


@dataclass(frozen=True)
class Look:
    """Names, colours and groups of strategies in the figures of a paper.

    Every plot of `mlaut.analysis` takes ``look=``. It also takes ``ax=``, axes of the caller for
    the plot, and ``figsize=``, width and height of a new figure in inches. By default they fit the
    number and the length of the names.

    Attributes
    ----------
    names : mapping of str to str
        Texts that replace the names of strategies.
    groups : mapping of str to sequence of str
        Groups of strategies, such as ``{"trees": ["forest", "boosting"]}``. Each group has its own
        colour, and a legend names the groups.
    colours : mapping of str to str
        Colours of strategies or groups, as matplotlib writes them. A strategy without a colour and
        without a group has the default colour of the figure.
    top : int, optional
        Draw only the first ``top`` strategies in the figure's order, which is best first. Ranks and
        tests are still computed from all of them.
    longest : int, default 60
        Characters of the longest name. The middle of a longer one is replaced by an ellipsis; of
        names that would look the same, the parts in which they differ are kept.

    Names that are not in a figure are ignored, unless all of them are missing.

    Raises
    ------
    AnalysisError
        A colour is unknown, a strategy is in two groups, or a number is not possible.

    Examples
    --------
    >>> look = Look(names={"rf_caret": "random forest"}, groups={"trees": ["rf_caret"]}, longest=10)
    >>> look.label("rf_caret"), look.label("svm"), look.colour("rf_caret", "grey")
    ('rando…rest', 'svm', '#0072B2')
    """

    names: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    colours: Mapping[str, str] = field(default_factory=dict)
    top: int | None = None
    longest: int = _LONGEST

    def __post_init__(self) -> None:
        unknown = [str(colour) for colour in self.colours.values() if not is_color_like(colour)]
        if unknown:
            raise AnalysisError(f"no colour is called {unknown[0]!r}; use one of matplotlib's")
        if (self.top is not None and self.top < 1) or self.longest < 3:
            raise AnalysisError("top is 1 or more, and longest is 3 or more")
        grouped = [name for members in self.groups.values() for name in members]
        twice = [name for name in grouped if grouped.count(name) > 1]
        if twice:
            raise AnalysisError(f"strategy {twice[0]!r} is in two groups of the look; keep one")

    def label(self, name: object) -> str:
        """Return the text that is written for a strategy."""
        text = self.names.get(str(name), str(name))
        if len(text) <= self.longest:
            return text
        end = (self.longest - 1) // 2
        return f"{text[: self.longest - 1 - end]}…{text[len(text) - end :]}"

    def apart(self, names: Iterable[object]) -> Self:
        """Return the look with labels that differ, where shortening would make them the same."""
        alike: dict[str, list[str]] = {}
        for name in dict.fromkeys(map(str, names)):
            alike.setdefault(self.label(name), []).append(name)
        texts: dict[str, str] = {}
        for members in alike.values():
            full = {name: self.names.get(name, name) for name in members}
            if len(set(full.values())) > 1:
                texts |= dict(zip(full, _shortened(list(full.values()), self.longest), strict=True))
        longest = max([self.longest, *map(len, texts.values())])
        return replace(self, names={**self.names, **texts}, longest=longest) if texts else self

    def labels(self, names: Iterable[object]) -> list[str]:
        """Return the texts that are written for strategies."""
        return [self.label(name) for name in names]

    def shown(self, order: Sequence[Name]) -> list[Name]:
        """Return the strategies that are drawn; ``order`` has all of them.

        Raises
        ------
        AnalysisError
            The look names strategies, and none of them is in the figure.
        """
        named = {*self.names, *(name for members in self.groups.values() for name in members)}
        named |= self.colours.keys() - self.groups.keys()
        if named and not named & {str(name) for name in order}:
            raise AnalysisError(
                f"the look is of other strategies ({', '.join(sorted(named)[:3])}) than the "
                f"figure ({', '.join(map(str, order[:3]))})"
            )
        return list(order[: self.top])

    def colour(self, name: object, default: str) -> str:
        """Return the colour of a strategy: its own, or that of its group, or the default."""
        if str(name) in self.colours:
            return self.colours[str(name)]
        for place, (group, members) in enumerate(self.groups.items()):
            if str(name) in members:
                return self.colours.get(group, PALETTE[place % len(PALETTE)])
        return default

    def finish(
        self, axes: Axes, order: Sequence[object], which: str = "y", legend: str = "above"
    ) -> None:
        """Colour the names beside an axis, and name the groups above the axes.

        Parameters
        ----------
        axes : Axes
        order : sequence of str
            Strategies that are drawn, in the order of the tick labels of the axis.
        which : {"x", "y", ""}, default "y"
            Axis with their names; empty if none has them.
        legend : {"above", "inside", "below"}, default "above"
            Place of the groups' names: ``"inside"`` for axes that fill their figure, ``"below"`` if
            the names of strategies are above.
        """
        if which:
            ticks = axes.get_yticklabels() if which == "y" else axes.get_xticklabels()
            for tick, name in zip(ticks, order, strict=False):
                tick.set_color(self.colour(name, "black"))
        patches = [
            Patch(color=self.colour(members[0], "black"), label=group)
            for group, members in self.groups.items()
            if set(members) & {*map(str, order)}
        ]
        if not patches:
            return
        before = axes.get_legend()
        axes.legend(
            handles=patches,
            **_PLACES[legend],
            ncols=min(len(patches), 4),
            fontsize=8,
            frameon=False,
        )
        if before is not None:
            axes.add_artist(before)


def _shortened(texts: Sequence[str], longest: int) -> list[str]:
    """Return long texts around the part in which they differ; as they are if that is too long.

    Examples
    --------
    >>> _shortened(["Boosting(depth=3,rate=0.1,n=100)", "Boosting(depth=3,rate=0.3,n=100)"], 24)
    ['Boostin…rate=0.1,n=100)', 'Boostin…rate=0.3,n=100)']
    """
    start, end = _alike(texts), _alike([text[::-1] for text in texts])
    end = min(end, *(len(text) - start for text in texts))
    start = 1 + max(texts[0].rfind(mark, 0, start) for mark in "(,; ")  # of a parameter
    short = []
    for text in texts:
        room = (longest - (len(text) - end - start) - 2) // 2
        if room < _LEAST:
            return list(texts)
        head = text[:start] if start <= room + 1 else f"{text[:room]}…"
        tail = text[len(text) - end :] if end <= room + 1 else f"…{text[len(text) - room :]}"
        short.append(head + text[start : len(text) - end] + tail)
    return short if len(set(short)) == len(set(texts)) else list(texts)


def _alike(texts: Sequence[str]) -> int:
    """Return the number of characters with which all texts begin."""
    letters = enumerate(zip(*texts, strict=False))
    return next((n for n, each in letters if len(set(each)) > 1), min(map(len, texts)))


PLAIN = Look()
"""The look of a figure for which none is given."""
