"""The paragraph on methods and the table for a paper say what was computed, and nothing else."""

import re

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import CORRECTIONS, Results, compare
from mlaut.analysis.common.tests import TESTS
from mlaut.analysis.comparing import methods
from mlaut.analysis.comparing.methods import REFERENCES


def compared(n=12, k=3, **how):
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.6, 0.8, (n, 1)) + rng.normal(0, 0.01, (n, k)) - 0.05 * np.arange(k)
    return compare(pd.DataFrame(scores, columns=list("ABCDE")[:k]), metric="accuracy", **how)


def test_every_test_and_correction_has_words_and_a_source():
    assert set(CORRECTIONS) - {"none"} == set(methods._CORRECTIONS)
    cited = [test.cited for test in TESTS.values()]
    for words in (*cited, *methods._CORRECTIONS.values()):
        assert re.findall(r"\{(\w+)\}", words)[0] in REFERENCES
    for key, work in REFERENCES.items():
        assert key.endswith(work.value_of("year"))
        assert work.value_of("author")
        assert re.match(r"(10\.\d{4,}/\S+)?$", work.value_of("doi")), key
        assert re.match(r"(https://\S+)?$", work.value_of("url")), key


def test_the_paragraph_of_a_default_comparison():
    text = str(compared().methods())
    assert text.startswith(
        "We compared 3 strategies on 12 datasets by accuracy (higher is better); datasets are the "
        "sample, so the claims are about new datasets of this kind. Strategies were compared in "
        "pairs by Wilcoxon's signed rank test (Wilcoxon 1945) with flips of whole datasets: "
        "jointly for all pairs (step-down (Westfall and Young 1993)), two-sided, level 0.05. "
        "Each strategy is ruled out as the best by its largest statistic against any other under "
        "the same flips, one-sided, at level 0.05 for itself. "
        "Average ranks of all strategies were compared by Friedman's test (Friedman 1937) in the "
        "form of Iman and Davenport (Iman and Davenport "
        "1980), as Demsar recommends (Demsar 2006)."
    )
    assert "chosen after the scores were known" in text
    assert "practically" not in text
    assert "Not every cell" not in text


@pytest.mark.parametrize(
    ("terms", "how", "says", "key"),
    [
        ({"test": "t"}, {"correction": "shaffer"}, "t-test (Student 1908): two-s", "shaffer1986"),
        ({"test": "Nemenyi"}, {}, "it corrects for all pairs itself; level 0.05", "nemenyi1963"),
        ({"test": "Bayesian sign"}, {}, "of which at most 0.05 in all are exp", "benavoli2017"),
        ({"test": "sign", "alpha": 0.01}, {"correction": "none"}, "uncorrected, at", "dixon1946"),
        ({"question": "control: B"}, {}, "compared with B by Wilcoxon's", "holm1979"),
        ({"question": "control: B"}, {"correction": "hommel"}, "for 2 pairs, at", "holm1979"),
        ({"rope": 0.01}, {"rope": 0.01}, "if their scores differ by less than 0.01", "mueller2006"),
    ],
)
def test_other_terms_are_said_with_their_sources(terms, how, says, key):
    found = compared(**how).methods(**terms)
    assert says in str(found)
    assert key in found.keys


def test_missing_cells_few_datasets_and_two_strategies_are_said():
    table = pd.DataFrame({"A": [0.9, np.nan, 0.8], "B": [0.7, 0.6, 0.5]})
    text = str(compare(table, metric="accuracy", missing="failures last").methods())
    assert "Not every cell has a result: no accuracy of A on 1 dataset" in text
    assert "With 3 datasets, fewer than the 6 that are needed, nothing is decided." in text
    assert "Friedman" not in text  # of two strategies it is a sign test
    assert "bootstrap" not in text


def test_several_test_sets_of_a_dataset_are_said():
    index = pd.MultiIndex.from_product(
        [[f"d{i}" for i in range(7)], [0], range(4)], names=["dataset", "repeat", "fold"]
    )
    values = np.random.default_rng(0).uniform(size=(28, 2))
    results = Results.from_table(pd.DataFrame(values, index, ["A", "B"]), metric="accuracy")
    assert "the mean over 4 test sets of each dataset" in str(compare(results).methods())


def test_names_are_no_keys_and_no_latex():
    table = pd.DataFrame({"{holm1979}": [0.9] * 8, "50 %_$": [0.5, 0.6] * 4})
    found = compare(table, metric="accuracy")
    paragraph = found.methods(question="control: {holm1979}")
    assert "compared with (holm1979) by" in str(paragraph)
    assert paragraph.keys == ("wilcoxon1945", "holm1979", "neal2000", "kazakov2019")
    assert r"50 \%\_\$ &" in found.paper_table()


def test_latex_cites_what_the_bibliography_has():
    found = compared().methods()
    cited = re.findall(r"\\cite\{(\w+)\}", found.to_latex())
    assert tuple(cited) == found.keys
    assert re.findall(r"^@\w+\{(\w+),$", found.to_bibtex(), re.MULTILINE) == cited
    assert (
        "rank test \\cite{wilcoxon1945} with flips of whole datasets: jointly" in found.to_latex()
    )
    bib = found.to_bibtex()
    assert bib.count("{") == bib.count("}")
    assert "doi = {10.2307/3001968}" in bib


def test_a_table_for_a_paper():
    found = compared(k=4)
    text = found.paper_table("Our study.", label="tab:ours")
    assert text.startswith(
        "\\begin{table}\n\\centering\n\\caption{Our study. 4 strategies on N = 12 datasets, by "
        "average rank (1 is best); accuracy: higher is better; bold: the best. Strategies that "
        "share a letter are not shown to differ (Wilcoxon signed rank test, all pairs jointly, "
        "level 0.05).}\\label{tab:ours}\n"
    )
    assert text.endswith("\\bottomrule\n\\end{tabular}\n\\end{table}")
    lines = text.split("\n")
    body = lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]
    head = "strategy & mean accuracy & 95\\,\\% interval & average rank & group \\\\"
    assert head in lines
    assert [line.partition(" & ")[0] for line in body] == ["A", "B", "C", "D"]
    assert {line.count(" & ") for line in (head, *body)} == {4}
    assert re.search(r"\\begin\{tabular\}\{l(r+)\}", text)[1] == "rrrr"
    assert ["\\textbf" in line for line in body] == [True, False, False, False]


def test_equal_strategies_are_all_bold_and_a_mean_of_few_is_not():
    table = pd.DataFrame({"A": [0.9, 0.8] * 4, "B": [0.9, 0.8] * 4, "C": [0.5, 0.4] * 4})
    text = compare(table, metric="accuracy").paper_table()
    assert text.count("\\textbf{0.85}") == text.count("\\textbf{1.5}") == 2
    table.loc[0, "A"] = np.nan
    text = compare(table, metric="accuracy", missing="failures last").paper_table()
    assert text.count("\\textbf") == 1  # the best rank: B's mean is only the best of two
    assert re.search(r"A & - & - & [\d.]+ & 1 & ", text)
    assert "Failures: datasets without a result of the strategy" in text
