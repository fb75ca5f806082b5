"""Files in the forms of public leaderboards; every number here is made up.

The forms are those of SalesforceAIResearch/gift-eval (``results/``), autogluon/fev
(``benchmarks/``), embeddings-benchmark/results, time-series-machine-learning/tsml-eval
(``results/``), stanford-crfm/helm (``groups/json``), SWE-bench/experiments (``evaluation/``),
evaleval/every_eval_ever (its two schemas), EleutherAI/lm-evaluation-harness (``--log_samples``) and
mlr3 (``BenchmarkAggr``).
"""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from mlaut_boards.contamination import treat_contaminated

from mlaut.analysis import friedman_test, nemenyi_test, read_results
from mlaut.cli import cli
from mlaut.errors import AnalysisError, DataError, MlautError
from mlaut.report import make_report


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = isinstance(content, list) and path.suffix == ".jsonl"
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(content if isinstance(content, str) else text)


CRPS = "eval_metrics/mean_weighted_sum_quantile_loss"


def gift_eval(folder):
    for model, leak, base in (("A", "No", 0.1), ("B", "Yes", 0.2)):
        rows = [
            f"{task},{model},{3 * base},{base},Web,1" for task in ("ett/H/short", "ett/D/short")
        ]
        head = f"dataset,model,eval_metrics/MASE[0.5],{CRPS},domain,num_variates"
        write(
            folder / model / "all_results.csv", "\n".join([head, *rows, f"solar/H,X,1,{base},E,1"])
        )
        write(folder / model / "config.json", {"model": model, "testdata_leakage": leak})


def fev(folder):
    head = "model_name,task_name,eval_metric,test_error,training_time_s,inference_time_s,"
    head += "trained_on_this_dataset,MASE"
    for model, error, trained in (("A", 0.1, False), ("B", 0.2, True)):
        rows = [
            f"{model},ETT_1D,SQL,{error},0,1.5,{trained},9",
            f"{model},ETT_1H,SQL,{error + 1},0,2.5,False,8",
            f"{model},monash_m4,SQL,{error + 2},0,2.5,False,8",
        ]
        write(folder / f"{model}.csv", "\n".join([head, *rows]))


def mteb(folder):
    for model, scores in (("org__A", [0.4, 0.6]), ("org__B", [0.6, 0.8])):
        each = [{"f1": 0.1, "accuracy": x} for x in scores]
        one = {"hf_subset": "default", "main_score": np.mean(scores), "scores_per_experiment": each}
        two = [{"hf_subset": name, "main_score": scores[0]} for name in ("de", "en")]
        for task, test in (("T1", [one]), ("T2", two)):
            found = {"task_name": task, "scores": {"dev": [], "test": test}}
            write(folder / model / "rev" / f"{task}.json", found)
        write(folder / model / "rev" / "model_meta.json", {"name": model})


def tsml(folder):
    for name, values in (("HC2", "0.9,0.7"), ("ROCKET", "0.8,0.8")):
        write(folder / f"{name}_accuracy.csv", f"Resamples:,0,1\nACSF1,{values}\n")


def helm(folder):
    head = [{"value": "Model"}, {"value": "Mean win rate", "lower_is_better": False}]
    for group, metric, less in (("MMLU", "EM", False), ("Pile", "BPB", True)):
        head.append({"lower_is_better": less, "metadata": {"metric": metric, "run_group": group}})
    rows = [[{"value": x} for x in row] for row in (["A", 0.1, 0.5, 2.0], ["B", 0.9, 0.7, None])]
    write(folder / "core.json", [{"title": "Accuracy", "header": head, "rows": rows}])


def swe_bench(folder):
    for name, solved in (("20240101_A", ["dj__dj-1", "dj__dj-2"]), ("20240201_B", ["sp__sp-x-9"])):
        lists = {"resolved": solved, "no_generation": ["sp__sp-x-8"], "comment": "none"}
        write(folder / name / "results" / "results.json", lists)
    write(folder / "20240201_B" / "logs" / "dj__dj-3" / "report.json", {})


def swe_bench_items(folder):
    for name, solved in (("20260101_A", (True, False)), ("20260201_B", (True, True))):
        items = {f"dj__dj-{i}": {"cost": 0.7, "resolved": x} for i, x in enumerate(solved)}
        write(folder / name / "per_instance_details.json", items)


def every_eval_ever(folder):
    for model, score in (("A", 0.5), ("B", 0.75)):
        results = [
            {
                "evaluation_name": name,
                "metric_config": {"metric_name": "accuracy", "lower_is_better": False},
                "score_details": {"score": score},
            }
            for name in ("x", "y")
        ]
        write(
            folder / f"{model}.json", {"model_info": {"id": model}, "evaluation_results": results}
        )


