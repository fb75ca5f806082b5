"""Published results that are downloaded, from local servers with files of the documented forms.

The columns of the AutoML benchmark are those of its ``results.csv``, those of TabArena of the file
that it offers for its leaderboard, and the answers those of OpenML's REST API.
"""

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import pytest

from mlaut.analysis import PUBLISHED, average_ranks, importers, published, read_results
from mlaut.analysis.importers import read_tabarena
from mlaut.errors import AnalysisError, DataError

AMLB = """\
id,task,framework,constraint,fold,type,result,metric,mode,version,info,acc,auc,logloss,rmse
openml.org/t/1,kc2,flaml,1h8c_gp3,0,binary,0.80,auc,aws.docker,1.2,,0.7,0.80,0.5,
openml.org/t/1,kc2,TPOT,1h8c_gp3,0,binary,,auc,aws.docker,0.12,TimeoutError: too long,,,,
openml.org/t/1,kc2,flaml,4h8c_gp3,0,binary,0.83,auc,aws.docker,1.2,,0.8,0.83,0.4,
openml.org/t/2,moneyball,flaml,1h8c_gp3,0,regression,-20.5,neg_rmse,aws.docker,1.2,,,,,20.5
openml.org/t/2,moneyball,TPOT,1h8c_gp3,0,regression,-22.5,neg_rmse,aws.docker,0.12,,,,,22.5
"""
TABARENA = pd.DataFrame(
    {
        "dataset": ["anneal"] * 4 + ["airfoil"] * 4,
        "fold": [0, 0, 1, 1] * 2,
        "method": ["LightGBM (tuned)", "TABPFNV2 (default)"] * 4,
        "metric_error": [0.02, 0.03, 0.04, 0.05, 1.5, 1.25, 1.75, 1.5],
        "metric": ["log_loss"] * 4 + ["rmse"] * 4,
        "time_train_s": [1.5] * 8,
        "time_infer_s": [0.25] * 8,
        "imputed": [False, True] * 2 + [False] * 4,
    }
)


class Server:
    """Serves pages from a dictionary on the loopback interface, and lists what was asked for."""

    def __init__(self):
        self.pages, self.asked = {}, []
        pages, asked = self.pages, self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                status, body = pages.get(self.path, (404, b"not here"))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) + 5 * self.path.endswith("cut")))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("MLAUT_CACHE", str(tmp_path / "cache"))
    started = Server()
    yield started
    started.stop()


def at(monkeypatch, server, name, path):
    """Let a benchmark be at this path of the server."""
    monkeypatch.setitem(PUBLISHED, name, replace(PUBLISHED[name], url=server.url + path))


def test_the_automl_benchmark_is_loaded_once_and_then_from_the_cache(server, monkeypatch):
    at(monkeypatch, server, "amlb2023", "/amlb_all.csv")
    server.pages["/amlb_all.csv"] = 200, AMLB.encode()
    results = published("amlb2023")
    assert results.strategies == ("flaml", "TPOT")
    assert results.scores.loc["moneyball"].tolist() == [-20.5, -22.5]
    assert results.missing["reason"].tolist() == ["TimeoutError: too long"]
    assert results.notes[0].endswith("mlaut.analysis.PUBLISHED['amlb2023']")
    server.stop()  # no network from here on
    longer = published("amlb2023", constraint="4h8c_gp3", metric="auc")
    assert longer.scores.loc["kc2", "flaml"] == 0.83
    assert server.asked == ["/amlb_all.csv"]


def test_tabarena(server, monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    at(monkeypatch, server, "tabarena2025", "/results/all.parquet")
    TABARENA.to_parquet(tmp_path / "all.parquet")
    server.pages["/results/all.parquet"] = 200, (tmp_path / "all.parquet").read_bytes()
    results = published("tabarena2025")
    assert results.cells.shape == (2, 2, 1, 2)
    assert results.missing["reason"].unique().tolist() == [
        "imputed there, as the method does not run on this dataset"
    ]
    assert "log_loss on 1, rmse on 1" in results.notes_text()[2]
    both = published("tabarena2025", imputed=True)
    # by hand: LightGBM is better on anneal (.03 and .04), TabPFN on airfoil (1.375 and 1.625)
    assert both.losses.round(3).to_numpy().tolist() == [[0.03, 0.04], [1.625, 1.375]]
    assert average_ranks(both).frame["average_rank"].tolist() == [1.5, 1.5]
    assert both.incomparable.startswith("metric_error: datasets have metrics of their own")


def test_tables_of_tabarena_and_tabrepo_are_known_by_their_columns(tmp_path):
    one = TABARENA[TABARENA["dataset"] == "airfoil"].rename(columns={"method": "framework"})
    one.to_csv(tmp_path / "tabrepo.csv", index=False)
    results = read_results(tmp_path / "tabrepo.csv")
    assert (results.metric.name, results.metric.greater_is_better) == ("rmse error", False)
    assert results.losses.loc["airfoil"].tolist() == [1.625, 1.375]
    chosen = read_tabarena(TABARENA, "log_loss", imputed=True)
    assert chosen.losses.to_dict("index") == {
        "anneal": {"LightGBM (tuned)": 0.03, "TABPFNV2 (default)": 0.04}
    }
    with pytest.raises(AnalysisError, match="no table of TabArena: it has no column 'method'"):
        read_tabarena(TABARENA.drop(columns="method"))


def test_what_cannot_be_had_is_one_line(server, monkeypatch, tmp_path):
    at(monkeypatch, server, "amlb2023", "/amlb_all.csv")
    with pytest.raises(DataError, match=r"amlb2023: .*amlb_all\.csv answered 404; check that it"):
        published("amlb2023")
    at(monkeypatch, server, "amlb2023", "/cut")
    server.pages["/cut"] = 200, AMLB.encode()
    with pytest.raises(DataError, match="amlb2023: "):
        published("amlb2023")
    assert not list((tmp_path / "cache").rglob("*cut"))
    at(monkeypatch, server, "amlb2023", "/amlb_all.csv")
    server.pages["/amlb_all.csv"] = 200, AMLB.encode()
    published("amlb2023")
    (file,) = (tmp_path / "cache" / "results" / "amlb2023").iterdir()
    file.write_text(AMLB.replace("0.80", "0.99"))
    with pytest.raises(DataError, match="not the file that was loaded; delete it"):
        published("amlb2023")
    file.unlink()
    server.stop()
    with pytest.raises(DataError, match=r"cannot be reached .* and it is not in the cache"):
        published("amlb2023")
    with pytest.raises(AnalysisError, match="garcia2008 comes with MLaut and has no options"):
        published("garcia2008", metric="auc")


@pytest.mark.parametrize("name", [name for name, one in PUBLISHED.items() if one.url])
def test_each_says_its_protocol(name):
    text = str(PUBLISHED[name])
    for word in ("source", "licence", "datasets", "splits", "tuning", "failures", "metric", "url"):
        assert f"{word}: " in text
    assert callable(getattr(importers, PUBLISHED[name].reader))
