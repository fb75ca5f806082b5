import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import yaml
from mlaut_boards import judging, refits
from mlaut_boards.board import Board, add_entry, init_board
from mlaut_boards.growing import claim_needs
from mlaut_boards.judging import judge_entry
from mlaut_boards.refits import compared, drawn, refit_entry
from mlaut_boards.verdict import Verdict

from mlaut import Study
from mlaut.analysis import Results
from mlaut.cli import main
from mlaut.errors import StoreError, StudyError
from mlaut.files_io import StudyStore
from mlaut.records import Block, Cell, Outcome, Split, Status

CODE = """
from sklearn.neighbors import KNeighborsClassifier
strategies = [("neighbours", KNeighborsClassifier(3{more}))]
"""


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    """A board of four small tables of two rings, with two strategies, and one entry."""
    folder = tmp_path_factory.mktemp("board")
    study, rng = Study(folder / "base.h5", seed=3), np.random.default_rng(0)
    for number in range(4):
        X = rng.normal(size=(40, 2))
        y = (np.hypot(*X.T) > 1.1).astype(int)
        frame = pd.DataFrame(X, columns=["a", "b"]).assign(target=y)
        study.add_datasets(frame, name=f"rings-{number}", task="Classification")
    first = ["BaselineClassifier", "GaussianNaiveBayes"]
    study.run(first, split="kfold(2)", engine="inline", verbose=0)
    init_board(folder / "board", study.path, include="all", title="Rings", authors=["Ada"])
    (folder / "mine.py").write_text(CODE.format(more=""))
    about = {"authors": ["Eve @all <b>"], "engine": "inline"}
    add_entry(folder / "board", folder / "mine.py", "mine", **about)
    return Board.open(folder / "board")


@pytest.fixture(scope="module")
def fits(board):
    return refit_entry(board, board.entries[0], "later", trusted=True, n_jobs=2)


def judged(board, fits, **other):
    return judge_entry(board, board.entries[0], {**fits, **other}, seed="later", claim=2)


def test_an_honest_entry_keeps_its_claims_and_is_ranked(board, fits):
    found = judged(board, fits)
    assert found.verdict in ("accepted", "provisional")
    assert (found.cells, found.fitted, found.strategy, found.claim) == (8, 8, "neighbours", 2)
    assert found.checks["predictions"] == "0 of 160 rows differ in 8 cells that were fitted again"
    assert found.needed == pytest.approx(claim_needs(2, 0.05))
    assert found.rank_low is None or found.rank_low < found.rank_high
    assert not found.record  # four datasets cannot show it


def test_fits_are_of_cells_that_the_digest_and_a_later_text_draw(board, fits):
    study = StudyStore(board.entries[0] / "study.h5")
    here = drawn(study, fits["digest"], "later")
    assert here == drawn(study, fits["digest"], "later")
    assert here != drawn(study, fits["digest"], "sooner")
    assert sorted(here) == sorted(drawn(study, "0", "later"))
    other = judge_entry(board, board.entries[0], fits, seed="sooner", claim=2)
    assert other.why == "Its fits are of another entry, or were drawn by another text."
    chosen = [one for one in fits["cells"] if one["dataset"] != here[0].dataset]
    assert judged(board, fits, cells=chosen).why == "Its fits are not of the cells that were drawn."


@pytest.mark.parametrize("damage", [{"cells": 3}, {"copies": [1]}, {"cells": [{"dataset": "x"}]}])
def test_fits_that_are_no_fits_refuse_the_entry(board, fits, damage):
    found = judged(board, fits, **damage)
    assert found.verdict == "refused"
    assert found.why.startswith(("Its fits cannot be read", "Its fits are not of the cells"))


def test_predictions_that_are_not_those_of_the_strategy(board, fits):
    cells = [{**one, "differ": 1} for one in fits["cells"]]
    found = judged(board, fits, cells=cells)
    assert found.verdict == "refused"
    assert "8 of 160 rows differ in 8 cells" in found.why
    assert "8 of 8 cells were fitted again" in found.to_markdown()
    assert "most like" in found.why