def items_of_every_eval_ever(folder):
    for model, scores in (("A", [1, 0]), ("B", [1, 1])):
        items = [
            {"model_id": model, "evaluation_name": task, "sample_id": i, "evaluation": {"score": x}}
            for task in ("arc", "gsm")
            for i, x in enumerate(scores)
        ]
        write(folder / model / "1_samples.jsonl", items)
        every_eval_ever(folder / model)  # aggregates beside the items do not count twice


def lm_eval(folder):
    for model, scores in (("A", [1, 0]), ("B", [1, 1])):
        items = [
            {"doc_id": i, "metrics": ["acc"], "filter": name, "acc": x if name == "none" else 0}
            for i, x in enumerate(scores)
            for name in ("none", "strict")
        ]
        for task in ("arc", "gsm_8"):
            write(folder / model / f"samples_{task}_2026-01-21T03-44-18.45.jsonl", items)


def mlr3(folder):
    rows = "1,iris,rpart,cv,10,0.1\n2,iris,ranger,cv,10,0.05\n3,sonar,rpart,cv,10,0.3\n"
    head = "nr,task_id,learner_id,resampling_id,iters,classif.ce\n"
    write(folder / "bmr.csv", f"{head}{rows}4,sonar,ranger,cv,10,0.2\n")


FORMS = {
    gift_eval: ("GIFT-Eval: 2 files", None, "crps", [[0.1, 0.2]] * 3, ("ett", "ett", "solar")),
    fev: (
        "fev: 2 files",
        None,
        "SQL",
        [[0.1, 0.2], [1.1, 1.2], [2.1, 2.2]],
        ("ETT", "ETT", "monash_m4"),
    ),
    mteb: (
        "MTEB: 4 files",
        None,
        "score",
        [[0.5, 0.7], [0.4, 0.6], [0.4, 0.6]],
        ("T1", "T2", "T2"),
    ),
    tsml: ("tsml: 2 files", None, "accuracy", [[0.8, 0.8]], None),
    helm: ("HELM: 1 file", None, "score", [[0.5, 0.7], [-2.0, np.nan]], None),
    swe_bench_items: (
        *("SWE-bench, bash-only: 2 files", None, "accuracy", [[1, 1], [0, 1]], None),
    ),
    swe_bench: (
        *("SWE-bench: 2 files", None, "accuracy", [[1, 0], [1, 0], [0, 0], [0, 0], [0, 1]]),
        ("dj__dj", "dj__dj", "sp__sp-x", "dj__dj", "sp__sp-x"),
    ),
    every_eval_ever: ("Every Eval Ever: 2 files", None, "accuracy", [[0.5, 0.75]] * 2, None),
    items_of_every_eval_ever: (
        *("Every Eval Ever, items: 2 files", None, "score", [[1, 1], [0, 1]] * 2),
        ("arc", "arc", "gsm", "gsm"),
    ),
    lm_eval: (
        "lm-eval: 4 files",
        "acc",
        "accuracy",
        [[1, 1], [0, 1]] * 2,
        ("arc", "arc", "gsm_8", "gsm_8"),
    ),
    mlr3: ("mlr3: 1 file", None, "misclassification", [[0.1, 0.05], [0.3, 0.2]], None),
}


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_a_board_is_recognised_by_its_files(tmp_path, make):
    kind, metric, name, scores, sources = FORMS[make]
    make(tmp_path)
    results = read_results(tmp_path, metric)
    assert results.notes[0] == f"read as {kind}"
    assert results.metric.name == name
    np.testing.assert_allclose(results.scores.to_numpy(), scores)
    assert results.clusters == sources


def test_repeats_of_mteb_and_resamples_of_tsml_are_kept(tmp_path):
    mteb(tmp_path / "mteb")
    results = read_results(tmp_path / "mteb")
    assert results.strategies == ("org/A", "org/B")
    assert results.cells[0, :, :, 0].tolist() == [[0.4, 0.6], [0.6, 0.8]]
    assert results.metric.incomparable == "tasks have metrics of their own"
    assert results.notes[1] == "2 files of another form left out: model_meta.json, model_meta.json"
    one = {"hf_subset": "default", "main_score": 0.9}  # an older result, without experiments
    write(tmp_path / "mteb/org__B/rev/T1.json", {"task_name": "T1", "scores": {"test": [one]}})
    results = read_results(tmp_path / "mteb")
    assert results.scores.loc["T1"].tolist() == [0.5, 0.9]
    assert (
        "1 dataset with unequal numbers of repeats: the means of strategies count" in results.notes
    )
    tsml(tmp_path / "tsml")
    resamples = read_results(tmp_path / "tsml").cells[0, :, :, 0]
    assert resamples.tolist() == [[0.9, 0.7], [0.8, 0.8]]
    write(tmp_path / "tsml/CIF_accuracy.csv", "folds:,0,1\nACSF1,0.6,\n")  # one of two resamples
    results = read_results(tmp_path / "tsml")
    assert results.scores.loc["ACSF1"].to_dict() == {"CIF": 0.6, "HC2": 0.8, "ROCKET": 0.8}
    write(tmp_path / "accuracy_mean.csv", "Estimators:,HC2,ROCKET\nACSF1,0.9,0.8\n")
    assert read_results(tmp_path / "accuracy_mean.csv").metric.name == "accuracy"


