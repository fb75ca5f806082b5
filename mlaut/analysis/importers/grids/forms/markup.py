"""Tables in Markdown, reStructuredText, LaTeX and HTML: rows of cells, with their headings."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser

Rows = list[list[str]]

_RULE = re.compile(r"\s*\|?\s*:?-[- ]*:?\s*([|+]\s*:?[- ]*:?\s*)*\|?\s*")
_BOXES = str.maketrans(dict.fromkeys("┃│║", "|") | dict.fromkeys("━─═╌┄", "-"))
_TABULAR = re.compile(
    r"\\begin\{(tabular[x*yu]?|longtable|tabu|array|NiceTabular)\}(.*?)\\end\{\1\}", re.DOTALL
)
_LINES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|addlinespace|specialrule"
    r"|c(?:mid)?rule|cline|cmidrule|Xhline|hdashline|noalign|rowcolor|arrayrulecolor|morecmidrules)"
    r"(?![a-zA-Z])(?:\([^)]*\)|\[[^\]]*\]|\{[^{}]*\})*"
)
_SIGNS = {"b": "**", "strong": "**", "sup": "<sup>", "br": " "}  # of tags
_RULES = 3  # above, below the names of columns, and below
_TITLE = 120  # letters of a line above a table that ends with a colon
_HEADING = re.compile(r"(?:^|\n)\s*(?:#+\s*(.+)|\\(?:sub)*section\*?\{([^}]*)\})")


def markdown_tables(text: str) -> Iterator[tuple[str, Rows]]:
    """Yield the heading and the rows of each table with bars in a text of Markdown.

    The line above a table is its heading where several stand under one.
    """
    lines, heading, at = re.sub(r"(?s)<!--.*?-->", "", text).splitlines(), "", 0
    above, found = "", list[tuple[str, str, Rows]]()
    while at < len(lines):
        line = lines[at]
        titled = len(line) < _TITLE and re.fullmatch(r"\*\*[^|]*\*\*:?|\w[^|]*:", line.strip())
        if line.lstrip().startswith("#") or titled:
            heading, above = line.strip("# *:").strip(), ""
        elif line.strip() and "|" not in line:
            above = line.strip() if len(line) < _TITLE and re.match(r"\s*\w", line) else ""
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if "|" in line and "|" in below and "-" in below and _RULE.fullmatch(below):
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            rows = (line, *(row for row in lines[at + 2 : end] if not _RULE.fullmatch(row)))
            found.append((heading, above, [_bars(row) for row in rows]))
            at, above = end, ""
        at += 1
    times = Counter(heading for heading, _, _ in found)
    yield from ((above if times[x] > 1 and above else x, rows) for x, above, rows in found)


def _bars(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line)]


def rst_tables(text: str) -> Iterator[tuple[str, Rows]]:
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
            yield listed[2].strip() or heading, read("\n".join(lines[at + 1 : end + 1]))
        elif re.match(r"\s*\+[-=]+\+", lines[at]):
            while end < len(lines) and lines[end].strip()[:1] in ("+", "|") and lines[end].strip():
                end += 1
            yield heading, _bordered([line.strip() for line in lines[at:end]])
        elif re.fullmatch(r"\s*=+(?:\s+=+)+\s*", lines[at]):
            places = [(x.start(), x.end()) for x in re.finditer(r"=+", lines[at])]
            ends = [i for i in range(at + 1, len(lines)) if lines[i].strip() == lines[at].strip()]
            end = ends[1] if len(ends) > 1 else at + 1
            rows = [x for x in lines[at + 1 : end] if x.strip() and not re.fullmatch(r"[\s=-]+", x)]
            starts = [start for start, _ in places]
            cuts = list(zip(starts, [*starts[1:], None], strict=True))
            yield heading, [[row[a:b].strip() for a, b in cuts] for row in rows]
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


def latex_tables(text: str) -> Iterator[tuple[str, Rows]]:
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
        body = _LINES.sub(
            "", re.sub(r"^\s*(\[[^\]]*\])?(\{[^{}]*\})?\{(?:[^{}]|\{[^{}]*\})*\}", "", table[2])
        )
        rows = [_ampersands(row) for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline", body)]
        yield " ".join(heading.split()), [row for row in rows if any(row)]


def _ampersands(line: str) -> list[str]:
    cells: list[str] = []
    for cell in re.split(r"(?<!\\)&", line):
        cell = re.sub(
            r"\\multirow(?:\[[^\]]*\])?\{[^}]*\}(?:\[[^\]]*\])?\{[^}]*\}", "", cell.strip()
        )
        wide = re.match(r"\{?\s*\\multicolumn\{(\d+)\}\{[^}]*\}\s*(.*)", cell, re.DOTALL)
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
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6", "caption"):
            self.text = ""
        elif tag in _SIGNS and (self.in_cell or tag == "br"):
            self.text += _SIGNS[tag]

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._close()
            self.ended = tag == "tr"
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6", "caption") and not self.in_cell:
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


def html_tables(text: str) -> Iterator[tuple[str, Rows]]:
    """Yield the heading and the rows of each table of a page."""
    parser = _Html()
    parser.feed(text)
    yield from parser.tables
