"""Races of study files: order, decisions, statuses, interruptions, sealed terms, completion."""

import contextlib
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mlaut_races import run_race
from mlaut_races.evidence import KINDS, Kind
from mlaut_races.race_forecast import forecast_race
from mlaut_races.study_race import StudyRace

import mlaut
from mlaut.analysis import Results, drawn_order, race, treat_missing, wilcoxon_test
from mlaut.analysis.deciding.terms import Chosen
from mlaut.analysis.deciding.verdict_table import Step
from mlaut.cli import main
from mlaut.errors import AnalysisError, RunInterrupted, StudyError
from mlaut.experiments import Orchestrator, plan_study, study_status
from mlaut.experiments.engines.engine import InlineEngine
from mlaut.experiments.following.status import unfinished
from mlaut.experiments.study_files.choices import prepare_data
from mlaut.experiments.study_files.study_file import read_study_file
from mlaut.files_io import FilesIO, StudyStore
from mlaut.records import Status
from mlaut.report import make_report
from mlaut.report.drawing import figures

N_DATASETS = 12
OWN = """
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

strategies = [
    ("bayes", GaussianNB()),
    ("guess", DummyClassifier(strategy="uniform", random_state=0)),
    ("stump", DecisionTreeClassifier(max_depth=1, random_state=0)),
    ("logistic", LogisticRegression()),
]
"""
QUIET = {"engine": "inline", "verbose": 0}
FEW = 'folder = "tables"\ndatasets = ["t00", "t01", "t02"]'


