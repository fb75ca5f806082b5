"""tools/coverage_table.py turns a report of coverage into a table."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_a_report_goes_between_the_marks():
    tool = runpy.run_path(str(ROOT / "tools" / "coverage_table.py"))
    counts = {"mlaut/data/a.py": (10, 5), "mlaut/data/b/c.py": (30, 30), "mlaut/cli.py": (1000, 1)}
    report = {
        "files": {
            file: {"summary": {"num_statements": n, "covered_lines": covered}}
            for file, (n, covered) in counts.items()
        }
    }
    before = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    after = tool["page"](before, report)
    written = after.partition("<!-- coverage -->\n")[2].partition("<!-- end -->")[0]
    assert written.splitlines() == [
        "| package | statements | covered |",
        "|---|---:|---:|",
        "| cli.py | 1,000 | 0.1% |",
        "| data | 40 | 87.5% |",
        "| all | 1,040 | 3.5% |",
    ]
    assert tool["page"](after, report) == after
    assert after.partition("<!-- coverage -->")[0] == before.partition("<!-- coverage -->")[0]
