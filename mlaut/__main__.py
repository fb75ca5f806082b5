"""Entry point of ``mlaut`` and of ``python -m mlaut``."""

import sys

from mlaut.helpers.anew import ServerBornError, begin_anew


def main() -> None:
    """Run the command line, in a process that can become the server of its workers."""
    if sys.platform == "linux" and {"run", "demo"}.issuperset(sys.argv[1:2]) and sys.argv[1:]:
        begin_anew()
    from mlaut.cli import main as command_line

    try:
        command_line()
    except ServerBornError as born:
        born.serve()


if __name__ == "__main__":
    main()
