"""Judge leaderboards, of clones of SalesforceAIResearch/gift-eval and autogluon/fev.

python judge.py gift-eval/results fev/benchmarks/fev_bench/results
"""

import subprocess
import sys
from pathlib import Path

from mlaut_boards.contamination import treat_contaminated
from mlaut_boards.growing import new_records

from mlaut.analysis import read_results, treat_missing
from mlaut.analysis.methods.aggregates import skill_table


def submitted(folder):
    """Return the submissions of GIFT-Eval, the oldest first, by the git history of their files."""
    log = ["git", "log", "--reverse", "--diff-filter=AR", "--name-only", "--format=", "--", "*.csv"]
    found = subprocess.run(log, cwd=folder, capture_output=True, text=True, check=True).stdout
    return list(dict.fromkeys(Path(line).parent.name for line in found.split("\n") if line))


gift_eval, fev = (Path(one) for one in sys.argv[1:])
board = treat_contaminated(read_results(gift_eval), "drop strategies")
records = new_records(board, [one for one in submitted(gift_eval) if one in board.strategies])
ahead = records.frame[records.frame["claim"] != ""]
sys.stdout.write(f"{ahead.to_string()}\n{records.notes[-1]}\n")

board = treat_contaminated(read_results(fev), "Chronos-Bolt")
board = treat_missing(board, "Seasonal Naive")
for weights in ("dataset", "source"):
    sys.stdout.write(f"{skill_table(board, baseline='Seasonal Naive', weights=weights)}\n")