def test_small_changes_that_are_all_for_the_better_are_seen():
    cells = pd.DataFrame(
        {"rows": [1000] * 20, "differ": [1] * 20, "better": [1] * 20, "worse": 0, "failed": ""}
    )
    found = Verdict("mine", "x", 1)
    with pytest.raises(judging._RefusedError, match="nearly all for the better"):
        judging._check_predictions(cells, found)
    judging._check_predictions(cells.assign(worse=[1, 2] * 10), found)
    assert found.checks["predictions"].startswith("20 of 20,000 rows differ")


def test_times_far_below_those_measured_are_refused():
    names = [f"d{i}" for i in range(8)]
    cells = pd.DataFrame({"dataset": names, "claimed": 0.2, "measured": 1.0})
    found = judging._check_costs(cells, {}, Verdict("mine", "x", 1))
    assert (found.claimed_seconds, found.measured_seconds) == pytest.approx((0.2, 1.0))
    for claimed in (np.full(8, 0.05), np.array([1, 1, 1, 1, 1, 0.01, 0.01, 0.01])):
        with pytest.raises(judging._RefusedError, match="Its costs are not those"):
            judging._check_costs(cells.assign(claimed=claimed), {}, Verdict("mine", "x", 1))


def test_the_level_of_the_check_of_seeds_holds_and_the_best_of_many_is_seen():
    rng = np.random.default_rng(1)

    def refused(best_of):
        losses = rng.normal(size=(12, 4 + best_of))
        copies = {
            i: {"claimed": row[4:].min(), "fresh": row[:4].tolist()} for i, row in enumerate(losses)
        }
        try:
            judging._check_selection(copies, Verdict("mine", "x", 1))
        except judging._RefusedError:
            return True
        return False

    assert sum(refused(1) for _ in range(1000)) <= 3
    assert sum(refused(25) for _ in range(200)) >= 190


def test_equal_scores_are_no_selection():
    copies = {i: {"claimed": 0.1, "fresh": [0.1] * 4} for i in range(20)}
    found = Verdict("mine", "x", 1)
    judging._check_selection(copies, found)
    assert found.checks["seeds"].startswith("better than 40 of 80 fits")


def test_a_strategy_that_knows_the_answers_is_seen():
    knows = {i: {"known": 0.9, "remembered": 0.8, "constant": 0.5} for i in range(6)}
    learns = {i: {"known": 0.9, "remembered": 0.55, "constant": 0.5} for i in range(6)}
    judging._check_memory(learns, Verdict("mine", "x", 1))
    with pytest.raises(judging._RefusedError, match="half as good on 6 of 6 datasets"):
        judging._check_memory(knows, Verdict("mine", "x", 1))


def test_copies_with_shuffled_labels_are_fitted_on_shuffled_labels(fits):
    copies = fits["copies"].values()
    known, remembered = (np.mean([one[x] for one in copies]) for x in ("known", "remembered"))
    assert known > remembered + 0.05  # the draw follows from the digest, which holds times
    assert all(len(one["fresh"]) == 4 and one["seconds"] > 0 for one in copies)


def block(task="Classification"):
    split = Split(np.array([[0, 0, 0, 1]], dtype=np.int16))
    classes, truth = (("a", "b"), np.array([0, 1, 1, 0], dtype=np.int32))
    if task == "Regression":
        classes, truth = (), np.array([0.0, 1.0, 2.0, 3.0])
    return Block(
        dataset="d", task=task, fingerprint="", strategies=("s",), classes=classes, truth=truth,
        split=split, status=np.full((1, 1, 2), Status.DONE), predictions=truth[None, None],
        probabilities=None, seconds=np.full((1, 1, 2, 3), 0.5), weights=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("task", "again", "differ", "better"),
    [
        ("Classification", [0, 0, 1], 1, 1),
        ("Regression", [0.0, 1.0001, 1.5], 1, 1),
        ("Regression", [0.0, 1.0, 2.0], 0, 0),
    ],
)
def test_a_claim_is_compared_row_by_row(task, again, differ, better):
    outcome = Outcome(
        Cell("d", "s"), Status.DONE, predictions=np.array(again), seconds=(0.0, 2.0, 1.0)
    )
    found = compared(block(task), outcome)
    assert (found["differ"], found["better"], found["worse"]) == (differ, better, 0)
    assert (found["rows"], found["claimed"], found["measured"]) == (3, 1.5, 3.0)


