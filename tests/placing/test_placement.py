"""Strategies of a study among published ones, from Python and from the command line."""

import pandas as pd
import pytest
from click.testing import CliRunner

from mlaut.analysis import Results, performance_profile, published
from mlaut.analysis.methods.ratings import elo
from mlaut.analysis.placing import place, place_pairs, reproduction
from mlaut.cli import cli
from mlaut.errors import AnalysisError
from mlaut.placing.placement import Placement, place_study

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
    assert "K_Neighbours (3 candidates), BaselineClassifier (without a grid" in done.output
    placed = pd.read_csv(tmp_path / "out" / "place.csv", index_col=0)
    assert sorted(placed.index) == ["BaselineClassifier", "K_Neighbours"]
    assert (placed["of"] == 181).all()  # 179 published; the one that was run again is not placed
    pairs = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert len(pairs) == 2 * 179
    assert (pairs["better"] + pairs["worse"] <= 4).all()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"check.csv", "pairs.csv", "place.csv", "profile.csv", "profile.svg"}
    database = str(study.with_name("study.delgado2014.h5"))
    done = CliRunner().invoke(
        cli, ["study", "place", database, "--against", "delgado2014", "--strategy", "K_Neighbours"]
    )
    assert "not by the benchmark's protocol" in done.output
    assert "nothing checks the comparison" in done.output


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
    return Placement(
        check=reproduction(results, "garcia2008", {"again": "Kernel"}),
        place=place(results, "garcia2008", **how),
        pairs=place_pairs(results, "garcia2008", **how),
        profile=performance_profile(GARCIA),
    )


def test_a_sentence_has_the_numbers_of_the_tables():
    found = placement(again=0)
    verdicts = found.pairs.frame.loc["mine", "verdict"]
    assert verdicts.to_dict() == {
        "C4.5": "better",
        "k-NN(k=1)": "better",
        "NaiveBayes": "undecided",
        "Kernel": "better",
        "CN2": "better",
    }
    assert "mine has rank 1 of 6 (P(best) 0." in found.sentence
    assert "better than 4 published strategies, worse than 0, undecided from 1." in found.sentence
    assert found.sentence.endswith("Agrees with what was published: again / Kernel.")


def test_a_check_that_fails_is_said():
    assert placement(again=0.05).sentence.endswith(
        "Beyond what folds explain: again / Kernel. So others that were run here may not be "
        "comparable with the published ones either."
    )


def test_the_profile_is_drawn_of_ones_own_and_the_best(tmp_path):
    mine = GARCIA.scores.rename(columns={"C4.5": "mine"})
    profile = performance_profile(mine, metric="accuracy")
    found = placement(again=0)
    Placement(found.check, found.place, found.pairs, profile).save(tmp_path)
    assert (tmp_path / "profile.svg").stat().st_size > 10_000
    assert len(pd.read_csv(tmp_path / "profile.csv").columns) == 6
