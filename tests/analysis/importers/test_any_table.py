"""Tables as people and other programs save them: `read_results` reads, or refuses in one line."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from mlaut.analysis import read_results
from mlaut.errors import AnalysisError, DataError

SCORES = pd.DataFrame(
    {
        "forest": [0.838, 0.817, 0.897, 0.96],
        "svm": [0.883, 0.676, 0.862, 0.98],
        "bayes": [0.784, 0.268, 0.819, 0.94],
    },
    index=pd.Index(["ecoli", "glass", "ionosphere", "iris"], name="dataset"),
)
LONG = SCORES.rename_axis("strategy", axis=1).stack().rename("score").reset_index()


def saved(tmp_path, table, name="table.csv", **how):
    path = tmp_path / name
    if isinstance(table, str):
        path.write_text(table, encoding="utf-8")
    else:
        table.to_csv(path, **how)
    return path


def is_the_table(path, metric="accuracy", scores=SCORES):
    results = read_results(path, metric)
    assert results.scores.columns.tolist() == scores.columns.tolist()
    assert results.scores.index.tolist() == scores.index.tolist()
    assert np.allclose(results.scores, scores, rtol=0, atol=1e-12, equal_nan=True)
    return results


def refusal(path, metric="accuracy", error=AnalysisError):
    with pytest.raises(error) as caught:
        read_results(path, metric)
    assert "\n" not in str(caught.value)
    return str(caught.value)


BEST = SCORES.eq(SCORES.max(axis=1), axis=0)
TEXTS = SCORES.astype(str)


@pytest.mark.parametrize(
    "cells",
    [
        TEXTS.mask(BEST, "**" + TEXTS + "**"),
        TEXTS.mask(BEST, r"\textbf{" + TEXTS + "}"),
        TEXTS.mask(BEST, r"$\mathbf{" + TEXTS + "}$"),
        TEXTS.mask(BEST, r"\underline{" + TEXTS + "}"),
        TEXTS.mask(BEST, "_" + TEXTS + "_"),
        TEXTS.mask(BEST, TEXTS + "*"),
        (100 * SCORES).round(1).astype(str) + "%",
        (100 * SCORES).round(1).astype(str) + r" \%",
        TEXTS + " (" + SCORES.rank(axis=1, ascending=False).map("{:g}".format) + ")",
        SCORES.map(lambda x: str(x).replace(".", ",")),
    ],
    ids=["bold", "LaTeX", "maths", "underlined", "italic", "star", "%", r"\%", "ranks", "commas"],
)
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_marks_in_cells_are_no_part_of_the_score(cells, separator, tmp_path):
    assert is_the_table(saved(tmp_path, cells, sep=separator)).notes == ()


def test_a_percentage_is_the_nearest_share(tmp_path):
    path = saved(tmp_path, "dataset,a,b\nx,81.9%,0.819\ny,55 %,0.55\n")
    assert read_results(path, "accuracy").scores.to_numpy().tolist() == [[0.819] * 2, [0.55] * 2]


def test_a_minus_sign_of_typesetting_is_a_minus(tmp_path):
    path = saved(tmp_path, "dataset,a,b\nx,\u22120.2,0.1\ny,0.3,\u2212.5\n")
    assert read_results(path, "r2").scores.to_numpy().tolist() == [[-0.2, 0.1], [0.3, -0.5]]


def test_a_comma_that_may_divide_thousands_is_no_decimal_comma(tmp_path):
    path = saved(tmp_path, 'dataset,a,b\nx,"1,234","2,345"\ny,"3,456","1,111"\n')
    assert "'1,234'" in refusal(path, "rmse")


@pytest.mark.parametrize(
    "spread", ["{} ± 0.1", "{}+-0.1", "{} (0.1)", r"{} \pm 0.1", r"${} \pm 0.1$", "{}_{{0.1}}"]
)
def test_a_mean_counts_without_its_spread(spread, tmp_path):
    results = is_the_table(saved(tmp_path, TEXTS.map(spread.format)))
    assert "spreads (behind them, median" in results.how_read


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        *[(word, "no result") for word in ("-", "\u2014", "N/A", "None", "")],
        *[(word, word.lower()) for word in ("failed", "OOM", "Timeout", "TLE")],
    ],
)
def test_a_word_says_whether_a_strategy_failed_or_never_ran(word, reason, tmp_path):
    cells = TEXTS.copy()
    cells.loc["glass", "svm"] = word
    hole = SCORES.where(cells != word)
    results = is_the_table(saved(tmp_path, cells), scores=hole)
    assert results.missing.to_numpy().tolist() == [["glass", "svm", 0, 0, reason]]
    said = "no result in 1 of 12 cells" if reason == "no result" else f"failed: 1 {reason!r}"
    assert said in results.how_read
    long = LONG.astype({"score": str})
    long.loc[(LONG["dataset"] == "glass") & (LONG["strategy"] == "svm"), "score"] = word
    is_the_table(saved(tmp_path, long, index=False), scores=hole)


def test_an_unknown_word_is_refused(tmp_path):
    cells = TEXTS.copy()
    cells.loc["glass", "svm"] = "0.9?8"
    text = refusal(saved(tmp_path, cells))
    assert "neither numbers nor known words: column 'svm' has '0.9?8'" in text
    assert "--columns unused=svm" in text


@pytest.mark.parametrize(
    "name",
    [
        *("Average", "mean", "Avg. rank", "Mean Rank", "Median", "std", "AVG acc", "Mean accuracy"),
        *("Overall", "GeoMean", "Friedman rank", "Avg (12)", "#wins", "Average score (%)"),
    ],
)
def test_a_row_of_averages_or_ranks_is_no_dataset(name, tmp_path):
    table = SCORES.copy()
    table.loc[name] = SCORES.rank(axis=1).mean() if "ank" in name else SCORES.mean()
    assert f"`{name}`" in is_the_table(saved(tmp_path, table)).how_read
    assert f"`{name}`" in is_the_table(saved(tmp_path, table.T.rename_axis("model"))).how_read
    long = table.rename_axis("strategy", axis=1).stack().rename("score").reset_index()
    assert f"`{name}`" in is_the_table(saved(tmp_path, long, index=False)).how_read


def test_a_row_of_wins_is_no_dataset(tmp_path):
    path = saved(tmp_path, TEXTS.to_csv() + "W/T/L,2/0/2,2/0/2,0/0/4\n")
    assert "not used: row `W/T/L`" in is_the_table(path).how_read


def test_a_row_that_averages_the_others_is_no_dataset_whatever_its_name(tmp_path):
    table = SCORES.copy()
    table.loc["all of them"] = SCORES.mean().round(3)
    assert "row `all of them`" in is_the_table(saved(tmp_path, table)).how_read


UNNAMED = pd.DataFrame(
    {"ara": [0.91, 0.82, 0.77], "bor": [0.84, 0.88, 0.71], "cim": [0.6, 0.5, 0.7]},
    index=["p1", "p2", "p3"],
)


@pytest.mark.parametrize("name", ["", "who"])
def test_rows_that_nothing_names_are_asked_about_with_both_commands(name, tmp_path):
    path = saved(tmp_path, UNNAMED.rename_axis(name or None))
    column = name or "unnamed"
    text = refusal(path)
    assert "rows are datasets (3 datasets, 3 strategies) or strategies" in text
    assert f"mlaut report {path} --metric accuracy --columns dataset={column}; or" in text
    for role, table in (("dataset", UNNAMED), ("strategy", UNNAMED.T)):
        results = read_results(path, "accuracy", columns={role: column})
        assert np.allclose(results.scores, table)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("proof", ["average", "names", "bold", "header"])
def test_a_table_itself_may_prove_which_way_it_lies(proof, turned, tmp_path):
    table = UNNAMED.map("{:.2f}".format)
    if proof == "average":  # a column of averages over datasets, or a row of them
        table.loc["all"] = UNNAMED.mean().map("{:.3f}".format)
    elif proof == "names":
        table.columns = ["XGBoost", "LightGBM", "CatBoost"]
    elif proof == "bold":
        table = table.mask(UNNAMED.eq(UNNAMED.max(axis=1), axis=0), "**" + table + "**")
    else:
        table = table.rename_axis("Algorithms" if turned else "Data sets / acc")
    table = table.T.rename_axis(table.index.name) if turned else table
    results = read_results(saved(tmp_path, table), "accuracy")
    assert np.allclose(results.scores, UNNAMED)
    assert ("rows, named by" in results.how_read.partition("strategies")[2]) == turned


def test_a_column_that_averages_the_others_is_no_strategy(tmp_path):
    path = saved(tmp_path, SCORES.assign(Average=SCORES.mean(axis=1).round(3)))
    assert is_the_table(path).how_read.endswith("not used: `Average` (an average of the others).")
    named = SCORES.assign(mean=[0.3, 0.4, 0.5, 0.6])  # a baseline that predicts the mean
    assert "not used" not in is_the_table(saved(tmp_path, named), scores=named).how_read


@pytest.mark.parametrize("form", ["{of}_{name}", "{name}.{of}", "{name} ({of})", "{of}: {name}"])
@pytest.mark.parametrize("metric", ["f1_macro", "Balanced accuracy"])
def test_columns_of_other_metrics_are_no_strategies(metric, form, tmp_path):
    parts = [(metric, SCORES), ("f1", SCORES - 0.1), ("time", 100 * SCORES)]
    table = pd.concat(
        [each.rename(columns=lambda name: form.format(of=of, name=name)) for of, each in parts],  # noqa: B023
        axis=1,
    )
    path = saved(tmp_path, table)
    assert f"`{table.columns[3]}` (of f1), " in is_the_table(path, metric).how_read
    message = r"its columns are of several metrics \(.*f1.*\), and none is of mcc.* --metric f1"
    assert re.search(message, refusal(path, "mcc"))


def test_names_of_metrics_are_the_same_in_small_and_capital_letters(tmp_path):
    names = ["Accuracy_svm", "accuracy_forest", "F1_svm", "f1_forest"]
    table = pd.concat([SCORES[["svm", "forest"]]] * 2, axis=1).set_axis(names, axis=1)
    results = is_the_table(saved(tmp_path, table), scores=SCORES[["svm", "forest"]])
    assert "not used: `F1_svm` (of f1), `f1_forest` (of f1)." in results.how_read


@pytest.mark.parametrize("form", ["{of}_svm", "svm ({of})"])
def test_columns_of_other_metrics_of_one_strategy_are_left_out(form, tmp_path):
    table = SCORES.set_axis([form.format(of=of) for of in ("accuracy", "f1", "mcc")], axis=1)
    svm = table.iloc[:, [1]].set_axis(["svm"], axis=1)
    results = is_the_table(saved(tmp_path, table), "f1", svm)
    assert f"`{table.columns[0]}` (of accuracy), `{table.columns[2]}` (of mcc)" in results.how_read


def test_a_strategy_may_be_called_after_a_metric(tmp_path):
    names = {"forest": "accuracy_forest", "svm": "f1_svm", "bayes": "f1_bayes"}
    renamed = SCORES.rename(columns=names)
    assert is_the_table(saved(tmp_path, renamed), scores=renamed).notes == ()


def test_a_column_of_sizes_is_no_strategy(tmp_path):
    table = SCORES.assign(n_rows=[336, 214, 351, 150], Classes=[8, 6, 2, 3])
    results = is_the_table(saved(tmp_path, table), "my loss")
    assert "not used: `n_rows`, `Classes`." in results.how_read


def test_blank_rows_columns_and_spaces_are_nothing(tmp_path):
    text = SCORES.to_csv()
    assert is_the_table(saved(tmp_path, text.replace(",", ", "))).notes == ()
    assert is_the_table(saved(tmp_path, text.replace("\n", ",\n") + ",,,,\n")).notes == ()


@pytest.mark.parametrize("index", ["dataset", "Data set", "name", None, "dataset_id"])
def test_the_index_of_a_parquet_file_names_the_datasets(index, tmp_path):
    SCORES.rename_axis(index).to_parquet(tmp_path / "t.parquet")
    is_the_table(tmp_path / "t.parquet")


def test_levels_of_an_index_are_dataset_and_fold(tmp_path):
    table = pd.concat({0: SCORES, 1: SCORES - 0.1}, names=["fold"]).swaplevel()
    table.to_parquet(tmp_path / "t.parquet")
    is_the_table(tmp_path / "t.parquet", scores=SCORES - 0.05)


@pytest.mark.parametrize("orient", ["columns", "records", "split", "table"])
@pytest.mark.parametrize("reset", [False, True])
def test_every_form_of_json_of_pandas_is_read(orient, reset, tmp_path):
    if orient == "records" and not reset:
        pytest.skip("this form has no index")
    (SCORES.reset_index() if reset else SCORES).to_json(tmp_path / "t.json", orient=orient)
    assert isinstance(json.loads((tmp_path / "t.json").read_text()), dict | list)
    is_the_table(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("dataset", "strategy"),
    [("Data set", "Algo"), ("dataset_name", "model_name"), ("dataset-name", "approach")],
)
def test_usual_names_of_columns_are_known(dataset, strategy, tmp_path):
    named = LONG.rename(columns={"dataset": dataset, "strategy": strategy, "score": "Accuracy"})
    is_the_table(saved(tmp_path, named.assign(f1=0.5), index=False))


def test_a_number_names_a_dataset_in_a_column_of_ids(tmp_path):
    ids = SCORES.set_axis(pd.Index([31, 3, 44, 12], name="openml_id"))
    is_the_table(saved(tmp_path, ids), scores=ids.set_axis(["31", "3", "44", "12"]))


def test_rows_of_another_metric_do_not_count(tmp_path):
    both = pd.concat([LONG.assign(metric="accuracy"), LONG.assign(metric="f1", score=0.1)])
    is_the_table(saved(tmp_path, both, index=False))
    assert "has several: accuracy, f1" in refusal(saved(tmp_path, both, index=False), None)
    one = saved(tmp_path, LONG.assign(metric="f1"), index=False)
    assert read_results(one).metric.name == "f1"
    assert "has no metric 'accuracy'; there are f1" in refusal(one)


def test_a_random_state_is_a_repeat(tmp_path):
    table = pd.concat([SCORES.assign(random_state=0), (SCORES - 0.1).assign(random_state=7)])
    is_the_table(saved(tmp_path, table), "my loss", scores=SCORES - 0.05)


def test_units_that_differ_between_columns_are_not_kept(tmp_path):
    path = saved(tmp_path, SCORES.assign(svm=100 * SCORES["svm"]))
    text = refusal(path)
    assert "`svm` has 88.3 on 'ecoli', and `forest` is within 0 and 1" in text
    assert "greater_is_better" not in text  # it would rank percentages above shares
    assert "greater_is_better=True to keep them" in refusal(saved(tmp_path, 200 * SCORES))


def test_percentages_are_shares(tmp_path):
    is_the_table(saved(tmp_path, 100 * SCORES))
    percent = 100 * LONG[["score"]]
    is_the_table(saved(tmp_path, LONG.assign(score=percent), index=False))


def test_a_row_is_named_in_plain_words(tmp_path):
    table = pd.concat([(200 * SCORES).assign(fold=fold) for fold in (0, 1)])
    assert "on ecoli, 0: change" in refusal(saved(tmp_path, table))
    text = refusal(saved(tmp_path, table.drop(columns="fold") / 200))
    assert text.endswith("--columns dataset=dataset,repeat=rows")


def test_scores_that_are_unclear_say_what_to_do(tmp_path):
    path = saved(
        tmp_path, LONG.rename(columns={"score": "u"}).assign(q=LONG["score"] / 2), index=False
    )
    text = refusal(path)
    assert "which of u, q has the accuracy: name it" in text
    assert text.endswith(f"{path} --metric accuracy --columns score=q")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_text_that_is_not_utf8_is_read_and_says_so(encoding, tmp_path):
    path = tmp_path / "table.csv"
    named = SCORES.rename(index={"iris": "Schöße"})
    named.to_csv(path, encoding=encoding)
    is_the_table(path, scores=named)
    told = read_results(path, "accuracy").how_read
    assert "not used: signs that are no UTF-8 (read as Windows-1252)" in told
    path.write_bytes(b"dataset,alpha\n\xff\0\x81,0.5\n")
    assert "save it in UTF-8" in refusal(path, error=DataError)


def test_two_columns_of_one_name_are_refused(tmp_path):
    text = SCORES.to_csv().replace("bayes", "forest", 1)
    assert "two columns are called 'forest'" in refusal(saved(tmp_path, text))
    named = SCORES.set_axis(["gpt-4", "gpt-4.1", "gpt"], axis=1)
    is_the_table(saved(tmp_path, named), scores=named)


@pytest.mark.parametrize("name", ["NA", "null", "nan", "?"])
def test_datasets_and_strategies_may_have_the_name_of_a_missing_value(name, tmp_path):
    scores = SCORES.rename(index={"glass": name}, columns={"svm": name})
    scores.loc["iris", "bayes"] = np.nan
    is_the_table(saved(tmp_path, scores, na_rep="NA"), scores=scores)
    is_the_table(saved(tmp_path, scores.rename_axis(""), na_rep="NA"), scores=scores)
    long = scores.rename_axis("strategy", axis=1).stack(future_stack=True).rename("score")
    is_the_table(saved(tmp_path, long.reset_index(), index=False, na_rep=name), scores=scores)
    turned = scores.T.rename_axis("model").rename_axis(None, axis=1)
    is_the_table(saved(tmp_path, turned, na_rep="NA"), scores=scores)
    numbers = scores.set_axis(["1", "2", name, "3"]).rename_axis("dataset")
    is_the_table(saved(tmp_path, numbers, na_rep="NA"), scores=numbers)


@pytest.mark.parametrize(("score", "told"), [("inf", "'b' is infinite"), ("1e300", "as 1e+300")])
def test_an_odd_score_is_named_without_a_warning(score, told, tmp_path):
    path = saved(tmp_path, f"dataset,A,mean\na,0.9,0.8\nb,{score},0.7\nc,0.5,0.4\n")
    with pytest.raises(AnalysisError, match=rf"{re.escape(told)}.* leave it empty \(NaN\)"):
        read_results(path, "log_loss")


def test_a_long_table_of_no_known_column_may_be_one_of_cases(tmp_path):
    cases = pd.DataFrame({"rooms": [1, 2, 3] * 20, "city": ["A", "B"] * 30, "cost": range(60)})
    path = tmp_path / "homes.csv"
    cases.to_csv(path, index=False)
    with pytest.raises(AnalysisError, match="if rows are cases to learn from: mlaut init"):
        read_results(path)
    cases.rename(columns={"city": "model"}).to_csv(path, index=False)
    with pytest.raises(AnalysisError) as asked:  # a column says that these are results
        read_results(path)
    assert "cases" not in str(asked.value)


@pytest.mark.parametrize("form", [dict, pd.Series, "nested", "means"])
def test_scores_in_memory_are_read_as_they_are(form):
    pairs = [(d, s) for d in ("iris", "wine") for s in "ab"]
    runs = {pair: [0.5 + i / 20, 0.6] for i, pair in enumerate(pairs)}
    means = {pair: float(np.mean(x)) for pair, x in runs.items()}
    nested = {d: {s: runs[d, s] for s in "ab"} for d in ("iris", "wine")}
    source = {dict: runs, pd.Series: pd.Series(means), "nested": nested, "means": means}[form]
    results = read_results(source, "accuracy")
    assert {(d, s): results.scores.loc[d, s] for d, s in means} == pytest.approx(means)
    assert ("means of 2 repeats" in results.how_read) == (form in (dict, "nested"))