def test_a_fit_that_fails_refuses_the_entry(board, fits):
    cells = [dict(one) for one in fits["cells"]]
    cells[2]["failed"] = "timeout: too slow"
    assert (
        judged(board, fits, cells=cells).why == "1 of 8 cells fail when fitted: timeout: too slow."
    )


def test_an_entry_without_its_code_cannot_be_fitted(board):
    fits = refit_entry(board, board.entries[0], "later", n_jobs=1)
    assert judged(board, fits).why.startswith("It cannot be fitted again:")


@pytest.mark.parametrize(
    ("more", "name", "message"),
    [
        ("", "../mine", "the name is no letters"),
        ("", "mine", "the name is taken"),
        (")), ('x', KNeighborsClassifier(", "two", "2 strategies, and an entry has one"),
    ],
)
def test_what_cannot_be_entered(board, tmp_path, more, name, message):
    file = tmp_path / "mine.py"
    file.write_text(CODE.format(more=more))
    with pytest.raises(StudyError, match=message):
        add_entry(board.folder, file, name, engine="inline")


def test_a_seed_of_its_own_cannot_be_entered(board, tmp_path):
    file = tmp_path / "mine.py"
    seeded = "strategies = [('t', DecisionTreeClassifier(random_state=4))]"
    file.write_text(f"from sklearn.tree import DecisionTreeClassifier\n{seeded}")
    with pytest.raises(StudyError, match=r"t: has a seed of its own \(random_state: 4\)"):
        add_entry(board.folder, file, "tree", engine="inline")


def test_a_verdict_is_read_as_it_was_written(board, fits, tmp_path):
    found, path = judged(board, fits), tmp_path / "mine.json"
    path.write_text(found.to_json())
    assert Verdict.read(path) == found
    for damage in ({"verdict": "great"}, {"claim": "1"}, {"checks": {"x": 1}}, {"format": 9}):
        path.write_text(json.dumps({**json.loads(found.to_json()), **damage}))
        with pytest.raises(StoreError, match="is no verdict"):
            Verdict.read(path)
    path.unlink()
    path.symlink_to("/etc/passwd")
    with pytest.raises(StoreError, match="a link"):
        Verdict.read(path)


def test_a_rank_that_is_the_same_everywhere_has_no_interval():
    constant = Verdict("mine", "x", 1, rank=2.0)
    assert constant.ranked() == "2 (the same on all datasets: no interval)"
    varied = replace(constant, rank_low=1.5, rank_high=2.5)
    assert varied.ranked() == "2 (95% interval 1.5 to 2.5)"


def test_an_entry_like_the_best_cannot_be_told_from_it(board, fits):
    alike = judged(board, fits)
    assert alike.rival == "GaussianNaiveBayes"
    assert alike.difference_low < 0 < alike.difference_high
    assert alike.why.endswith("It cannot be told from GaussianNaiveBayes, its nearest rival.")
    low, high = alike.difference_low, alike.difference_high
    assert (
        f"hardest to beat: GaussianNaiveBayes; worse than it by {-alike.difference:.3g} in the "
        f"mean (95% interval {low:.3g} to {high:.3g}, above 0: better)"
    ) in alike.to_markdown().replace("\\", "")
    stores = (board.study, StudyStore(board.entries[0] / "study.h5"))
    first, mine = (Results.from_study(store, "accuracy").scores for store in stores)
    expected = scipy.stats.ttest_rel(mine["neighbours"], first["GaussianNaiveBayes"])
    interval = expected.confidence_interval(0.95)
    assert (low, high) == pytest.approx((interval.low, interval.high))