def test_a_subset_of_mteb_has_one_name_however_many_a_file_has(tmp_path):
    for model, subsets in (("org__A", ["en"]), ("org__B", ["en", "de"])):
        scores = [{"hf_subset": one, "main_score": 0.5} for one in subsets]
        about = {"task_name": "STS22", "scores": {"test": scores}}
        write(tmp_path / model / "rev/STS22.json", about)
    results = read_results(tmp_path)
    assert results.datasets == ("STS22 en", "STS22 de")
    assert results.scores.loc["STS22 en"].tolist() == [0.5, 0.5]


def test_exact_match_of_lm_eval_is_an_accuracy(tmp_path):
    items = [{"doc_id": i, "metrics": ["exact_match"], "exact_match": i % 2} for i in range(3)]
    write(tmp_path / "A/samples_math_2026-01-21T03.jsonl", items)
    assert read_results(tmp_path).metric.name == "accuracy"


def test_the_analysis_that_mlr3benchmark_publishes_comes_out(tmp_path):
    """Its README prints these accuracies, Friedman's test (6.5, .0388), and Nemenyi's p-values."""
    printed = {
        "iris": (0.28, 0.9466667, 0.96),
        "sonar": (0.5334023, 0.6537612, 0.6394755),
        "wine": (0.3990584, 0.8652542, 0.9048023),
        "zoo": (0.4058229, 0.8309566, 0.9099822),
    }
    learners = ("featureless", "rpart", "xgboost")
    rows = [
        f"{task},{learner},{acc}"
        for task, of_task in printed.items()
        for learner, acc in zip(learners, of_task, strict=True)
    ]
    write(tmp_path / "aggr.csv", "\n".join(["task_id,learner_id,acc", *rows]))
    results = read_results(tmp_path / "aggr.csv")
    friedman = friedman_test(results, statistic="chi2")
    assert (friedman.statistic, round(friedman.p_value, 8)) == (pytest.approx(6.5), 0.03877421)
    nemenyi = nemenyi_test(results)
    pairs = [("featureless", "rpart"), ("featureless", "xgboost"), ("rpart", "xgboost")]
    assert [round(nemenyi.value("p_value", *pair), 3) for pair in pairs] == [0.181, 0.036, 0.759]


def test_a_metric_is_chosen_by_its_name_on_the_board(tmp_path):
    for make in (gift_eval, helm, lm_eval):
        make(tmp_path / make.__name__)
    for mase in ("MASE", "eval_metrics/MASE[0.5]"):  # our name, and that of the column
        assert read_results(tmp_path / "gift_eval", mase).scores.loc["solar/H", "B"] == 1
    bits = read_results(tmp_path / "helm", "BPB")
    assert (bits.scores.loc["Pile", "A"], bits.metric.greater_is_better) == (2.0, False)
    strict = read_results(tmp_path / "lm_eval", "acc,strict", greater_is_better=True)
    assert strict.scores.to_numpy().max() == 0
    with pytest.raises(
        AnalysisError, match="lm-eval has several scores: choose one of acc,strict, accuracy"
    ):
        read_results(tmp_path / "lm_eval")
    with pytest.raises(AnalysisError, match="more of mase is not better on GIFT-Eval"):
        read_results(tmp_path / "gift_eval", "mase", greater_is_better=True)
    with pytest.raises(AnalysisError, match="the HELM has no metric 'F1'; there are EM, BPB"):
        read_results(tmp_path / "helm", "F1")


def test_a_folder_of_another_form_and_a_damaged_file_are_refused_in_one_line(tmp_path):
    with pytest.raises(AnalysisError, match=r"no file in it has one table of results$"):
        read_results(tmp_path)
    write(tmp_path / "x.json", '{"model_info": ')
    with pytest.raises(DataError, match=r"x.json: cannot be read as JSON \(Expecting value"):
        read_results(tmp_path / "x.json", "accuracy")


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_a_damaged_file_of_a_board_is_read_or_refused_in_one_line(tmp_path, make):
    make(tmp_path)
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    path = max(files, key=lambda one: (one.suffix == ".jsonl", one.name))
    content, generator = path.read_bytes(), np.random.default_rng(0)
    messages = []
    for _ in range(25):
        at, size = generator.integers(len(content)), generator.integers(1, 30)
        other = generator.choice(list(b",'\"\n0123456789abc{}[]?- "), generator.integers(0, 6))
        path.write_bytes(content[:at] + bytes(other.tolist()) + content[at + size :])
        try:
            read_results(tmp_path, FORMS[make][1], greater_is_better=None)
        except MlautError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in text for text in messages)


