import pytest

from mlaut.report import drawing


@pytest.fixture(scope="module", autouse=True)
def few_figures():
    """Draw one figure in each report: tests of reports have all, which take a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "FIGURES", {"decision": drawing.FIGURES["decision"]})
        yield
