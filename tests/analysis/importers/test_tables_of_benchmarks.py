"""Tables as benchmarks publish them, made up here: details beside totals, runs, folders."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis import read_results
from mlaut.analysis.importers.grids.columns import measures_of
from mlaut.analysis.importers.grids.names import role_of

PROTEINS = pd.DataFrame({"x net": ALPHA, "y net": [0.5, 0.6, 0.4, 0.7, 0.8, 0.3]})


def test_a_second_column_of_a_name_is_left_out_if_it_is_empty_or_the_same(tmp_path):
    lines = ["dataset,alpha,beta,beta,alpha"]
    lines += [f"{d},{a},{b},,{a}" for d, (a, b) in zip(NAMES, WIDE.to_numpy(), strict=True)]
    results = read(tmp_path, "\n".join(lines))
    assert is_wide(results)
    assert "a second `alpha` (the same)" in results.how_read
    other = "\n".join([lines[0], *(f"{line}1" for line in lines[1:])])
    assert "two columns are called 'alpha'" in refused(tmp_path, other)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Bootstrap_standard_error_NDCG", "spread"),
        ("model_rank", "size"),
        ("lora_rank", ""),
        ("image_gmacs", "size"),
    ],
)
def test_names_that_are_no_scores(name, role):
    assert role_of(name) == role


def test_rows_equal_in_all_cells_are_one(tmp_path):
    table = PROTEINS.assign(assay=list("aabbcc"), protein=["p", "q", "p", "q", "p", "q"])
    doubled = pd.concat([table, table.iloc[[1, 4]]], ignore_index=True)
    results = read(tmp_path, doubled, "auc", columns={"dataset": ("assay", "protein")})
    assert len(results.datasets) == 6
    assert "2 rows equal to another in all cells" in results.how_read
    other = doubled.assign(**{"x net": [*ALPHA, 0.1, 0.2]})
    assert "several rows for" in refused(
        tmp_path, other, "auc", columns={"dataset": ("assay", "protein")}
    )


def test_an_identifier_names_cases_and_that_of_a_program_does_not(tmp_path):
    table = PROTEINS.set_index(pd.Index([f"NP_{i}" for i in range(6)], name="RefSeq ID"))
    results = read(tmp_path, table, "auc")
    assert results.strategies == ("x net", "y net")
    assert "`RefSeq ID` is an identifier" in results.how_read
    assert "it is unclear whether rows" in refused(tmp_path, table.rename_axis("hf id"), "auc")


def test_data_that_models_were_trained_on_are_no_datasets_of_scores(tmp_path):
    names = ["small", "small", "large", "large", "huge", "tiny"]
    table = pd.DataFrame({"Model": names, "Training data": [*"abacde"], "ImageNet acc.": ALPHA})
    text = refused(tmp_path, table)
    assert "`Training data` may name the datasets, or be a part of the strategies" in text
    both = LONG.assign(upstream_dataset="web")
    assert "`upstream_dataset`" in read(tmp_path, both).how_read


def test_a_metric_in_the_middle_of_names_is_chosen():
    names = [
        f"{d} text_recall@{k} {x}" for d in ("XTD", "M3") for k in (1, 5) for x in ("de", "id")
    ]
    kept, others, _, ask = measures_of(names, "recall@1")
    assert (ask, [*others]) == ([], ["recall@5"])
    assert [*kept.values()] == ["XTD text de", "XTD text id", "M3 text de", "M3 text id"]
    *_, ask = measures_of(names, "recall")
    assert ask == ["recall@1", "recall@5"]


def test_a_language_that_is_called_id_is_no_identifier(tmp_path):
    table = pd.DataFrame({f"XTD recall@1 {x}": ALPHA for x in ("de", "en", "id", "it")})
    table += np.arange(4) / 100
    results = read(tmp_path, table.assign(model=NAMES), "recall@1")
    assert results.datasets == ("XTD de", "XTD en", "XTD id", "XTD it")


def test_a_question_whose_answers_cannot_be_read_says_why(tmp_path):
    table = pd.DataFrame({"": ["u", "v", "w"], "p": [3.5, 2, 1], "q": [4.0, 6, 2]})
    text = refused(tmp_path, table)
    assert "either way accuracy is within 0 and 1" in text


def test_sizes_of_models_alone_are_no_scores(tmp_path):
    table = pd.DataFrame({"model": NAMES, "text_width": 512, "gmacs": ALPHA, "mparams": ALPHA})
    assert "are sizes or times, and no accuracy" in refused(tmp_path, table)


def test_settings_that_follow_from_others_are_not_asked_about(tmp_path):
    rows = [
        (d, m, share, seed, i / 97, f"/runs/{d}/{m}", f"{share} train", (i + seed + at) / 40)
        for i, (d, m, share) in enumerate(
            (d, m, share) for d in "ab" for m in ("u", "v") for share in (0.1, 1)
        )
        for at, seed in enumerate((0, 1, 1))
    ]
    columns = ["dataset", "model", "share", "seed", "lr", "log dir", "partition name", "iou"]
    text = refused(tmp_path, pd.DataFrame(rows, columns=columns), "iou")
    assert "they differ in share" in text
    assert "--columns dataset=dataset+share,strategy=model,repeat=rows" in text
    assert "lr" not in text.partition("if these")[0].rpartition("differ in")[2]


def test_a_table_of_means_of_other_tables_is_left_out(tmp_path):
    names = [f"model {i}" for i in range(6)]
    one = pd.DataFrame(np.arange(18).reshape(6, 3) % 7 * 3.1 + 20, names, ["a1", "a2", "a3"])
    two = pd.DataFrame(np.arange(12).reshape(6, 2) % 5 * 5.3 + 40, names, ["b1", "b2"])
    total = pd.DataFrame({"A tasks": one.mean(axis=1), "B tasks": two.mean(axis=1)}).round(1)
    parts = {"Groups": total, "A": one.round(1), "B": two.round(1)}
    text = "".join(
        f"## {x}\n\n{table.rename_axis('model').reset_index().to_markdown(index=False)}\n\n"
        for x, table in parts.items()
    )
    results = read(tmp_path, text, name="t.md")
    assert results.datasets == ("a1", "a2", "a3", "b1", "b2")
    assert "'A tasks' (a mean of another table)" in results.how_read


def test_files_of_single_columns_beside_others_are_a_table_of_their_own(tmp_path):
    scores = WIDE.iloc[:3].set_axis(["forest", "svm"], axis=1)
    for (at, model), score in np.ndenumerate(scores.to_numpy()):
        dataset, strategy = NAMES[at], scores.columns[model]
        runs, row = f"{strategy}\n{score}\n{score}\n", f"{strategy},{dataset},{score / 2},0.3\n"
        (tmp_path / f"{strategy}_{dataset}_f1.csv").write_text(runs)
        (tmp_path / f"{strategy}_{dataset}.csv").write_text(f"Name,Dataset,Precision,Recall\n{row}")
    ones = read_results(tmp_path, "f1")
    assert np.allclose(ones.scores, scores)
    assert np.allclose(read_results(tmp_path, "precision").scores, scores / 2)


def test_the_dataset_in_a_column_is_no_part_of_the_name_of_a_file(tmp_path):
    for model in ("forest", "forest_10"):
        for i, dataset in enumerate(["ant", "bee", "cat"]):
            (tmp_path / f"{model}_{dataset}.csv").write_text(
                f"Dataset,accuracy,time\n{dataset},0.{5 + i + len(model) % 2},{i}\n"
            )
    results = read_results(tmp_path, "accuracy")
    assert (results.datasets, {*results.strategies}) == (
        ("ant", "bee", "cat"),
        {"forest", "forest_10"},
    )


def test_runs_beside_their_mean_are_repeats(tmp_path):
    for dataset, model in ((d, m) for d in "ab" for m in ("forest", "svm")):
        scores = {
            x: {"std": [0.1], "values": [0.5, 0.6, 0.7], "mean": [0.6]} for x in ("f1", "auc")
        }
        (tmp_path / f"{model}_{dataset}.json").write_text(json.dumps({"scores": scores}))
    results = read_results(tmp_path, "f1")
    assert results.cells.shape == (2, 2, 3, 1)
    assert "means of 3 repeats" in results.how_read


HTML = """# Samples

