#!/usr/bin/env bash
# Install a wheel into a new environment, and use it without the clone: demo, report, status, a table
# of scores, and the listings of the paper.
#   tools/try_wheel.sh WHEEL [PYTHON]
set -euo pipefail
wheel=$(realpath "$1")
python=${2:-python3}
listings=$(realpath "$(dirname "$0")/../tests/acceptance/test_paper_listings.py")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -m venv bare
bare/bin/python -m pip install --quiet --disable-pip-version-check "$wheel"
export PATH="$work/bare/bin:$PATH"
mlaut --version
mlaut demo --output demo > demo.txt
mlaut demo --output demo | grep "nothing to do"
mlaut status demo/study.h5 | sed -n 1p
printf 'dataset,tree,forest\niris,.94,.96\nwine,.90,.98\nglass,.70,.80\n' > scores.csv
mlaut report scores.csv --metric accuracy | sed -n 1,3p
python - << 'CODE'
import mlaut
from mlaut.analysis import read_results
print(mlaut.compare(read_results("scores.csv", "accuracy")).decision().headline())
CODE
# The listings of the MLaut paper, with the installed package.
cp "$listings" .
python -m pip install --quiet --disable-pip-version-check pytest
python -m pytest -q -m "not slow" -W ignore "$(basename "$listings")" | tail -1
