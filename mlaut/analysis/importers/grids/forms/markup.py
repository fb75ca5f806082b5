"""Tables in Markdown, reStructuredText, LaTeX and HTML: rows of cells, with their headings."""

import csv
import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import NamedTuple

Rows = list[list[str]]

_RULE = re.compile(r"\s*\|?\s*:?-[- ]*:?\s*([|+]\s*:?[- ]*:?\s*)*\|?\s*")
_BOXES = str.maketrans(dict.fromkeys("┃│║", "|") | dict.fromkeys("━─═╌┄", "-"))
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"  # up to three deep
_TABULAR = re.compile(
    r"\\begin\{(tabular[x*yu]?|longtable|tabu|array|NiceTabular)\}(.*?)\\end\{\1\}", re.DOTALL
)
_LINES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|addlinespace|specialrule"
    r"|c(?:mid)?rule|cline|cmidrule|Xhline|hdashline|noalign|rowcolor|arrayrulecolor|morecmidrules)"
    r"(?![a-zA-Z])(?:\([^)]*\)|\[[^\]]*\]|\{[^{}]*\})*"
)
_SIGNS = {"b": "**", "strong": "**", "sup": "<sup>", "br": " "}  # of tags
_SIGNS |= dict.fromkeys(("s", "del", "strike"), "~~")
_HEADS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption", "summary")
_RULES = 3  # above, below the names of columns, and below
_NEAR = 4  # lines above a table, and below its heading, that may list metrics
_FOLDED, _BOLD = 7, 8  # levels of the summary of what a page folds, and of a bold line
_TAGGED = re.compile(  # headings of HTML in Markdown, and bold lines
    r"(?is)<(summary|h[1-6])\b[^>]*>(.*?)</\1>|^[ \t]*<(b|strong)>([^<|\n]+)</\3>:?[ \t]*$", re.M
)
_TITLE = 120  # letters of a line above a table that ends with a colon
_SENTENCE = re.compile(
    r"[.!?]$|[.!?] +[A-Z]|\b(?:is|are|was|were|has|have|can|will|we|you|following)\b"
    r"|\b(?:at|by|in|of|with)$|^and\b|\bover \d+ (?:runs|seeds|folds)\b",
    re.I,
)
_BEGINS = re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\*\*)?(\w.*)")
_ITEM = re.compile(r"^\s*(?:[*+-]|\d+[.)])\s+(?=\|)")  # of a list, in front of a table
OF_MEASURE = re.compile(r"\W*(?:evaluation )?(?:metrics?|measures?)\W*(?::|\bis\b|\bare\b)", re.I)
_OF_PAGES = re.compile(  # of a longtable: caption, and head and foot of further pages
    r"(?s)\\caption(?:\[[^\]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}(?:\s*\\label\{[^}]*\})?\s*\\\\"
    r"(?=.*\\endhead)"
)
_FURTHER_PAGES = re.compile(r"(?s)\\end(?:first)?head(?:.*\\end(?:head|foot|lastfoot))?(?![a-z])")
_FENCED = re.compile(r"(?ms)^ *(```|~~~)[^`\n]*\n.*?^ *\1 *$")  # code, perhaps with a table
_HEADING = re.compile(r"(?:^|\n)\s*(?:#+\s*(.+)|\\(?:sub)*section\*?\{([^}]*)\})")


class Printed(NamedTuple):
    """Table in a text: its name, its cells, and the headings and words on metrics above it."""

    name: str
    rows: Rows
    above: tuple[str, ...] = ()
    around: tuple[str, ...] = ()  # lines that may list metrics, the nearest first