# ------------------------------------------------------------------- contamination


def test_contaminated_cells_are_kept_left_out_or_replaced(tmp_path):
    fev(tmp_path)
    results = read_results(tmp_path)
    assert results.contaminated.tolist() == [[False, True], [False, False], [False, False]]
    assert results.notes[1].startswith("1 cell of B contaminated, as declared: ")
    assert treat_contaminated(results) is results
    replaced = treat_contaminated(results, "A")
    assert replaced.losses["B"].tolist() == pytest.approx([0.1, 1.2, 2.2])
    assert replaced.imputed.sum() == 1
    assert replaced.notes[-1] == "1 contaminated cell replaced by the scores of A"
    assert treat_contaminated(results, "drop strategies").strategies == ("A",)
    assert treat_contaminated(results, "drop datasets").datasets == ("ETT_1H", "monash_m4")
    with pytest.raises(AnalysisError, match="B is contaminated too: name a strategy that is not"):
        treat_contaminated(results, "B")


def test_all_datasets_of_a_model_that_declares_leakage_are_contaminated(tmp_path):
    gift_eval(tmp_path)
    results = read_results(tmp_path)
    assert results.contaminated.sum(axis=0).tolist() == [0, 3]
    with pytest.raises(AnalysisError, match="each of the 3 datasets has a contaminated cell"):
        treat_contaminated(results, "drop datasets")


def test_a_report_says_what_it_read_and_what_it_left_out(tmp_path):
    fev(tmp_path)
    report = make_report(tmp_path, contaminated="A")
    assert report.state.lines == ("3 datasets, read as fev: 2 files.",)
    assert "1 contaminated cell replaced by the scores of A" in " ".join(str(report).split())


def test_the_command_line_finds_out_which_board_a_folder_is(tmp_path):
    gift_eval(tmp_path)
    given = ["report", str(tmp_path), "--metric", "mase", "--contaminated", "drop strategies"]
    done = CliRunner().invoke(cli, given)
    assert done.exit_code == 0, done.output
    assert "3 datasets, read as GIFT-Eval: 2 files." in done.output
    assert "1 of 2 strategies left out for 3 contaminated cells" in " ".join(done.output.split())


# ---------------------------------------------------------------- tables as people have them

USUAL = {
    "turned.csv": "model,iris,wine\nA,0.9,0.8\nB,0.7,0.6\n",
    "commas.csv": ";A;B\niris;0,9;0,7\nwine;0,8;0,6\n",
    "rows.csv": ",task,A,B\n0,iris,0.9,0.7\n1,wine,0.8,0.6\n",
    "long.csv": "problem;classifier;acc\niris;A;0,9\niris;B;0,7\nwine;A;0,8\nwine;B;0,6\n",
    "nested.json": '{"A": {"iris": 0.9, "wine": 0.8}, "B": {"iris": 0.7, "wine": 0.6}}',
    "lines.jsonl": "\n".join(
        f'{{"task": "{task}", "learner": "{one}", "score": {x}}}'
        for task, one, x in (
            *(("iris", "A", 0.9), ("iris", "B", 0.7), ("wine", "A", 0.8), ("wine", "B", 0.6)),
        )
    ),
}


@pytest.mark.parametrize("name", USUAL)
def test_usual_tables_are_taken_as_people_have_them(tmp_path, name):
    write(tmp_path / name, USUAL[name])
    scores = read_results(tmp_path / name, "accuracy").scores
    assert scores.to_dict() == {"A": {"iris": 0.9, "wine": 0.8}, "B": {"iris": 0.7, "wine": 0.6}}


def test_excel_is_read_where_openpyxl_is_there(tmp_path):
    path = tmp_path / "t.xlsx"
    try:
        import openpyxl
    except ImportError:
        path.write_bytes(b"PK\x03\x04")
        with pytest.raises(DataError, match=r"t.xlsx: cannot be read as Excel \("):
            read_results(path, "accuracy")
        return
    book = openpyxl.Workbook()
    for row in (["dataset", "A"], ["iris", 0.9]):
        book.active.append(row)
    book.save(path)
    assert read_results(path, "accuracy").scores.loc["iris", "A"] == 0.9
