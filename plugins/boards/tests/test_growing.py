"""New records: evidence by all flips, the error over all claims, and the winner's curse."""

import json
import os
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from mlaut_boards.growing import (
    advantage,
    claim_needs,
    least_evidence,
    log_evidence,
    new_records,
    one_sided,
)

from mlaut.analysis import Results
from mlaut.cli import cli, main
from mlaut.errors import AnalysisError

SIZES = [1] * 10 + [2] * 6 + [3] * 5 + [4] * 3 + [6, 8, 12, 20]
SOURCE = np.repeat(np.arange(28), SIZES)


def board(losses, source=SOURCE):
    n, k = losses.shape
    table = pd.DataFrame(losses, [f"d{i}" for i in range(n)], [f"s{j}" for j in range(k)])
    found = Results.from_table(table, metric="cost", greater_is_better=False)
    return found.with_clusters(dict(zip(table.index, source, strict=True)))


def related(rng, k):
    """Return losses without a difference, of which half the variance is that of the source."""
    return rng.normal(size=(28, k))[SOURCE] + rng.normal(size=(len(SOURCE), k))


def test_the_mean_of_the_evidence_over_all_flips_is_one():
    x = np.array([3.0, 1.0, 0.0, 2.5, 0.2, 7.0])
    flipped = np.array(list(product((1, -1), repeat=6))) * x
    assert np.exp(log_evidence(flipped)).mean() == pytest.approx(1, abs=1e-12)
    assert np.exp(log_evidence(np.abs(x[None])))[0] > 5
    assert np.exp(log_evidence(np.zeros((1, 6)))).tolist() == [1]


def test_the_evidence_is_one_of_p_over_all_flips_and_never_less_than_the_e_value():
    rng = np.random.default_rng(4)
    sums = np.round(rng.normal(0.5, 1, (5, 9)), 1)  # with ties
    every = np.array(list(product((1, -1), repeat=9)))
    p = [np.mean(every @ row >= row.sum() - 1e-9) for row in sums]
    np.testing.assert_allclose([one_sided(row) for row in sums], p)
    assert least_evidence(sums) == (int(np.argmax(p)), pytest.approx(1 / max(p)))
    assert (np.exp(log_evidence(sums)) <= 1 / np.array(p)).all()
    many = rng.normal(0.5, 1, (5, 40))
    assert least_evidence(many)[1] == pytest.approx(np.exp(log_evidence(many)).min())


@pytest.mark.parametrize(("n", "last"), [(6, 1), (12, 19), (15, 88)])
def test_so_many_records_as_the_note_says_can_be_shown(n, last):
    """On a board on which each submission beats all earlier ones on every source."""
    shown = min(last + 3, 40)
    losses = np.arange(shown, -1, -1.0) + np.zeros((n, 1))
    found = new_records(board(losses, np.arange(n)))
    assert (found.frame["claim"] == "record").sum() == min(shown, last)
    assert found.notes[-2] == (
        f"{n} sources can show a record up to submission {last} since the start (this is {shown}); "
        "later ones need more sources"
    )


def test_false_records_are_rare_on_boards_of_120_submissions():
    """Six boards of equal submissions, and six on which every other one copies the best so far."""
    rng = np.random.default_rng(0)
    better, copies = 3.0 * np.repeat(np.arange(60)[::-1], 2), 0
    for _ in range(6):
        noise = related(rng, 120)
        assert "record" not in set(new_records(board(noise)).frame["claim"])
        claims = new_records(board(noise + better)).frame["claim"].to_numpy()
        copies += int("record" in set(claims[::2]))
        assert (claims[1::2] == "record").mean() > 0.8
    assert copies <= 1  # boards with a copy that is called a record: of each 5 %


def test_a_claim_says_against_whom_and_how_much_is_needed():
    rng = np.random.default_rng(1)
    losses = np.add(related(rng, 4), [5.0, 9.0, 0.1, 0.0])
    frame = new_records(board(losses)).frame
    assert frame["claim"].tolist()[:2] == ["", "record"]
    assert frame.loc["s2", "rival"] == "s0"
    np.testing.assert_allclose(frame["needed"], [claim_needs(j, 0.05) for j in (1, 2, 3)])
    since = new_records(board(losses), since="s2", alpha=0.01).frame
    np.testing.assert_allclose(since["needed"], [claim_needs(j, 0.01) for j in (1, 2)])
    levels = sum(1 / claim_needs(j, 0.05) for j in range(1, 100_000))
    assert 0.048 < levels < 0.05  # of all claims that will ever be made
    turned = new_records(board(losses), ["s3", "s2", "s1", "s0"]).frame
    assert list(turned.index) == ["s2", "s1", "s0"]
    assert "record" not in set(turned["claim"])
    with pytest.raises(AnalysisError, match="since 's9' is no submission, nor a date"):
        new_records(board(losses), since="s9")


