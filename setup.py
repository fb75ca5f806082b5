"""Computed metadata of MLaut; all else stands in pyproject.toml, which setuptools reads."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
# Address of the repository; the releasing page says where it is needed. PyPI shows the README, but
# has no files that its relative links could lead to.
URL = ""


def readme() -> str:
    """Return the README, with links to this version in the repository if URL is set."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    if not URL:
        return text
    package = (HERE / "mlaut/__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', package, re.M)[1]
    images = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\g<1>{URL}/raw/v{version}/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{URL}/blob/v{version}/", images)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    project_urls={"Homepage": URL, "Changes": f"{URL}/blob/main/CHANGELOG.md"} if URL else {},
)
