#!/usr/bin/env bash
# Check the examples of the documentation as a user's type checkers see them: mypy and basedpyright,
# with MLaut installed from a wheel, without the clone.
#   tools/try_types.sh WHEEL [PYTHON]
set -euo pipefail
wheel=$(realpath "$1")
python=${2:-python3}
docs=$(realpath "$(dirname "$0")/../docs")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -m venv bare
bare/bin/python -m pip install --quiet --disable-pip-version-check \
  "$wheel" mypy==2.4.1 basedpyright==1.40.2 pandas-stubs
mkdir examples
bare/bin/python - "$docs" << 'CODE'
"""Write the examples of each page as one program; one without MLaut (h5py alone) says nothing."""
import re
import sys
from pathlib import Path

for page in sorted(Path(sys.argv[1]).glob("*.md")):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    if any("mlaut" in one for one in blocks):
        Path("examples", page.stem.replace("-", "_") + ".py").write_text("\n".join(blocks), "utf-8")
CODE
echo "$(ls examples | wc -l) programs"
cat > pyproject.toml << 'CONFIG'
[tool.mypy]
# Examples have no annotations, are checked all the same, and define names again from block to block.
check_untyped_defs = true
allow_redefinition = true
disable_error_code = ["import-untyped", "import-not-found", "no-redef"]

[tool.basedpyright]
typeCheckingMode = "basic"
reportMissingImports = false
reportMissingModuleSource = false
reportMissingTypeStubs = false
CONFIG
# A name that nobody typed would be Any, and hide every mistake: this one must be found.
cat > mistake.py << 'CODE'
import mlaut

mlaut.Study("study.h5").reprot()
mlaut.no_such_name
CODE
for check in "bare/bin/mypy" "bare/bin/basedpyright --pythonpath bare/bin/python"; do
    if $check mistake.py > found.txt; then cat found.txt; echo "$check: finds no mistake"; exit 1; fi
    grep -q reprot found.txt && grep -q no_such_name found.txt
    echo "== $check examples"
    $check examples
done