def write_tables(folder, numbers):
    for i in numbers:
        rng = np.random.default_rng(i)
        x = rng.normal(size=(60, 2))
        y = np.where(x[:, 0] + x[:, 1] + 0.4 * rng.normal(size=60) > 0, "yes", "no")
        pd.DataFrame(x, columns=["a", "b"]).assign(target=y).to_csv(
            folder / f"t{i:02}.csv", index=False
        )


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Return a folder with datasets, which are stored already, and strategies, and no study yet."""
    folder = tmp_path_factory.mktemp("race")
    (folder / "tables").mkdir()
    write_tables(folder / "tables", range(N_DATASETS))
    (folder / "own.py").write_text(OWN)
    prepare_data(read_study_file(write_study(folder)))
    return folder


def write_study(folder, race="alpha = 0.05", **more):
    sections = {"data": 'folder = "tables"', "strategies": 'file = "own.py"', "race": race, **more}
    text = "\n".join(f"[{name}]\n{lines}" for name, lines in sections.items() if lines is not None)
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


@pytest.fixture
def folder(empty, tmp_path):
    shutil.copytree(empty, tmp_path / "race")
    write_study(tmp_path / "race")
    return tmp_path / "race"


@pytest.fixture(scope="module")
def raced(empty, tmp_path_factory):
    """Return a folder with a race that nobody interrupted."""
    folder = tmp_path_factory.mktemp("raced") / "race"
    shutil.copytree(empty, folder)
    run_race(write_study(folder), **QUIET)
    return folder


def contents(folder):
    """Return statuses, predictions and reasons of a study."""
    study = StudyStore(folder / "study.h5")
    blocks = {b.dataset: (b.strategies, b.status, b.predictions) for b in study.blocks()}
    reasons = sorted((r["strategy"], r["cells"], r["reason"]) for r in unfinished(study.path))
    return blocks, reasons


def same(one, other):
    assert one[1] == other[1]
    for name, (strategies, status, predictions) in one[0].items():
        assert strategies == other[0][name][0]
        np.testing.assert_array_equal(status, other[0][name][1])
        np.testing.assert_array_equal(predictions, other[0][name][2])


def test_a_race_drops_the_worst_and_says_so(raced):
    standing = StudyRace.of(StudyStore(raced / "study.h5")).now()
    assert list(standing.datasets) == drawn_order([f"t{i:02}" for i in range(N_DATASETS)])
    assert standing.left == ("bayes", "logistic")
    after, why = standing.departures["guess"]
    assert re.fullmatch(rf"stopped: worse after {after} datasets \(evidence 2\d(\.\d)?\)", why)
    status = study_status(raced / "study.h5")
    # one round was begun before the decision, and the rest was not run
    assert status.of_strategy("guess")[Status.RACED_OUT] == N_DATASETS - after - 1
    assert status.of_strategy("bayes")[Status.DONE] == N_DATASETS
    assert ("guess", N_DATASETS - after - 1, why) in contents(raced)[1]


def test_a_race_that_ended_is_not_run_again(raced):
    before = (raced / "study.h5").read_bytes()
    summary = run_race(raced / "study.toml", **QUIET)
    assert not summary.counts
    assert "bayes, logistic may each be the best; the question is open" in summary.race
    assert summary.race in str(summary)
    assert (raced / "study.h5").read_bytes() == before


class Interrupted(InlineEngine):
    """Ends after so many cells, as after Ctrl-C."""

    def __init__(self, cells):
        self.cells = cells

    def run(self, groups):
        for done, outcomes in enumerate(super().run(groups), start=1):
            yield outcomes
            if done == self.cells:
                raise KeyboardInterrupt


def test_an_interrupted_race_decides_the_same(folder, raced):
    stopped = 0
    for cells in (1, 7, 100):
        try:
            run_race(folder / "study.toml", engine=Interrupted(cells), verbose=0)
        except RunInterrupted:
            stopped += 1
            assert StudyStore(folder / "study.h5").all_runs[-1]["race"]["alpha"] == 0.05
    assert stopped == 2
    same(contents(folder), contents(raced))


def test_workers_and_overlapping_rounds_run_the_same_cells(folder, raced):
    run_race(folder / "study.toml", engine="local", n_jobs=2, verbose=0)
    same(contents(folder), contents(raced))


@pytest.mark.slow
def test_rounds_overlap_by_cells(folder):
    """Two rounds of four cells fit into ten."""
    run_race(write_study(folder, "ahead = 0\nahead_cells = 10"), **QUIET)
    after, _ = StudyRace.of(StudyStore(folder / "study.h5")).now().departures["guess"]
    status = study_status(folder / "study.h5")
    assert status.of_strategy("guess")[Status.RACED_OUT] == N_DATASETS - after - 2
    other = folder.with_name("other")
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("study.h5*"))
    for cells in (11, 100):
        with contextlib.suppress(RunInterrupted):
            run_race(other / "study.toml", engine=Interrupted(cells), verbose=0)
    same(contents(folder), contents(other))


def test_no_round_overlaps_if_none_may(folder):
    run_race(write_study(folder, "ahead = 0"), **QUIET)
    after, _ = StudyRace.of(StudyStore(folder / "study.h5")).now().departures["guess"]
    status = study_status(folder / "study.h5")
    assert status.of_strategy("guess")[Status.RACED_OUT] == N_DATASETS - after


def test_another_seed_draws_another_order(folder):
    with pytest.raises(RunInterrupted):
        run_race(write_study(folder, "seed = 7"), engine=Interrupted(1), verbose=0)
    order = StudyRace.of(StudyStore(folder / "study.h5")).draw.order
    assert order == tuple(drawn_order(order, 7)) != tuple(drawn_order(order))


def test_practical_equality_ends_it(folder):
    """Ten datasets are enough for six pairs, and the eleventh round has begun before."""
    summary = run_race(write_study(folder, 'rope = 1.0\nquestion = "all pairs"'), **QUIET)
    assert "6 pairs are decided, 0 are open" in summary.race
    assert study_status(folder / "study.h5").total[Status.RACED_OUT] == 4


def test_a_race_that_is_answered_leaves_no_cell_missing(folder):
    summary = run_race(write_study(folder, "rope = 1.0"), **QUIET)
    assert "and they are practically equal" in summary.race
    status = study_status(folder / "study.h5")
    assert not status.total[Status.MISSING]
    reasons = {row["reason"] for row in unfinished(folder / "study.h5")}
    assert any(why.startswith("not needed: the race was answered after") for why in reasons)
    assert not run_race(folder / "study.toml", **QUIET).counts


def test_max_cost_ends_it_and_may_be_changed(folder, raced):
    summary = run_race(write_study(folder, 'max_cost = "0.000001 s cpu"'), **QUIET)
    assert summary.race.endswith("No round begins after max_cost, 1e-06 s.")
    assert summary.n_done == 4 * 2  # the first round, and the one that may overlap
    assert not study_status(folder / "study.h5").total[Status.RACED_OUT]
    run_race(write_study(folder), **QUIET)
    same(contents(folder), contents(raced))


def test_a_race_in_python(tmp_path, raced):
    """The same datasets, strategies and terms decide the same as in a study file."""
    own = {}
    exec(OWN, own)
    study = mlaut.Study(tmp_path / "study.h5")
    study.add_datasets(raced / "tables")
    with pytest.raises(StudyError, match="unknown key 'alhpa' in \\[race\\]; did you mean 'alpha'"):
        study.run(own["strategies"], race={"alhpa": 0.1}, **QUIET)
    with pytest.raises(StudyError, match="no race; run it as one, for example with race="):
        study.race()
    summary = study.run(own["strategies"], race={}, **QUIET)
    found = study.race()
    assert found.sentence() == summary.race
    assert found.decisions == StudyRace.of(StudyStore(raced / "study.h5")).now().decisions
    with pytest.raises(StudyError, match=r"\(in Python the argument race\)"):
        study.run(own["strategies"], **QUIET)
    assert study.run(own["strategies"], complete=True, **QUIET).complete


def test_its_page_has_a_row_for_each_strategy(raced):
    (section,) = make_report(raced / "study.h5").sections
    screen, race = section.race.screen(section), section.race
    rows = screen.groups[0].rows
    assert {row.name for row in rows if row.verdict == "may be best"} == set(race.left)
    known = section.scored.losses.notna()  # with datasets that ran when a strategy left
    ran = [column.key for column in screen.columns].index("ran")
    assert {row.name: int(row.texts[ran][0]) for row in rows} == known.sum().to_dict()
    assert rows[0].name == screen.first
    for row in rows:
        both = known[row.name] & known[screen.first]
        assert sum(row.wins[:3]) == (0 if row.name == screen.first else both.sum())
    assert all(name in screen.answer for name in race.left)
    assert screen.answer.startswith(f"No clear winner: {screen.first} and ")
    assert screen.more[0] == f"If you must choose now, use {screen.first}: it is ahead on average."
    out = {row.name: row.verdict for row in rows if row.name not in race.left}
    assert set(out.values()) <= {"stopped", "baseline"}
    assert {"stopped", *out.values()} == {word for word, _ in screen.verdicts} - {"may be best"}


def test_what_to_do_begins_with_what_may_change_the_choice(raced):
    (section,) = make_report(raced / "study.h5").sections
    first = Step("Tune a as well.", "a was not tuned.", True)
    told = replace(section, cautions=(first, Step("Look into b.", "b warned.")))
    screen = section.race.screen(told)
    assert screen.steps[:2] == told.cautions
    assert screen.steps[2].to_do == "Add datasets."
    assert told.headline[-2:] == (
        "1. Tune a as well. a was not tuned.",
        "2. Look into b. b warned.",
    )
    answered = replace(section.race, course=replace(section.race.course, answered=True))
    assert answered.screen(told).answer.startswith("Provisional: on datasets like these, ")
    assert answered.screen(section).answer.startswith("On datasets like these, ")


@pytest.mark.slow
def test_datasets_that_are_added_come_behind_the_others(folder):
    run_race(write_study(folder), **QUIET)
    before = StudyRace.of(StudyStore(folder / "study.h5"))
    write_tables(folder / "tables", [50, 51])
    run_race(folder / "study.toml", **QUIET)
    after = StudyRace.of(StudyStore(folder / "study.h5"))
    assert after.draw.order[:N_DATASETS] == before.draw.order
    assert after.now().decisions[: len(before.now().decisions)] == before.now().decisions


def test_a_race_is_completed(raced, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(raced, folder)
    decisions = StudyRace.of(StudyStore(folder / "study.h5")).now().decisions
    assert run_race(folder / "study.toml", complete=True, **QUIET).complete
    assert study_status(folder / "study.h5").complete
    assert StudyRace.of(StudyStore(folder / "study.h5")).now().decisions == decisions
    assert run_race(folder / "study.toml", **QUIET).complete
    (section,) = make_report(folder / "study.h5").sections
    assert section.comparison is not None  # it has tests again
    assert section.race is not None


@pytest.mark.parametrize(
    ("changed", "complete", "words"),
    [
        ('strategies += [("deep", DecisionTreeClassifier())]', False, "the strategies of the race"),
        ('strategies[0] = ("bayes", GaussianNB(var_smoothing=1e-3))', True, "other parameters"),
    ],
)
def test_a_run_that_is_refused_changes_nothing(raced, tmp_path, changed, complete, words):
    folder = tmp_path / "copy"
    shutil.copytree(raced, folder)
    (folder / "own.py").write_text(f"{OWN}\n{changed}\n")
    with pytest.raises(StudyError, match=words):
        run_race(folder / "study.toml", complete=complete, **QUIET)
    same(contents(folder), contents(raced))


def test_new_datasets_come_behind_the_old_ones(raced, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(raced, folder)
    before = StudyRace.of(StudyStore(folder / "study.h5"))
    write_tables(folder / "tables", [50, 51])
    run_race(folder / "study.toml", **QUIET)
    after = StudyRace.of(StudyStore(folder / "study.h5"))
    assert after.draw.order == (*before.draw.order, *drawn_order(["t50", "t51"]))
    assert after.now().decisions[: len(before.now().decisions)] == before.now().decisions
    status = study_status(folder / "study.h5")
    assert status.of_strategy("logistic")[Status.DONE] == N_DATASETS + 2


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ("alpha = 0.1", "the alpha of the race was stored before its first result as 0.05, and is"),
        ('metric = "mcc"', "the metric of the race was stored before its first result as accuracy"),
        ("rope = 0.1", "the rope of the race was stored"),
        ('kind = "mean"', "the kind of the race was stored"),
        ("rule = 2", "the rule of the race was stored before its first result as 1, and is now 2"),
        ("seed = 7", "the seed of the race was stored before its first result as 0, and is now 7"),
        (None, "its datasets are run as a race; restore the section [race] (in Python the"),
    ],
)
def test_sealed_terms_are_not_changed(raced, tmp_path, terms, words):
    folder = tmp_path / "copy"
    shutil.copytree(raced, folder)
    with pytest.raises(StudyError) as error:
        run_race(write_study(folder, terms), **QUIET)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_neither_strategies_nor_datasets_of_a_race_are_exchanged(raced, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(raced, folder)
    (folder / "own.py").write_text(OWN + "strategies = strategies[1:]\n")
    with pytest.raises(StudyError, match="the strategies of the race was stored before"):
        run_race(folder / "study.toml", **QUIET)
    (folder / "own.py").write_text(OWN)
    write_study(folder, data='folder = "tables"\ndatasets = ["t01", "t02"]')
    with pytest.raises(StudyError, match=r"the race is about 12 datasets, and t00, t03, t04 are"):
        run_race(folder / "study.toml", **QUIET)


def test_a_race_does_not_begin_after_results(folder):
    with pytest.raises(RunInterrupted):
        run_race(write_study(folder, None), engine=Interrupted(1), verbose=0)
    with pytest.raises(StudyError, match="has results already, and the terms of a race are stored"):
        run_race(write_study(folder), **QUIET)


@pytest.mark.parametrize("how", [{"retry": "error"}, {"overwrite_predictions": True}])
def test_counted_failures_are_not_tried_again(raced, how):
    with pytest.raises(StudyError, match="a race counts a failure when it happens"):
        run_race(raced / "study.toml", **QUIET, **how)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ('question = "worst"', "question 'worst' is not known"),
        ('question = "control: tree"', "strategy 'tree' is not in these results"),
        ('failures = "tie"', "failures 'tie' is not known; one of 'last'"),
        ("rule = 2", "the race is decided by rule 2, and this version of MLaut decides by rule 1"),
        ("alpha = 5", "alpha = 5.0 is not between 0 and 1"),
        ('metric = "accurcy"', "accurcy"),
        ("ahead_cells = -1", "ahead_cells = -1: a number of cells from 0 is needed"),
        ("ahead = -1", "ahead = -1: a number of rounds from 0 is needed"),
        ("seed = -1", "seed"),
        ('max_cost = "much"', "max_cost"),
        ('stop_if = "P(decided) < 0.2"', "unknown key 'stop_if' in [race]"),
        ("lag = {logistic = 4}", "unknown key 'lag' in [race]"),
        ("alhpa = 0.1", "unknown key 'alhpa' in [race]; did you mean 'alpha'?"),
    ],
)
def test_terms_that_no_race_can_have(folder, terms, words):
    with pytest.raises((StudyError, AnalysisError)) as error:
        run_race(write_study(folder, terms, data=FEW), **QUIET)
    assert words in str(error.value)
    study = StudyStore(folder / "study.h5")
    assert not study.path.exists() or not any(s.any() for _, s in study.statuses().values())


def test_a_raced_study_is_not_run_without_its_race(raced):
    input_io, study = FilesIO(raced / "input.h5"), FilesIO(raced / "study.h5", "a")
    with pytest.raises(StudyError, match="its datasets are run as a race"):
        Orchestrator(input_io, study).run("BaselineClassifier", **QUIET)


def test_a_forecast_from_what_was_seen(folder):
    with pytest.raises(RunInterrupted):
        run_race(folder / "study.toml", engine=Interrupted(16), verbose=0)
    begun = StudyRace.of(StudyStore(folder / "study.h5"))
    found = forecast_race(begun)
    assert (found.seen, found.n_datasets) == (4, N_DATASETS)
    assert 0.4 < found.cells < 1
    assert forecast_race(begun) == found
    assert found.cost > 0
    assert forecast_race(begun, max_cost=1e-9).cost == 0
    assert str(found).startswith("race: 4 of 12 datasets are complete; if the others are like them")


def test_the_command_line_shows_a_race(raced, capsys):
    study_file = str(raced / "study.toml")
    main(["status", study_file, "--why"])
    text = capsys.readouterr().out
    assert "race: After 12 of 12 datasets, at level 0.05 for all looks (each of the" in text
    assert "guess stopped: worse after" in text
    assert re.search(
        r"cost: 4\d cells were run in [.\d]+ s; \d were left out, which saved about \d+ % of the",
        text,
    )
    main(["plan", study_file])
    text = capsys.readouterr().out
    assert "race: 12 of 12 datasets are complete, and the question is open" in text
    assert "raced out ('mlaut run --complete' runs it)" in text


def test_a_report_shows_the_race_and_no_test_of_the_full_table(raced):
    made = make_report(raced / "study.h5")
    (section,) = made.sections
    assert section.comparison is None
    assert "mean accuracy" not in section.tables["summary"]
    assert section.tables["race"].loc["guess", "state"].startswith("stopped: worse after")
    assert section.sentences[0] == section.race.sentence()
    assert section.sentences[1] == f"Cost: {section.race.cost_sentence()}."
    cost = section.tables["race cost"]
    status = study_status(raced / "study.h5")
    for name, row in cost.iterrows():
        assert row["cells"] == status.of_strategy(name)[Status.DONE]
        assert row["cells left out"] == N_DATASETS - row["cells"]
    assert not cost["cells open"].any()
    assert (cost["seconds"] > 0).all()
    of_guess = cost.loc["guess"]
    mean = of_guess["seconds"] / of_guess["cells"]
    assert of_guess["seconds left out"] == pytest.approx(mean * of_guess["cells left out"])
    assert any("No tests of the full table" in sentence for sentence in section.sentences)
    assert "race" in figures(section)


def test_a_kind_of_race_is_added_by_one_entry(folder, monkeypatch, capsys):
    """This follows docs/architecture.md, "Where do I add"."""
    kind = Kind("strict", lambda *_: np.sign, "no strategy wins more often", "sign")
    monkeypatch.setitem(KINDS, kind.name, kind)
    run_race(write_study(folder, 'kind = "strict"', data=FEW), **QUIET)
    (section,) = make_report(folder / "study.h5").sections
    assert section.race.title() == "Race for 'best' on 1 - accuracy, strict evidence"
    assert "null hypothesis of a pair: no strategy wins more often" in section.race.notes
    assert Chosen.of(StudyStore(folder / "study.h5")).analysis.test == "sign"
    main(["report", str(folder / "study.h5"), "--format", "full"])
    assert "for all looks" in capsys.readouterr().out


def test_a_plan_names_sources_that_datasets_of_a_race_share(folder):
    (folder / "input.h5").unlink()  # a dataset that is stored gets no source
    lines = [f"t{i:02}.csv,target,s{i // 2}" for i in range(N_DATASETS)]
    (folder / "tables" / "manifest.csv").write_text("\n".join(["file,target,cluster", *lines]))
    with pytest.raises(StudyError, match="12 datasets of the race share sources"):
        plan_study(folder / "study.toml")
    with pytest.raises(StudyError, match="12 datasets of the race share sources"):
        run_race(folder / "study.toml", **QUIET)


def test_a_kind_whose_test_is_unknown_is_refused_before_anything_runs(folder, monkeypatch):
    monkeypatch.setitem(KINDS, "strict", Kind("strict", lambda *_: np.sign, "none", "sgin"))
    with pytest.raises(AnalysisError, match="the test of kind 'strict', 'sgin' is not known; did"):
        run_race(write_study(folder, 'kind = "strict"', data=FEW), **QUIET)
    assert not study_status(folder / "study.h5").total[Status.DONE]


def test_a_round_of_which_a_run_does_only_some_cells_has_not_ended(folder, raced, monkeypatch):
    """As an option of a run may have it that limits the number of cells."""
    from mlaut.experiments.plans import plan as plans

    of_run = plans._cells_to_do

    def some(names, now, *arguments):
        todo = of_run(names, now, *arguments)
        todo[names.index("guess")] = False
        return todo

    with monkeypatch.context() as limited:
        limited.setattr(plans, "_cells_to_do", some)
        summary = run_race(folder / "study.toml", **QUIET)
    assert "no dataset is complete yet" in summary.race
    assert 0 < summary.n_done < N_DATASETS
    run_race(folder / "study.toml", **QUIET)
    same(contents(folder), contents(raced))


@pytest.mark.parametrize("how", ["raise", "failures last", "drop datasets", "bayes"])
def test_no_treatment_of_missing_cells_makes_tests_of_a_race_valid(raced, how):
    results = Results.from_study(raced / "study.h5", "accuracy")
    with pytest.raises(AnalysisError, match="left a race because of results, so ranks and tests"):
        treat_missing(results, how)
    with pytest.raises(AnalysisError, match=r"guess(, stump)? left a race"):
        wilcoxon_test(results)
    order = StudyRace.of(StudyStore(raced / "study.h5")).draw.order
    assert race(results, order=order).left == ("bayes", "logistic")
