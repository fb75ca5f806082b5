"""Small tables in the forms of published ones: read right, or asked about, never misread."""

import json

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis import Results, read_results
from mlaut.analysis.comparing.shared import compare_shared
from mlaut.errors import AnalysisError
from mlaut.report import make_report


@pytest.mark.parametrize("other", ["loss", "val_acc", "f1", "train accuracy", "n_params"])
def test_a_score_is_known_by_an_abbreviation_beside_other_numbers(other, tmp_path):
    results = read(tmp_path, LONG.assign(**{other: 0.5}))
    assert is_wide(results)
    assert f"`acc` as accuracy; not used: `{other}`." in results.how_read


@pytest.mark.parametrize("column", ["loss", "f1", "AUROC"])
def test_a_column_of_another_metric_is_never_the_score(column, tmp_path):
    text = refused(tmp_path, LONG.rename(columns={"acc": column}))
    assert "accuracy" in text


def test_test_rows_count_and_training_rows_do_not(tmp_path):
    both = pd.concat([LONG.assign(split="test"), LONG.assign(split="train", acc=0.99)])
    assert is_wide(read(tmp_path, both))


@pytest.mark.parametrize(
    "more",
    [
        {"Number of samples": [100, 2000, 300, 44, 5, 60]},
        {"imbalance": [0.3, 0.1, 0.2, 0.4, 0.1, 0.2], "has_missing": [0, 1, 0, 1, 0, 1]},
        {"widgets": [811, 2000, 300, 44, 50, 60]},
        {"alpha_std": [0.01] * 6, "beta_std": [0.02] * 6},
        {"Year": [2001, 2004, 2011, 2020, 2003, 2005], "Domain": list("aabbcc")},
        {"Overall": [0.755, 0.753, 0.73, 0.757, 0.75, 0.75]},
        {"train time (s)": [1.5, 2.5, 0.5, 3, 4, 5]},
    ],
    ids=lambda more: next(iter(more)),
)
def test_columns_that_are_no_strategies_are_left_out_and_named(more, tmp_path):
    results = read(tmp_path, WIDE.assign(gamma=0.5).assign(**more), "ndcg")
    assert results.strategies == ("alpha", "beta", "gamma")
    assert all(f"`{name}`" in results.how_read for name in more)


def test_means_and_spreads_in_pairs_of_columns_are_means(tmp_path):
    table = pd.concat([WIDE.add_suffix("_mean"), (WIDE / 50).add_suffix("_std")], axis=1)
    assert is_wide(read(tmp_path, table))


def test_one_known_key_makes_the_other_column_of_texts_the_other_key(tmp_path):
    for names in ({"dataset": "where"}, {"model": "who"}, {"dataset": "env_id", "model": "algo"}):
        assert is_wide(read(tmp_path, LONG.rename(columns=names)))


def test_repeats_are_averaged_and_a_missing_one_is_said(tmp_path):
    runs = pd.concat(
        [LONG.assign(iteration=i, acc=LONG["acc"] + d) for i, d in enumerate((0, 0.02, -0.02))]
    )
    assert is_wide(read(tmp_path, runs))
    results = read(tmp_path, runs[(runs["model"] != "alpha") | (runs["iteration"] < 2)])
    assert "means of the repeats that are there (alpha: 2 of 3 repeats)" in results.how_read
    assert np.allclose(results.scores["alpha"].to_numpy(), np.add(ALPHA, 0.01))
    assert not len(results.missing)


def test_columns_that_tell_rows_apart_belong_to_strategies_if_only_so_rows_are_complete(tmp_path):
    parts = {"alpha": ("net", "small"), "beta": ("net", "large")}
    table = LONG.assign(size=[parts[m][1] for m in LONG["model"]], model="net")
    table = pd.concat(
        [table, LONG.assign(model="tree", size="none", acc=0.5).drop_duplicates("dataset")]
    )
    results = read(tmp_path, table)
    assert set(results.strategies) == {"net small", "net large", "tree none"}
    crossed = pd.concat([LONG.assign(kind="x"), LONG.assign(kind="y", acc=0.4)])
    results = read(tmp_path, crossed)
    assert (len(results.datasets), len(results.strategies)) == (2 * len(NAMES), 2)
    assert "Another reading: `mlaut report" in results.how_read
    text = refused(tmp_path, crossed.assign(kind=(crossed["kind"] == "x").astype(str)))
    assert "differ in `kind`" in text
    assert "--columns dataset=dataset,strategy=model,repeat=kind" in text


