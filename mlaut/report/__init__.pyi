"""Where the public names are defined: for type checkers, and for `mlaut.helpers.lazy`."""

from mlaut.report.content import Report as Report
from mlaut.report.records import Section as Section
from mlaut.report.report import make_report as make_report
from mlaut.report.writing import write_report as write_report
