"""Record which tests run which marked lines; a pytest plugin of `tools/mutate.py`."""

import os
from pathlib import Path

_recorded: set[tuple[int, str]] = set()


def _append(name: str, line: str) -> None:
    path = Path(os.environ["MUTATION_RECORD"], name)
    # One short write in append mode stays whole, also when several processes write.
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def hit(site: int) -> None:
    """Record that the running test, or a process that it started, reached a marked line."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (site, test) not in _recorded:
        _recorded.add((site, test))
        _append("hits.tsv", f"{site}\t{test}")


def pytest_runtest_logreport(report):
    """Record the outcome and the seconds of each phase of a test."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # the controller reports what workers ran
        _append("tests.tsv", f"{report.nodeid}\t{report.outcome}\t{report.duration:.3f}")
