"""Every example in the documentation runs.

In a page, blocks marked `python` are one program; `sh run` are commands that are run between them,
and a block such as `toml study.toml` is a file that is there before the blocks that follow.
"""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [path for path in sorted(DOCS.glob("*.md")) if "```python\n" in path.read_text("utf-8")]


def program_of(page):
    """Return the page's examples as one program."""
    lines = ["import os, subprocess", "from pathlib import Path"]
    for language, told, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python" and not told:
            lines.append(text)
        elif language == "sh" and told == "run":
            lines += [f"subprocess.run({line!r}, shell=True, check=True)" for line in _lines(text)]
        elif language != "python" and "." in told:
            lines.append(f"Path({told!r}).write_text({text!r}, encoding='utf-8')")
    return "\n".join(lines)


def _lines(text):
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path):
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", program_of(page)],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert told.returncode == 0, told.stderr


@pytest.fixture(scope="module")
def generated():
    """Return the pages that are made when the documentation is built, by their path in docs."""
    tools = {path.stem: path for path in (DOCS.parent / "tools").glob("*.py")}
    matrix = runpy.run_path(str(tools["contact_matrix"]))
    return {
        "generated/gallery.md": runpy.run_path(str(tools["gallery"]))["page"](),
        "generated/report-gallery.md": runpy.run_path(str(tools["report_gallery"]))["page"](),
        "generated/licences.md": runpy.run_path(str(tools["licences"]))["page"](),
        "generated/contact-matrix.md": matrix["page"](matrix["stored"]()),
        "generated/measurements.md": runpy.run_path(str(tools["measurements"]))["chapter"](),
        "generated/seeds.md": runpy.run_path(str(tools["seeds_table"]))["page"](),
        "generated/strategy-tables.md": runpy.run_path(str(tools["strategies_table"]))["page"](),
        "generated/tasks.md": runpy.run_path(str(tools["llms"]))["guide"](),
    }


def text_of(page):
    """Return the text of a page with that of the files that it includes."""
    text = page.read_text(encoding="utf-8")
    included = r"^```{include} (\S+)\n(?::.*\n)*```$"
    return re.sub(included, lambda found: (DOCS / found[1]).read_text("utf-8"), text, flags=re.M)


def test_pages_lead_somewhere(generated):
    labels = set(re.findall(r"^\(([\w-]+)\)=$", generated["generated/measurements.md"], re.M))
    linked = set()
    for page in DOCS.glob("*.md"):
        text = text_of(page)
        links = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", text)
        lost = [link for link in links if not (link in generated or (DOCS / link).exists())]
        assert lost == [], page.name
        local = set(re.findall(r"\]\(#([\w-]+)\)", text))
        assert local - labels - {anchor(h) for h in headings(text)} == set(), page.name
        for other, name in re.findall(r"\]\(([\w./-]+\.md)#([\w-]+)\)", text):
            assert name in {anchor(h) for h in headings(text_of(DOCS / other))}, name
        linked |= local
    assert labels - linked == set(), "no page says what follows from these tables"


def test_the_code_of_the_gallery_draws_figures_that_are_there(generated):
    tool = runpy.run_path(str(DOCS.parent / "tools" / "gallery.py"))
    pictures = re.findall(r"\]\(\.\./(gallery/[\w-]+\.png)\)", generated["generated/gallery.md"])
    assert len(pictures) == len(tool["FIGURES"]) + 1
    assert all((DOCS / picture).exists() for picture in pictures)
    pytest.importorskip("mlaut_extras")  # which has some of the figures
    names = {}
    exec(tool["START"] + tool["HIDDEN"], names)
    for name in ("boxes", "duels"):
        assert tool["draw"](tool["FIGURES"][name][1], names).axes


def headings(text):
    return re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)


def anchor(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_every_stored_table_is_in_the_appendix_with_all_its_rows(generated):
    tool = runpy.run_path(str(DOCS.parent / "tools" / "measurements.py"))
    listed = [table["file"] for section in tool["sections"]() for table in section["table"]]
    stored = {path.name for path in tool["RESULTS"].glob("*.csv")}
    assert stored - set(listed) == {"contact_classification.csv", "contact_regression.csv"}
    assert len(listed) == len(set(listed))
    for file in listed:
        rows = tool["rows"](file)
        assert tool["markdown"](rows) in generated["generated/measurements.md"]
        assert {len(row) for row in rows} == {len(rows[0])}


def test_the_pages_are_short():
    """The manual without the appendix; tables of measurements belong into benchmarks/results."""
    words = {page.name: len(page.read_text("utf-8").split()) for page in DOCS.glob("*.md")}
    assert sum(words.values()) - words["measured-levels.md"] <= 31_000
    tuning = (DOCS / "tuning.md").read_text("utf-8").partition("## What was measured")[0]
    assert len(tuning.split()) <= 1500


def texts():
    """Return what users read, by path: documentation, messages, examples; as one line of words."""
    root = DOCS.parent
    pages = [*root.glob("*.md"), *DOCS.glob("*.md"), *root.glob("examples/**/*.md")]
    return {
        path.relative_to(root): re.sub(r'"\s*\n\s*f?"', "", path.read_text("utf-8"))
        for path in (*pages, *root.glob("mlaut/**/*.py"), *root.glob("mlaut/**/*.toml"))
    }


def test_commands_and_options_exist():
    """Those in quotes, and those that stand at the beginning of a line, as in a terminal."""
    from mlaut.cli import _IN_PLUGINS, cli

    wrong, n = [], 0
    for path, text in texts().items():
        if path.name == "CHANGELOG.md":  # it may name what is gone
            continue
        quoted = re.findall(r"['`]mlaut ([^'`]*)['`]", text, re.DOTALL)
        for line in quoted + re.findall(r"^(?: {4})?mlaut ([a-z][^\n#]*)", text, re.MULTILINE):
            command, words, n = cli, line.split(), n + 1
            while hasattr(command, "commands") and words and words[0] in command.commands:
                command = command.commands[words.pop(0)]
            options = {
                o for p in (*command.params, *cli.params) for o in (*p.opts, *p.secondary_opts)
            }
            named = set(re.findall(r"(?<!\S)--?[a-z][\w-]*", " ".join(words)))
            lost = hasattr(command, "commands") and words and words[0].isalpha()
            if lost and words[0] in _IN_PLUGINS:
                continue
            if lost or named - options - {"--help"}:
                wrong.append((str(path), line))
    assert wrong == []
    assert n > 200


def test_pages_that_messages_name_exist():
    for path, text in texts().items():
        named = re.findall(r"\bdocs/([\w-]+\.md)", text)
        assert [page for page in named if not (DOCS / page).exists()] == [], path
    measured = (DOCS / "measured-levels.md").read_text("utf-8")
    from mlaut.analysis.methods.cross_validation import fold_tests

    assert re.search("rejected ([0-9.]+) %", fold_tests._FIVE_BY_TWO)[1] in measured


def test_the_rooms_of_the_table_are_the_folders():
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Packages")[2].partition("###")[0]
    rooms = dict(re.findall(r"^\| `(\w+)` \|[^|\n]*\| (`.*) \|$", table, re.M))
    for package in ("files_io", "data", "estimators", "analysis", "experiments", "report"):
        inits = (DOCS.parent / "mlaut" / package).glob("**/?*/__init__.py")
        assert {p.parent.name for p in inits} - {package} == set(
            re.findall(r"`(\w+)`", rooms[package])
        )
