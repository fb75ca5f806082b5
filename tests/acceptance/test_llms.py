"""The files for assistants are made from the documentation, and are current."""

import re
import runpy
from pathlib import Path

import click

ROOT = Path(__file__).parents[2]
TOOL = runpy.run_path(str(ROOT / "tools" / "llms.py"))


def test_the_map_is_current_and_leads_to_every_page():
    text = TOOL["llms"]()
    assert (ROOT / "llms.txt").read_text("utf-8") == text, "run: python tools/llms.py"
    assert re.match(r"# MLaut\n\n> MLaut compares machine learning strategies", text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert all((ROOT / link).exists() for link in links)
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages - set(links) == {"docs/index.md"}
    about = re.findall(r"^- \[[^\]]+\]\(docs/[\w-]+\.md\): (.+)$", text, re.M)
    assert all(re.fullmatch(r"\S.{15,250}\.", one) and "```" not in one for one in about)


def test_the_guide_has_every_command_with_a_call_that_can_be_parsed():
    guide = TOOL["guide"]()
    commands = dict(TOOL["commands"]())
    assert len(commands) == guide.count("\nResult: `mlaut ") == guide.count("\n## ")
    for words, command in commands.items():
        assert f"Result: `{words} --json-schema`." in guide
        (section,) = [one for one in guide.split("\n## ") if f"`{words} --json-schema`" in one]
        assert re.search(r"^mlaut ", section, re.M), words
        assert isinstance(command, click.Command)
    assert len(guide.split()) < 1500  # it is short