def test_submissions_come_in_the_order_of_their_dates():
    rng = np.random.default_rng(1)
    losses = board(np.add(related(rng, 4), [5.0, 9.0, 0.1, 0.0]))
    dates = {"s0": "2026-03-01", "s1": "2026-01-31", "s2": "2026-05-01", "s3": "2026-04-01"}
    frame = new_records(losses, dates).frame
    assert list(frame.index) == ["s0", "s3", "s2"]
    frame = new_records(losses, dates, since="2026-03-02").frame
    assert list(frame.index) == ["s3", "s2"]
    assert frame["claim"].tolist() == ["record", "provisional"]
    assert list(new_records(losses, dates, since="s2").frame.index) == ["s2"]
    named = replace(losses, strategies=("20260301_a", "20260131_b", "2026-05-01_c", "20260401_d"))
    found = new_records(named, since="2026-04-01")
    assert list(found.frame.index) == ["20260401_d", "2026-05-01_c"]
    assert found.notes[-3] == (
        "Of 2 submissions from 20260401_d on, new records when they came: 20260401_d; ahead, "
        "provisional without more evidence: 2026-05-01_c"
    )
    for since, order in (("2026-05-02", dates), ("2026-01-01", None)):
        with pytest.raises(AnalysisError, match=r"are given with order \(--submitted FILE.csv\)"):
            new_records(losses, order, since=since)
    for wrong in ({**dates, "s1": "January"}, {"s1": "2026-01-31"}):
        with pytest.raises(AnalysisError, match="each submission needs a date, as 2026-07-31: "):
            new_records(losses, wrong)


def test_the_command_has_the_records_since_a_date(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(np.add(related(rng, 3), [5.0, 0.0, 0.2]), columns=["a", "b", "c"])
    table.rename_axis("dataset").rename(index="d{}".format).to_csv(tmp_path / "board.csv")
    (tmp_path / "dates.csv").write_text("model,date\nc,2026-02-01\na,2026-01-01\nb,2026-03-01\n")
    given = ["leaderboard", "records", f"{tmp_path}/board.csv", "--metric", "cost"]
    given += ["--less-is-better", "--submitted", f"{tmp_path}/dates.csv", "--since", "2026-02-01"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    text = " ".join(done.output.split())
    assert "f 2 submissions from c on, new records when they came: c; ahead, prov" in text
    rows = json.loads(CliRunner().invoke(cli, [*given, "--json"]).stdout)
    assert (rows[0]["strategy"], rows[0]["claim"]) == ("c", "record")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_a_device_as_dates_is_one_line_at_once(tmp_path, kind, capsys):
    (tmp_path / "board.csv").write_text("dataset,a,b\nx,.1,.5\ny,.2,.3\nz,.4,.3\n")
    dates = tmp_path / "dates.csv"
    os.mkfifo(dates) if kind == "pipe" else dates.symlink_to("/dev/zero")
    given = ["leaderboard", "records", f"{tmp_path}/board.csv", "--metric", "accuracy"]
    with pytest.raises(SystemExit, match="4"):
        main([*given, "--submitted", str(dates)])
    told = capsys.readouterr().err
    assert "a pipe or a device, and must be a file" in told
    assert len(told.splitlines()) == 1


def test_the_records_leave_out_contaminated_strategies(tmp_path):
    fev = "model_name,task_name,test_error,trained_on_this_dataset\n"
    scores = {"old": ".5", "clean": ".4", "leaky": ".1"}
    for name, score in scores.items():
        rows = [f"{name},d{i},{score}{i},{name == 'leaky'}" for i in range(8)]
        (tmp_path / f"{name}.csv").write_text(fev + "\n".join(rows) + "\n")
    (tmp_path / "dates.txt").write_text(
        "model,date\nold,2026-01-01\nclean,2026-02-01\nleaky,2026-03-01\n"
    )
    given = ["leaderboard", "records", str(tmp_path), "--submitted", f"{tmp_path}/dates.txt"]
    found = {}
    for way in ("keep", "drop strategies"):
        done = CliRunner().invoke(cli, [*given, "--contaminated", way, "--json"])
        assert done.exit_code == 0, done.output
        found[way] = [row["strategy"] for row in json.loads(done.stdout)]
    assert found == {"keep": ["clean", "leaky"], "drop strategies": ["clean"]}


def test_a_submission_that_is_ahead_without_evidence_is_provisional():
    losses = np.column_stack([np.zeros(7), [-1.0, -1, -1, -1, 1, 1, 1]])
    frame = new_records(board(losses, np.arange(7))).frame
    assert frame["claim"].tolist() == ["provisional"]
    assert frame["evidence"].iloc[0] == pytest.approx(2)


@pytest.mark.parametrize("k", [5, 20])
def test_the_advantage_of_the_leader_is_freed_of_the_curse(k):
    """Equal strategies: the lead that is seen is all curse, and at least 70 % of it goes."""
    rng = np.random.default_rng(k)
    seen, fair = [], []
    for _ in range(200):
        rows = rng.normal(size=(28, k))
        means = np.sort(rows.mean(axis=0))
        seen.append(means[1] - means[0])
        fair.append(advantage(rows))
    assert abs(np.mean(fair)) < 0.3 * np.mean(seen)
    rows = np.column_stack([np.zeros(8), np.full(8, 2.0), np.full(8, 3.0)])
    assert advantage(rows) == 2  # where nothing varies, nothing is taken away


def test_the_note_has_both_advantages():
    rng = np.random.default_rng(2)
    found = new_records(board(np.add(related(rng, 3), [4.0, 4.0, 0.0])))
    assert found.notes[-1].startswith("s2 is ahead of s")
    assert " in average rank as seen, and a leader of half of the sources by " in found.notes[-1]
