"""Place a random forest and an SVC among the 179 classifiers of Fernandez-Delgado et al. (2014).

python benchmarks/place_delgado.py ARCHIVE WORK

ARCHIVE is a folder in the layout of the authors' data (tools/delgado_archive.py writes one from
tables and folds). WORK gets the studies, from which a second call continues. Datasets of up to
2,000 rows are used. On 28 of them the 4,368 cells took 19 minutes on one worker of a busy machine:
7 for the candidates, 12 for the folds, most of them in forests of 500 trees.

It needs the plug-in mlaut-boards: pip install ./plugins/exchange ./plugins/boards
"""

import sys
from pathlib import Path

import numpy as np
from mlaut_boards.placing.placement import place_study
from mlaut_boards.placing.published_places import reproduction

from mlaut.analysis import Results, published
from mlaut.data import load_folder

MOST_ROWS = 2_000
SAME = {"RandomForestClassifier": "rf_caret", "SVC": "svm_C"}
SAME |= {f"{name} (again)": name for name in ("lda_R", "rforest_R")}
STUDY = """
[study]
output = "place.h5"
[data]
input = "place.input.h5"
folder = "{archive}"
datasets = {datasets}
[strategies]
names = ["RandomForestClassifier", "SVC"]
[strategies.parameters.RandomForestClassifier]
params = {{ n_estimators = 500 }}
param_grid = {{ max_features = {mtry} }}
[strategies.parameters.SVC]
param_grid = {{ C = {C}, gamma = {gamma} }}
[run]
n_jobs = 1
timeout = "2m cpu"
"""


def main(archive, work):
    """Run the study, and print the check, the place, and the differences by dataset."""
    work = Path(work)
    work.mkdir(exist_ok=True, parents=True)
    known = published("delgado2014").datasets
    small = [one for one in load_folder(archive) if len(one.frame) <= MOST_ROWS]
    text = STUDY.format(
        archive=Path(archive).resolve(),
        datasets=[one.name for one in small if one.name in known],
        mtry=list(range(2, 30, 3)),  # as rf_caret
        # every second power of two of svm_C's grid of 500
        C=[2**k for k in range(-5, 15, 2)],
        gamma=[2**k for k in range(-16, 9, 2)],
    )
    (work / "place.toml").write_text(text.replace("'", '"'))
    print(place_study(work / "place.toml", "delgado2014"))
    results = Results.from_study(work / "place.delgado2014.h5", "accuracy")
    print(reproduction(results, "delgado2014", SAME))
    theirs = published("delgado2014").scores.loc[list(results.datasets)]
    here = results.scores
    table = here[list(SAME)] - theirs[list(SAME.values())].to_numpy()
    print((100 * table).round(1).to_string())
    print("datasets with the published digits of lda_R:")
    equal = np.abs(table["lda_R (again)"]) <= 0.0005000001
    print(", ".join(table.index[equal]))


if __name__ == "__main__":
    main(*sys.argv[1:3])
