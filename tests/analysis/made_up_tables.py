"""Made-up tables of results whose truth is known, in the forms in which people publish them."""

import json
import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from mlaut.analysis.scores.usual_names import is_fraction

STRATEGIES = ["XGBoost", "Random Forest", "LightGBM", "kNN", "SVM (RBF)", "MLP", "ResNet-18"]
DATASETS = ["iris", "cifar10", "mnist", "adult", "wine", "german credit", "yeast", "glass", "sonar"]
METRICS = {  # name: names of its column, whether more is better, whether values are within 0 and 1
    "accuracy": (["accuracy", "acc", "test_acc", "Accuracy (%)", "Test Accuracy"], True, True),
    "auc": (["auc", "AUROC", "roc_auc", "test auc"], True, True),
    "f1": (["f1", "F1-score", "f1_score"], True, True),
    "rmse": (["rmse", "RMSE", "test_rmse"], False, False),
    "spearman": (["spearman", "Spearman"], True, True),
    "ndcg@10": (["ndcg@10", "NDCG@10"], True, True),
    "log_loss": (["log_loss", "logloss", "Log Loss"], False, False),
    "mean_reward": (["mean_reward", "reward"], True, False),
    "seconds": (["seconds", "time", "Run time (s)", "duration"], False, False),
}
DATASET_KEYS = ["dataset", "Dataset", "dataset_name", "Data set", "env_id", "filename", "corpus"]
STRATEGY_KEYS = ["model", "Method", "algorithm", "classifier_name", "Models", "algo", "model_name"]
REPEAT_KEYS = ["seed", "run", "trial", "iteration", "rep", "fold"]


@dataclass
class Made:
    """Table as a file or a folder of files, with its truth."""

    files: dict[str, str]
    metric: str
    truth: pd.DataFrame
    features: list[str] = field(default_factory=list)


def made_up(seed: int) -> Made:
    """Return the table of a seed."""
    return _Maker(seed).make()


