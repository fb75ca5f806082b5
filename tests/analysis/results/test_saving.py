"""Results are saved and loaded without a loss, and a file that holds none is named."""

import json

import numpy as np
import pandas as pd
import pytest
from everything import analysis

from mlaut.analysis import Results, compare, load_result, save_result
from mlaut.errors import AnalysisError

FOLDS = pd.MultiIndex.from_product([[f"d{i}" for i in range(6)], range(2), range(3)])
TABLE = pd.DataFrame(np.random.default_rng(0).binomial(20, [0.2, 0.25, 0.4], (36, 3)) / 20, FOLDS)
RESULTS = Results.from_table(
    TABLE.set_axis(["A", "b_c", "D"], axis="columns"), metric="error", n_test=20, n_train=40
)
SAVED = {
    "results": lambda: RESULTS,
    "comparison": lambda: compare(RESULTS, n_samples=50, control="A"),
    "pairs with notes": lambda: analysis.t_test(
        pd.DataFrame({"A": [0.5, 0.25], "B": [0.75, 0.5], "C": [0.5, 0.25]}), metric="mse"
    ),
    "one pair": lambda: analysis.wilcoxon_test(RESULTS, pair=("A", "D"), alternative="better"),
    "friedman": lambda: analysis.friedman_test(RESULTS),
    "table with a MultiIndex": lambda: analysis.cv_test_datasets(RESULTS, df=3),
    "decisions": lambda: analysis.decide(
        analysis.bayesian_sign_test(RESULTS).table("P(row better)"), false_number=0.5
    ),
}


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("name", SAVED)
def test_a_loaded_result_is_the_saved_one(name, ending, tmp_path):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    result, path = SAVED[name](), tmp_path / f"found.{ending}"
    save_result(result, path)
    loaded = load_result(path)
    assert type(loaded) is type(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame(), check_exact=True)
    assert repr(loaded) == repr(result)
    assert loaded._repr_html_() == result._repr_html_()
    assert loaded.notes_text() == result.notes_text()


def test_loaded_results_can_be_analysed(tmp_path):
    save_result(RESULTS, tmp_path / "r.json")
    loaded = load_result(tmp_path / "r.json")
    again = compare(loaded, n_samples=50)
    assert again.to_frame().equals(compare(RESULTS, n_samples=50).to_frame())
    assert loaded.metric.loss_bounds == (0, 1)
    percent = Results.from_table(100 * TABLE, metric="error", greater_is_better=False)
    save_result(percent, tmp_path / "p.json")
    assert load_result(tmp_path / "p.json").metric.bounds == percent.metric.bounds


def test_json_is_strict_and_parquet_is_a_table_for_others(tmp_path):
    pytest.importorskip("pyarrow")
    found = SAVED["pairs with notes"]()  # its t are infinite
    save_result(found, tmp_path / "t.json")
    json.loads((tmp_path / "t.json").read_text(), parse_constant=pytest.fail)
    save_result(found, tmp_path / "t.parquet")
    table = pd.read_parquet(tmp_path / "t.parquet")
    assert table["p_value"].tolist() == found.to_frame()["p_value"].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "holds no result of mlaut.analysis"),
        ("[1]", "holds no result of mlaut.analysis"),
        ('{"mlaut result": 2, "value": null}', "has format 2, and this version of MLaut reads 1"),
        ('{"mlaut result": 1, "value": {"result": "os:path", "fields": {}}}',
         "is damaged.*os:path"),
        ('{"mlaut result": 1, "value": {"result": "mlaut.analysis.common.display:number"}}',
         "is damaged"),
        ('{"mlaut result": 1, "value": {"result": "mlaut.analysis.common.display:number", '
         '"fields": {}}}', "is damaged.*is no result"),
    ],
)  # fmt: skip
def test_a_file_without_a_result_is_named(text, message, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(AnalysisError, match=message) as error:
        load_result(tmp_path / "x.json")
    assert str(tmp_path / "x.json") in str(error.value)


def test_what_cannot_be_saved_or_read_is_named(tmp_path):
    with pytest.raises(AnalysisError, match=r"choose '\.json' or '\.parquet'"):
        save_result(RESULTS, tmp_path / "r.csv")
    with pytest.raises(AnalysisError, match="DataFrame is no result"):
        save_result(TABLE, tmp_path / "r.json")
    with pytest.raises(AnalysisError, match="cannot be read: No such file"):
        load_result(tmp_path / "none.json")