def test_a_comment_shows_texts_of_strangers_literally_and_calls_nobody(board, fits):
    text = judged(board, fits).to_markdown()
    assert "Eve @\u200ball \\<b>" in text
    assert text.startswith("### mine: ")
    assert "| predictions | 0 of 160 rows differ" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "more.pkl").touch(), "more.pkl"),
        (lambda folder: (folder / "study.h5").unlink(), "study.h5"),
        (lambda folder: (folder / "README.md").write_text("x"), "README.md"),
    ],
)
def test_an_entry_that_is_not_as_its_manifest_says(board, fits, tmp_path, change, message):
    folder = shutil.copytree(board.entries[0], tmp_path / "mine")
    change(folder)
    found = judge_entry(board, folder, fits, seed="later", claim=2)
    assert found.verdict == "refused"
    assert message in found.why


def test_an_entry_that_is_a_link_or_too_large(board, fits, tmp_path):
    link = tmp_path / "mine"
    link.symlink_to(board.entries[0])
    assert judge_entry(board, link, fits, seed="later", claim=2).why == "The entry is no folder."
    small = replace(board, limit=1000)
    found = judge_entry(small, board.entries[0], fits, seed="later", claim=2)
    assert found.why.endswith("and the board allows 1,000.")


def test_a_refused_entry_ends_the_command_with_1_and_its_verdict_is_json(board, tmp_path, capsys):
    fits = refit_entry(board, board.entries[0], "later", n_jobs=1)  # its code is not trusted
    (tmp_path / "mine.json").write_text(json.dumps(fits))
    place = ["--board", str(board.folder), "--fits", str(tmp_path), "--json"]
    with pytest.raises(SystemExit) as left:
        main(["leaderboard", "judge", "--seed", "later", "--claim", "3", *place])
    (found,) = json.loads(capsys.readouterr().out)
    assert (left.value.code, found["verdict"], found["claim"]) == (1, "refused", 3)


def test_the_pages_have_the_history(board, fits, tmp_path):
    folder = shutil.copytree(board.folder, tmp_path / "board")
    (folder / "verdicts" / "mine.json").write_text(judged(board, fits).to_json())
    main(["leaderboard", "page", str(folder), "-o", str(tmp_path / "site")])
    text = (tmp_path / "site" / "index.html").read_text()
    assert "History, and what was verified" in text
    assert "8 of 8 cells" in text
    assert "Eve @all &lt;b&gt;" in text
    entry = folder / "entries" / "mine"
    (entry / "README.md").unlink()
    with pytest.raises(SystemExit):
        main(["leaderboard", "page", str(folder), "-o", str(tmp_path / "site")])


def test_workflows_are_pinned_and_run_code_of_entries_without_rights(board):
    flows = {
        path.stem: yaml.safe_load(path.read_text())
        for path in (board.folder / ".github" / "workflows").iterdir()
    }
    assert sorted(flows) == ["fit", "judge", "record"]
    for flow in flows.values():
        assert flow["permissions"] == {}
        for job in flow["jobs"].values():
            runs = "\n".join(step.get("run", "") for step in job["steps"])
            assert "${{" not in runs  # no text of a stranger becomes a line of a shell
            if "--trust" in runs:
                assert job["permissions"] == {"contents": "read"}
                assert "secrets" not in str(job)
                assert "github.token" not in str(job)
                assert job["steps"][0]["with"]["persist-credentials"] is False
            for step in job["steps"]:
                assert "uses" not in step or re.search(r"@[0-9a-f]{40}$", step["uses"])


def test_a_board_is_a_new_folder_of_one_task(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StudyError, match="has files, and a board is a new folder"):
        init_board(tmp_path, tmp_path / "x.h5")
    with pytest.raises(StudyError, match="is no board"):
        Board.open(tmp_path)


# ------------------------------------------------------------------- whole boards


