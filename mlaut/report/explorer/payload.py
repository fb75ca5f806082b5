"""The text in a page that holds all data of its explorer and of its long tables."""

from collections.abc import Mapping
from typing import Any

from mlaut.report.contents import Contents
from mlaut.report.explorer.insides import insides
from mlaut.report.explorer.packing import Packer
from mlaut.report.explorer.views import view


def payload(report: Contents, tables: Mapping[str, Any]) -> str:
    """Return the data of a page as one text; empty if there is nothing to explore.

    Parameters
    ----------
    report : Contents
    tables : mapping of str to mapping
        Long tables by their id in the page: ``labels``, ``columns`` and ``texts`` by column.
    """
    packer = Packer()
    several = [x for x in report.sections if x.decision is not None and x.one is None]
    views = [view(section, packer) for section in several]
    if not views and not tables:
        return ""
    behind = None if report.source is None or not views else insides(report.source, packer)
    return packer.text({"views": views, "insides": behind, "tables": tables})
