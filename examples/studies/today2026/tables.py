"""Write the tables of README.md to ``results``: python tables.py, after mlaut run study.toml."""

import sys
from pathlib import Path

import pandas as pd

from mlaut.analysis import Results, budget_use
from mlaut.errors import MlautError
from mlaut.report import make_report

try:
    from mlaut_races import score_against_budget
except ImportError:
    sys.exit("scores by budget: 'pip install ./plugins/races' in a copy of MLaut's repository")

HERE = Path(__file__).parent


def gains(results: Results) -> pd.DataFrame:
    """Return what tuning brought: accuracy tuned minus default, over datasets."""
    scores = results.scores
    plain = [name for name in scores if not name.endswith(" tuned")]
    found = pd.DataFrame({name: scores[f"{name} tuned"] - scores[name] for name in plain})
    return pd.DataFrame(
        {
            "default": scores[plain].mean(),
            "gain": found.mean(),
            "standard error": found.sem(),
            "better": (found > 0).sum(),
            "worse": (found < 0).sum(),
        }
    )


def write(study: Path, folder: Path) -> None:
    """Write what is decided, what tuning brought, budgets, and scores by budget."""
    folder.mkdir(exist_ok=True)
    results = Results.from_study(study, "accuracy")
    decision = make_report(study, metric="accuracy").sections[0].decision  # by its own terms
    folder.joinpath("decision.txt").write_text(decision.sentence() + "\n")
    tables = {
        "decision": decision.to_frame(),
        "scores": results.scores,
        "gains": gains(results),
        "budgets": budget_use(study),
        "by_budget": score_against_budget(study, "accuracy"),
    }
    for name, table in tables.items():
        table.round(4).to_csv(folder / f"{name}.csv")


if __name__ == "__main__":
    try:
        write(HERE / "study.h5", HERE / "results")
    except MlautError as error:
        sys.exit(f"{error} (mlaut run study.toml makes the study)")