| ![one](a.png) |
|---|
| ![two](b.png) |

<table><thead>
<tr><th rowspan="2">Model</th><th rowspan="2">Valid (↑)</th><th colspan="2">FCD (↓)</th></tr>
<tr><th>Test</th><th>TestSF</th></tr>
</thead><tbody>
<tr><td>HMM</td><td>0.07±0.03</td><td>24.4</td><td>25.4</td></tr>
<tr><td>VAE</td><td>0.97±0.01</td><td>0.09</td><td>0.56</td></tr>
</tbody></table>
"""


def test_an_arrow_beside_a_name_tells_which_scores_are_better(tmp_path):
    results = read(tmp_path, HTML, "valid", name="t.md")
    assert results.metric.greater_is_better
    assert "`Valid` as valid, of which more is better (↑)" in results.how_read
    assert not read(tmp_path, HTML, "fcd", name="t.md").metric.greater_is_better
    assert read(tmp_path, HTML, "fcd", name="t.md", greater_is_better=True).metric.greater_is_better


def test_a_metric_above_a_column_is_that_of_the_scores_beside_settings(tmp_path):
    head = "|**{}**| | |**NDCG**|\n|-|-|-|-|\n| |lr|max_bin|best_score|\n"
    rows = "|cat-rmse|0.03|254|0.8{0}|\n|lgb-pair|0.1|64|0.7{0}|\n|xgb-list|0.3|32|0.6{0}|\n"
    text = "\n\n".join(
        f"## Results\n\n{head.format(x)}{rows.format(i)}" for i, x in enumerate("ab")
    )
    asked = refused(tmp_path, text, "ndcg", name="t.md")
    assert "'Results: a' (3 x 4); 2: 'Results: b'" in asked
    assert "--columns table=1,strategy=a" in asked


def test_times_beside_sizes_of_memory_are_refused(tmp_path):
    table = pd.DataFrame({"task": NAMES, "Start-up": "~3min", "Memory": "< 500M"})
    table.loc[0, "Start-up"], table.loc[1, "Memory"] = "~20s", "1G"
    assert "`Start-up` is in s, and `Memory` in m" in refused(tmp_path, table, "seconds")


def test_a_flag_that_is_the_same_in_all_rows_is_known_by_its_last_word(tmp_path):
    results = read(tmp_path, WIDE.assign(seq_anomaly=1))
    assert is_wide(results)
    assert "`seq_anomaly` (1 throughout)" in results.how_read
    assert "may be no strategies" in refused(tmp_path, WIDE.assign(perfect=1))


def test_a_rate_is_no_time(tmp_path):
    table = pd.DataFrame({"model": NAMES, "samples_per_sec": ALPHA, "batch": range(6)})
    told = read(tmp_path, table.assign(step_time=ALPHA), "seconds").how_read
    assert "`samples_per_sec` (a rate by its name)" in told
    assert (
        read(tmp_path, table, "samples_per_sec", greater_is_better=True).scores.iloc[0, 0] == 0.91
    )


def test_columns_of_several_metrics_are_no_strategies(tmp_path):
    table = pd.DataFrame({"triplet_acc": ALPHA, "recall_at_10_fixed": WIDE["beta"].tolist()})
    text = refused(tmp_path, table.assign(fragment_type=["talk", "song"] * 3, path=list("aabbcc")))
    assert "are of several metrics, and no strategies" in text


def test_the_score_stands_in_the_column_with_the_ending_of_that_of_its_metric(tmp_path):
    table = LONG.rename(columns={"acc": "value_primary"}).assign(value_secondary=0.5)
    table = table.assign(metric_primary="roc_auc", metric_secondary="f1")
    assert is_wide(read(tmp_path, table, "roc_auc"))
