"""Write the JSON schema of the command of this plug-in, into mlaut_slurm/schemas.

python plugins/slurm/schemas.py
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "mlaut_slurm" / "schemas"
OF_MLAUT = SimpleNamespace(**runpy.run_path(str(HERE.parents[1] / "tools" / "schemas.py")))
text, whole, one, many = OF_MLAUT.text, OF_MLAUT.whole, OF_MLAUT.one, OF_MLAUT.many

RESULTS = {
    "submit": {
        "anyOf": [
            one(
                study=text("Path of the merged study"),
                shards=whole("Number of shards of the study"),
                submitted=many(whole(), "Shards that were submitted now"),
                job=text("Number of their job; empty without one"),
                merge=text("Number of the job that merges; empty without one"),
                finished=many(whole(), "Shards whose cells all have an outcome"),
                waiting=OF_MLAUT.each(text(), "What holds other shards, in words"),
                notes=many(text(), "What was decided for the user"),
                script=text("With --script: the script of the tasks"),
            ),
            one(
                "With --cancel",
                study=text("Path of the merged study"),
                cancelled=many(text(), "Numbers of the cancelled tasks"),
            ),
        ]
    },
}

if __name__ == "__main__":
    OF_MLAUT.write(FOLDER, RESULTS)
