"""Write the JSON schema of the commands of this plug-in, into mlaut_exchange/schemas.

python plugins/exchange/schemas.py
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "mlaut_exchange" / "schemas"
OF_MLAUT = SimpleNamespace(**runpy.run_path(str(HERE.parents[1] / "tools" / "schemas.py")))
text, one, many = OF_MLAUT.text, OF_MLAUT.one, OF_MLAUT.many

RESULTS = {
    "import": one(
        study=OF_MLAUT.STUDY,
        strategy=OF_MLAUT.WHO,
        cells=OF_MLAUT.whole("Cells that were stored"),
    ),
    "publish": one(
        folder=text("Folder of the bundle"),
        title=text("Title of the bundle"),
        digest=OF_MLAUT.DIGEST,
        files=many(text(), "Names of its files"),
        outside=many(text(), "Datasets that are named by digest, and not included"),
        nowhere=many(text(), "Those of them that nobody can load"),
    ),
}

if __name__ == "__main__":
    OF_MLAUT.write(FOLDER, RESULTS)