class _Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.features = []

    def maybe(self, feature, p=0.3):
        has = bool(self.rng.random() < p)
        if has:
            self.features.append(feature)
        return has

    def one(self, items):
        return items[int(self.rng.integers(len(items)))]

    def names(self, known, n, feature):
        if n <= len(known) and self.maybe(f"known {feature}", 0.4):
            return [str(name) for name in self.rng.permutation(known)[:n]]
        syllables = ["ba", "ko", "ri", "tu", "mel", "san", "dor", "fi", "qua", "zen"]
        names = {}
        while len(names) < n:
            names["".join(self.rng.permutation(syllables)[:3]).capitalize()] = 1
        style = self.one(["{}", "{}-{}", "{} v{}", "{}_{}"])
        return [style.format(name, i + 2) for i, name in enumerate(names)]

    def make(self):
        n, k = int(self.rng.integers(4, 13)), int(self.rng.integers(3, 7))
        datasets, strategies = (
            self.names(DATASETS, n, "datasets"),
            self.names(STRATEGIES, k, "strategies"),
        )
        self.metric = self.one(list(METRICS))
        self.columns, self.greater, self.unit = METRICS[self.metric]
        base = self.rng.uniform(0.3, 0.7, n)[:, None] + self.rng.uniform(-0.1, 0.15, k)
        values = base + self.rng.normal(0, 0.04, (n, k))
        if not self.unit:
            values = values * self.rng.choice([1, 3, 30, 400], n)[:, None]
        truth = pd.DataFrame(values.round(4), datasets, strategies)
        forms = ["wide", "wide", "turned", "turned", "long", "long", "long", "folder", "nested"]
        form = self.one(forms)
        self.features.append(form)
        files = getattr(self, form)(truth)
        return Made(files, self.metric, self.truth, self.features)

    # ------------------------------------------------------------- wide and turned

    def wide(self, truth, turned=False):
        self.truth = truth
        table = truth.T if turned else truth
        texts = table.map(lambda x: f"{x:.4f}")
        scale = 1
        if self.unit and self.maybe("percent", 0.25):
            texts, scale = (100 * table).map(lambda x: f"{x:.2f}"), 100
            self.truth = truth.round(4)
            if not is_fraction(self.metric):
                self.truth = 100 * truth  # the range of other metrics is not known
        if self.maybe("bold", 0.25):
            best = truth.eq((truth.max if self.greater else truth.min)(axis=1), axis=0)
            mark = self.one(["**{}**", "\\textbf{{{}}}", "__{}__", "{}*", "<b>{}</b>"])
            texts = texts.where(~(best.T if turned else best), texts.map(mark.format))
        if self.maybe("spread", 0.3):
            style = self.one(["{} ± {}", "{}+{}", "{}({})", "{} +- {}", "${} \\pm {}$", "{} (±{})"])
            spread = self.rng.uniform(0.001, 0.02, table.shape).round(4) * scale
            spreads = pd.DataFrame(spread, table.index, table.columns).map("{:.3f}".format)
            texts = texts.combine(spreads, lambda a, b: pd.Series(map(style.format, a, b), a.index))
        if self.maybe("holes", 0.2):
            i, j = int(self.rng.integers(len(table))), int(self.rng.integers(table.shape[1]))
            texts.iloc[i, j] = self.one(["-", "n/a", "failed", "OOM", "TLE", ""])
            hole = self.truth.T if turned else self.truth
            hole = hole.copy()
            hole.iloc[i, j] = np.nan
            self.truth = hole.T if turned else hole
        keys = STRATEGY_KEYS if turned else DATASET_KEYS
        unknown = not self.maybe("named rows", 0.65)
        texts.index.name = self.one(["", "name", "x"] if unknown else keys)
        # Where nothing names the rows, an average is one over datasets, as people print it.
        over_datasets = turned or texts.index.name in keys
        if over_datasets and self.maybe("average column", 0.3):
            tasks = f"Avg. of {len(truth)} tasks"
            name = self.one(["Average", "Avg", "Mean", "Overall", tasks, "All"])
            texts[name] = (scale * table).mean(axis=1).map("{:.3f}".format)
        if not turned and self.maybe("average row", 0.25):
            texts.loc[self.one(["Average", "AVG", "mean", "Avg. rank", "Wins"])] = [
                f"{x:.3f}" for x in [*(scale * table).mean(), 0.0][: texts.shape[1]]
            ]
        if self.maybe("ratio", 0.2):
            one, two = [table[x] for x in self.rng.permutation(list(table))[:2]]
            unnamed = len(table) > 5 and self.maybe("ratio by value", 0.4)
            name = self.one(["Speedup", "vs. base", "Ratio", "Diff"])
            texts["A:B" if unnamed else name] = (one / two).map("{:.4f}".format)
        averaged = {"percent", "average column", "average row"} & {*self.features}
        if not averaged and not self.unit and self.maybe("grouped", 0.3):
            sign = self.one([",", "'", "_"])
            plain_ones = [x for x in table if texts[x].str.fullmatch(r"[\d.]+").all()]
            for x in plain_ones:
                texts[x] = [f"{1000 * y:,.1f}".replace(",", sign) for y in table[x]]
            if plain_ones:
                kept = self.truth.T.copy() if turned else self.truth.copy()
                kept[plain_ones] = (1000 * kept[plain_ones]).round(1)
                self.truth = kept.T if turned else kept
        if self.maybe("approximate", 0.1):
            first = next(x for x in table if x in texts)
            texts[first] = [f"~{x}" if x[:1].isdigit() else x for x in texts[first]]
        out = texts.reset_index()
        rows = len(out)
        for what in ("size", "flag", "text", "year", "url"):
            if self.maybe(what, 0.15):
                column = {
                    "size": lambda: self.rng.integers(50, 90000, rows),
                    "flag": lambda: np.arange(rows) % 2,
                    "text": lambda: self.rng.choice(["Finance", "Health", "Vision"], rows),
                    "year": lambda: self.rng.integers(1998, 2024, rows),
                    "url": lambda: [f"https://example.org/{i}" for i in range(rows)],
                }[what]()
                names = {
                    "size": ["Number of samples", "#params", "n_rows", "FLOPs (B)", "Size"],
                    "flag": ["has_missing", "open", "seq"],
                    "text": ["Domain", "Type", "Field"],
                    "year": ["Year", "released"],
                    "url": ["Paper", "URL", "link"],
                }[what]
                at = int(self.rng.choice([1, out.shape[1]]))
                out.insert(at, self.one(names), column)
        return self.written(out)

    def turned(self, truth):
        return self.wide(truth, turned=True)

    # ------------------------------------------------------------------------ long

    def long(self, truth):
        n_repeats = int(self.rng.integers(2, 5)) if self.maybe("repeats", 0.45) else 1
        rows, means = [], np.zeros((n_repeats, *truth.shape))
        for r in range(n_repeats):
            noisy = (truth + self.rng.normal(0, 0.01, truth.shape) * (n_repeats > 1)).round(4)
            means[r] = noisy
            long = noisy.rename_axis("d").rename_axis("s", axis=1).stack().rename("v")
            rows.append(long.reset_index().assign(r=r))
        table = pd.concat(rows, ignore_index=True)
        key = self.one(REPEAT_KEYS)
        if self.maybe("absent rows", 0.2):
            gone = self.rng.random(len(table)) < 0.05
            table = table[~gone]
            lost = table.pivot_table(index=["d", "s"], columns="r", values="v", aggfunc="mean")
            if key == "fold":
                lost = lost.dropna()
            wide = lost.mean(axis=1).unstack()
            self.truth = wide.reindex(index=truth.index, columns=truth.columns)
        else:
            self.truth = pd.DataFrame(means.mean(axis=0), truth.index, truth.columns)
        dataset, strategy = self.one(DATASET_KEYS), self.one(STRATEGY_KEYS)
        unknown = self.rng.random()
        if unknown < 0.15:
            dataset = "where"
        elif unknown < 0.3:
            strategy = "what"
        score = self.one(self.columns)
        if self.maybe("general score", 0.15):
            score = self.one(["score", "value", "result"])
        percent = "%" in score and self.metric in ("accuracy",)
        table = table.rename(columns={"d": dataset, "s": strategy, "v": score, "r": key})
        if percent:
            table[score] = (100 * table[score]).round(4)
        if n_repeats == 1:
            table = table.drop(columns=key)
        if self.maybe("setting", 0.2):
            sizes = {name: self.one(["base", "large"]) for name in truth.columns}
            if len(set(sizes.values())) > 1:
                first = truth.columns[0]
                base = {name: name if i % 2 else first for i, name in enumerate(truth.columns)}
                pairs = {(base[x], sizes[x]) for x in base}
                if len(pairs) == len(base):
                    self.truth = self.truth.rename(columns=lambda x: f"{base[x]} {sizes[x]}")
                    table.insert(2, "backbone size", table[strategy].map(sizes))
                    table[strategy] = table[strategy].map(base)
        if self.maybe("source", 0.15):
            of = {name: f"site {i // 2}" for i, name in enumerate(truth.index)}
            table["source"] = table[dataset].map(of)
        if self.maybe("other metric", 0.4) and self.metric not in ("log_loss",):
            table["loss"] = (1 - table[score] + self.rng.normal(0, 0.3, len(table))).round(3)
            other = self.one([m for m in METRICS if m != self.metric])
            if score not in ("score", "value", "result"):
                table[METRICS[other][0][0]] = self.rng.uniform(0, 1, len(table)).round(3)
        if self.maybe("time", 0.3):
            names = ["time", "train_time_s", "duration", "n_params"]
            name = self.one(names[-1:] if self.metric == "seconds" else names)
            table[name] = self.rng.integers(1, 99, len(table))
        if self.maybe("split", 0.2):
            other = table.assign(**{score: self.rng.uniform(0, 1, len(table)).round(4)})
            parts = self.one([("test", "train"), ("test", "val"), ("Test", "Train")])
            table = pd.concat([table.assign(split=parts[0]), other.assign(split=parts[1])])
        general = score in ("score", "value", "result")
        if self.maybe("metric column", 0.12) and "loss" not in table and general:
            other = table.assign(**{score: 0.5})
            table = pd.concat([table.assign(metric=self.metric), other.assign(metric="another")])
        if self.maybe("std column", 0.2):
            table[f"{score}_std"] = self.rng.uniform(0, 0.05, len(table)).round(4)
        if self.maybe("flags", 0.15):
            flags = {name: bool(i % 2) for i, name in enumerate(table[strategy].unique())}
            table["pretrained"] = table[strategy].map(flags)
        if self.maybe("relative", 0.15):
            table["vs. best"] = (table[score] / table[score].max()).round(3)
        if self.maybe("index", 0.15):
            table = table.reset_index(drop=True).rename_axis("").reset_index()
        order = [*table.columns[:1], *self.rng.permutation(table.columns[1:])]
        return self.written(table[order])

    # -------------------------------------------------------------- folders, nested

    def folder(self, truth):
        self.truth = truth
        kind = self.one(["dataset", "strategy"])
        files = {}
        column = self.one(self.columns[:1])
        for name in truth.index if kind == "dataset" else truth.columns:
            own = truth.loc[name] if kind == "dataset" else truth[name]
            key = self.one(STRATEGY_KEYS[:1] if kind == "dataset" else DATASET_KEYS[:1])
            table = own.rename(column).rename_axis(key).reset_index()
            table["n_params"] = self.rng.uniform(0, 9, len(table)).round(1)
            files[f"{name}.csv".replace(" ", "-")] = table.to_csv(index=False)
        return files

    def nested(self, truth):
        self.truth = truth
        metric = self.columns[0]
        order = self.one(["dsm", "sdm", "dms", "msd", "ds", "sd"])
        deep: dict = {}
        for d in truth.index:
            for s in truth.columns:
                for m, x in ((metric, truth.loc[d, s]), ("time", 3.0)):
                    if "m" not in order and m != metric:
                        continue
                    way = [{"d": d, "s": s, "m": m}[part] for part in order]
                    at = deep
                    for step in way[:-1]:
                        at = at.setdefault(step, {})
                    at[way[-1]] = float(x)
        return {"table.json": json.dumps(deep)}

    # ---------------------------------------------------------------------- files

    def written(self, table):
        kind = self.one(["csv", "csv", "tsv", "semicolon", "md", "tex", "html", "json", "comment"])
        self.features.append(kind)
        texts = table.fillna("").astype(str)
        names = [str(name) for name in table.columns]
        if kind in ("csv", "tsv", "semicolon", "comment"):
            sep = {"tsv": "\t", "semicolon": ";"}.get(kind, ",")
            text = table.to_csv(index=False, sep=sep)
            text = "# made by a script\n" * (kind == "comment") + text
            return {"table.tsv" if kind == "tsv" else "table.csv": text}
        if kind == "md":
            lines = [names, ["---"] * len(names), *texts.to_numpy().tolist()]
            rows = "\n".join(f"| {' | '.join(row)} |" for row in lines)
            return {"README.md": f"# Results\n\nSome words.\n\n{rows}"}
        if kind == "tex":
            cells = [names, *texts.to_numpy().tolist()]
            safe = [[re.sub(r"([_%&#])", r"\\\1", x) for x in row] for row in cells]
            rows = " \\\\\n".join(" & ".join(row) for row in safe)
            begin = f"\\begin{{tabular}}{{{'l' * len(names)}}}\n\\toprule\n"
            return {"table.tex": f"{begin}{rows} \\\\\n\\end{{tabular}}"}
        if kind == "html":
            cells = [names, *texts.to_numpy().tolist()]
            lines = ("".join(f"<td>{x}</td>" for x in row) for row in cells)
            rows = "".join(f"<tr>{line}</tr>" for line in lines)
            return {"page.html": f"<h1>Results</h1><table>{rows}</table>"}
        return {"table.json": table.to_json(orient="records")}
