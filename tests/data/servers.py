"""Local servers that speak as OpenML, UCI and GitHub do, for tests without a network.

The forms are those of OpenML's REST API v1 (XML; tables as ARFF and, in an S3 bucket, parquet), of
the API that the package ucimlrepo reads (JSON and CSV), and of PMLB's repository (``.tsv.gz``).
The tables are made up here.
"""

import gzip
import hashlib
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd

OML = 'xmlns:oml="http://openml.org/openml"'


class LocalServer:
    """Serves the pages that it is given, until it is stopped, and counts what was asked for."""

    def __init__(self):
        self.pages, self.asked = {}, []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self):
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def _handler(pages):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            pages.asked.append(self.path)
            status, body = pages.pages.get(self.path, (404, b"<html>not here</html>"))
            packed = gzip.compress(body) if self.path.startswith(("/api", "/data/")) else body
            self.send_response(status)
            if packed is not body:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(packed)))
            self.send_header("ETag", '"0"')
            self.send_header("Last-Modified", "Sat, 01 Nov 2025 00:00:00 GMT")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(packed)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_):
            pass

    return Handler


# --------------------------------------------------------------------- OpenML

FLOWERS = pd.DataFrame(
    {
        "id": range(12),
        "length": [5.1, 4.9, None, 7.0, 6.4, 6.9, 6.3, 5.8, 7.1, 4.6, 5.5, 6.5],
        "petals": [3, 3, 4, 5, 5, 4, 6, 6, 5, 3, 4, 6],
        "colour": ["white", "blue", "white", None, "red", "red"] * 2,
        "class": ["setosa"] * 4 + ["virginica"] * 4 + ["ver sicolor"] * 4,
    }
).astype(
    {
        "colour": pd.CategoricalDtype(["white", "red", "blue"]),
        "class": pd.CategoricalDtype(["setosa", "ver sicolor", "virginica"]),
    }
)
ARFF = """% made up
@relation flowers
@attribute id integer
@attribute length real
@attribute petals numeric
@attribute colour {white,red,blue}
@attribute class {setosa,'ver sicolor',virginica}
@data
""" + "\n".join(
    ",".join(
        "?" if pd.isna(value) else f"'{value}'" if " " in str(value) else str(value)
        for value in row
    )
    for row in FLOWERS.itertuples(index=False)
)
FOLDS = [[0, 1, 2] * 4, [2, 1, 0] * 4]  # two repeats of three folds


def openml_dataset(server, number=61, parquet=False, arff=ARFF, name="flowers", **more):
    """Serve a dataset of OpenML."""
    arff_path, parquet_path = f"/data/v1/download/{number}/f.arff", f"/datasets/dataset_{number}.pq"
    facts = {
        "id": number,
        "name": name,
        "version": 1,
        "description": "Made up.",
        "format": "ARFF",
        "creator": "A. Nobody",
        "licence": "CC BY 4.0",
        "url": server.url + arff_path,
        "parquet_url": server.url + parquet_path if parquet else None,
        "default_target_attribute": "class",
        "row_id_attribute": "id",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
        **more,
    }
    tags = "".join(f"<oml:{k}>{v}</oml:{k}>" for k, v in facts.items() if v is not None)
    xml = f"<oml:data_set_description {OML}>{tags}</oml:data_set_description>"
    server.pages[f"/api/v1/xml/data/{number}"] = 200, xml.encode()
    server.pages[f"/api/v1/xml/data/features/{number}"] = 200, _features().encode()
    if parquet:
        file = io.BytesIO()
        FLOWERS.to_parquet(file, index=False)
        server.pages[parquet_path] = 200, file.getvalue()
    else:
        server.pages[arff_path] = 200, arff.encode()


def _features():
    rows = []
    for index, (name, column) in enumerate(FLOWERS.items()):
        nominal = isinstance(column.dtype, pd.CategoricalDtype)
        values = "".join(
            f"<oml:nominal_value>{v}</oml:nominal_value>"
            for v in (column.cat.categories if nominal else ())
        )
        rows.append(
            f"<oml:feature><oml:index>{index}</oml:index><oml:name>{name}</oml:name>"
            f"<oml:data_type>{'nominal' if nominal else 'numeric'}</oml:data_type>{values}"
            f"<oml:number_of_missing_values>{column.isna().sum()}</oml:number_of_missing_values>"
            "</oml:feature>"
        )
    return f"<oml:data_features {OML}>{''.join(rows)}</oml:data_features>"


