"""Every form of a report has the same verdict on each strategy: headline, table, JSON, figure."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import compare
from mlaut.analysis.deciding.decision import Decision
from mlaut.analysis.deciding.verdicts import VERDICTS
from mlaut.analysis.plots.decision_plot import MARKS
from mlaut.report import make_report
from mlaut.report.explorer.packing import Packer
from mlaut.report.explorer.views import view
from mlaut.report.latex import as_latex
from mlaut.report.shown import decision_table
from mlaut.report.terminal import first_screen
from mlaut.report.writing import as_json, as_markdown

TABLES, OF_TEST = 200, 10  # tables; and how many one test has
REPORTS = range(0, TABLES, 20)  # of these tables all forms of a report are made
AT_ONCE = (0, 40)  # the others are long tests
QUESTIONS = ("best", "all pairs", "control: s1")


def of_each(numbers):
    """Return parameters of a test: all but a few are long."""
    for number in numbers:
        yield number if number in AT_ONCE else pytest.param(number, marks=pytest.mark.slow)


def random_table(seed: int) -> tuple[pd.DataFrame, str, dict]:
    """Return scores with copies, failures, ties and a baseline; their metric; and terms."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 25)), int(rng.integers(2, 10))
    worse = rng.choice([0.0, 0.01, 0.03, 0.1], k) * rng.uniform(0.5, 1.5, k)
    noise = rng.normal(0, rng.choice([0.003, 0.02, 0.08]), (n, k)) * rng.uniform(0.2, 2, k)
    scores = (rng.uniform(0.6, 0.85, (n, 1)) - worse + noise).clip(0.01, 1)
    frame = pd.DataFrame(scores, columns=[f"s{i}" for i in range(k)])
    frame.index = [f"d{i}" for i in range(n)]
    if rng.random() < 0.3:
        frame = frame.round(2)
    if rng.random() < 0.2 and k > 3:
        frame["s3"] = frame["s0"]
    if rng.random() < 0.3:
        frame["DummyClassifier"] = 0.3
    if rng.random() < 0.3 and n > 3:
        frame.iloc[: int(rng.integers(1, n // 2 + 1)), int(rng.integers(k))] = np.nan
    metric = ("accuracy", "rmse")[int(rng.random() < 0.3)]
    frame = frame if metric == "accuracy" else 1.01 - frame
    terms = {"question": QUESTIONS[int(rng.choice(3, p=[0.7, 0.1, 0.2]))]}
    if metric == "accuracy" and rng.random() < 0.2:
        terms["rope"] = 0.02
    return frame, metric, terms


def said(decision: Decision) -> dict[str, list[str]]:
    """Return the names that the first sentence has for each verdict."""
    answer = re.sub(
        r" \([^()]*\)|: choosing .*?(?=\. [A-Zs\d]|$)", "", decision.answer().rstrip(".")
    )
    answer = re.sub(r"\. \d+ of \d+ pairs are shown to differ(, one against one)?$", "", answer)
    answer = re.sub(r"\. (?:If you must choose now, use|Choosing) .*?(?=\. [A-Zs\d]|$)", "", answer)
    found: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    chosen = decision.named("use")
    for part in answer.split(". "):
        for pattern, verdict in (
            (r", use (?:one of )?(.*?)(?: in place of .*)?$", "use" if chosen else "may be best"),
            (r"^(?:No clear winner: )?(.*) may be best(?:, even .*)?$", "may be best"),
            (r"^May be best too: (.*?)(?:, even .*)?$", "may be best"),
            (r"^Probably worse: (.*)$", "probably worse"),
            (r"^Practically as good: (.*)$", "as good"),
            (r"^Undecided: (.*)$", "undecided"),
            (r"^Avoid (.*) for failures on .*$", "fails"),
            (r"^Avoid (.*)$", "avoid"),
        ):
            if match := re.search(pattern, part):
                found[verdict] += re.split(r", | and ", match[1])
                break
        else:
            assert ", keep " in part, part
    return found


@pytest.mark.parametrize("start", [*of_each(range(0, TABLES, OF_TEST))])
def test_headline_table_and_figure_have_one_verdict(start):
    for seed in range(start, start + OF_TEST):
        frame, metric, terms = random_table(seed)
        found = compare(
            frame, metric=metric, missing="failures last", rope=terms.get("rope", 0.0)
        ).decision(**terms)
        verdicts = found.frame["verdict"]
        assert set(verdicts) <= set(VERDICTS) == set(MARKS), seed
        shown = decision_table(found)
        at = shown.head.index("verdict")
        assert {row[0]: row[at] for row in shown.texts} == verdicts.to_dict(), seed
        if not found.leader:
            assert set(verdicts) == {"undecided"}, seed
            assert found.answer().startswith(("Too few datasets", "No choice is safe")), seed
            continue
        agree_with_each_other(found)
        for verdict, names in said(found).items():
            own = list(found.named(verdict))
            if verdict == "baseline":
                continue
            counts = [
                re.match(r"(?:the other )?(\d+)(?: others| strategies)?", name) for name in names
            ]
            number = sum(int(count[1]) for count in counts if count)
            plain = [one for one in names if one in verdicts.index]
            assert all(verdicts[one] == verdict for one in plain), (seed, found.answer())
            copies = {found.copies_of(one) for one in own}
            assert len(plain) + number in (len(own), len(copies)), (seed, found.answer())
        numbers = found.frame.drop(list(found.copies_of(found.leader)))  # which are as the leader
        sums = numbers[["won", "tied", "lost"]].sum(axis=1)
        assert (sums <= found.n).all(), seed
        if found.complete:
            assert (sums == found.n).all(), seed
        _differences_are_rounded_once(found)


def agree_with_each_other(found: Decision) -> None:
    """Check that no two statements of a decision contradict each other."""
    certainty, answer = " ".join(found.certainty()), found.answer()
    open_ = [name for name in found.best if name not in found.copies_of(found.leader)]
    doubted = found.named("probably worse") + found.named("undecided")
    if "are not needed" in certainty:
        assert not open_
        assert not doubted
    if not found.control:
        chance = found.frame["P(best)"][list(found.copies_of(found.leader))].sum()
        if found.named("use"):
            assert chance >= 0.5 or not open_
        else:
            assert answer.startswith(("No clear winner: ", "If you must choose now, use "))
        ruled_out = found.frame["P(best)"][[*found.named("avoid"), *doubted]]
        assert (ruled_out <= chance + 1e-9).all()
        assert found.leader in found.best
    if re.search(r"other analys[ei]s agrees?\.", certainty):
        assert not any(check.also or check.without for check in found.checks)
    if answer.startswith("On datasets like these, use"):
        assert not any(found.leader in check.without for check in found.checks)
    for text in (answer, certainty):
        assert "by cost or speed" not in text
        assert "treat them as equal" not in text


def _differences_are_rounded_once(found):
    shown = decision_table(found)
    if "difference" in shown.head:
        place = shown.head.index("difference")
        for name, text in ((row[0], row[place]) for row in shown.texts):
            if re.search(r"\d", text):
                half = 0.5 * 10.0 ** -len(text.partition(".")[2])
                assert abs(float(text) - found.frame["difference"][name]) <= half * (1 + 1e-9)


@pytest.mark.parametrize("seed", [*of_each(REPORTS)])
def test_every_form_has_the_verdicts_of_the_decision(seed):
    frame, metric, terms = random_table(seed)
    report = make_report(frame, metric, **terms)
    (section,) = report.sections
    decision = section.decision
    verdicts = decision.frame["verdict"].to_dict()
    told = json.loads(as_json(report))["sections"][0]
    assert {row["strategy"]: row["verdict"] for row in told["strategies"]} == verdicts
    assert told["headline"][0] == decision.answer()
    costs = {row["strategy"]: row.get("costs at most") for row in told["strategies"]}
    of_best = {name: decision.bounds.get(name) for name in decision.best}
    assert costs == pytest.approx(dict.fromkeys(verdicts) | of_best)
    assert view(section, Packer())["verdicts"] == verdicts
    lines = first_screen(report).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert decision.answer() in " ".join(" ".join(lines).split())
    for name, verdict in verdicts.items():
        row = next((one for one in lines if re.match(rf"{name}  +", one)), "")
        assert not row or verdict in row, row
        assert f"| {name} | {verdict} |" in as_markdown(report)
        assert f"{name} & {verdict} & " in as_latex(report)
