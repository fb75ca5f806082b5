"""Tables below headings, folders of files, and nested names: kinds that were misread or refused."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis import read_results
from mlaut.analysis.importers.grids.sheet import QuestionError
from mlaut.errors import AnalysisError

SETS = NAMES[:3]


def markdown(heading, rows, names):
    lines = [names, ["-"] * len(names), *rows]
    return f"## {heading}\n" + "".join(f"|{'|'.join(map(str, x))}|\n" for x in lines)


def one_of(scores, names=("Dataset", "Accuracy")):
    return [[*x] for x in zip(NAMES, scores, strict=True)], names


def saved(folder, **tables):
    """Save each table below the name that is its path, without the ending."""
    for name, table in tables.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False)
    return folder


# ------------------------------------------------------------------- tables below headings


def test_a_heading_names_the_strategy_of_a_table_of_one(tmp_path):
    text = markdown("alpha", *one_of(ALPHA)) + markdown("beta", *one_of(BETA))
    results = read(tmp_path, text, name="t.md")
    assert is_wide(results)
    assert "2 strategies (`heading` of 2 tables)" in results.how_read


def test_tables_of_other_strategies_on_the_same_datasets_are_one(tmp_path):
    text = markdown("WER of one", [["x", 9], ["y", 8], ["z", 7]], ("dataset", "alpha"))
    text += markdown("WER of two", [["x", 5, 4], ["y", 6, 3]], ("dataset", "beta", "gamma"))
    results = read(tmp_path, text, "wer", name="t.md")
    assert results.datasets == ("x", "y", "z")
    assert results.strategies == ("one: alpha", "two: beta", "two: gamma")
    assert "3 strategies (columns, behind their headings, of 2 tables)" in results.how_read
    assert results.scores.isna().to_numpy().sum() == 2


def test_a_heading_right_below_a_table_is_that_of_the_next(tmp_path):
    text = markdown("x", [["a", 0.9], ["b", 0.8]], ("Model", "Acc"))
    text += markdown("y", [["a", 0.7], ["b", 0.6]], ("Model", "Acc"))
    assert read(tmp_path, text, name="t.md").datasets == ("x", "y")


def test_tables_of_one_dataset_each_may_share_few_strategies(tmp_path):
    text = markdown("x", [[s, 0.9] for s in "ab"], ("Model", "Acc"))
    text += markdown("y", [[s, 0.8] for s in "abcde"], ("Model", "Acc"))
    text += markdown("z", [[s, 0.7] for s in "bcde"], ("Model", "Acc"))
    results = read(tmp_path, text, name="t.md")
    assert (results.datasets, results.strategies) == (("x", "y", "z"), tuple("abcde"))


def test_few_of_many_tables_that_name_the_metric_are_not_read_in_silence(tmp_path):
    text = "".join(markdown(x, [[s, 0.9] for s in "ab"], ("Model", "Acc")) for x in "xy")
    text += "".join(markdown(x, [["?!", "high"]], ("Thing", "Acc", "More")) for x in "uvw")
    text += "".join(markdown(x, [["a", 0.5]], ("Model", "Acc")) for x in "pqr")
    assert "choose one" in refused(tmp_path, text, name="t.md")


def test_a_heading_that_is_the_metric_alone_chooses_its_table(tmp_path):
    names = ("Model", "x", "y")
    text = markdown("Accuracy Comparison", [["a", 0.9, 0.8], ["b", 0.7, 0.6]], names)
    text += markdown("Gap of Accuracy in Training", [["a", 0.1, 0.2], ["b", 0.3, 0.4]], names)
    assert read(tmp_path, text, name="t.md").scores.loc["x", "a"] == 0.9


def test_words_that_all_headings_begin_with_are_no_part_of_the_datasets(tmp_path):
    names = ("Method", "Training Time")
    text = markdown("Time and cost on ML datasets", [["a", 3], ["b", 5]], names)
    text += markdown("Time and cost on Yelp datasets", [["a", 4], ["b", 7]], names)
    results = read(tmp_path, text, "training time", name="t.md", greater_is_better=False)
    assert results.datasets == ("ML", "Yelp")


@pytest.mark.parametrize("times", [1, 100])
def test_tables_of_the_same_names_on_far_scales_are_not_joined(times, tmp_path):
    names = ("data", "svm", "knn")
    rows = [[x, a, b] for x, a, b in zip("xyz", ALPHA, BETA, strict=False)]
    less = [[x, round(a / times, 5), round(b / times, 5)] for x, a, b in rows]
    text = markdown("Much noise", rows, names) + markdown("Little noise", less, names)
    if times == 1:
        assert len(read(tmp_path, text.replace("0.85", "0.86", 1), name="t.md").datasets) == 6
    else:
        assert "it has 2 tables" in refused(tmp_path, text, name="t.md")


# ------------------------------------------------------------------- one table


def test_a_column_called_as_an_unknown_metric_is_that_of_one_dataset(tmp_path):
    names = ("Method", "mAU-ROC<sub>I</sub>", "mAP<sub>I</sub>")
    text = markdown("x", [["a", 0.9, 0.6], ["b", 0.8, 0.5], ["c", 0.7, 0.4]], names)
    results = read(tmp_path, text, "mAU-ROC_I", name="t.md", greater_is_better=True)
    assert (len(results.datasets), results.strategies) == (1, tuple("abc"))
    assert "not used: `mAPI`" in results.how_read


def test_as_many_rows_of_each_dataset_are_its_runs(tmp_path):
    table = pd.concat([WIDE, WIDE + 0.01, WIDE - 0.01]).reset_index().sort_values("dataset")
    results = read(tmp_path, table.reset_index(drop=True))
    assert is_wide(results)
    assert "means of 3 repeats (`row`)" in results.how_read


def test_a_metric_in_front_of_a_name_behind_an_at_sign_is_found(tmp_path):
    table = WIDE.add_prefix("Accuracy@").assign(**{"F1@alpha": 0.5, "F1@beta": 0.4})
    assert is_wide(read(tmp_path, table.reset_index()))


def test_a_collection_of_all_rows_is_no_dataset_beside_a_metric_of_each(tmp_path):
    table = WIDE.T.add_suffix("_wer").rename_axis("model_id").reset_index()
    table.insert(0, "dataset", "org/all")
    table["overall_wer"] = 0.5
    results = read(tmp_path, table, "wer")
    assert results.datasets == tuple(NAMES)
    assert "`overall_wer` (by its name a summary)" in results.how_read
    for name in NAMES:
        table[f"{name}_rare_wer"] = 0.7
    with pytest.raises(AnalysisError, match="`d1_rare_wer` may be of another measure") as asked:
        read(tmp_path, table, "wer")
    kept, every = asked.value.readings.values()
    assert kept.datasets == tuple(f"{x}_wer" for x in NAMES)
    assert len(every.datasets) == 12


def test_the_metric_in_a_longer_name_tells_the_direction(tmp_path):
    table = LONG.rename(columns={"acc": "source_accuracy-mean"})
    results = read(tmp_path, table, "source_accuracy-mean")
    assert is_wide(results)
    assert "of which more is better (as for accuracy, which is in its name)" in results.how_read


def test_a_criterion_beside_shifts_of_datasets_is_of_the_strategies(tmp_path):
    rows = [(d, f"{d}{s}", m, c) for d in "uv" for s in (1, 2) for m in "ab" for c in ("x", "y")]
    table = pd.DataFrame(rows, columns=["dataset", "shift", "estimator", "scorer"])
    table["accuracy"] = np.linspace(0.5, 0.9, len(table))
    results = read(tmp_path, table)
    assert (len(results.datasets), len(results.strategies)) == (4, 4)
    assert "4 strategies (`estimator` + `scorer`)" in results.how_read


def test_unknown_numbers_at_which_all_are_crossed_are_asked_about_if_there_are_two(tmp_path):
    rows = [(c, v, k, p) for c in "uvw" for v in "ab" for k in (25, 50) for p in (4, 9)]
    table = pd.DataFrame(rows, columns=["city", "variant", "rrf_k", "protect_top"])
    table["ndcg"] = np.linspace(0.5, 0.9, len(table))
    assert "or does it belong to the datasets" in refused(tmp_path, table, "ndcg")


def test_raw_scores_count_beside_scaled_ones(tmp_path):
    table = LONG.rename(columns={"acc": "metric_values.accuracy"})
    table["scaled_scores.accuracy"] = table["metric_values.accuracy"] / 2
    assert is_wide(read(tmp_path, table))


def test_the_finest_of_several_columns_names_the_datasets(tmp_path):
    table = LONG.rename(columns={"dataset": "place"})
    table["kind"] = np.where(table.place < "d4", "indoors", "outdoors")
    results = read(tmp_path, table)
    assert is_wide(results)
    assert "Another reading" in results.how_read


def test_links_of_runs_are_no_datasets(tmp_path):
    table = pd.DataFrame({"Algorithm": list("abc"), "MA": [9.0, 8.0, 7.0]})
    table["HF Data"] = [f"[run_{x}](https://h.co/run_{x})" for x in "abc"]
    results = read(tmp_path, table, "MA", greater_is_better=True)
    assert (len(results.datasets), results.strategies) == (1, tuple("abc"))


def test_lines_within_quotation_marks_are_rows(tmp_path):
    rows = [f'"{d},{m},""[1, 2]"",{x}"' for d, m, x in LONG.itertuples(index=False)]
    assert is_wide(read(tmp_path, "\n".join(["dataset,model,params,acc", *rows])))


def test_titles_across_a_latex_table_stand_above_their_rows(tmp_path):
    rows = [rf"{x} & {a} & {b} \\" for x, a, b in zip("mnopqr", ALPHA, BETA, strict=True)]
    titles = [
        rf"\multicolumn{{3}}{{@{{}}l}}{{\textit{{{x}}}}} \\" for x in ("Old ones", "New ones")
    ]
    body = "\n".join([r"Model & iris & wine \\", titles[0], *rows[:3], titles[1], *rows[3:]])
    text = rf"\begin{{tabular}}{{@{{}}lcc@{{}}}}{body}\end{{tabular}}"
    results = read(tmp_path, text, name="t.tex")
    assert (results.datasets, results.strategies) == (("iris", "wine"), tuple("mnopqr"))


def test_a_corner_with_a_backslash_names_rows_and_columns(tmp_path):
    table = WIDE.T.rename_axis("Policy \\ Task").reset_index()
    table["Average"] = table[NAMES].mean(axis=1)
    assert is_wide(read(tmp_path, table))


def test_columns_that_come_again_are_further_rows(tmp_path):
    rows = [[d, a, "", e, b] for d, a, e, b in zip("uvw", ALPHA, "xyz", BETA, strict=False)]
    text = markdown("svm", rows, ("Dataset", "Accuracy", "", "Dataset", "Accuracy"))
    text += text.replace("svm", "knn").replace("0.9", "0.8")
    results = read(tmp_path, text, name="t.md")
    assert (results.datasets, results.strategies) == (tuple("uvwxyz"), ("svm", "knn"))


# ------------------------------------------------------------------- folders


def test_names_of_files_around_results_tell_datasets_and_runs(tmp_path):
    tables = {f"{d}-results-{s}": 10 * s for d in ("sat-6", "big") for s in (0, 42)}
    each = {x: pd.DataFrame({"model": list("ab"), "accuracy": [0.5, 0.6]}) for x in tables}
    results = read_results(saved(tmp_path / "t", **each), "accuracy")
    assert (results.datasets, results.strategies) == (("big", "sat-6"), ("a", "b"))
    assert "means of 2 repeats (`run`)" in results.how_read


def test_a_seed_within_names_of_files_is_a_repeat(tmp_path):
    each = {
        f"{d}_net_seed{s}_v1_{m}": pd.DataFrame({"accuracy": [0.5]})
        for d in ("iris_v2", "wine")
        for s in (1, 2)
        for m in ("svm", "knn")
    }
    results = read_results(saved(tmp_path / "t", **each), "accuracy")
    assert (results.datasets, results.strategies) == (
        ("iris_v2_net", "wine_net"),
        ("v1_knn", "v1_svm"),
    )
    assert "means of 2 repeats (`seed`)" in results.how_read


def test_files_called_after_metrics_have_one_metric_each(tmp_path):
    table = WIDE.assign(boosted=0.5)
    named = {"accuracy_score": table, "f1_score": table - 0.1, "recall_score": table - 0.2}
    folder = saved(tmp_path / "t", **{x: y.reset_index() for x, y in named.items()})
    assert read_results(folder, "accuracy_score").scores.loc["d1", "alpha"] == 0.91
    table = table.rename(columns={"alpha": "f1", "beta": "precision"})
    saved(folder, **{x: table.reset_index() for x in named})
    with pytest.raises(AnalysisError, match="`f1`, `precision` may be others") as asked:
        read_results(folder, "accuracy_score")
    assert [x.strategies for x in asked.value.readings.values()] == [("f1", "precision", "boosted")]


def test_columns_of_numbers_without_a_name_are_runs(tmp_path):
    for i, d in enumerate(("iris", "wine")):
        for j, m in enumerate(("svm", "knn")):
            path = tmp_path / "t" / d / f"{m}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(f"{0.5 + 0.1 * i + 0.01 * j + x / 1000}" for x in range(4)))
    results = read_results(tmp_path / "t", "accuracy")
    assert (results.datasets, results.strategies) == (("iris", "wine"), ("knn", "svm"))
    assert "means of 4 repeats (`run`)" in results.how_read
    assert np.isclose(results.scores.loc["iris", "svm"], 0.5015)


def test_cases_of_each_file_are_asked_about(tmp_path):
    cases = pd.DataFrame({"name": [f"s{i:03}" for i in range(40)], "liver": 0.9, "spleen": 0.8})
    tables = {
        f"{x}/dsc": cases.assign(liver=np.linspace(0.5, y, 40))
        for x, y in (("net", 0.9), ("unet", 1))
    }
    with pytest.raises(AnalysisError, match="may name cases \\(40\\)") as asked:
        read_results(saved(tmp_path / "t", **tables), "dice")
    first = next(iter(asked.value.readings.values()))
    assert (first.datasets, first.strategies) == (("liver", "spleen"), ("net", "unet"))


def test_folders_within_names_of_files_are_the_strategies(tmp_path):
    runs = pd.DataFrame({"": range(3), "test_acc": [0.5, 0.6, 0.7]})
    names = [
        f"{m}/{m}_{d}_best-results"
        for m in ("SvmClassifier", "KnnClassifier")
        for d in ("x-1", "y-2")
    ]
    results = read_results(saved(tmp_path / "t", **dict.fromkeys(names, runs)), "test_acc")
    assert (results.datasets, len(results.strategies)) == (("x-1", "y-2"), 2)
    assert "means of 3 repeats (`row`)" in results.how_read


def test_files_of_two_forms_are_two_tables_and_the_last_step_of_each_run_counts(tmp_path):
    each = {
        f"{m}/{d}": pd.DataFrame({"step": [0, 10], x: [0.1, 0.9], "seed": 1})
        for m in ("sac", "ppo")
        for d, x in (("run", "reward"), ("hop", "reward"), ("open", "success"), ("shut", "success"))
    }
    with pytest.raises(AnalysisError, match="it has 2 tables") as asked:
        read_results(saved(tmp_path / "t", **each), "reward")
    first = next(iter(asked.value.readings.values()))
    assert first.datasets == ("hop", "run")
    assert (first.scores == 0.9).all(axis=None)


# ------------------------------------------------------------------- nested names


def test_a_level_that_counts_is_of_runs(tmp_path):
    content = {
        str(s): {
            d: {m: {"acc": 0.5 + s / 100, "time": 3} for m in ("gcn", "mlp")} for d in ("x", "y")
        }
        for s in range(5)
    }
    results = read(tmp_path, json.dumps(content), "acc", name="t.json")
    assert (results.datasets, results.strategies) == (("x", "y"), ("gcn", "mlp"))
    assert "means of 5 repeats (`level 1`)" in results.how_read


def test_lists_of_rows_within_a_part_are_read_beside_its_summary(tmp_path):
    rows = {
        m: [{"category": d, "auroc": x} for d, x in zip(SETS, scores, strict=False)]
        for m, scores in (("padim", ALPHA), ("draem", BETA))
    }
    content = {"per_category": rows, "macros": {"padim": {"auroc": 0.9}}, "note": "3 seeds"}
    results = read(tmp_path, json.dumps(content), "auroc", name="t.json")
    assert (results.datasets, results.strategies) == (tuple(SETS), ("padim", "draem"))
    assert "`macros`" in results.how_read


def test_a_metric_in_front_of_a_number_in_a_cell_is_its_name(tmp_path):
    table = LONG.rename(columns={"acc": "Performance"})
    table["Performance"] = "ACC=" + table.Performance.astype(str)
    assert is_wide(read(tmp_path, table))


def test_lists_of_any_length_in_files_of_strategies_are_runs(tmp_path):
    content = {"svm": {"x": [0.5, 0.7, 0.6], "y": [0.9, 0.8, 0.7]}, "knn": {"x": [0.4], "y": [0.3]}}
    for name, scores in content.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(scores))
    results = read_results(tmp_path, "accuracy")
    assert np.allclose(results.scores.loc[["x", "y"], ["svm", "knn"]], [[0.6, 0.4], [0.8, 0.3]])


# ------------------------------------------------------------------- what once was read wrongly


def test_a_row_of_equal_numbers_is_no_title(tmp_path):
    rows = [[0, 0.9, 0.8], [1, 1, 1], [2, 0.7, 0.9], [3, 0.6, 0.9]]
    text = markdown("t", rows, ("Dataset", "SVM", "RF"))
    assert read(tmp_path, text, name="t.md").datasets == ("0", "1", "2", "3")


@pytest.mark.parametrize("name", ["accuracy_drop", "f1_decrease", "rmse_skill", "mse_reduction"])
def test_a_word_that_may_turn_a_metric_leaves_its_direction_unknown(name, tmp_path):
    table = LONG.rename(columns={"acc": name})
    assert "the direction of" in refused(tmp_path, table, name)


def test_a_header_of_pandas_is_no_run(tmp_path):
    for name, scores in (("svm", "0\n0.9\n0.8\n"), ("rf", "0\n0.7\n0.6\n")):
        (tmp_path / f"{name}.csv").write_text(scores)
    results = read_results(tmp_path, "accuracy")
    assert np.allclose(results.scores[["svm", "rf"]], [[0.85, 0.65]])


@pytest.mark.parametrize(
    "heads", [("CIFAR-10", "MNIST"), ("Seed 1", "Seed 2"), ("Table 1", "Results"), ("10%", "50%")]
)
def test_headings_of_datasets_runs_and_titles_name_no_strategies(heads, tmp_path):
    text = markdown(heads[0], *one_of(ALPHA)) + markdown(heads[1], *one_of(BETA))
    assert "it has 2 tables" in refused(tmp_path, text, name="t.md")


def test_strategies_under_conditions_of_their_own_are_asked_about(tmp_path):
    rows = [["x", 0.9, 0.8], ["y", 0.7, 0.6], ["z", 0.5, 0.4]]
    text = markdown("Accuracy at 10 labels", rows, ("Dataset", "SVM", "RF"))
    text += markdown("Accuracy at 50 labels", rows[::-1], ("Dataset", "kNN", "MLP"))
    assert "it has 2 tables" in refused(tmp_path, text, name="t.md")


def test_strategies_on_datasets_of_their_own_are_not_compared(tmp_path):
    rows = [["A", "iris", 0.82], ["B", "wine", 0.69], ["C", "zoo", 0.69]]
    table = pd.DataFrame(rows, columns=["submission", "eval_dataset", "accuracy"])
    assert "nothing can be compared" in refused(tmp_path, table)


def test_strategies_with_a_further_word_stay(tmp_path):
    table = WIDE.add_prefix("accuracy_").assign(accuracy_alpha_tuned=0.9, accuracy_beta_tuned=0.8)
    results = read(tmp_path, table.reset_index())
    assert results.strategies == ("alpha", "beta", "alpha_tuned", "beta_tuned")


def test_training_in_names_of_files_is_no_strategy(tmp_path):
    each = {
        f"{d}/{d}_{m}_{part}": pd.DataFrame({"fold": [0, 1], "accuracy": [x, x + 0.02]})
        for d in ("iris", "wine", "zoo")
        for m in ("svm", "rf")
        for part, x in (("train", 0.9), ("test", 0.5))
    }
    results = read_results(saved(tmp_path / "t", **each), "accuracy")
    assert {*results.strategies} == {"svm", "rf"}
    assert results.scores.max(axis=None) == 0.51


def test_names_in_front_of_numbers_tell_another_metric(tmp_path):
    table = WIDE.map(lambda x: f"loss={x}").reset_index()
    assert "are of loss, not of accuracy" in refused(tmp_path, table)


@pytest.mark.parametrize("numbers", [(2022, 2023), (10, 100)])
def test_years_and_sizes_behind_results_are_no_runs(numbers, tmp_path):
    each = {
        f"{m}-results-{n}": pd.DataFrame({"dataset": ["x", "y"], "accuracy": [0.5, 0.6]})
        for m in ("svm", "knn-5")
        for n in numbers
    }
    try:
        how = read_results(saved(tmp_path / "t", **each), "accuracy").how_read
    except AnalysisError as asked:
        how = str(asked)
    assert "repeats (`run`)" not in how


def test_three_numbered_levels_may_be_shots(tmp_path):
    content = {m: {str(s): {"x": 0.5, "y": 0.6} for s in range(3)} for m in ("gcn", "mlp")}
    assert "mlaut report" in refused(tmp_path, json.dumps(content), name="t.json")


def test_n_beats_is_a_strategy_and_no_number_of_something(tmp_path):
    table = WIDE.rename(columns={"alpha": "N-BEATS", "beta": "Theta"}).reset_index()
    assert read(tmp_path, table).strategies == ("N-BEATS", "Theta")


def test_names_of_losses_are_strategies(tmp_path):
    assert is_wide(read(tmp_path, LONG.rename(columns={"model": "loss"})))


def test_a_flag_of_runs_is_no_part_of_the_strategies(tmp_path):
    rows = [(d, k, m) for d in ("x", "y") for k in (2, 4) for m in ("svm", "knn")]
    table = pd.DataFrame(rows, columns=["graph", "k", "algorithm"])
    table["failed"] = np.where(table.algorithm == "svm", "no", "")
    table["cut"] = np.linspace(0.5, 0.9, len(table))
    results = read(tmp_path, table, "cut", greater_is_better=False)
    assert results.strategies == ("svm", "knn")


def test_strategies_whose_names_have_the_metric_are_no_others_of_few(tmp_path):
    table = pd.DataFrame({f"m{i}": ALPHA for i in range(6)}, index=pd.Index(NAMES, name="language"))
    table = table.assign(**{"high-accuracy": BETA, "low-accuracy": BETA})
    with pytest.raises(AnalysisError, match="only `high-accuracy`, `low-accuracy` have") as asked:
        read(tmp_path, table)
    first = next(iter(asked.value.readings.values()))
    assert len(first.strategies) == 8


def test_a_list_below_a_line_with_a_colon_has_that_line_and_no_table(tmp_path):
    text = markdown("x", [["a", 0.9], ["b", 0.8]], ("Model", "Acc"))
    text += markdown("y", [["a", 0.7], ["b", 0.6]], ("Model", "Acc"))
    text = text.replace("## y\n", "## y\n\nFew notes:\n\n - one\n - two\n\n")
    assert read(tmp_path, text, name="t.md").datasets == ("x", "y")


def test_a_table_in_which_all_failed_is_joined_without_a_warning(tmp_path):
    names, failed = ("data", "svm", "knn"), [["x", "failed", "failed"], ["y", "failed", "failed"]]
    text = markdown("Much noise", [["x", 0.9, 0.8], ["y", 0.7, 0.6]], names)
    results = read(tmp_path, text + markdown("Little noise", failed, names), name="t.md")
    assert len(results.datasets) == 4
    assert results.scores.isna().to_numpy().sum() == 4


def test_summaries_below_the_datasets_of_each_file_are_no_datasets(tmp_path):
    names = [("V1", "V2", "V3"), ("00", "01", "02")]
    for folder, each in zip("pq", names, strict=True):
        rows = [f"{x},0.{i}1,0.{i}2" for i, x in enumerate(each, 1)]
        rows += [
            "",
            "Average,0.21,0.22",
            "Best (Average) Preset,baseline",
            "Best (Average) Loss,0.21",
        ]
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rmse.csv").write_text("\n".join(["Dataset,baseline,sift", *rows]))
    results = read_results(tmp_path, "rmse")
    assert results.datasets == ("V1", "V2", "V3", "00", "01", "02")
    assert results.strategies == ("baseline", "sift")


def test_datasets_that_several_files_have_are_not_joined_in_silence(tmp_path):
    for folder in "pq":
        (tmp_path / folder).mkdir()
        rows = [f"{x},0.{i}1,0.{i}2" for i, x in enumerate(("V1", "V2", "Average"), 1)]
        (tmp_path / folder / "rmse.csv").write_text("\n".join(["Dataset,base,sift", *rows]))
    with pytest.raises(AnalysisError, match="`file` may name strategies"):
        read_results(tmp_path, "rmse")


RUNS = [
    (f"{mode}_{bits}_{i}", bits, mode) for mode in ("own", "new") for bits in (4, 8) for i in "xy"
]


def runs(rows):
    scores = (f"{50 + i}.1,{60 + i % 3}.2,{70 - i}.3" for i in range(len(rows)))
    body = (f"{run},{bits},{mode},{x}" for (run, bits, mode), x in zip(rows, scores, strict=True))
    return "\n".join(["run,quant_bits,mode,mmlu,hellaswag,winogrande", *body])


def test_runs_of_uneven_settings_may_be_strategies(tmp_path):
    with pytest.raises(
        QuestionError, match="`run` may name strategies, or repeats of `mode`"
    ) as caught:
        read(tmp_path, runs(RUNS[2:]))
    first, second = caught.value.readings.values()
    assert first.strategies == tuple(x for x, *_ in RUNS[2:])
    assert first.datasets == ("mmlu", "hellaswag", "winogrande")
    assert "`quant_bits` (a setting)" in first.how_read
    assert second.strategies == ("own", "new")


def test_runs_of_even_settings_are_repeats(tmp_path):
    results = read(tmp_path, runs(RUNS))
    assert results.strategies == ("own", "new")
    assert results.cells.shape[2] == len(RUNS)


@pytest.mark.parametrize("bits", [range(44, 52), [44.5, 48.5] * 4])
def test_numbers_that_vary_as_scores_do_are_no_setting(bits, tmp_path):
    rows = [(run, n, mode) for (run, _, mode), n in zip(RUNS, bits, strict=True)]
    assert read(tmp_path, runs(rows)).datasets[0] == "quant_bits"


def test_columns_of_files_that_are_spelt_in_two_ways_are_one(tmp_path):
    one = pd.DataFrame({"Dataset": SETS, "s 1": [0.1, 0.2, 0.3], "s2": [0.4, 0.5, 0.7]})
    two = one.rename(columns={"Dataset": "dataset", "s 1": "S_1"})
    saved(tmp_path, **{"x/r": one, "y/r": two.assign(s2=0.6)})
    with pytest.raises(QuestionError) as caught:
        read_results(tmp_path, "accuracy")
    asked = str(caught.value)
    assert "`file` may name strategies" in asked
    assert "strategy=file,dataset=Dataset,score=s 1" in asked
    by_file = {"dataset": ["Dataset", "file"]}
    results = read_results(tmp_path, "accuracy", columns=by_file)
    assert results.scores["s 1"].tolist() == [0.1, 0.2, 0.3] * 2
    assert "`dataset` of some files as `Dataset`" in results.how_read
    both = one.assign(S2=0.5)  # s2 and S2 are two
    saved(tmp_path, **{"x/r": both, "y/r": both})
    results = read_results(tmp_path, "accuracy", columns=by_file)
    assert results.strategies == ("s 1", "s2", "S2")


def test_rows_never_go_because_others_have_their_names(tmp_path):
    one = pd.DataFrame({"Dataset": SETS, "s1": [0.1, 0.2, 0.3], "s2": [0.4, 0.5, 0.7]})
    two = (one.set_index("Dataset") / 2).rename_axis("problem").reset_index()
    saved(tmp_path, **{"x/r": one, "y/r": two})
    with pytest.raises(AnalysisError, match="6 rows of scores would go"):
        read_results(tmp_path, "accuracy")


def test_names_of_files_cross_by_their_first_or_last_word(tmp_path):
    for i, data in enumerate(("iris", "wine", "glass")):
        for j, name in enumerate(("svm-rbf", "svm-rbf-tuned", "trees")):
            table = pd.DataFrame(
                {"exp": [0, 1, 2], "score": [0.5 + i / 10 + j / 100 + k / 1000 for k in range(3)]}
            )
            table.to_csv(tmp_path / f"{data}-cv-{name}-out.csv", index=False)
    results = read_results(tmp_path, "accuracy")
    assert {*results.datasets} == {"iris", "wine", "glass"}
    assert {*results.strategies} == {"svm-rbf", "svm-rbf-tuned", "trees"}


def test_the_only_column_that_ends_with_the_metric_is_the_score(tmp_path):
    for data, n in (("iris", 5), ("wine", 9)):
        for name in ("svm", "trees"):
            scores = {"res_in_score": 0.5, "res_out_score": np.arange(n) / 10}
            table = pd.DataFrame({"number": range(n), **scores})
            table.to_csv(tmp_path / f"{data}_{name}.csv", index=False)
    with pytest.raises(QuestionError) as asked:  # as many numbers as each has are repeats, perhaps
        read_results(tmp_path, "out_score", greater_is_better=True)
    commands = " ".join(asked.value.readings)
    assert "dataset=file part 1,strategy=file part 2,repeat=number" in commands
    assert "dataset=file part 1+number,strategy=file part 2" in commands


def test_of_several_tables_one_whose_column_names_datasets_is_first(tmp_path):
    made = [(m, x, 0.3 + i / 10 + x / 99) for i, m in enumerate("abcd") for x in range(2, 12)]
    real = [(d, m, 0.5 + i / 10) for d in NAMES[:3] for i, m in enumerate("abc")]
    text = markdown("made up", made, ["Method", "depth", "AUC"])
    text += "\n" + markdown("real", real, ["Dataset", "Method", "AUC"])
    (tmp_path / "t.md").write_text(text)
    with pytest.raises(QuestionError) as asked:
        read_results(tmp_path / "t.md", "auc")
    assert "table=2" in next(iter(asked.value.readings))
