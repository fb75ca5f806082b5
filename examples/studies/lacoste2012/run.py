"""Run the whole study, or go on with it: tasks, cells, tables, simulations.

python run.py
"""

import sys

from compare import write
from prepare import HERE, prepare
from simulations import simulate

from mlaut.errors import MlautError
from mlaut.experiments import run_study

if __name__ == "__main__":
    try:
        prepare(HERE / "input.h5")
    except MlautError as error:
        sys.exit(f"{error} (python ../load.py loads the tables)")
    try:
        run_study(HERE / "study.toml")
    except MlautError as error:  # an interruption too; the same command goes on
        sys.exit(str(error))
    write(HERE / "study.h5", HERE / "results")
    simulate(HERE / "results")