@pytest.fixture(scope="module")
def forger(tmp_path_factory):
    sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))
    import board_forgeries

    folder = tmp_path_factory.mktemp("forged")
    return board_forgeries, board_forgeries.make_board(folder), folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(7))
def test_forged_entries_are_refused_and_honest_ones_are_not(forger, kind):
    benchmark, board, folder = forger
    entry = benchmark.honest(folder, kind)
    assert benchmark.judged(board, entry, "h")[0].verdict != "refused"
    forged = folder / "forged" / f"forged-{kind}"
    benchmark.KINDS[kind](folder, kind, np.random.default_rng(kind), forged)
    assert benchmark.judged(board, forged, "f")[0].verdict == "refused"


@pytest.mark.slow
def test_the_workflows_judge_a_proposal_and_record_it(board, tmp_path):
    from local_host import Host

    host, work = Host(tmp_path / "host"), tmp_path / "work"
    shutil.copytree(board.folder, work, ignore=shutil.ignore_patterns("mine"))
    host.publish(work)
    shutil.copytree(board.entries[0], work / "entries" / "mine")
    comment = host.on_proposal(host.propose(work, "mine"))
    assert comment.startswith("### mine: ")
    assert "8 of 8 cells were fitted again" in comment
    host.merge(work, "mine")
    host.on_merge()
    host.git("pull", "--quiet", "origin", "main", folder=work)
    assert Verdict.read(work / "verdicts" / "mine.json").claim == 1
    assert "8 of 8 cells" in (work / "docs" / "index.html").read_text()
    shutil.copytree(board.entries[0], work / "entries" / "wild")
    terms = (work / "board.toml").read_text()
    (work / "board.toml").write_text(terms.replace("minutes = 2", "minutes = 9"))
    comment = host.on_proposal(host.propose(work, "wild"))
    assert comment.startswith("### refused: a proposal adds one folder below entries/")
    # A broken board.toml ends the workflow 'fit' with an error, and there is a comment still.
    (work / "board.toml").write_text("minutes =")
    comment = host.on_proposal(host.propose(work, "broken-board"))
    assert comment.startswith("### refused: a proposal adds one folder below entries/")
    shutil.copytree(board.entries[0], work / "entries" / "unreadable")
    (work / "entries" / "unreadable" / "strategies.py").write_text("import no_such_package")
    comment = host.on_proposal(host.propose(work, "unreadable"))
    assert comment.startswith("### refused: unreadable could not be fitted")


# Six lines at the top of the file of an entry that replace what measures, where it is loaded.
REPLACED = """
import mlaut_boards.refits as refits
measured = refits._measured
def forged(own, blocks, metric):
    found = measured(own, blocks, metric)
    return found | {"fresh": [found["claimed"]] * 4, "remembered": found["constant"] - 0.05}
refits._measured = forged
"""
KNOWS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
class Knows(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return (np.hypot(*np.asarray(X, float).T) > 1.1).astype(int)
strategies = [("knows", Knows())]
"""


def test_an_entry_that_replaces_what_measures_is_measured_all_the_same(
    board, tmp_path, monkeypatch
):
    monkeypatch.setattr(judging, "_FEW", 3)  # the board has four datasets
    folder = shutil.copytree(board.folder, tmp_path / "board")
    (tmp_path / "cheat.py").write_text(REPLACED + KNOWS)
    unchanged = refits._measured
    try:
        add_entry(folder, tmp_path / "cheat.py", "cheat", engine="inline")
    finally:  # whoever adds an entry runs its file
        monkeypatch.setattr(refits, "_measured", unchanged)
    there = Board.open(folder)
    fits = refit_entry(there, folder / "entries" / "cheat", "later", trusted=True, n_jobs=1)
    assert refits._measured is unchanged
    assert all(copy["remembered"] > 0.9 for copy in fits["copies"].values())
    found = judge_entry(there, folder / "entries" / "cheat", fits, seed="later", claim=1)
    assert (found.verdict, found.why.partition(":")[0]) == ("refused", "It knows the test rows")
