"""Run the whole study, or go on with it: tasks, cells, tables.

python run.py
"""

from prepare import HERE, prepare

from mlaut.experiments import run_study

if __name__ == "__main__":
    prepare()
    run_study(HERE / "study.toml")
