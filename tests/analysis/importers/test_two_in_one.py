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
        ("MNLI", "MRPC (F1)", "QQP (F1)"),
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


PAIRS = (
    "\n\n|Model|LIVE|CSIQ|\n|-|-|-|\n|net a|.91 / .92|**.81 / .83**|\n|net b|.88 / .87|.79/.78|\n"
)
IQA = [f"### IQA (PLCC / SRCC){PAIRS}", f"The numbers are `PLCC / SRCC`.{PAIRS}"]
IQA += [f"# One{PAIRS}\nMetrics: PLCC/SRCC\n", PAIRS.replace("Model", "Model (PLCC/SRCC)")]


@pytest.mark.parametrize("text", IQA)
def test_metrics_of_numbers_are_named_by_a_heading_a_line_near_the_table_or_its_corner(
    text, tmp_path
):
    (tmp_path / "t.md").write_text(text)
    results = read_results(tmp_path / "t.md", "SRCC")
    assert results.scores["net a"].tolist() == [0.92, 0.83]
    assert "not used: PLCC in `LIVE`, PLCC in `CSIQ`" in results.how_read
    with pytest.raises(QuestionError, match=r"2 numbers .PLCC / SRCC., so say which") as raised:
        read_results(tmp_path / "t.md")
    assert [x.metric for x in raised.value.ways] == ["PLCC", "SRCC"]


@pytest.mark.parametrize("line", ["We use 3/4 of it.", "of A/B tests", "RMSE/MAE/MAPE are low."])
def test_no_other_text_names_the_metrics_of_two_numbers(line, tmp_path):
    (tmp_path / "t.md").write_text(line + PAIRS)
    with pytest.raises(QuestionError, match="is 2 numbers, and nothing says of what") as raised:
        read_results(tmp_path / "t.md", "SRCC")
    first, second = raised.value.readings.values()
    assert (first.scores["net b"].iloc[0], second.scores["net b"].iloc[0]) == (0.88, 0.87)
    assert "--columns number=2" in [*raised.value.readings][1]


OWN = "|{}|SC (F1)|NLI (acc)|QA (EM/F1)|\n|-|-|-|-|\n|a|67.5|75.1|67.1/72.6|\n|b|69.5|.|68/74.2|\n"
OWN = OWN.replace("|.|", "|78.4|")


@pytest.mark.parametrize("corner", ["Model", "Task"])
def test_each_dataset_may_have_its_own_metric(corner, tmp_path):
    (tmp_path / "t.md").write_text(OWN.format(corner))
    results = read_results(tmp_path / "t.md")
    assert results.datasets == ("SC (F1)", "NLI (acc)", "QA (EM)")
    assert results.scores["a"].tolist() == [67.5, 75.1, 67.1]
    assert results.metric.greater_is_better
    told = "each dataset by its own metric (f1, acc, em), so means over datasets do not compare"
    assert told in results.incomparable
    assert told in results.how_read
    assert "F1 in `QA (EM/F1)`" in results.how_read
    assert "--columns number=2" in results.how_read
    second = read_results(tmp_path / "t.md", columns={"number": "2"})
    assert second.datasets[2] == "QA (F1)"
    assert read_results(tmp_path / "t.md", "F1", columns={"strategy": corner}).datasets == (
        "SC",
        "QA",
    )


