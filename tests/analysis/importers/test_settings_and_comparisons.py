"""Tables with comparisons, times, settings and several tables in a file: read, or asked at once."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, WIDE, is_wide, read, refused

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError, DataError

RATIO = np.array(ALPHA) / np.array(BETA)
TEXTS = WIDE.map("{:.2f}".format)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Speedup", RATIO, "a comparison with another by its name"),
        ("vs. beta", RATIO.round(1), "a comparison with another by its name"),
        ("Rel. gain", 100 * RATIO, "a comparison with another by its name"),
        ("Improvement", [f"+{x:.1f}%" for x in RATIO], "a comparison with another by its name"),
        ("Gap", RATIO, "a comparison with another by its name"),
        ("Optimal", [1] * 6, "a comparison with another by its name"),
        ("alpha:beta", (2 * RATIO**9).round(3) / 2, ""),
    ],
)
def test_a_column_that_compares_others_is_no_strategy(name, values, why, tmp_path):
    table = WIDE.assign(**{name: values})
    if not why:
        table = WIDE.assign(alpha=3 * WIDE["beta"] * RATIO**9, **{name: 3 * RATIO**9})
        told = read(tmp_path, table, "rmse").how_read
        assert told.endswith("not used: `alpha:beta` (a ratio or a difference of two others).")
        return
    results = read(tmp_path, table)
    assert is_wide(results)
    assert results.how_read.endswith(f"`{name}` ({why}).")


def test_the_comparison_that_was_asked_for_is_the_score(tmp_path):
    table = LONG.rename(columns={"acc": "speedup"})
    assert is_wide(read(tmp_path, table, "speedup", greater_is_better=True))


@pytest.mark.parametrize("name", ["duration", "Run time (s)", "elapsed", "total_time"])
def test_a_time_is_the_score_where_seconds_are_asked_for(name, tmp_path):
    results = read(tmp_path, LONG.rename(columns={"acc": name}).assign(memory=7), "seconds")
    assert is_wide(results)
    assert not results.metric.greater_is_better


@pytest.mark.parametrize(
    ("names", "metric"),
    [
        (("RunTime", "CompileTime"), "seconds"),
        (("MiB/sec", "cycl./hash"), "score"),
        (("top1 err", "top5 err"), "error"),
    ],
)
def test_measures_of_one_thing_are_no_strategies(names, metric, tmp_path):
    table = WIDE.set_axis(list(names), axis=1).rename_axis("Language")
    better = True if metric == "score" else None
    assert "nothing to compare" in refused(tmp_path, table, metric, greater_is_better=better)


def test_numbers_are_read_as_they_are_printed(tmp_path):
    table = pd.DataFrame({"dataset": list("abc")})
    table["one"] = ["1_873_498", "139_545", "~12"]
    table["two"] = ["0.5564+0.0100", "nan+nan", "- (-)"]
    table["three"] = ["7'460'684.6", "1'000", "3"]
    results = read(tmp_path, table, "rmse")
    assert results.scores["one"].tolist() == [1873498, 139545, 12]
    assert results.scores["three"].tolist() == [7460684.6, 1000, 3]
    assert results.scores["two"].isna().tolist() == [False, True, True]
    assert "bounds such as '≈12' count as their numbers" in results.how_read


def test_numbers_in_brackets_are_no_spreads_where_the_names_say_what_they_are(tmp_path):
    table = TEXTS.map(lambda x: f"{x} (0.5)").add_suffix(" F1: CPU (GPU)")
    results = read(tmp_path, table, "f1")
    assert results.spreads is None
    assert results.how_read.endswith("not used: numbers in brackets.")


def test_steps_of_one_strategy_are_not_strategies(tmp_path):
    steps = [LONG.assign(model="alpha", step=i, acc=LONG["acc"] + i / 99) for i in range(4)]
    assert "differ in `step`" in refused(
        tmp_path, pd.concat(steps).drop_duplicates(["dataset", "step"])
    )


def test_a_task_called_sum_is_one_and_a_mean_of_some_is_none(tmp_path):
    table = WIDE.T.rename_axis("model").rename(columns={"d3": "Sum"})
    assert "Sum" in read(tmp_path, table.assign(Avg=table.mean(axis=1))).datasets
    some = table.assign(AB_Avg=table[["d1", "d2"]].mean(axis=1), last=[0.2, 0.4], more=[0.3, 0.1])
    told = read(tmp_path, some[["d1", "d2", "AB_Avg", "last", "more"]]).how_read
    assert "`AB_Avg` (an average of some others)" in told


@pytest.mark.parametrize("wide", [True, False])
def test_runs_without_a_number_are_asked_about_in_one_command(wide, tmp_path):
    runs = [WIDE.reset_index() if wide else LONG.assign(command="x" * 5) for _ in range(2)]
    table = pd.concat(
        [x.assign(**{"acc": x["acc"] + i / 99} if not wide else {}) for i, x in enumerate(runs)]
    )
    command = refused(tmp_path, table).partition(": mlaut report ")[2].split("; or ")[0]
    chosen = re.split(r",(?=\w+=)", shlex.split(command)[-1])
    columns = {role: tuple(x.split("+")) for role, x in (part.split("=") for part in chosen)}
    assert "means of 2 repeats (`row`)" in read(tmp_path, table, columns=columns).how_read


def test_a_told_command_reads_though_a_second_question_would_follow(tmp_path):
    table = pd.DataFrame({"name": list("abcd"), "x": [1.5, 2, 3, 5], "y": [2.5, 2, 4, 1]})
    table["MRPC"] = ["1/2", "3/4", "5/6", "7/8"]
    asked = refused(tmp_path, table, "rmse")
    assert asked.endswith("strategy=name,number=2")
    assert "dataset=name,number=1; or" in asked


def test_flags_name_no_datasets_and_no_command_says_so(tmp_path):
    table = LONG.assign(dataset=LONG["acc"] > 0.88).rename(columns={"dataset": "Pairwise"})
    asked = refused(tmp_path, table)
    assert "10 repeated rows, the first: alpha" in asked
    assert "Pairwise" not in asked


def test_a_table_of_another_measure_is_not_taken_for_lack_of_others(tmp_path):
    speed = "Speed:\n\n|Data|xgb|lgbm|\n|-|-|-|\n|iris|3.5 s|2 s|\n|wine|5 s|1.5 s|\n"
    scores = "\nndcg at Yahoo:\n\n|Metric|xgb|lgbm|\n|-|-|-|\n|ndcg@1|.7|.6|\n|ndcg@3|.8|.7|\n"
    asked = refused(tmp_path, speed + scores, "ndcg", name="t.md")
    assert "1: 'Speed' (2 x 3); 2: 'ndcg at Yahoo' (2 x 3)" in asked
    assert "is in s, and no ndcg" in refused(tmp_path, speed, "ndcg", name="u.md")


def test_signs_for_the_same_again_are_filled_in(tmp_path):
    rows = [
        f"{d if m == 'alpha' else sign},{m},{i / 9},x"
        for i, (d, m, sign) in enumerate(
            [("d1", "alpha", ""), ("d1", "beta", '"'), ("d2", "alpha", ""), ("d2", "beta", ".")]
        )
    ]
    table = "|dataset|model|acc|note|\n|-|-|-|-|\n" + "".join(
        f"|{x.replace(',', '|')}|\n" for x in rows
    )
    assert read(tmp_path, table, name="t.md").datasets == ("d1", "d2")


def test_two_rows_of_names_beside_two_columns_of_names_are_asked_about(tmp_path):
    head = "<tr><td colspan=2></td><td colspan=2>1%</td><td colspan=2>10%</td></tr>"
    head += "<tr><td>epochs</td><td>network</td>" + "<td>plain</td><td>tuned</td>" * 2 + "</tr>"
    rows = "".join(
        f"<tr><td>{n}</td><td>R50</td>"
        + "".join(f"<td>{(n * (i + 3) % 7 + i) / 9}</td>" for i in range(4))
        + "</tr>"
        for n in (100, 200, 300)
    )
    assert "two levels" in refused(tmp_path, f"<table>{head}{rows}</table>", name="t.html")


def test_a_row_that_compares_others_is_no_dataset_or_strategy(tmp_path):
    table = WIDE.T.rename_axis("method")
    table.loc["alpha vs beta"] = table.loc["alpha"] - table.loc["beta"]
    assert is_wide(read(tmp_path, table.round(3)))
    assert "GAIN" in read(tmp_path, WIDE.assign(GAIN=0.5)).strategies  # the method


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["2m23s", "59s", "1h 0m 1s"], [143, 59, 3601], ", in s"),
        (["0:01:39", "0:00:06", "1:00:00"], [99, 6, 3600], ", in s"),
        (["1747 ns/op", "55.4 ns/op", "N/A"], [1747, 55.4, np.nan], ", in ns"),
        (["7.95 \u03bcs", "12.5 \u03bcs", "3 \u03bcs"], [7.95, 12.5, 3], ", in \u00b5s"),
        (["0.9 \u26a0\ufe0f", "0.8", "0.7"], [0.9, 0.8, 0.7], ""),
    ],
)
def test_times_and_marks_are_read_as_they_are_printed(cells, values, unit, tmp_path):
    table = pd.DataFrame({"dataset": list("abc"), "one": cells, "two": cells[::-1]})
    results = read(tmp_path, table, "seconds" if unit else "auc")
    assert results.scores["one"].tolist() == pytest.approx(values, nan_ok=True)
    assert f"{results.metric.name}{unit}" in results.how_read


def test_a_column_in_another_unit_is_not_the_score(tmp_path):
    sizes = LONG.assign(acc=[f"{1000 * x:.0f}MB" for x in LONG["acc"]])
    asked = refused(tmp_path, sizes.rename(columns={"acc": "score"}), "seconds")
    assert "`score` is in bytes, and no seconds" in asked


def test_bold_and_links_do_not_tell_names_apart(tmp_path):
    rows = [(d, m, f"**{m}**" if d == "d1" else m, x) for d, m, x in LONG.itertuples(index=False)]
    table = "|dataset|model|name|acc|\n|-|-|-|-|\n"
    table += "".join(f"|**{d}**|{n}|[x](u/{i})|{x}|\n" for i, (d, _, n, x) in enumerate(rows))
    results = read(tmp_path, table, name="t.md")
    assert is_wide(results)
    assert "`name` (x throughout)" in results.how_read


def test_several_columns_of_the_metric_may_be_datasets(tmp_path):
    names = ["acc@1 (INet-1k)", "acc@1 (v2)"]
    table = WIDE.set_axis(pd.Index(list("uvvwxx"), name="name"))
    table["size"] = ["224x224", "224x224", "384x384"] * 2
    asked = refused(tmp_path, table.set_axis([*names, "size"], axis=1))
    assert asked.endswith("'score=acc@1 (INet-1k)+acc@1 (v2),strategy=rows'")
    parts = table.set_axis(["BLEU(dev)", "BLEU(test)", "size"], axis=1)
    assert "strategy=rows" not in refused(tmp_path, parts, "bleu")


def crossed(**levels):
    """Return a table with a row for each combination of levels, and a score for each."""
    table = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
    return table.assign(accuracy=(0.5 + np.arange(len(table)) / 997).round(4))


def test_settings_go_to_the_key_whose_cells_they_fill(tmp_path):
    table = crossed(dataset=["d1", "d2"], clf=["c1", "c2"], method=["none", "sfs", "sbs"])
    each = [table.assign(by=by)[(table["method"] == "none") == (by == "n")] for by in "naf"]
    table = pd.concat(each, ignore_index=True)
    asked = refused(tmp_path, table)
    ways = [x.partition("--columns ")[2] for x in asked.split("; or mlaut")]
    assert ways == [
        "dataset=dataset+clf,strategy=method+by",
        "dataset=dataset,strategy=method+clf+by",
        "dataset=dataset+clf+by,strategy=method",
        "dataset=dataset,strategy=method,repeat=clf+by",
    ]
    results = read(tmp_path, table.replace({"by": {"n": "-"}}))  # no value of a setting
    assert results.strategies[:3] == ("none c1", "none c2", "sfs c1 a")
    assert "--columns dataset=dataset+clf,strategy=method+by" in results.how_read


def test_a_setting_is_no_dataset_where_one_is_named(tmp_path):
    table = crossed(dataset=["cifar"], model=["a", "b"], activation=["relu", "tanh", "elu"])
    results = read(tmp_path, table)
    assert (results.datasets, len(results.strategies)) == (("cifar",), 6)
    other = "mlaut report .*t.csv --metric accuracy --columns dataset=dataset.activation,"
    assert re.search(f" Another reading: `{other}strategy=model`.$", results.how_read)


@pytest.mark.parametrize(
    ("column", "values", "n"),
    [
        ("noise level", [1, 2, 5], (6, 2)),  # a condition
        ("batchSize", [16, 32], (2, 4)),  # a setting
        ("variable", ["wind", "rain"], (4, 2)),
        ("classifier type", ["knn", "svm"], (2, 4)),
    ],
)
def test_names_of_columns_tell_conditions_of_datasets_from_settings(column, values, n, tmp_path):
    table = crossed(dataset=["x", "y"], method=["a", "b"], **{column: values})
    results = read(tmp_path, table)
    assert (len(results.datasets), len(results.strategies)) == n
    assert "Another reading: `mlaut report " in results.how_read


def test_amounts_that_all_strategies_share_are_of_problems(tmp_path):
    table = crossed(problem=["x", "y"], algorithm=["a", "b"], size=[10, 20, 40])
    results = read(tmp_path, table)
    assert (len(results.datasets), len(results.strategies)) == (6, 2)
    assert results.how_read.endswith("strategy=algorithm+size`.")
    table = table[(table["algorithm"] == "b") | (table["size"] < 40)]
    assert "differ in `size`: are the strategies" in refused(tmp_path, table)


@pytest.mark.parametrize("name", ["Epoch", "epoch_bin", "global step"])
def test_times_of_a_training_are_neither_repeats_nor_settings(name, tmp_path):
    table = crossed(optimizer=["adam", "sgd"], **{name: range(5)})
    asked = refused(tmp_path, table)
    assert "at several times: keep one row of each, such as the last: mlaut report" in asked
    results = read(tmp_path, table, columns={"last": name})
    assert f"not used: rows before the last `{name}` of each run" in results.how_read
    assert results.scores.squeeze().tolist() == table["accuracy"][table[name] == 4].tolist()


def test_the_last_row_of_each_run_is_kept_beside_seeds_and_settings(tmp_path):
    table = crossed(data=["a", "b"], model=["x", "y"], seed=range(2), lr=[0.1, 0.2], epoch=range(3))
    results = read(tmp_path, table, columns={"last": "epoch", "strategy": ["model", "lr"]})
    late = table[table["epoch"] == 2].groupby(["data", "model", "lr"])["accuracy"].mean()
    assert results.scores.to_numpy().ravel().tolist() == pytest.approx(late.tolist())
    wide = pd.DataFrame({"data": ["a", "b"], "x": [0.1, 0.2], "y": [0.3, 0.1]})
    assert "needs a table with one score in a row" in refused(tmp_path, wide, columns={"last": "x"})
    table["step"] = "late"
    assert "`step` has texts" in refused(tmp_path, table, columns={"last": "step"})


@pytest.mark.parametrize("other", [0.1, range(1, 5)])
def test_what_never_varies_or_counts_rows_is_no_score(other, tmp_path):
    table = crossed(data=["a", "b"], model=["x", "y"]).rename(columns={"accuracy": "objective"})
    results = read(tmp_path, table.assign(nr=other), "loss")
    assert "`objective` as" in results.how_read


def test_executions_are_repeats(tmp_path):
    runs = [LONG.assign(ExecutionId=run) for run in range(3)]
    results = read(tmp_path, pd.concat(runs, ignore_index=True))
    assert is_wide(results)
    assert "means of 3 repeats (`ExecutionId`)" in results.how_read


def test_a_metric_by_which_settings_were_chosen_names_no_rows(tmp_path):
    by = np.where(LONG["model"] == "alpha", "accuracy", "f1")
    results = read(tmp_path, LONG.assign(chosen_by=by))
    assert is_wide(results)
    assert "`chosen_by`" in results.how_read


def test_a_measure_in_names_beside_sizes_chooses_columns(tmp_path):
    table = WIDE.set_axis(["alpha colours", "beta colours"], axis=1)
    table.insert(0, "edges", range(5, 11))
    table.insert(2, "alpha span", [2.5, 3.5, 1.5, 2.25, 7.5, 3.5])
    results = read(tmp_path, table, "colours", greater_is_better=False)
    assert results.strategies == ("alpha", "beta")


def test_a_difference_of_metrics_is_no_strategy(tmp_path):
    table = WIDE.add_suffix("_acc").assign(delta_acc=WIDE["alpha"] - WIDE["beta"])
    results = read(tmp_path, table)
    assert is_wide(results)
    assert "`delta_acc` (a comparison with another by its name)" in results.how_read


def test_numbers_of_repeated_strategies_are_settings_beside_the_metric(tmp_path):
    table = crossed(method=["a", "b"], drop=[0.0, 0.5, 0.9]).assign(loss=0.5, n_seeds=3)
    results = read(tmp_path, table)
    assert (results.datasets, results.strategies) == (("0", "0.5", "0.9"), ("a", "b"))
    assert "--columns strategy=method+drop`" in results.how_read
    counted = refused(tmp_path, table.assign(drop=[1, 2, 3] * 2))  # they may be repeats
    assert "rows repeat `method`, and differ in `drop`" in counted
    assert "--columns dataset=drop,strategy=method" in counted


def test_cases_with_their_labels_are_no_results(tmp_path):
    table = pd.DataFrame({"text": [f"case {i % 19}" for i in range(20)], "label": list("abcd") * 5})
    table = table.assign(match=np.arange(20) / 40)
    asked = refused(tmp_path, table, "match", greater_is_better=True)
    assert asked.endswith("each `text` has hardly more than one row, so nothing can be compared")


def test_rows_with_arrows_are_measures(tmp_path):
    rows = {"cSIL (↑)": [0.8, 0.7], "GD43 (↑)": [9.3, 1.9], "WB (↓)": [1.2, 3.4]}
    table = pd.DataFrame(rows, index=["one", "two"]).T.rename_axis("")
    asked = refused(tmp_path, table, "silhouette", greater_is_better=True)
    assert "its rows (cSIL (), GD43 (), WB ()) are metrics, and none is silhouette" in asked
    assert "mlaut report" not in asked


def test_no_column_of_fractions_is_offered_as_the_names_of_datasets(tmp_path):
    table = pd.DataFrame({"f1": [0.5, 1.5, 2.5], "f2": [3.5, 2.5, 1.5]})
    assert "=f1" not in refused(tmp_path, table, "error", greater_is_better=False)


def test_a_mean_is_not_taken_for_the_median_beside_it(tmp_path):
    others = WIDE.add_suffix("_median_latency").assign(edges=range(5, 11))
    table = WIDE.add_suffix("_avg_latency").join(2 * others)
    results = read(tmp_path, table, "avg_latency", greater_is_better=False)
    assert results.strategies == ("alpha", "beta")


def test_values_in_names_of_columns_are_no_names(tmp_path):
    table = WIDE.set_axis(["(RunTime): 5273.8812 us.", "(RunTime): 5309.7725 us."], axis=1)
    assert "its first line has values" in refused(tmp_path, table, "seconds")


@pytest.mark.parametrize("name", ["lr", "VAR", "year", "code"])
def test_a_word_for_a_setting_names_a_strategy_whose_values_are_scores(name, tmp_path):
    results = read(tmp_path, WIDE.rename(columns={WIDE.columns[0]: name}))
    assert name in results.strategies


def test_energy_among_known_datasets_is_one_and_among_others_is_asked_about(tmp_path):
    table = WIDE.T.iloc[:, :4].rename_axis("model")
    known = table.set_axis(["concrete", "energy", "yacht", "wine"], axis=1)
    assert read(tmp_path, known).datasets == ("concrete", "energy", "yacht", "wine")
    asked = refused(tmp_path, table.set_axis(["s1", "energy", "s3", "s4"], axis=1))
    assert "`energy` may be no scores by the name, and look like the others" in asked


def test_cases_are_datasets_though_one_row_is_missing(tmp_path):
    table = crossed(pair_idx=range(30), method=["a", "b"]).assign(linked=[0, 1, 1] * 20)
    results = read(tmp_path, table.drop(index=7))
    assert (len(results.datasets), results.strategies) == (30, ("a", "b"))
    assert "no result in 1 of 60 cells" in results.how_read


def test_iterations_that_were_measured_are_no_repeats(tmp_path):
    table = crossed(instance=["x", "y"], algo=["a", "b"], seed=[1, 2, 3])
    results = read(tmp_path, table.assign(iterations=[3000, 2751, 2751, 99] * 3))
    assert "means of 3 repeats (`seed`); not used: `iterations`" in results.how_read


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Best On", [2, 4], "by its name a summary"),
        ("Family Rank", [1, 1.5], "by its name a summary"),
        ("more", [9.5, -1.5], "no spreads beside the others'"),
    ],
)
def test_a_comparison_without_the_spreads_of_the_others_is_left_out(name, values, why, tmp_path):
    table = (100 * WIDE).map("{:.3f} +/- 0.01".format).T.rename_axis("Algorithm").reset_index()
    results = read(tmp_path, table.assign(**{name: values}), "points", greater_is_better=True)
    assert len(results.datasets) == len(WIDE)
    assert results.how_read.endswith(f"`{name}` ({why}).")
    asked = refused(tmp_path, table.assign(odd=[77.5, 78.5]), "points", greater_is_better=True)
    assert "`odd` may be no datasets (no spreads beside the others')" in asked


def test_what_is_no_year_beside_years_is_left_out(tmp_path):
    years = {str(2015 + i): [i + 1, 2 * i, 4 - i] for i in range(5)}
    table = pd.DataFrame({"Ai": ["A1", "A2", "A3"], **years, "SWARA": [9, 1, 7]})
    results = read(tmp_path, table, "points", greater_is_better=True)
    assert (len(results.datasets), len(results.strategies)) == (5, 3)
    assert "rows, named by `Ai` (columns are years)" in results.how_read
    assert results.how_read.endswith("`SWARA` (no year).")


@pytest.mark.parametrize(("one", "two"), [("biome", "map version"), ("topology", "format")])
def test_of_two_columns_of_names_that_of_settings_names_strategies(one, two, tmp_path):
    table = crossed(**{two: ["p", "q", "r"], one: ["u", "v"]})
    results = read(tmp_path, table)
    assert (len(results.datasets), results.strategies) == (2, ("p", "q", "r"))
    assert "Another reading: " in results.how_read


def test_a_share_of_rows_beside_scores_is_no_strategy(tmp_path):
    results = read(tmp_path, WIDE.assign(train_size=[0.8, 0.7] * 3))
    assert results.strategies == tuple(WIDE)
    assert "not used: `train_size`" in results.how_read


def _crossed(*names, **more):
    """Return a table with three rows of each of two labels, and a score of each."""
    rows = [(a, b) for a in ("first", "second") for b in ("one", "two", "three")]
    table = pd.DataFrame(rows, columns=list(names))
    return table.assign(accuracy=[0.91, 0.82, 0.73, 0.64, 0.55, 0.46], **more)


@pytest.mark.parametrize(
    "names", [("model", "sampler"), ("method", "variant"), ("model", "scaler")]
)
def test_two_columns_of_settings_are_strategies_of_one_dataset(names, tmp_path):
    results = read(tmp_path, _crossed(*names), "accuracy")
    assert (len(results.datasets), len(results.strategies)) == (1, 6)
    assert "Another reading: `mlaut report " in results.how_read


def test_the_mean_of_runs_is_the_score_beside_their_median(tmp_path):
    table = _crossed("dataset", "model", accuracy_std=0.02)
    table["accuracy_median"] = table.pop("accuracy")
    table.insert(2, "accuracy_mean", table["accuracy_median"] + 0.01)
    results = read(tmp_path, table, "accuracy")
    assert results.scores.to_numpy().max() == 0.92


def test_datasets_called_dev_and_test_are_parts_of_one(tmp_path):
    table = _crossed("dataset", "model").replace({"first": "dev", "second": "test"})
    results = read(tmp_path, table, "accuracy")
    assert (len(results.datasets), len(results.strategies)) == (1, 3)
    assert results.scores.to_numpy().max() == 0.64


@pytest.mark.parametrize("name", ["detected", "is_correct"])
def test_a_flag_is_the_score_only_if_its_name_says_what_is_right(name, tmp_path):
    table = _crossed("dataset", "tool")
    table[name] = table.pop("accuracy") > 0.7
    if name == "detected":
        assert "no column is of accuracy" in refused(tmp_path, table, "accuracy")
    else:
        assert "`is_correct` as accuracy" in read(tmp_path, table, "accuracy").how_read


def test_paths_and_sentences_of_each_row_name_nothing(tmp_path):
    answers = [f"{x} is a word among the many words of an answer that is long" for x in "abcdef"]
    results = read(tmp_path, _crossed("pdf_file", "model", answer=answers), "accuracy")
    assert (len(results.datasets), len(results.strategies)) == (2, 3)
    table = _crossed("dataset", "kind of it")
    table.insert(0, "file", [f"runs/{x}.json" for x in "abcdef"])
    results = read(tmp_path, table, "accuracy")
    assert (len(results.datasets), len(results.strategies)) == (2, 3)


def test_a_column_called_rows_is_told_from_the_word_rows(tmp_path):
    table = _crossed("rows", "method").replace({"first": 30, "second": 60})
    told = refused(tmp_path, pd.concat([table, table.assign(accuracy=table["accuracy"] / 2)]))
    assert "dataset=rows_,strategy=method,repeat=rows" in told


def test_settings_that_are_numbers_are_asked_about_in_one_command(tmp_path):
    table = _crossed("alpha", "beta").replace({"first": 1.5, "second": 2.5})
    table = table.replace({"one": 0.1, "two": 0.2, "three": 0.3}).assign(f1=0.5, loss=0.1)
    assert "--columns strategy=alpha+beta" in refused(tmp_path, table, "accuracy")


def test_the_one_table_of_several_that_has_the_metric_is_read(tmp_path):
    path = tmp_path / "two.md"
    head = "# {}\n\n| model | {} ↑ |\n|-|-|\n| svm | 0.5 |\n| tree | 0.6 |\n\n"
    path.write_text(head.format("One", "SR%") + head.format("Two", "3D IoU"), encoding="utf-8")
    for metric, name in (("SR", "One"), ("3D IoU", "Two")):
        results = read_results(path, metric, greater_is_better=True)
        assert len(results.strategies) == 2
        assert f"tables of the file other than '{name}'" in results.how_read


def test_columns_that_may_name_strategies_are_offered_together_and_each_alone(tmp_path):
    rows = [(d, n, i) for d in ("iris", "wine") for n in ("minmax", "z") for i in ("pp", "maxmin")]
    table = pd.DataFrame(rows, columns=["Dataset", "Normalization", "Initialization"])
    asked = refused(tmp_path, table.assign(acc=np.linspace(0.5, 0.9, 8)))
    assert "--columns strategy=Normalization+Initialization;" in asked
    assert "--columns dataset=Dataset+Initialization,strategy=Normalization;" in asked
    assert asked.endswith("--columns dataset=Dataset+Normalization,strategy=Initialization")


def test_texts_that_tell_rows_of_one_name_apart_are_offered(tmp_path):
    names = [("pooled", "xgb"), ("pooled", "gnn"), ("near", "xgb"), ("near", "svr")]
    rows = [(test, *name) for test in ("loto", "dfp") for name in names]
    table = pd.DataFrame(rows, columns=["table", "group", "method"])
    table = table.assign(rmse_2017=np.linspace(3, 4, 8), rmse_2018=np.linspace(4, 5, 8)[::-1])
    asked = refused(tmp_path, table, "rmse")
    assert "`method` names several rows, which `table` + `group` tell apart" in asked
    assert "strategy=method+table+group" in asked
    assert "dataset=table,strategy=method+group,score=rmse_2017" in asked
    one = refused(tmp_path, table[:4].drop(columns="table"), "rmse")
    assert "which `group` tells apart: " in one
    assert "strategy=method+group" in one


@pytest.mark.parametrize("none", ["-", "n/a", "none", ""])
@pytest.mark.parametrize("city", [False, True])
def test_what_does_not_apply_to_some_strategies_is_a_setting_of_the_others(none, city, tmp_path):
    names = [("fixed", none), ("random", none), ("dqn", "queue"), ("dqn", "wait")]
    rows = [(*name, c, s) for name in names for c in ("x", "y") for s in range(3)]
    table = pd.DataFrame(rows, columns=["algo", "reward", "city", "seed"])
    table = table.assign(delay=np.linspace(0, 1, 24))[lambda x: x["city"].eq("x") | city]
    results = read(tmp_path, table, "delay", greater_is_better=False)
    assert results.strategies == ("fixed", "random", "dqn queue", "dqn wait")
    assert results.datasets == (("x", "y") if city else ("this dataset",))
    assert not results.scores.isna().to_numpy().any()


def test_settings_that_do_not_apply_name_rows_of_a_wide_table_and_are_no_unnamed_datasets(tmp_path):
    names = {"algo": ["fixed", "random", "dqn", "dqn"], "reward": ["-", "-", "queue", "wait"]}
    table = pd.DataFrame({**names, "x": [0.1, 0.2, 0.3, 0.6], "y": [0.3, 0.4, 0.5, 0.6]})
    results = read(tmp_path, table, "delay", greater_is_better=False)
    assert results.strategies == ("fixed", "random", "dqn queue", "dqn wait")
    runs = pd.concat([table.assign(seed=s) for s in range(2)]).rename(columns={"algo": "thing"})
    asked = refused(tmp_path, runs.drop(columns="y"), "x", greater_is_better=False)
    assert "strategy=thing+reward" in asked


def test_a_column_with_empty_cells_is_not_offered_as_datasets(tmp_path):
    names = [(d, s, a) for a in ("rf", "svm") for d in ("2d", "rdk") for s in ("none", "top")]
    table = pd.DataFrame([*names, (None, None, "cnn")], columns=["desc", "feature", "algorithm"])
    results = read(tmp_path, table.assign(acc=np.linspace(0.5, 0.9, 9)))
    assert len(results.strategies) == 9
    assert "Another reading" not in results.how_read


def test_last_counts_also_where_rows_are_repeats(tmp_path):
    levels = {"dataset": ["d1", "d2"], "model": ["a", "b"], "size": [8, 16], "seed": [1, 2]}
    table = crossed(**levels, round=[0, 1, 2])
    table = table.drop(columns="seed").rename(columns={"accuracy": "hits"})
    asked = refused(tmp_path, table, "hits", greater_is_better=True)
    assert "last=round" in asked
    how = {"last": "round", "repeat": "rows"}
    results = read(tmp_path, table, "hits", greater_is_better=True, columns=how)
    last = table[table["round"] == 2].groupby(["dataset", "model"]).hits.mean()
    assert np.allclose(results.scores.stack(), last)
    assert "rows before the last `round` of each run" in results.how_read


def test_a_known_column_may_name_the_other_side(tmp_path):
    flags = {x: ["X", f"-{x}"] for x in ("O2", "unroll", "fast")}
    table = crossed(app=["sort", "find", "hash"], **flags).rename(columns={"accuracy": "ms"})
    asked = refused(tmp_path, table, "ms", greater_is_better=False)
    assert "--columns strategy=O2+unroll+fast,dataset=app" in asked


def test_columns_that_describe_parts_of_the_data_are_no_strategies(tmp_path):
    table = pd.DataFrame(
        {"svm": [1.5, 2.5, 3.1], "forest": [1.4, 2.6, 3.3], "net": [1.1, 2.2, 3.0]}
    )
    parts = {"mean_train": [-5.2, 9.1, 8.4], "mean_test": [-5.0, 9.2, 8.1], "prop_val": 0.15}
    table = table.assign(**parts).set_index(pd.Index(["d1", "d2", "d3"], name="property"))
    results = read(tmp_path, table, "mae", columns={"dataset": "property"})
    assert results.strategies == ("svm", "forest", "net")
    assert "`mean_train` (describes a part of the data by its name)" in results.how_read
    scores = table.rename(columns={"mean_train": "net_train", "mean_test": "net_test"})
    assert "describes a part" not in str(refused(tmp_path, scores.drop(columns="prop_val"), "mae"))


@pytest.mark.parametrize("stem", ["server_00", "f", "instance "])
def test_rows_that_count_are_datasets(tmp_path, stem):
    table = pd.DataFrame({"x": [0.4, 0.5, 0.3, 0.6, 0.2], "y": [0.5, 0.6, 0.2, 0.7, 0.3]})
    results = read(tmp_path, table.set_axis([f"{stem}{i}" for i in range(1, 6)]))
    assert results.strategies == ("x", "y")
    assert "rows are numbered by their names" in results.how_read


@pytest.mark.parametrize("stem", ["config ", "exp", "model_", "resnet", "A"])
def test_rows_that_count_may_be_strategies(tmp_path, stem):
    table = pd.DataFrame({"x": [0.4, 0.5, 0.3, 0.6, 0.2], "y": [0.5, 0.6, 0.2, 0.7, 0.3]})
    numbers = [18, 34, 50, 101, 152] if stem == "resnet" else range(1, 6)
    table = table.set_axis([f"{stem}{i}" for i in numbers])
    try:
        told = read(tmp_path, table).how_read
    except AnalysisError as error:
        told = str(error)
    assert "rows are numbered" not in told


def test_rows_that_count_cells_and_the_best_of_each_row_are_left_out(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.uniform(20, 90, (8, 4)).round(2), columns=list("uvwx"))
    table = table.set_axis(pd.Index([f"d{x}" for x in "abcdefgh"], name="Dataset"))
    table.loc["dc", "w"] = np.nan
    table.loc["dh"] = 40.0  # all whole
    table["Max"] = table.max(axis=1).round(1)
    table.loc["count"] = [8, 8, 7, 8, np.nan]
    results = read(tmp_path, table)
    assert len(results.datasets) == 8
    assert results.strategies == tuple("uvwx")
    assert "`Max` (the best of the others in each row)" in results.how_read
    near = table[[*"uvwx"]].drop(index="count").clip(upper=50) / 50 + 98
    near = near.assign(y=near.max(axis=1) + 0.02)  # better than all, by little
    assert read(tmp_path, near.round(2)).strategies == tuple("uvwxy")
    few = table.drop(index="count").rename(index={"da": "count"})
    assert "count" in read(tmp_path, few).datasets


def test_lines_between_rows_of_latex_are_no_rows(tmp_path):
    rows = r"a & .9 & .8 \\ \\ [-6pt] \hline \\[-6pt] b & .7 & .6 \\ [2ex] c & .5 & .4 \\"
    path = tmp_path / "t.tex"
    path.write_text(rf"\begin{{tabular}}{{lcc}} Method & iris & wine \\ {rows} \end{{tabular}}")
    assert read_results(path, "accuracy").strategies == ("a", "b", "c")


def test_a_folder_of_which_half_is_not_read_is_no_table(tmp_path):
    for i in range(3):
        text = f"|dataset|a|b|\n|-|-|-|\n|iris|.9|.8{i}|\n|wine|.7|.6|"
        (tmp_path / f"run_{i}.md").write_text(text)
        (tmp_path / f"log_{i}.md").write_text("nothing\n")
    with pytest.raises(AnalysisError, match="3 of its 6 files have another form than the rest"):
        read_results(tmp_path, "accuracy")
    (tmp_path / "log_0.md").unlink()
    columns = {"dataset": "dataset", "repeat": "file"}
    assert read_results(tmp_path, "accuracy", columns=columns).strategies == ("a", "b")


def test_what_python_prints_is_read_unless_a_key_comes_twice(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("{'iris': {'a': 0.9, 'b': 0.8}, 'wine': {'a': 0.7, 'b': 0.6}}")
    assert set(read_results(path, "accuracy").strategies) == {"a", "b"}
    path.write_text("{'iris': {'a': 0.9, 'b': 0.8}, 'iris': {'a': 0.7, 'b': 0.6}}")
    with pytest.raises(DataError, match="cannot be read as JSON"):
        read_results(path, "accuracy")
