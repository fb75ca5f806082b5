"""Strategies of a study among published ones, from Python and from the command line."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from mlaut_boards.placing.placement import place_study
from mlaut_boards.placing.published_places import place, reproduction

from mlaut.analysis import Results, published
from mlaut.analysis.methods.ratings import elo
from mlaut.cli import cli
from mlaut.errors import AnalysisError

GARCIA = published("garcia2008")


@pytest.mark.slow
def test_a_study_file_is_run_and_placed(study, tmp_path, monkeypatch):
    # four datasets bound few of 181 ratings, so that Newton's method takes all its steps
    monkeypatch.setattr(elo, "_STEPS", 3)
    done = CliRunner().invoke(
        cli, ["study", "place", str(study), "--against", "delgado2014", "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert "rforest_R (again) / rforest_R" in done.output
    assert "tuning here: by the benchmark's protocol" in done.output
    placed = pd.read_csv(tmp_path / "out" / "place.csv", index_col=0)
    assert sorted(placed.index) == ["BaselineClassifier", "K_Neighbours"]
    assert (placed["of"] == 181).all()  # 179 published; the one that was run again is not placed
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert len(pairs) == 2 * 179
    assert (pairs["better"] + pairs["worse"] <= 4).all()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"check.csv", "pairs.csv", "place.csv"}
    database = str(study.with_name("study.delgado2014.h5"))
    done = CliRunner().invoke(
        cli, ["study", "place", database, "--against", "delgado2014", "--strategy", "K_Neighbours"]
    )
    assert "not by the benchmark's protocol" in done.output
    assert "nothing checks the comparison" in done.output


def test_a_table_of_scores_is_placed(tmp_path):
    path = tmp_path / "mine.csv"
    theirs = published("garcia2008").scores
    theirs[["C4.5"]].rename(columns={"C4.5": "mine"}).to_csv(path, index_label="dataset")
    placed = place_study(path, "garcia2008")
    assert placed.frame.loc["mine", ["better than", "worse than"]].tolist() == [
        *place(
            Results.from_table(theirs[["C4.5"]].add_suffix("!"), metric="accuracy"), "garcia2008"
        ).frame.iloc[0][["better than", "worse than"]]
    ]
    assert placed.notes[-1] == "tuning here: not by the benchmark's protocol"


def test_a_benchmark_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(AnalysisError, match="did you mean 'delgado2014'"):
        place_study(tmp_path / "study.toml", "delgado2015")
    with pytest.raises(AnalysisError, match="amlb2023 has a result by another metric on each"):
        place_study(tmp_path / "study.toml", "amlb2023")


def placement(again):
    """Return the placement of a better C4.5, and of another strategy that was run again."""
    mine = GARCIA.scores[["C4.5", "Kernel"]].set_axis(["mine", "again"], axis=1)
    mine = mine.assign(mine=mine["mine"] + 0.001, again=mine["again"] + again)
    results = Results.from_table(mine.clip(0, 1), metric="accuracy")
    how = {"strategies": ["mine"]}
    check = reproduction(results, "garcia2008", {"again": "Kernel"})
    return replace(place(results, "garcia2008", **how), check=check)


def test_a_sentence_has_the_numbers_of_the_tables():
    found = placement(again=0)
    verdicts = found.pairs.loc["mine", "verdict"]
    assert verdicts.to_dict() == {
        "C4.5": "better",
        "k-NN(k=1)": "better",
        "NaiveBayes": "undecided",
        "Kernel": "better",
        "CN2": "better",
    }
    assert found.sentence().startswith(
        "mine has an average rank of 2.0 of 6: better than 4 published"
    )
    assert "worse than 0, undecided from 1, by tests. Place among 5 of the 5" in found.sentence()
    assert found.sentence().endswith("Agrees with what was published: again / Kernel.")


def test_a_check_that_fails_is_said():
    assert (
        placement(again=0.05)
        .sentence()
        .endswith(
            "Beyond what folds explain: again / Kernel. So others that were run here may not be "
            "comparable with the published ones either."
        )
    )


def figures(study, **few):
    """Return what placing a study by few of nine datasets finds, and the datasets that ran."""
    found = place_study(study, "delgado2014", budget="6", few=few, verbose=0)
    parts = sorted(study.parent.glob("study.delgado2014-?.h5"))
    ran = [Results.from_study(part, "accuracy").datasets for part in parts]
    return found, ran


def test_the_protocol_runs_on_the_datasets_that_a_placement_asks_for(nine):
    found, ran = figures(nine, rival="rf_caret", audit=True)
    row = found.frame.loc["K_Neighbours"]
    assert len(ran) > 1
    assert sum(map(len, ran)) == len(set(sum(ran, ()))) <= 9  # each dataset runs once
    assert [len(ran[0]), row["of"], found.more] == [5, 176, ()]
    assert found.notes[2] == "among these 9 datasets, and for no others"
    assert found.notes[-1] == "tuning here: by the benchmark's protocol"
    assert f"has an average rank of {row['average rank']:.1f} (" in placed_of(found, "K_Neigh")
    # folds stay through the join, else no dataset could be beyond them
    assert 0 < found.check.frame.loc["rforest_R (again) / rforest_R", "beyond folds"] <= 1
    before = [part.read_bytes() for part in sorted(nine.parent.glob("*.h5"))]
    again, _ = figures(nine, rival="rf_caret", audit=True)  # goes on from what is stored
    pd.testing.assert_frame_equal(again.frame, found.frame, check_exact=True)
    pd.testing.assert_frame_equal(again.pairs, found.pairs, check_exact=True)
    assert [part.read_bytes() for part in sorted(nine.parent.glob("*.h5"))] == before


def placed_of(found, start):
    """Return the sentence about the strategy whose name starts so."""
    name = next(name for name in found.frame.index if name.startswith(start))
    return replace(found, frame=found.frame.loc[[name]]).sentence()


def test_a_command_places_by_few_datasets(nine, tmp_path):
    costs = tmp_path / "costs.csv"
    names = [path.name for path in (tmp_path / "archive").iterdir()]
    costs.write_text("dataset,seconds\n" + "".join(f"{name},60\n" for name in names))
    call = ["study", "place", str(nine), "--against", "delgado2014", "--arm", "random"]
    done = CliRunner().invoke(cli, [*call, "--budget", "6m cpu", "--costs", str(costs)])
    assert done.exit_code == 0, done.output
    assert "Note: random arm: the draw follows from entry='BaselineClassifier, K_N" in done.output
    database = nine.with_name("study.delgado2014-1.h5")
    assert len(Results.from_study(database, "accuracy").datasets) == 6
    database.unlink()
    other = CliRunner().invoke(cli, [*call, "--budget", "6", "--seed", "7"])
    assert "entry='BaselineClassifier, K_Neighbours', seed=7" in other.output.replace("\n", " ")
    without = CliRunner().invoke(cli, call)
    assert "arm needs a budget" in str(without.exception or without.output)
    refused = CliRunner().invoke(cli, [*call, "--budget", "6m cpu"])
    assert "a time needs the cost of each dataset" in str(refused.exception or refused.output)


def test_a_finished_study_is_placed_by_few_of_its_datasets(nine):
    figures(nine)
    database = nine.with_name("study.delgado2014-1.h5")
    found = place_study(database, "delgado2014", budget="5", few={"arm": "random"})
    assert "among these 121 datasets, and for no others" in found.notes
    assert 3 <= len(found.more) <= 5  # its six datasets are hardly those of the draw
    assert found.notes[-2] == f"to run next: {', '.join(found.more)}"
    assert found.sentence().startswith(
        "No strategy was run on the datasets of the first look. No p"
    )


def test_parts_of_a_run_are_joined_with_their_failures(one_fails, tmp_path):
    few = {"rival": "ZeroR_weka"}
    found = place_study(one_fails, "delgado2014", budget="9", few=few, check=[], verbose=0)
    assert len(list(tmp_path.glob("study.delgado2014-?.h5"))) == 2
    row = found.frame.loc["K_Neighbours"]
    assert (row["datasets"], found.more) == (9, ())  # the failed cell is not run again
    # by hand: all learners beat it there, or fail, too; elsewhere its accuracy says
    parts = [Results.from_study(p, "accuracy") for p in tmp_path.glob("study.delgado2014-?.h5")]
    own = pd.concat([part.losses["K_Neighbours"] for part in parts])
    assert own.index[own.isna()].tolist() == ["seeds"]
    theirs = published("delgado2014").select(datasets=own.index)
    kept = theirs.losses.loc[:, theirs.losses.isna().mean() <= 0.1].fillna(np.inf)
    beaten = kept.lt(own.fillna(np.inf), axis=0) + 0.5 * kept.eq(own.fillna(np.inf), axis=0)
    assert row["average rank"] == pytest.approx(1 + beaten.sum(axis=1).mean())