def test_rows_that_nothing_tells_apart_are_asked_about(tmp_path):
    doubled = pd.concat([LONG, LONG.assign(acc=0.5)])
    assert refused(tmp_path, doubled).endswith("--columns repeat=rows")
    results = read(tmp_path, doubled, columns={"repeat": "rows"})
    assert np.allclose(results.scores["alpha"], (np.array(ALPHA) + 0.5) / 2)
    assert is_wide(read(tmp_path, pd.concat([LONG, LONG.iloc[:3]])))


def test_a_column_may_have_any_role_that_a_user_gives(tmp_path):
    odd = LONG.set_axis(["model", "dataset", "q"], axis=1).assign(w=0.1)
    roles = {"dataset": "model", "strategy": "dataset", "score": "q"}
    assert is_wide(read(tmp_path, odd, columns=roles))
    text = refused(tmp_path, odd, columns={"dataset": "modle"})
    assert "no column 'modle'; did you mean 'model'?" in text
    assert "'data' is no role of a column" in refused(tmp_path, odd, columns={"data": "q"})


MARKDOWN = "# First\n\n|model|d1|\n|-|-|\n|alpha|1|\n\n## Second\n\n" + "\n".join(
    ["|" + "|".join(row) + "|" for row in [["model", *NAMES], ["-"] * 7]]
    + [f"|[{n}](http://x.org)|" + "|".join(f"**{x}**" for x in WIDE[n]) + "|" for n in WIDE]
)


def test_one_of_several_tables_of_a_text_is_chosen_by_number_or_heading(tmp_path):
    for table in ("2", "Second"):
        assert is_wide(read(tmp_path, MARKDOWN, name="t.md", columns={"table": table}))
    text = refused(tmp_path, MARKDOWN + MARKDOWN.replace("Second", "Third"), name="t.md")
    assert "it has 4 tables" in text
    assert "--columns table=2" in text


def test_two_rows_of_names_are_levels(tmp_path):
    both = pd.concat({"acc": WIDE, "f1": WIDE - 0.2}, axis=1)
    assert is_wide(read(tmp_path, both.swaplevel(axis=1)))
    assert is_wide(read_results(both, "accuracy"))
    cells = "".join(
        f"<tr><th>{d}<td>{a}<td>.1<td>{b}<td>.1" for d, a, b in zip(NAMES, ALPHA, BETA, strict=True)
    )
    head = (
        "<tr><th rowspan=2>Dataset<th colspan=2>alpha<th colspan=2>beta<tr>" + "<th>acc<th>f1" * 2
    )
    assert is_wide(read(tmp_path, f"<table>{head}{cells}</table>", name="t.html"))


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 0, 1), (0, 2, 1)])
def test_nested_names_are_read_in_any_order_if_they_are_known(order, tmp_path):
    deep: dict = {}
    strategies, datasets = (
        {"alpha": "XGBoost", "beta": "kNN"},
        dict(zip(NAMES, ["iris", "wine", "adult", "mnist", "glass", "yeast"], strict=True)),
    )
    for name in NAMES:
        for model in WIDE:
            way = (datasets[name], strategies[model], "acc")
            one, two, three = (way[i] for i in order)
            deep.setdefault(one, {}).setdefault(two, {})[three] = WIDE.loc[name, model]
    results = read(tmp_path, json.dumps(deep), name="t.json")
    assert np.allclose(results.scores.loc[list(datasets.values()), list(strategies.values())], WIDE)


