"""Entry point of ``python -m mlaut``."""

from mlaut.cli import main

main()