def test_a_column_called_metric_may_name_that_of_each_dataset(tmp_path):
    rows = ["Corpus,Metric,SVM,KNN", "u,Pearson,.8,.7", "v,F1,.9,.8", "w,accuracy,.7,.6"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    results = read_results(tmp_path / "t.csv")
    assert results.datasets == ("u", "v", "w")
    assert "by its own metric (Pearson, F1, accuracy)" in results.how_read
    (tmp_path / "t.csv").write_text("\n".join([*rows, "u,F1,.9,.8"]))  # two of one dataset
    with pytest.raises(QuestionError, match="the table has several: Pearson, F1"):
        read_results(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("\n".join([*rows[:3], "w,RMSE,7,6"]))  # less is better
    with pytest.raises(QuestionError, match="the table has several: Pearson, F1"):
        read_results(tmp_path / "t.csv")


def test_metrics_of_two_directions_are_asked_about(tmp_path):
    rows = ["model,NLI (acc),QA (F1),LM (ppl),ASR (WER)", "svm,.8,.7,20,9", "knn,.9,.8,25,8"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    for greater in (None, True):
        with pytest.raises(QuestionError, match="of some more is better, of others") as raised:
            read_results(tmp_path / "t.csv", greater_is_better=greater)
        assert ("NLI (acc)", "QA (F1)") in [x.datasets for x in raised.value.readings.values()]


def test_rows_of_another_metric_than_the_wanted_one_are_told(tmp_path):
    rows = ["Task,SVM,KNN", "TC (F1),.8,.7", "NLI (acc),.9,.6", "RE (F1),.7,.8", "WSC,.7,.6"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with pytest.raises(QuestionError, match=r"`NLI .acc.` is of acc by its name, not of f1"):
        read_results(tmp_path / "t.csv", "f1")
    (tmp_path / "t.csv").write_text("\n".join(rows[:-1]))
    results = read_results(tmp_path / "t.csv", "f1")
    assert results.datasets == ("TC", "RE")
    assert "rows of acc" in results.how_read


def test_numbers_of_rows_whose_names_list_metrics(tmp_path):
    rows = ["Task,SVM,KNN", "CoLA (MCC),50.5,54.6", "MRPC (Acc/F1),81.4/86.9,81.9/87.6"]
    (tmp_path / "t.csv").write_text("\n".join([*rows, "QQP (F1/Acc),90.4/87.2,90.6/87.4"]))
    results = read_results(tmp_path / "t.csv")
    assert results.datasets == ("CoLA (MCC)", "MRPC (Acc)", "QQP (F1)")
    assert results.scores["KNN"].tolist() == [54.6, 81.9, 90.6]


def test_a_mean_of_all_numbers_is_no_dataset(tmp_path):
    rows = ["model,NER (F1),NLI (acc),QA (EM/F1),Suite score", "a,60,70,50.5/81.5,65.5"]
    rows += ["b,62,70,52.5/81.5,66.5", "c,64,75,53.5/83.5,69.05"]  # the last one is mistyped
    (tmp_path / "t.csv").write_text("\n".join(rows))
    results = read_results(tmp_path / "t.csv")
    assert results.datasets == ("NER (F1)", "NLI (acc)", "QA (EM)")
    assert "`Suite score` (an average of the others)" in results.how_read
    (tmp_path / "t.csv").write_text("\n".join(rows).replace("69.05", "60.5"))
    with pytest.raises(QuestionError, match="what its scores are"):  # of a fourth dataset
        read_results(tmp_path / "t.csv")


def test_a_word_in_the_name_of_a_file_is_no_metric_of_its_rows(tmp_path):
    (tmp_path / "t.csv").write_text("file,SVM,KNN\nSMAPE-10.out,.8,.7\nroad-1.out,.9,.6\n")
    assert len(read_results(tmp_path / "t.csv", "auc").datasets) == 2


ROWS = "\n\n|Model|iris|wine|\n|-|-|-|\n|SVM|.91|.93|\n|KNN|.88|.87|\n"


@pytest.mark.parametrize(
    ("text", "name", "metric"),
    [
        ("### Test accuracy on UCI", "t.md", "accuracy"),
        ("### Results (mAP)", "t.md", "map"),
        ("### Results\n\nMetric: F1", "t.md", "f1"),
        ("", "test_rmse_results.md", "rmse"),
        ("### Top-1 accuracy", "t.md", "acc1"),
    ],
)
def test_a_heading_a_line_or_the_file_names_the_metric(text, name, metric, tmp_path):
    (tmp_path / name).write_text(text + ROWS)
    results = read_results(tmp_path / name)
    assert results.metric.name == metric
    last = text.rpartition("\n")[2].strip("# ") or "test rmse results"
    assert f"scores of {last!r} as {metric}" in results.how_read


@pytest.mark.parametrize(
    "text",
    ["### Road map", "### SR results", "### Accuracy and F1", "### Test time loss", "### Errors"],
)
def test_no_other_heading_names_the_metric(text, tmp_path):
    (tmp_path / "t.md").write_text(text + ROWS)
    with pytest.raises(QuestionError, match="what its scores are") as raised:
        read_results(tmp_path / "t.md")
    assert [x.greater for x in raised.value.ways] == [True, False]


def test_a_heading_names_no_metric_that_the_values_or_the_direction_contradict(tmp_path):
    text = "### Accuracy" + ROWS
    (tmp_path / "t.md").write_text(text)
    assert read_results(tmp_path / "t.md", greater_is_better=False).metric.name == "loss"
    (tmp_path / "t.md").write_text(text.replace(".91", "1500"))
    with pytest.raises(QuestionError, match="what its scores are"):
        read_results(tmp_path / "t.md")
