"""Write the JSON schemas of the commands of this plug-in, into mlaut_boards/schemas.

python plugins/boards/schemas.py
"""

import runpy
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "mlaut_boards" / "schemas"
OF_MLAUT = SimpleNamespace(**runpy.run_path(str(HERE.parents[1] / "tools" / "schemas.py")))
text, number, whole, yes = OF_MLAUT.text, OF_MLAUT.number, OF_MLAUT.whole, OF_MLAUT.yes
one, many, each, or_null = OF_MLAUT.one, OF_MLAUT.many, OF_MLAUT.each, OF_MLAUT.or_null

VERDICT = one(
    "Verdict on an entry, as the repository of a board keeps it",
    format=whole("Format of a verdict: 1"),
    entry=text("Name of the folder of the entry"),
    seed=text("Text that was fixed after the entry, from which its sample of cells was drawn"),
    claim=whole("Number of the claim, from 1"),
    title=text("Title of the entry"),
    authors=text("Its authors"),
    strategy=OF_MLAUT.WHO,
    digest=OF_MLAUT.DIGEST,
    verdict=text("accepted, provisional or refused"),
    why=text("The reason; for an accepted entry, what it is"),
    checks=each(text(), "What was found, by check"),
    record=yes("Whether it is shown to be better than all entries before it"),
    score=or_null(number("Mean score by the metric of the board; null if it was not ranked")),
    rank=or_null(number("Average rank")),
    rank_low=or_null(number("Lower end of its 95% interval; null if no interval is known")),
    rank_high=or_null(number("Upper end")),
    best=or_null(number("P(best)")),
    evidence=or_null(number("1 / p against the entry that is hardest to beat")),
    needed=or_null(number("Evidence that a claim of this number needs")),
    rival=text("The entry that is hardest to beat"),
    difference=or_null(number("Mean loss of the rival less that of the entry; above 0: better")),
    difference_low=or_null(number("Lower end of its 95% interval, for this pair alone")),
    difference_high=or_null(number("Upper end of its 95% interval")),
    cells=whole("Cells of the entry"),
    fitted=whole("Cells that were fitted again"),
    claimed_seconds=or_null(number("Mean seconds of a cell as claimed")),
    measured_seconds=or_null(number("Mean seconds of a cell when the board fitted it")),
)
RESULTS = {
    "leaderboard-init": one(board=text("Folder of the board"), digest=OF_MLAUT.DIGEST),
    "leaderboard-add": one(entry=text("Folder of the entry"), digest=OF_MLAUT.DIGEST),
    "leaderboard-fit": many(
        one(
            entry=text("Name of the entry"),
            cells=whole("Cells that were fitted again"),
            error=text("Why cells were not fitted again; empty if they were"),
        )
    ),
    "leaderboard-judge": many(VERDICT),
    "leaderboard-page": one(page=text("Path of the first page")),
    "leaderboard-export": one(files=OF_MLAUT.FILES),
    "leaderboard-records": OF_MLAUT.STANDINGS,
    "study-same": one(
        answer=text("same, differs or cannot tell, of all strategies"),
        metric=text("Metric of the scores"),
        rope=number("Largest mean difference that counts as none"),
        notes=many(text(), "What limits the answer, a sentence each"),
        strategies=OF_MLAUT.STANDINGS | {"description": "Answer and p-values of each strategy"},
        environments=OF_MLAUT.STANDINGS | {"description": "What differs between the two runs"},
    ),
    "study-place": one(
        sentence=text("Place of the best own strategy, and whether the check supports it"),
        check=or_null(OF_MLAUT.STANDINGS | {"description": "Strategies that were run again"}),
        place=OF_MLAUT.STANDINGS | {"description": "Places of the own strategies"},
    ),
}

if __name__ == "__main__":
    OF_MLAUT.write(FOLDER, RESULTS)
