"""Tests of names and cells that hold two things."""

import pytest

from mlaut.analysis import QuestionError, read_results

GLUE = """
| Method | MRPC (F1/Acc) | QQP (F1/Acc) |
|---|---|---|
| BERT | 88.9/84.8 | 71.2/89.2 |
| RoBERTa | **90.9/87.1** | 73.2/90.2 |
"""


def test_a_metric_behind_the_name_of_a_row_is_no_part_of_it(tmp_path):
    rows = ["Higgs AUC,.84,.85", "Bosch AUC,.71,.70", "Yahoo NDCG1,.73,.74", "Yahoo NDCG10,.8,.81"]
    (tmp_path / "t.csv").write_text("\n".join([",CPU 63 bins,GPU 63 bins", *rows]))
    results = read_results(tmp_path / "t.csv", "auc")
    assert results.datasets == ("Higgs", "Bosch")  # other metrics than Yahoo has
    assert results.scores["GPU 63 bins"].tolist() == [0.85, 0.70]
    assert "rows of NDCG1, NDCG10" in results.how_read
    assert read_results(tmp_path / "t.csv", "ndcg@10").datasets == ("Yahoo",)


@pytest.mark.parametrize(
    ("metric", "scores"), [("f1", [0.889, 0.909]), ("accuracy", [0.848, 0.871])]
)
def test_of_two_numbers_in_a_cell_that_of_the_metric_counts(tmp_path, metric, scores):
    (tmp_path / "t.md").write_text(GLUE)
    results = read_results(tmp_path / "t.md", metric)
    assert results.scores.T["MRPC"].tolist() == pytest.approx(scores)
    assert results.datasets == ("MRPC", "QQP")
    assert f"{'Acc' if metric == 'f1' else 'F1'} in `MRPC (F1/Acc)`" in results.how_read


def test_a_column_beside_those_of_two_metrics_may_be_of_either(tmp_path):
    added = GLUE.replace("| Method |", "| Method | MNLI |").replace("|---|", "|---|---|", 1)
    added = added.replace("BERT |", "BERT | 84.6 |").replace("RoBERTa |", "RoBERTa | 90.2 |")
    (tmp_path / "t.md").write_text(added)
    with pytest.raises(QuestionError, match="`MNLI` may be of another metric than f1") as raised:
        read_results(tmp_path / "t.md", "f1")
    assert [x.datasets for x in raised.value.readings.values()] == [
        ("MRPC", "QQP"),
        ("MNLI", "MRPC (F1/Acc)", "QQP (F1/Acc)"),
    ]


def test_a_cell_with_one_of_two_numbers_has_that_of_the_first_metric(tmp_path):
    rows = ["method,dataset,Accuracy / F1", "a,x,70.5", "b,x,71", "a,y,80.1 / 60", "b,y,81 / 62"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    first = read_results(tmp_path / "t.csv", "accuracy").scores
    assert first["a"].tolist() == pytest.approx([0.705, 0.801])
    second = read_results(tmp_path / "t.csv", "f1")
    assert second.scores["b"].dropna().tolist() == pytest.approx([0.62])


def test_two_names_of_one_column_with_single_numbers_are_not_split(tmp_path):
    (tmp_path / "t.csv").write_text("method,dataset,F1/accuracy\na,x,.7\nb,x,.8\n")
    read = read_results(tmp_path / "t.csv", "accuracy").how_read
    assert "`F1/accuracy` as accuracy" in read
    assert "not used" not in read