def markdown_tables(text: str) -> Iterator[Printed]:
    """Yield each table with bars in a text of Markdown, called after its heading."""
    text = _FENCED.sub(lambda x: x[0] if re.search(r"-\s*\|", x[0]) else "\n```\n", text)
    text = _TAGGED.sub(_marked, text)
    lines, at, label = re.sub(r"(?s)<!--.*?-->", "", text).splitlines(), 0, ""
    introduction = ""  # the last line with a colon at its end
    above, found = list[tuple[float, str]](), list[tuple[list[tuple[float, str]], str, Rows]]()
    around, near = list[tuple[str, ...]](), list[str]()
    while at < len(lines):
        line = lines[at]
        goes_on = at and _BEGINS.match(lines[at - 1]) and "|" not in lines[at - 1]
        level = _level_of(line) if line.lstrip().startswith("#") or not goes_on else 0
        if level:
            above = [x for x in above if x[0] < level] + [(level, line.strip("# *:").strip())]
            label, introduction = "", line.strip(" *:#") if line.rstrip().endswith(":") else ""
            near = [line] * bool(introduction)
        elif line.strip().startswith("</details"):
            above, label = [x for x in above if x[0] < _FOLDED], ""
        elif line.strip() and "|" not in line:
            label = "" if goes_on else _short(line)
            near.append(line)
            if introduction and re.match(r"\s*[-*+] ", line):  # a list, and no table
                above = [x for x in above if x != (_BOLD, introduction)]
                introduction = ""
            if OF_MEASURE.match(line):  # of all tables up to the next heading of the same level
                above = [*above, (above[-1][0] // 1 + 0.5 if above else 0.5, line.strip())]
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if "|" in line and "|" in below and "-" in below and _RULE.fullmatch(below):
            if below.lstrip().startswith("|"):  # else the first cell may be a dash
                line = _ITEM.sub("", line)
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            each = (line, *(row for row in lines[at + 2 : end] if not _RULE.fullmatch(row)))
            found.append((above, label, [_bars(row) for row in each]))
            around.append(
                (*near[: -_NEAR - 1 : -1], *[x for x in lines[end : end + 3] if "|" not in x])
            )
            at, label = end - 1, ""
        at += 1
    paths = [tuple(x for level, x in above if level == int(level)) for above, _, _ in found]
    names, pairs = _with_parents(paths), [*zip(paths, (x for _, x, _ in found), strict=True)]
    for pair, (above, label, rows), texts in zip(pairs, found, around, strict=True):
        path, tells = pair[0], label and paths.count(pair[0]) > pairs.count(pair) == 1
        name = f"{names[path]}: {label}".removeprefix(": ") if tells else names[path]
        yield Printed(name, rows, tuple(x for _, x in above), texts)


def _level_of(line: str) -> int:
    """Return the level of a heading, also of a bold line or one with a colon at its end; else 0."""
    if line.lstrip().startswith("#"):
        return len(line.strip()) - len(line.strip().lstrip("#"))
    titled = re.fullmatch(r"\*\*[^|]*\*\*:?|\w[^|]*:", line.strip())
    return _BOLD if titled and _short(line) else 0


def _marked(tagged: re.Match[str]) -> str:
    """Return a heading of HTML, or a bold line, as that of Markdown, without other tags."""
    text = " ".join(re.sub(r"<[^>]*>|[*#]", " ", tagged[2] or tagged[4]).split())
    level = int(tagged[1][1]) if (tagged[1] or "")[1:].isdigit() else _FOLDED
    return f"\n\n{'#' * level} {text}\n\n" if tagged[1] else f"**{text}**"


def _short(line: str) -> str:
    """Return the words of a line that may name a table, as an item of a list, but no sentence."""
    text = bare[1].strip("*: ") if (bare := _BEGINS.match(line)) else ""
    return "" if len(line) >= _TITLE or _SENTENCE.search(text) else text


def _with_parents(paths: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return the last of several headings, behind those above it that tell equal ones apart."""
    names = {path: path[-1] if path else "" for path in paths}
    for depth in range(2, max(map(len, paths), default=0) + 1):
        parents = {path: path[-depth] if len(path) >= depth else "" for path in names}
        kinds = {x: {parents[y] for y in names if names[y] == x} for x in names.values()}
        behind = [path for path in names if len(kinds[names[path]]) > 1]
        names |= {path: f"{parents[path]}: {names[path]}".removeprefix(": ") for path in behind}
    return names


def _bars(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)]


def rst_tables(text: str) -> Iterator[Printed]:
    """Yield the heading and the rows of each table with borders in a text of reStructuredText."""
    text = re.sub(r"[┌-╬]", "+", text.translate(_BOXES))  # corners of boxes of a terminal
    lines, heading, at = re.sub(r"\\? ?:\w+:`([^`]*)`", r"\1", text).splitlines(), "", 0
    while at < len(lines):
        end = at
        if at and re.fullmatch(r"([=\-~^'\"#*+.])\1{2,}", lines[at].strip()):
            heading = lines[at - 1].strip() or heading
        if listed := re.match(r"\s*\.\. (list|csv)-table::(.*)", lines[at]):
            below = (i for i in range(at + 1, len(lines)) if re.match(r"\S", lines[i]))
            end = next(below, len(lines)) - 1
            read = _comma_separated if listed[1] == "csv" else _listed
            yield Printed(listed[2].strip() or heading, read("\n".join(lines[at + 1 : end + 1])))
        elif re.match(r"\s*\+[-=]+\+", lines[at]):
            while end < len(lines) and lines[end].strip()[:1] in ("+", "|") and lines[end].strip():
                end += 1
            yield Printed(heading, _bordered([line.strip() for line in lines[at:end]]))
        elif re.fullmatch(r"\s*=+(?:\s+=+)+\s*", lines[at]):
            places = [(x.start(), x.end()) for x in re.finditer(r"=+", lines[at])]
            ends = [i for i in range(at + 1, len(lines)) if lines[i].strip() == lines[at].strip()]
            end = ends[1] if len(ends) > 1 else at + 1
            rows = [x for x in lines[at + 1 : end] if x.strip() and not re.fullmatch(r"[\s=-]+", x)]
            starts = [start for start, _ in places]
            cuts = list(zip(starts, [*starts[1:], None], strict=True))
            yield Printed(heading, [[row[a:b].strip() for a, b in cuts] for row in rows])
        at = max(end, at) + 1


def _comma_separated(text: str) -> Rows:
    """Return the rows of a directive with commas, whose option names the columns."""
    head = re.search(r"(?m)^\s*:header:(.*)$", text)
    lines = [line.strip() for line in text.splitlines() if not re.match(r"\s*:[\w-]+:", line)]
    return [
        *csv.reader([*([head[1]] if head else []), *filter(None, lines)], skipinitialspace=True)
    ]


def _listed(text: str) -> Rows:
    """Return the rows of a list of lists: a star begins each row, and a hyphen each cell."""
    rows = re.split(r"(?m)^\s*\*(?=\s+-)", text)[1:]
    cells = [re.split(r"(?m)^\s*-(?:\s|$)", row)[1:] for row in rows]
    return [[" ".join(cell.split()) for cell in row] for row in cells]


def _bordered(lines: list[str]) -> Rows:
    """Return the rows between borders; a row of several lines has them joined."""
    rows: Rows = []
    rules = [bool(re.search(r"\+[-=]+\+", line)) for line in lines]
    each = sum(rules) <= _RULES < len(lines) - _RULES  # each line between them is a row
    new = True
    for line, rule in zip(lines, rules, strict=True):
        if rule:
            new = True
            continue
        cells = _bars(line)
        if new or each or len(cells) != len(rows[-1]):
            rows.append(cells)
        else:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], cells, strict=True)]
        new = False
    return rows


def latex_tables(text: str) -> Iterator[Printed]:
    """Yield the caption and the rows of each tabular in a text of LaTeX."""
    text = re.sub(r"(?<=\d)%(?=\s*(?:&|\\\\))", r"\\%", text)  # in a table that no LaTeX wrote
    text = re.sub(r"(?<!\\)%.*", "", text)
    if "\\begin{" not in text:  # a file with the rows alone, for an \\input
        text = re.sub(r"(?m)^[\s|]*[lcr][\s|lcr]*$", "", text)  # its columns
        text = f"\\begin{{tabular}}{{}}{text}\\end{{tabular}}"
    for table in _TABULAR.finditer(text):
        around = text[
            text.rfind("\\begin{table", 0, table.start()) : text.find("\\end{table", table.end())
        ]
        caption = re.search(r"\\caption(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}", around[:20000])
        above = _HEADING.findall(text[: table.start()])
        heading = caption[1] if caption else next((a or b for a, b in above[-1:]), "")
        body = _FURTHER_PAGES.sub("", _OF_PAGES.sub("", table[2], count=1), count=1)
        body = re.sub(rf"^\s*(\[[^\]]*\])?(\{{[^{{}}]*\}})?{_BRACED}", "", body)
        body = re.sub(_BRACED, _in_one_line, _LINES.sub("", body))
        ends = r"\\\\\s*(?:\[-?[\d.]+\s*[a-z]+\])?|\\\\(?:\[[^\]]*\])?|\\tabularnewline"
        rows = [_ampersands(row) for row in re.split(ends, body)]
        yield Printed(" ".join(heading.split()), [row for row in rows if any(row)])


def _in_one_line(braced: re.Match[str]) -> str:
    """Return what is in braces without ends of lines, if it is of one cell, as of a makecell."""
    return braced[0] if "&" in braced[0] else re.sub(r"\\\\(?:\[[^\]]*\])?", " ", braced[0])


def _ampersands(line: str) -> list[str]:
    cells: list[str] = []
    for cell in re.split(r"(?<!\\)&", line):
        cell = re.sub(
            r"\\multirow(?:\[[^\]]*\])?\{[^}]*\}(?:\[[^\]]*\])?\{[^}]*\}", "", cell.strip()
        )
        wide = re.match(
            r"\{?\s*\\multicolumn\{(\d+)\}\{(?:[^{}]|\{[^{}]*\})*\}\s*(.*)", cell, re.DOTALL
        )
        cells += [wide[2].strip()] * int(wide[1]) if wide else [" ".join(cell.split())]
    return cells


class _Html(HTMLParser):
    """Collect the tables of a page; a cell that spans rows or columns counts in each."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[str, Rows]] = []
        self.heading, self.text = "", ""
        self.open: list[tuple[Rows, dict[tuple[int, int], str]]] = []
        self.span = (1, 1)
        self.in_cell = self.ended = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._close()  # the cell around it
            self.open.append(([], {}))
        elif tag == "tr" and self.open:
            self._close()
            self.open[-1][0].append([])
            self.ended = False
        elif tag in ("td", "th") and self.open:
            self._close()
            if self.ended or not self.open[-1][0]:  # a row that nothing opens
                self.open[-1][0].append([])
            self.ended = False
            given = {name: value or "" for name, value in attrs}
            sizes = [
                re.sub(r"\D", "", given.get(f"{which}span", "")) or "1" for which in ("row", "col")
            ]
            self.span = (int(sizes[0]) or 1, int(sizes[1]) or 1)
            self.in_cell, self.text = True, ""
        elif tag in _HEADS:
            self.text = ""
        elif tag in _SIGNS and (self.in_cell or tag == "br"):
            self.text += _SIGNS[tag]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close()
            self.ended = tag == "tr"
        if tag in _HEADS and not self.in_cell:
            self.heading = " ".join(self.text.split())
        if tag in _SIGNS and self.in_cell:
            self.text += _SIGNS[tag].replace("<", "</")
        if tag == "table" and self.open:
            rows = [row for row in self.open.pop()[0] if row]
            self.tables.append((self.heading, rows))

    def handle_data(self, data: str) -> None:
        self.text += data
        if not self.open and (titles := re.findall(r"(?m)^#+ +(.+?)[ #]*$", data)):  # of Markdown
            self.heading = titles[-1]

    def _close(self) -> None:
        """Put the cell that is open into its row, after those that span from rows above."""
        if not self.in_cell:
            return
        rows, spanning = self.open[-1]
        text, self.in_cell = " ".join(self.text.split()), False
        for _ in range(self.span[1]):
            while (len(rows) - 1, len(rows[-1])) in spanning:
                rows[-1].append(spanning[len(rows) - 1, len(rows[-1])])
            for below in range(1, min(self.span[0], 1000)):
                spanning[len(rows) - 1 + below, len(rows[-1])] = text
            rows[-1].append(text)


def html_tables(text: str) -> Iterator[Printed]:
    """Yield the heading and the rows of each table of a page."""
    parser = _Html()
    parser.feed(text)
    yield from (Printed(*x) for x in parser.tables)