def openml_task(server, number=59, data=61, kind=1, target="class", folds=FOLDS):
    """Serve a task of OpenML, with its split."""
    path = f"/api_splits/get/{number}/Task_{number}_splits.arff"
    xml = f"""<oml:task {OML}>
      <oml:task_id>{number}</oml:task_id><oml:task_type_id>{kind}</oml:task_type_id>
      <oml:task_type>{"Clustering" if kind == 5 else "Supervised"}</oml:task_type>
      <oml:input name="source_data"><oml:data_set><oml:data_set_id>{data}</oml:data_set_id>
        <oml:target_feature>{target}</oml:target_feature></oml:data_set></oml:input>
      <oml:input name="estimation_procedure"><oml:estimation_procedure><oml:id>1</oml:id>
        <oml:type>crossvalidation</oml:type>
        <oml:data_splits_url>{server.url}{path}</oml:data_splits_url>
        <oml:parameter name="number_repeats">2</oml:parameter>
        <oml:parameter name="number_folds">3</oml:parameter>
      </oml:estimation_procedure></oml:input></oml:task>"""
    server.pages[f"/api/v1/xml/task/{number}"] = 200, xml.encode()
    lines = [
        f"{'TEST' if of_row == fold else 'TRAIN'},{row},{repeat},{fold}"
        for repeat, of_rows in enumerate(folds)
        for fold in sorted(set(of_rows))
        for row, of_row in enumerate(of_rows)
    ]
    header = "@relation splits\n@attribute type {TRAIN,TEST}\n" + "".join(
        f"@attribute {name} numeric\n" for name in ("rowid", "repeat", "fold")
    )
    server.pages[path] = 200, (header + "@data\n" + "\n".join(lines)).encode()


def openml_suite(server, number, tasks):
    """Serve a suite of tasks of OpenML."""
    ids = "".join(f"<oml:task_id>{task}</oml:task_id>" for task in tasks)
    xml = f"""<oml:study {OML}><oml:id>{number}</oml:id>
      <oml:main_entity_type>task</oml:main_entity_type><oml:name>made up</oml:name>
      <oml:description>d</oml:description><oml:status>active</oml:status>
      <oml:creation_date>2025-11-01T00:00:00</oml:creation_date><oml:creator>1</oml:creator>
      <oml:data><oml:data_id>61</oml:data_id></oml:data><oml:tasks>{ids}</oml:tasks></oml:study>"""
    server.pages[f"/api/v1/xml/study/{number}"] = 200, xml.encode()


def openml_error(server, path, code, message):
    """Serve an error as OpenML words it."""
    xml = f"<oml:error {OML}><oml:code>{code}</oml:code><oml:message>{message}</oml:message>"
    server.pages[f"/api/v1/xml/{path}"] = 412, (xml + "</oml:error>").encode()


# ------------------------------------------------------------------------ UCI

HOUSES = "row,rooms,roof,heat,price,rent\n1,3,1,,100.5,9\n2,4,2,gas,210,8\n3,5,1,oil,305,7\n"


def uci_dataset(server, number=53, name="Houses", roles=None, **more):
    """Serve a dataset of the UCI repository, by number and by name."""
    roles = roles or {"row": "ID", "price": "Target", "rent": "Other"}
    kinds = {"roof": "Categorical", "heat": "Categorical", "row": "Integer"}
    about = {
        "uci_id": number,
        "name": name,
        "repository_url": f"https://archive.ics.uci.edu/dataset/{number}/{name.lower()}",
        "data_url": f"{server.url}/static/public/{number}/data.csv",
        "tasks": ["Regression"],
        "dataset_doi": "10.24432/C5XXXX",
        "creators": ["A. Nobody", "B. Nobody"],
        "year_of_dataset_creation": 1987,
        "intro_paper": None,
        "additional_info": {"summary": "Made up."},
        "variables": [
            {
                "name": column,
                "role": roles.get(column, "Feature"),
                "type": kinds.get(column, "Continuous"),
                "description": None,
                "units": None,
                "missing_values": "no",
            }
            for column in HOUSES.partition("\n")[0].split(",")
        ],
        **more,
    }
    body = json.dumps({"status": 200, "data": about}).encode()
    server.pages[f"/uci?id={number}"] = server.pages[f"/uci?name={name}"] = 200, body
    server.pages[f"/static/public/{number}/data.csv"] = 200, HOUSES.encode()


# ----------------------------------------------------------------------- PMLB


def pmlb_dataset(server, name, text):
    """Serve a table as PMLB's repository does."""
    path = f"/EpistasisLab/penn-ml-benchmarks/raw/master/datasets/{name}/{name}.tsv.gz"
    server.pages[path] = 200, gzip.compress(text.encode())
