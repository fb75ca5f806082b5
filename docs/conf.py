"""Settings of the documentation site; `make docs` builds it."""

import importlib
import logging
import runpy
import shutil
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from sphinx.errors import ExtensionError

import mlaut

HERE = Path(__file__).parent

project = "MLaut"
author = "The MLaut developers"
release = version = mlaut.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "MLaut"
html_extra_path = ["../llms.txt"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_output_stderr = "error"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have the types
autodoc_member_order = "bysource"
autodoc_default_options = {  # scikit-learn adds these to every estimator
    "exclude-members": "set_fit_request, set_predict_request, set_score_request, set_split_request",
}
suppress_warnings = ["ref.python"]  # types such as `strategies` are words here, not references
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

PACKAGES = {
    "mlaut.study": "A study in one object",
    "mlaut.data": "Datasets, splits and targets",
    "mlaut.estimators": "Strategies",
    "mlaut.sharing": "Ranges of parameters",
    "mlaut.experiments": "Running studies",
    "mlaut.files_io": "The files",
    "mlaut.analysis": "Statistics and figures",
    "mlaut.report": "Reports",
    "mlaut.errors": "Errors",
}


def rooms() -> list[str]:
    """Return the packages of the analysis that have names of their own."""
    return [f"mlaut.analysis.{room}" for room in importlib.import_module("mlaut.analysis").ROOMS]


def offered(package: str) -> dict[str, object]:
    """Return the public functions and classes of a package or module."""
    module = importlib.import_module(package)
    listed = getattr(module, "__all__", None)
    values = {n: getattr(module, n) for n in sorted(listed or vars(module)) if n[0] != "_"}
    return {
        name: value
        for name, value in values.items()
        if callable(value) and (listed or value.__module__ == package)
    }


def public(package: str) -> list[str]:
    """Name what a package offers, but for plain values and what another package documents."""
    values = offered(package).items()
    return [name for name, value in values if _home(value, default=package) == package]


def _home(value: object, *, default: str) -> str:
    """Return the package that documents an object: that of its definition if it has the name."""
    module = f"{getattr(value, '__module__', '')}."
    homes = [package for package in PACKAGES if module.startswith(f"{package}.")]
    name = getattr(value, "__name__", "")
    return next((package for package in homes if name in offered(package)), default)


def write_api(folder: Path) -> None:
    """Write a page for each package and room, each with a table of its public names."""
    folder.mkdir(exist_ok=True)
    for package in [*PACKAGES, *rooms()]:
        names = "\n".join(f"   {name}" for name in public(package))
        table = f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{names}\n"
        head = f"{package}: {PACKAGES[package].lower()}" if package in PACKAGES else package
        page = f"{head}\n{'=' * len(head)}\n\n.. automodule:: {package}\n   :no-members:\n\n{table}"
        _write(folder / f"{package}.rst", page)


def copy_examples(folder: Path) -> None:
    """Put the notebooks and their data where Sphinx finds them."""
    examples = HERE.parent / "examples"
    copied = [*examples.glob("data/*.csv"), *examples.glob("data/openml/**/*.*")]
    for study in ("bouckaert2003", "lacoste2012"):  # whose code notebooks import
        copied += examples.glob(f"studies/{study}/*.py")
    for source in [*examples.glob("*.ipynb"), *copied]:
        target = folder / source.relative_to(examples)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def run_notebooks(folder: Path) -> None:
    """Run the notebooks that the cache has not yet, on all cores; Sphinx would do one at a time.

    Sphinx itself runs those that go on with what another one has left.
    """
    cache, paths = get_cache(nb_execution_cache_path), sorted(folder.glob("*.ipynb"))
    ahead = [str(path) for path in paths if "%run" not in path.read_text(encoding="utf-8")]
    for path in ahead:
        cache.add_nb_to_project(path)
    logger = logging.getLogger("notebooks")
    logger.setLevel(logging.WARNING)  # else all that processes do is told
    runs = load_executor("local-parallel", cache, logger)
    runs.run_and_cache(filter_uris=ahead, timeout=nb_execution_timeout)
    failed = [one for one in cache.list_project_records(ahead) if one.traceback]
    if failed:
        raise ExtensionError("\n".join(f"{one.uri}: {one.traceback}" for one in failed))


def tool(name: str) -> dict[str, Any]:
    """Return the functions of a script in tools/."""
    return runpy.run_path(str(HERE.parent / "tools" / f"{name}.py"))


def generated_pages() -> dict[str, str]:
    """Return the pages that are made of stored results and of the registry, by name."""
    matrix = tool("contact_matrix")
    return {
        "contact-matrix": matrix["page"](matrix["stored"]()),
        "gallery": tool("gallery")["page"](),
        "licences": tool("licences")["page"](),
        "report-gallery": tool("report_gallery")["page"](),
        "measurements": tool("measurements")["chapter"](),
        "seeds": tool("seeds_table")["page"](),
        "strategy-tables": tool("strategies_table")["page"](),
        "tasks": tool("llms")["guide"](),
    }


def write_generated(folder: Path) -> None:
    """Write the generated pages."""
    folder.mkdir(exist_ok=True)
    for name, text in generated_pages().items():
        _write(folder / f"{name}.md", text)


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> None:
    """Run the notebooks before the pages are read, and write the gallery of reports beside them."""

    def write_reports(app: Any, error: Exception | None) -> None:
        if error is None and app.builder.name == "html":
            tool("report_gallery")["write_reports"](Path(app.outdir) / "reports")

    app.connect("builder-inited", lambda _: run_notebooks(HERE / "examples"))
    app.connect("build-finished", write_reports)


write_api(HERE / "api")
write_generated(HERE / "generated")
copy_examples(HERE / "examples")
