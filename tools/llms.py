"""Write the documentation for assistants: `llms.txt`, a map of the pages, and a guide of tasks.

    python tools/llms.py

Both are made from the documentation. The map is made from the page "MLaut" (docs/index.md), its
tables of contents and the first sentence of each page; the guide is made from the help of each
command. `llms.txt` is in the repository, and tests compare it with the pages; `docs/conf.py` makes
a page of the guide.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from mlaut.cli import cli

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
TASKS = """\
# Tasks, for assistants and scripts

Every command takes `--json` and then prints one JSON value on the output stream, and nothing else;
progress and warnings go to the error stream. `--json-schema` prints the schema of that value. An
error is one line on the error stream with the way out, and [an exit code](../command-line.md). No
command asks a question. Numbers that are not finite are `null`. A version 1.y adds keys, and
removes none.

To decide between strategies: run a study (or take a table of scores), then read `headline`,
`how sure` and `strategies` of `mlaut report ... --json`. Repeat the headline with its conditions;
"undecided" is a result, and no reason to look for another test."""


def llms() -> str:
    """Return the map of the pages: a title, a summary, and a link and a sentence for each page."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    title, summary = re.match(r"# ([^\n]+)\n\n(.+?)\n\n", index, re.S).groups()
    lines = [f"# {title}", "", f"> {_joined(summary)}", ""]
    lines += ["`pip install .` in a clone of this repository (on PyPI is an older version), then"]
    lines += ["`mlaut demo`; in Python `mlaut.Study`. Every command has"]
    lines += ["`--json` with a schema: docs/command-line.md. Tasks and their commands:", ""]
    lines += [f"- {task}" for task in _tasks(index)]
    for caption, pages in _contents(index):
        lines += ["", f"## {caption}", ""]
        lines += [f"- [{_title(page)}](docs/{page.name}): {_first(page)}" for page in pages]
    return "\n".join(lines) + "\n"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _tasks(index: str) -> Iterator[str]:
    """Yield the tasks that the page "MLaut" lists, with links from the root of the repository."""
    listed = index.partition("To ...\n\n")[2].partition("\n\n")[0]
    for task in re.split(r"^- ", listed, flags=re.M)[1:]:
        task = re.sub(r"\[([^\]]+)\]\(generated/[^)]*\)", r"\1", _joined(task))
        yield re.sub(r"\]\(([\w-]+\.md)", r"](docs/\1", task)


def _contents(index: str) -> Iterator[tuple[str, list[Path]]]:
    """Yield each table of contents: its caption, and the pages of it that are in the repository."""
    for table in re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.M | re.S):
        caption = re.search(r":caption: (.+)", table)[1]
        pages = [DOCS / f"{name}.md" for name in re.findall(r"^[\w-]+$", table, re.M)]
        if pages:
            yield caption, pages


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _first(page: Path) -> str:
    """Return the first sentence of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    paragraphs = [_joined(one) for one in text.split("\n\n")[1:] if re.match(r"[A-Z*]|`[^`]", one)]
    sentence = re.match(r".+?[.:](?= [A-Z*`\[]|$)", paragraphs[0])
    plain = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", sentence[0] if sentence else paragraphs[0])
    return plain.rstrip(":.") + "."


def commands(group: click.Group = cli, path: str = "mlaut") -> Iterator[tuple[str, click.Command]]:
    """Yield each command with the words that call it."""
    below = [one for one in group.commands.items() if isinstance(one[1], click.Group)]
    for name, command in [one for one in group.commands.items() if one not in below] + below:
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def guide() -> str:
    """Return the guide of tasks: what each command does, and how it is called."""
    lines = [TASKS]
    for words, command in commands():
        text = command.help or ""
        examples = [line.strip() for line in text.splitlines() if line.strip().startswith("mlaut ")]
        lines += ["", f"## {_joined(text.partition(chr(10) * 2)[0])}", ""]
        lines += ["```sh", *examples, "```", "", f"Result: `{words} --json-schema`."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / "llms.txt").write_text(llms(), encoding="utf-8")
