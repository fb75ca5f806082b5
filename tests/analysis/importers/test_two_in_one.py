"""Tests of names and cells that hold two things."""

import pandas as pd
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


def test_what_is_added_to_the_row_above_has_its_name_too(tmp_path):
    rows = ["method,iris,wine", "a,.7,.6", "+ mixup,.8,.7", "b,.6,.5", "+ mixup,.9,.6"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    read = read_results(tmp_path / "t.csv", "accuracy")
    assert read.strategies == ("a", "a + mixup", "b", "b + mixup")


def test_a_unit_is_no_part_of_the_metric_and_a_range_is_its_middle(tmp_path):
    rows = ["model,Test_RMSE_g,Test_R2", "a,70.5-69.7,.7"]
    rows += [f"{name},{71 + i}.5,.6" for i, name in enumerate("bcdef")]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    read = read_results(tmp_path / "t.csv", "rmse")
    assert read.scores["a"].tolist() == pytest.approx([70.1])
    assert "`Test_RMSE_g` as rmse" in read.how_read
    assert "ranges such as '70.5-69.7' count as their middles" in read.how_read
    (tmp_path / "t.csv").write_text("band,dataset,accuracy\n.1-.2,x,.8\n.3-.4,x,.7\n")
    assert read_results(tmp_path / "t.csv", "accuracy").strategies == (".1-.2", ".3-.4")


def test_a_test_beside_another_set_is_asked_about(tmp_path):
    rows = ["method,test_iou_mean,bolivia_iou_mean,test_f1_mean", "a,.5,.6,.7", "b,.4,.7,.6"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.raises(QuestionError, match="may be of another dataset than `test_iou") as raised:
        read_results(tmp_path / "t.csv", "iou")
    assert [len(x.datasets) for x in raised.value.readings.values()] == [2, 1]


def test_the_corner_above_metrics_names_the_columns(tmp_path):
    rows = ["Dataset,FB15k,wn18", "MRR,.79,.95", "MR,42,300", "HITS@10,.88,.96"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.raises(QuestionError, match="so there is nothing to compare") as raised:
        read_results(tmp_path / "t.csv", "mrr")
    assert not raised.value.readings


def test_groups_of_columns_may_be_called_target():
    rows = [["a", 0.86, 0.8, 0.82, 0.7], ["b", 0.88, 0.7, 0.9, 0.8], ["a", *[None] * 4]]
    groups = [(x, y) for x in ("SOURCE", "TARGET") for y in ("Accuracy", "F1")]
    table = pd.DataFrame(rows, columns=pd.MultiIndex.from_tuples([("METHODS", ""), *groups]))
    read = read_results(table, "accuracy")
    assert read.datasets == ("SOURCE", "TARGET")
    assert read.scores.T["TARGET"].tolist() == [0.82, 0.9]
    assert "1 row without scores, named as others" in read.how_read


def test_files_of_several_columns_of_scores_may_name_strategies(tmp_path):
    for n, name in enumerate(["maml", "knn"]):
        rows = [f"{d},.5,{0.5 + n / 10}+/-.1,{0.6 + n / 10}+/-.1" for d in "uvw"]
        text = "\n".join(["TASK_ID,fraction_positive_train,16_train,32_train", *rows])
        (tmp_path / f"{name}.csv").write_text(text)
    with pytest.raises(QuestionError, match="`file` may name strategies") as raised:
        read_results(tmp_path, "auprc", greater_is_better=True)
    first = next(iter(raised.value.readings.values()))
    assert (first.strategies, first.datasets) == (("knn", "maml"), ("u", "v", "w"))


def test_numbers_in_front_may_name_datasets(tmp_path):
    (tmp_path / "t.csv").write_text("N,mean_old,mean_new\n2,.9,.8\n4,.8,.7\n8,.6,.5\n")
    with pytest.raises(QuestionError) as raised:
        read_results(tmp_path / "t.csv", "fidelity", greater_is_better=True)
    first = next(iter(raised.value.readings.values()))
    assert first.datasets == ("2", "4", "8")


def test_no_other_metric_is_offered_for_a_table_of_the_metric_that_cannot_be_read(tmp_path):
    speed = "## Speed\n\n| Dataset | FB15k | wn18 |\n|---|---|---|\n| TIME | 9 h | 4 h |\n"
    speed += "| STEPS | 150 | 80 |\n\n"
    scores = "## Results of RotatE\n\n| Dataset | FB15k | wn18 |\n|---|---|---|\n"
    (tmp_path / "t.md").write_text(f"{speed}{scores}| MRR | .79 | .95 |\n| MR | 42 | 300 |\n")
    with pytest.raises(QuestionError, match="2 tables") as raised:
        read_results(tmp_path / "t.md", "mrr")
    assert not raised.value.ways


def test_metrics_of_other_sizes_are_no_strategies(tmp_path):
    rows = ["Dataset,Hits@1,Hits@5,Hits@50", "u,.00001,.0001,.64", "v,.00001,.0002,.65"]
    (tmp_path / "t.csv").write_text("\n".join([*rows, "w,.00002,.0001,.7"]))
    with pytest.raises(QuestionError, match="are metrics of one strategy") as raised:
        read_results(tmp_path / "t.csv", "mrr")
    assert not raised.value.ways