def test_a_folder_has_a_file_for_each_dataset_or_strategy_or_both(tmp_path):
    for kind in ("dataset", "model", "both"):
        folder = tmp_path / kind
        folder.mkdir()
        if kind == "both":
            for row in LONG.itertuples():
                text = f"{row.model.upper()}Classifier\n" + f"{row.acc:.4f}\n".replace(".", ",") * 3
                name = {"alpha": "forest", "beta": "svm"}[row.model]
                (folder / f"{name}_{row.dataset}_acc.csv").write_text(
                    text.replace("ALPHA", "Forest").replace("BETA", "SVM")
                )
            results = read_results(folder, "accuracy")
            assert np.allclose(results.scores, WIDE)
            assert "means of 3 repeats" in results.how_read
            continue
        for name, part in LONG.groupby(kind):
            part.drop(columns=kind).to_csv(folder / f"{name}.csv", index=False)
        assert is_wide(read_results(folder, "accuracy"))


def test_a_pickle_is_read_only_with_trust(tmp_path):
    LONG.to_pickle(tmp_path / "t.pkl")
    with pytest.raises(AnalysisError, match="a pickle can run code of its maker: add --trust"):
        read_results(tmp_path / "t.pkl", "accuracy")
    assert is_wide(read_results(tmp_path / "t.pkl", "accuracy", trust=True))


def test_metrics_of_one_dataset_and_runs_of_one_strategy_are_no_comparison(tmp_path):
    one = pd.DataFrame({"Method": ["a", "b"], "acc": [0.9, 0.8], "Clean Error": [0.1, 0.2]})
    assert "metrics of one dataset" in refused(tmp_path, one, "mcc")
    runs = pd.DataFrame(np.c_[ALPHA, BETA], index=WIDE.index)
    assert "look like runs of one strategy" in refused(tmp_path, runs)


def test_where_many_never_ran_pairs_are_compared_on_what_they_share():
    patchy = pd.concat([WIDE, WIDE.set_axis([f"e{i}" for i in range(6)])])
    patchy["gamma"] = [0.5] * 6 + [np.nan] * 6
    patchy.loc["d1":"d2", "beta"] = np.nan
    patchy.loc["e0":"e2", "alpha"] = np.nan
    results = read_results(patchy.rename_axis("dataset").reset_index(), "accuracy")
    first, second = make_report(results).sections[0].sentences[:2]
    assert first.startswith(
        "Nothing holds over all 12 datasets: 11 of 36 cells have no result, and"
    )
    assert "beats" in second
    pairs = compare_shared(results).frame
    assert pairs.loc[("alpha", "beta"), ["datasets", "won"]].tolist() == [7, 7]


def test_who_has_no_result_at_all_is_left_out_before_pairs_are_compared():
    patchy = pd.DataFrame({"A": [0.9, np.nan, 0.7], "B": [np.nan, 0.8, 0.6], "C": [np.nan] * 3})
    shared = compare_shared(Results.from_table(patchy, metric="accuracy"))
    assert shared.frame.index.tolist() == [("A", "B")]
    assert shared.notes[-1] == "1 of 3 strategies left out: no accuracy of C anywhere."
    assert not any("groups" in note for note in shared.notes)


def test_a_few_cells_that_never_ran_are_no_failures():
    table = WIDE.assign(gamma=[np.nan, *BETA[1:]]).reset_index()
    (line,) = [x for x in make_report(table, "accuracy").sections[0].sentences if "left out" in x]
    assert line == "1 of 6 datasets left out: not run by all."


def test_python_averages_the_repeats_that_are_there():
    runs = pd.concat([LONG.assign(seed=i) for i in range(3)])
    lacking = runs[(runs["model"] != "alpha") | (runs["seed"] < 2)]
    roles = {"dataset": "dataset", "strategy": "model", "repeat": "seed", "value": "acc"}
    results = Results.from_long(lacking, metric="accuracy", **roles)
    assert is_wide(results)
    assert results.notes == ("means of the repeats that are there (alpha: 2 of 3 repeats)",)
