"""Small tables of many fields: each was once misread, or had no way on."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from small_tables import ALPHA, BETA, LONG, NAMES, WIDE, is_wide, read, refused

from mlaut.analysis.importers.any_table import read_results
from mlaut.analysis.importers.grids.sheet import QuestionError


def test_columns_of_parts_of_the_data_are_no_strategies(tmp_path):
    table = WIDE.set_axis(["final_test", "highest_valid"], axis=1)
    assert "are of parts of the data, and no strategies" in refused(tmp_path, table)
    both = {f"{name}_train": values for name, values in WIDE.items()}
    tested = WIDE.add_suffix("_test").assign(**both)
    assert read(tmp_path, tested).strategies == ("alpha_test", "beta_test")


def test_columns_beside_the_name_of_one_strategy_are_none(tmp_path):
    table = WIDE.reset_index().assign(Algorithm="rao1")
    assert "all rows are of one strategy, 'rao1' in `Algorithm`" in refused(tmp_path, table)
    assert is_wide(read(tmp_path, table, columns={"unused": "Algorithm"}))
    nets = table.rename(columns={"alpha": "ResNet", "beta": "LSTM"})
    assert read(tmp_path, nets).strategies == ("ResNet", "LSTM")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_means_of_nested_names_are_the_scores_and_their_spreads_none(depth, tmp_path):
    each = [{"mean": x, "std": 0.1, "improvement": 7} for x in (0.9, 0.8)]
    found = dict(zip(("svm", "knn"), each, strict=True))
    nested = found if depth == 1 else {"iris": found, "wine": found}
    results = read(tmp_path, json.dumps({"all": nested} if depth == 3 else nested), name="t.json")
    assert results.scores.to_numpy().tolist() == [[0.9, 0.8]] * min(depth, 2)


@pytest.mark.parametrize("name", ["accuracy_gap", "acc_diff", "test accuracy drop"])
def test_a_change_of_the_metric_is_not_the_metric(name, tmp_path):
    table = LONG.rename(columns={"acc": name}).assign(split_seed=1)
    asked = refused(tmp_path, table)
    assert "no column is of accuracy" in asked
    assert "score=split_seed" not in asked
    assert is_wide(read(tmp_path, table, name, greater_is_better=True))


def test_a_longer_name_of_the_metric_is_asked_about_with_its_command(tmp_path):
    table = LONG.rename(columns={"acc": "rmse_ret"}).assign(fit_secs=ALPHA + BETA, train_days=505)
    asked = refused(tmp_path, table.assign(test_days=100), "rmse")
    assert asked.endswith("--metric rmse --columns score=rmse_ret")


@pytest.mark.parametrize("seed", ["model_seed", "split_seed"])
def test_seeds_of_any_part_are_repeats(seed, tmp_path):
    table = pd.concat([LONG.assign(**{seed: 0}), LONG.assign(**{seed: 1})])
    results = read(tmp_path, table)
    assert is_wide(results)
    assert f"means of 2 repeats (`{seed}`)" in results.how_read


def test_metrics_are_known_by_the_labels_of_a_column_without_a_name(tmp_path):
    parts = [LONG.assign(what=what) for what in ("RMSE", "MAE", "R2")]
    table = pd.concat(
        [parts[0], parts[1].assign(acc=9), parts[2].assign(acc=0.1)], ignore_index=True
    )
    table = table[["dataset", "model", "what", "acc"]].set_axis(["", "", "", "mine"], axis=1)
    table.iloc[:, 1] = table.iloc[:, 1].map({"alpha": "SVR", "beta": "ElasticNet"})
    results = read(tmp_path, table, "rmse")
    assert results.scores[["SVR", "ElasticNet"]].loc[NAMES].to_numpy() == pytest.approx(WIDE)


@pytest.mark.parametrize("name", ["root_mean_square_error", "Root Mean Square Error"])
def test_square_errors_are_known_by_both_spellings(name, tmp_path):
    table = LONG.rename(columns={"acc": name}).assign(mean_absolute_error=ALPHA + BETA)
    assert is_wide(read(tmp_path, table, "rmse"))


def test_counts_beyond_the_scores_are_left_out_where_spreads_are_printed(tmp_path):
    scores = {name: [f"{x}±0.01" for x in ALPHA] for name in ("alpha", "beta", "gamma")}
    table = pd.DataFrame({"dataset": NAMES, "Wells": range(1000, 1006), **scores})
    assert "`Wells`" in read(tmp_path, table).how_read.partition("not used")[2]


def test_rates_are_no_names_of_strategies(tmp_path):
    rates = {f"fp32_bs{n}_joule_per_clip": ALPHA for n in (1, 32)}
    table = pd.DataFrame({"model": NAMES, "accuracy_pct": [90 * x for x in ALPHA], **rates})
    assert len(read(tmp_path, table.assign(macro_f1=BETA)).strategies) == len(NAMES)


def test_a_dataset_that_all_rows_name_leaves_the_other_texts_to_the_strategies(tmp_path):
    table = pd.DataFrame({"cutter": [*"abc"], "dataset": "pages", "overall": [0.1, 0.3, 0.2]})
    results = read(tmp_path, table, "overall", greater_is_better=True)
    assert (results.strategies, results.datasets) == (("a", "b", "c"), ("pages",))


def test_lists_of_scores_by_names_of_datasets_are_of_one_strategy(tmp_path):
    text = json.dumps({name: [1.5, 2.5] for name in ("Pong", "Breakout", "Seaquest", "Qbert")})
    asked = refused(tmp_path, text, "return", name="t.json")
    assert "look like datasets of one strategy, so there is nothing to compare" in asked


def test_coefficients_of_a_model_are_no_scores(tmp_path):
    columns = ["", "Coef.", "Std.Err.", "t", "P>|t|"]
    table = pd.DataFrame(np.c_[[*"abc"], np.eye(3), np.eye(3)[:, 1]], columns=columns)
    told = refused(tmp_path, table, "coef", greater_is_better=True)
    assert "its rows are coefficients of one model" in told


def test_a_setting_names_strategies_before_a_size_that_follows_from_it(tmp_path):
    table = pd.concat([LONG.assign(flops=7e9, sparsity=0.1), LONG.assign(flops=9e9, sparsity=0.2)])
    assert "`model` + `sparsity`" in read(tmp_path, table, "accuracy").how_read


def test_a_treatment_is_a_part_of_the_strategies_and_a_rate_of_gaps_of_the_datasets(tmp_path):
    tables = [LONG.assign(x=x) for x in ("none", "weights")]
    table = pd.concat(tables).rename(columns={"x": "Treatment"})
    assert len(read(tmp_path, table).strategies) == 4
    tables = [LONG.assign(missing_rate=x) for x in (5, 7)]
    tables.append(LONG[LONG["model"] == "beta"].assign(missing_rate=9))
    table = pd.concat(tables, ignore_index=True)
    assert "(`dataset` + `missing_rate`)" in read(tmp_path, table).how_read


def test_a_bracket_in_the_name_of_a_dataset_stays(tmp_path):
    table = pd.DataFrame(
        {"Model": NAMES, "MASC (Clean) WER": ALPHA, "SADA WER": BETA, "n CER": BETA}
    )
    assert read(tmp_path, table, "wer").datasets == ("MASC (Clean)", "SADA")


def test_only_tables_that_name_the_metric_are_offered(tmp_path):
    scored = "## {}\n|Model|RMSE|MAE|\n|-|-|-|\n|a|1.5|2|\n|b|2.5|3|\n\n"
    figures = "## Figures\n|Fig|Preview|What|\n|-|-|-|\n|01|RMSE|by model|\n|02|MAE|by day|\n"
    text = scored.format("one") + scored.format("two").replace("|a|", "|c|") + figures
    assert "table=3" not in refused(tmp_path, text, "rmse", name="t.md")


def test_the_column_of_one_row_without_a_name_is_asked_about(tmp_path):
    table = pd.DataFrame({"one": [0.5], "two": [0.6], "three": [0.7]})
    assert "rows, of which there is one" in refused(tmp_path, table)


def test_the_only_number_is_the_score_and_ids_of_runs_are_no_settings(tmp_path):
    runs = [LONG.assign(id=i, acc=LONG["acc"] + x) for i in (0, 1) for x in (0.1, 0, -0.1)]
    table = pd.concat(runs, ignore_index=True).rename(columns={"acc": "Total reward"})
    results = read(tmp_path, table, "reward")
    assert is_wide(results)
    assert "means of 6 repeats (`row`)" in results.how_read


def test_a_checkpoint_that_has_its_steps_is_a_time_of_a_training(tmp_path):
    tables = [
        LONG.assign(checkpoint=f"after_{x}", steps=x, run_id="r" + LONG["model"]) for x in (5, 9)
    ]
    asked = refused(tmp_path, pd.concat(tables, ignore_index=True))
    assert asked.endswith("--columns last=steps")


def test_a_basis_is_a_part_of_the_method_where_all_rows_are_of_one_molecule(tmp_path):
    names = {"method_name": [*"aabb"], "basis_set": ["STO", "TZ"] * 2, "molecule_file": "m.xyz"}
    table = pd.DataFrame({**names, "energy": [-1.5, -2.5, -3.5, -4.5]})
    found = read(tmp_path, table, "energy", greater_is_better=False)
    assert (len(found.strategies), len(found.datasets)) == (4, 1)


def test_flags_in_front_of_the_only_metric_are_offered_as_settings(tmp_path):
    flags = {"use_aug": [True, True, False, False], "mixup": [True, False] * 2}
    table = pd.DataFrame({**flags, "test_accuracy": ALPHA[:4]})
    assert "strategy=use_aug+mixup" in refused(tmp_path, table)


def test_a_mean_over_runs_of_an_average_over_classes_is_a_score(tmp_path):
    kinds = {f"{x}_f1_mean": ALPHA + BETA for x in ("macro", "micro")}
    spreads = {f"{x}_std": 0.01 for x in ("macro_f1", "micro_f1", "watt")}
    names = LONG.rename(columns={"dataset": "prompt"})[["model", "prompt"]]
    table = names.assign(**kinds, **spreads, macro_precision_mean=BETA + ALPHA)
    assert "`macro_f1_mean` as f1_macro" in read(tmp_path, table, "f1_macro").how_read


def test_bounds_of_intervals_are_no_strategies(tmp_path):
    table = pd.DataFrame({"n_way": 5, "shots": [1, 5], "mean_acc": [0.8, 0.9]})
    asked = refused(tmp_path, table.assign(ci_lower=[0.7, 0.8], ci_upper=[0.9, 0.95]))
    assert "there is none to compare" in asked


def test_nested_metrics_of_parts_are_of_the_test(tmp_path):
    each = {"roc_auc": 0.6, "accuracy": 0.5, "f1": 0.4, "alignment": 0.1}
    parts = {"validation": {x: y / 2 for x, y in each.items()}, "test": each}
    text = json.dumps({"svm": parts, "knn": parts})
    assert read(tmp_path, text, "auc", name="t.json").scores.to_numpy().tolist() == [[0.6, 0.6]]
    assert "metric" in refused(tmp_path, json.dumps({"all": parts}), "auc", name="t.json")


def test_texts_that_are_taken_for_datasets_since_nothing_else_is_left_have_another_reading(
    tmp_path,
):
    table = LONG.rename(columns={"dataset": "Polish"})
    told = read(tmp_path, table).how_read
    assert "Another reading: " in told
    assert "strategy=Polish+model" in told
    assert (
        "Another reading" not in read(tmp_path, LONG.rename(columns={"dataset": "city"})).how_read
    )


def test_the_mean_of_the_metric_is_the_score_beside_another_measure(tmp_path):
    table = pd.DataFrame({"Algorithm": ["GA", "PSO"], "Cost Mean": [0.9, 0.8], "Cost Std": 0.1})
    table = table.assign(**{"Features Mean": [14.2, 13.7], "Features Std": 2.1})
    results = read(tmp_path, table, "cost", greater_is_better=False)
    assert results.scores.to_numpy().tolist() == [[0.9, 0.8]]
    assert "`Cost Mean` as cost" in results.how_read


def test_the_metric_is_known_by_the_last_level_of_its_name(tmp_path):
    head = "Method,Batch,,,Bio,,\n,ASW Score,PCR Score,LISI,ARI Score,NMI Score,ASW Score\n"
    rows = "scVI,0.1,0.2,0.9,0.3,0.4,1\nPCA,0.5,0.6,0.5,0.7,0.8,2\nRP,0.5,0.1,0.2,0.2,0.3,1\n"
    results = read(tmp_path, head + rows, "ARI score", greater_is_better=True)
    assert results.scores.to_numpy().tolist() == [[0.3, 0.7, 0.2]]


def test_a_part_in_the_name_of_a_dataset_stays_where_others_have_none(tmp_path):
    each = {"isic_test_dice": ALPHA, "ph2_dice": BETA, "ph2_iou": BETA, "isic_test_iou": BETA}
    table = pd.DataFrame({"method": NAMES, **each})
    results = read(tmp_path, table, "dice")
    assert {*results.datasets} == {"isic test", "ph2"}
    assert results.scores.loc["isic test"].tolist() == ALPHA


def test_a_column_of_the_metric_among_other_measures_is_offered_alone(tmp_path):
    each = {"clean_acc": ALPHA, "nll": BETA, "ood_auroc": BETA, "disagreement": ALPHA[::-1]}
    told = refused(tmp_path, pd.DataFrame({"method": NAMES, **each}))
    assert told.endswith("--columns strategy=method,score=clean_acc")


def test_lines_of_json_may_be_in_a_file_of_json(tmp_path):
    rows = LONG.to_dict("records")
    assert is_wide(read(tmp_path, "\n".join(map(json.dumps, rows)), name="t.json"))


def test_settings_that_differ_between_runs_of_one_strategy_are_asked_about(tmp_path):
    table = pd.concat([LONG.assign(parallelism=x) for x in (1, 2)], ignore_index=True)
    table["run_id"] = table["model"] + table["parallelism"].map("_x{}".format)
    told = refused(tmp_path, table)
    assert "runs of one `model` differ in `parallelism`" in told
    assert "dataset=dataset,strategy=model+parallelism,repeat=run_id" in told
    assert len(read(tmp_path, table, columns={"repeat": "run_id"}).strategies) == 2


def test_steps_of_a_training_are_no_datasets_or_repeats(tmp_path):
    table = pd.DataFrame({"Step": range(10, 70, 10), "svm - loss": ALPHA, "knn - loss": BETA})
    told = refused(tmp_path, table, "loss")
    assert "its rows are times of a training (`Step`)" in told
    assert "mlaut report" not in told


@pytest.mark.parametrize("name", ["vnd2_-_cw", "cnn_[14, 14]", "net_[3, 3, 3]"])
def test_signs_within_a_name_stay(name, tmp_path):
    table = LONG.replace("alpha", name)
    assert read(tmp_path, table).strategies == (name, "beta")
    assert is_wide(read(tmp_path, table.replace(name, "_alpha_ [14, 15]")))


def test_a_setting_without_more_is_one_of_the_datasets(tmp_path):
    table = LONG.rename(columns={"dataset": "setting"})
    results = read(tmp_path, table)
    assert is_wide(results)
    assert "strategy=setting+model" in results.how_read


def test_files_of_instances_are_datasets(tmp_path):
    table = pd.DataFrame({"file": [f"A-n{n}.vrp" for n in range(6)], "ga": ALPHA, "sa": BETA})
    assert read(tmp_path, table, "distance", greater_is_better=False).strategies == ("ga", "sa")


def test_the_metric_over_all_is_offered_for_json_with_counts_beside_it(tmp_path):
    each = dict(zip("abcd", ((9, 12, 0.9), (7, 11, 0.8), (6, 9, 0.7), (1, 2, 0.1)), strict=True))
    nested = {
        x: {"overall_correct": a, "overall_points": b, "overall_total": 20}
        | {"overall_accuracy": a / 20, "no_image_accuracy": c}
        for x, (a, b, c) in each.items()
    }
    told = refused(tmp_path, json.dumps(nested), name="t.json")
    assert "'strategy=level 1,score=overall_accuracy'" in told


def test_columns_of_numbers_without_a_name_are_no_strategies(tmp_path):
    lines = ["dataset,alpha,,beta,,", *(f"{x},0.9,0.{i},0.8,0.7,{i}" for i, x in enumerate(NAMES))]
    told = refused(tmp_path, "\n".join(lines))
    assert "columns with numbers have no name (unnamed, unnamed 2, unnamed 3)" in told
    assert "mlaut report" not in told
    one = "\n".join(line.rpartition(",")[0].rpartition(",")[0] for line in lines)
    assert refused(tmp_path, one).endswith("--columns unused=unnamed")


def test_no_answer_leaves_one_strategy(tmp_path):
    table = pd.DataFrame({"method": "vae", "stage": [*"aabbcc"], "gpu": [1, 2] * 3, "acc": ALPHA})
    assert refused(tmp_path, table).endswith("--columns dataset=stage,strategy=method+gpu")


def test_the_metric_stays_though_its_name_is_that_of_a_comparison(tmp_path):
    table = pd.DataFrame({"Méthode": NAMES, "Valeur moyenne": ALPHA, "Gap moyen (%)": BETA})
    told = refused(tmp_path, table, "gap", greater_is_better=False)
    assert "'strategy=Méthode,score=Gap moyen (%)'" in told
    short = read(tmp_path, table[["Méthode", "Gap moyen (%)"]], "gap", greater_is_better=False)
    assert short.scores.iloc[0].tolist() == BETA


def test_names_made_of_other_columns_name_nothing_and_rows_of_json_may_lack_a_score(tmp_path):
    rows = LONG.assign(site=LONG["dataset"], seed=1).drop(columns="dataset").to_dict("records")
    nested = {f"{x['model']}|{x['site']}|seed1": x for x in rows}
    del nested["alpha|d1|seed1"]["acc"]
    results = read(tmp_path, json.dumps(nested), name="t.json")
    assert (len(results.strategies), len(results.datasets)) == (2, 6)
    assert "`level 1` (made of `model`, `site`)" in results.how_read


def test_what_follows_from_another_column_names_neither(tmp_path):
    table = LONG.rename(columns={"model": "label", "dataset": "farm"})
    rows = [
        table.assign(rose=x, n=i, label=table["label"] + y)
        for i in (1, 2)
        for x in "xy"
        for y in "01"
    ]
    table = pd.concat(rows, ignore_index=True)
    told = refused(tmp_path, table.assign(way=table["label"].str[:1]))
    assert "'farm', 'label', 'rose' columns of texts" in told


def test_settings_in_front_of_columns_of_strategies_are_conditions_of_datasets(tmp_path):
    sizes = {"effect": [0, 0, 0, 1, 1, 1], "spread_of_x": [1, 2, 3] * 2}
    table = pd.DataFrame({**sizes, "pow_ols": ALPHA, "pow_rq": BETA})
    told = refused(tmp_path, table, "power", greater_is_better=True)
    assert told.endswith("--columns dataset=effect+spread_of_x --greater-is-better")


def test_statistics_are_no_strategies(tmp_path):
    table = pd.DataFrame({"Statistic": ["Mean", "Wilcoxon W", "p-value"], "Value": ALPHA[:3]})
    told = refused(tmp_path, table, "regret", greater_is_better=False)
    assert "`Statistic` names no strategies" in told
    assert "mlaut report" not in told


def test_only_columns_that_begin_with_the_metric_are_offered(tmp_path):
    each = {"cwxe_ml": ALPHA + BETA, "cwxf_ml": BETA + ALPHA, "cwxe_theo": BETA + BETA}
    table = LONG.drop(columns="acc").assign(**each)
    told = refused(tmp_path, table, "cwxe", greater_is_better=False)
    assert "score=cwxe_theo" in told
    assert "score=cwxf_ml" not in told


def test_a_turned_table_of_settings_with_one_row_of_the_metric_is_read(tmp_path):
    rows = "Best AUC,0.45,0.67\nClassifier,MLP,CNN\nEmbedding,Mean,Var\nLayers,2,3\n"
    results = read(tmp_path, ",small net,other\n" + rows, "auc")
    assert results.strategies == ("small net", "other")
    assert results.scores.to_numpy().tolist() == [[0.45, 0.67]]
    assert "row `Best AUC` as roc_auc" in results.how_read


def test_of_best_worst_and_average_the_average_is_the_score(tmp_path):
    names = LONG.rename(columns={"acc": "Average Cost"})
    table = names.assign(**{"Best Cost": names["Average Cost"] - 0.1, "Worst Cost": 1.0})
    results = read(tmp_path, table, "cost", greater_is_better=False)
    assert is_wide(results)
    assert "not used: `Best Cost`, `Worst Cost`" in results.how_read


@pytest.mark.parametrize("numbers", [[0, 1, 2, 3, 4, 5], [3, 7, 12, 19, 20, 44]])
def test_numbers_of_rows_in_front_of_names_are_left_out(numbers, tmp_path):
    table = WIDE.reset_index()
    table.insert(0, "", numbers)
    assert is_wide(read(tmp_path, table))


def test_a_method_beside_a_model_that_makes_the_data_is_offered_as_the_strategy(tmp_path):
    keys = product(("ARIMA", "ARMA"), ("normal", "gamma"), (100, 200), ("OLS", "CSS", "ML"))
    rows = [f"{a},{b},{n},{c},phi,{i / 50}" for i, (a, b, n, c) in enumerate(keys, 1)]
    rows += [x.replace("phi", "theta") for x in rows if x.startswith("ARMA")]
    path = tmp_path / "t.csv"
    path.write_text("model,distribution,sample_size,method,parameter,mse\n" + "\n".join(rows))
    with pytest.raises(QuestionError) as error:
        read_results(path, "mse")
    found = [set(x.strategies) for x in error.value.readings.values()]
    assert {"OLS", "CSS", "ML"} in found
