"""Meanings of columns by their names: a key, a score, a size, a spread, an average."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

from mlaut.analysis.importers.grids.cells import WORDS, plain
from mlaut.analysis.scores.usual_names import usual_name

_ENDS, _LAST = frozenset(WORDS["ends"]), frozenset(WORDS["last"])
_RELATIVE = re.compile("|".join(WORDS["relative"]), re.I)
_COUNTED = re.compile(r"\s*#(?!\s*\d)")  # such as "# rows"; "#1" is a name
_IN_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_OF_TRACKERS = re.compile(r"^(?:params?|config|metrics?|tags)[./](?=\w)")  # of runs
_SETTINGS = frozenset(WORDS["settings"] + WORDS["strategies"])
_SHARES = {"fraction", "frac", "proportion", "prevalence"}
_FIRST = frozenset(("n", "num", "nb", "no", "number", "#", *_SHARES))
_CHANGES = {"delta", "impr", "improvement", "diff", "difference", "gap", "drop", "change", "lift"}
_ROLES = ("dataset", "strategy", "metric", "repeat", "fold", "source", "part", "score")
_KEYS = {x: f"{x}s" for x in _ROLES} | {"strategy": "strategies"}


_ERROR = re.compile(r"(?:^|_)(?:standard|std)_(?:error|err|deviation|dev)(?:_|$)")
PER_TIME = re.compile(r"_per_(?:s|sec|second|min|minute|h|hour)$")
_CORNER = re.compile(r"\s*([^/\\|]+?)\s*(?:[/\\|]|\b(?:vs\.?|and)\b)")  # names rows and columns
_PLURAL = re.compile(r"(?<=[a-z]{3}[a-rt-z])s$")
_TOP1 = {"accuracy", "acc1"}
_WORD = 4  # letters up to which a known name must be a word of its own
_ALONE = {True: r"(?<![a-z])%s(?![a-z])", False: "%s"}
_KNOWN = {
    kind: re.compile(
        "|".join(_ALONE[len(x) <= _WORD] % re.escape(x) for x in WORDS[kind + "_names"])
    )
    for kind in ("strategy", "dataset")
}
_CALL = re.compile(r"\w\((?:.*=.*)?\)$|=(?:true|false|none)\b")  # settings of a program
_FILE = re.compile(
    r"\.(?:arff|csv|tsv|txt|dat|mat|mtx|npz|parquet|libsvm|vrp|tsp|cnf|mps|dimacs)$"
)  # with data
DURING = re.compile(  # of a training
    r"(?:^|_)(?:epochs?(?:_|$)|(?:time_?)?steps?$|stop_val$)|"
    r"^(?:(?:train(?:ing)?|al|query|comm(?:unication)?)_)?(?:cycle|round|generation)s?$"
)
_OF_RUNS = re.compile(r"(?:^|_)(?:per_)?(?:folds?|seeds?|runs?|values|list|all|mean|avg)(?=_|$)")
MEANS = ("mean", "avg", "average")
MEAN = re.compile(
    r"^(?:mean|av(?:era)?ge?)[\s_./:-]+|[\s_./:(-]+(?:mean|av(?:era)?ge?|moyenn?e?|m[eé]dia)\)?$",
    re.I,
)
PERCENT = re.compile(r"(?<=\w)[\s_](?:pct|percent|percentage)$", re.I)
# The first count most.
PARTS = {x: i for i, words in enumerate(WORDS["of_the_data"]) for x in words}


def word_of(name: object) -> str:
    """Return the name of a column in small letters: ``Data set`` as ``data_set``."""
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def shared_start(names: Sequence[str]) -> str:
    """Return the letters with which all names begin."""
    return "".join(x[0] for x in takewhile(lambda x: len({*x}) == 1, zip(*names, strict=False)))


def are_numbered(names: Sequence[str]) -> bool:
    """Return whether three names or more have one stem with numbers from 0 or 1: z0, z1, z2."""
    stem = re.sub(r"\d+$", "", names[0]) if names else ""
    counts = [{f"{stem}{i}" for i in range(first, first + len(names))} for first in (0, 1)]
    return len(names) > 2 and bool(stem) and {*names} in counts


def one_of_runs(name: str) -> str:
    """Return the metric of a list of runs, as ``auc`` of ``fold_aucs``; any other name itself."""
    bare = _OF_RUNS.sub("", word_of(name)).strip("_")
    one = bare.removesuffix("s") if usual_name(bare) is None else bare
    bare = one if usual_name(one) is not None else bare
    return bare if bare and not bare.isdigit() and usual_name(name) is None else name


def part_in(label: str) -> str:
    """Return the part of the data that a label names: ``test-clean`` is of ``test``."""
    word = label.lower()
    return word if word in PARTS else re.split(r"[\W_]", word)[0]


def without_unit(name: str) -> str:
    """Return a name without brackets, a unit, and arrows: ``Time, s`` as ``Time``."""
    name = PERCENT.sub("", name)
    return re.sub(r"\([^()]*\)|\[[^\]]*\]|,\s*[^\s,]{1,4}$|[↑↓:*.%]", " ", name).strip()


def bare_word(name: str) -> str:
    """Return the last level of a name, without unit and mean: ``Cost Mean (s)`` as ``cost``."""
    return word_of(MEAN.sub("", without_unit(re.split(r" / |\.(?=[a-z])", name)[-1])))


@lru_cache(maxsize=4096)
def role_of(name: str) -> str:
    """Return what a column is by its name; empty if its name does not tell.

    Examples
    --------
    >>> [role_of(name) for name in ("classifier_name", "DMS ID", "Dataset/AUROC", "Models", "svm")]
    ['strategy', 'dataset', 'dataset', 'strategy', '']
    >>> [role_of(name) for name in ("params (M)", "Avg. rank", "acc_std", "trainer.seed")]
    ['size', 'average', 'spread', 'repeat']
    """
    shown = _OF_TRACKERS.sub("", plain(name))
    corners = (_CORNER.match(x) for x in (re.sub("[*_`]", "", name), shown))
    corner = next(filter(None, corners), None)
    if corner and role_of(corner[1]) in ("dataset", "strategy"):
        return role_of(corner[1])
    word = word_of(_IN_CAMEL.sub("_", without_unit(shown))).strip("_")
    tokens = [token for token in re.split(r"[\s_/]+", word) if token]
    if not tokens:
        return ""
    singular = [re.sub(r"(?<=[a-z]{2})(ies)$", "y", token) for token in tokens]
    singular = [re.sub(r"(?<=[a-rt-z])s$", "", token) for token in singular]
    ends = [x for x in singular if x not in _ENDS] if len(tokens) > 1 else singular
    plural = [x for x in tokens if x not in _ENDS]
    candidates = (word, *("_".join(x) for x in (singular, ends, plural)), "".join(ends))
    counts = _counts_something(tokens) or _COUNTED.match(shown)
    ending = {tokens[-1], "_".join(tokens[-2:])} & {*WORDS["spreads"][:12], "standard_deviation"}
    spread = bool(ending) or tokens[0] in ("std", "stderr", "se", "sd", "ci")
    spread |= len(tokens) > 2 and _ERROR.search(word) is not None  # as standard_error_ndcg
    if len(tokens) > 1 and spread and not set(tokens[:-1]) <= set(WORDS["averages"]):
        return "spread"
    of_classes = {tokens[0], tokens[-1]} & {*MEANS} and {*tokens} & {"macro", "micro", "weighted"}
    if is_summary(shown) and not (of_classes and usual_name(shown)):  # over runs, then
        return "average"
    if {tokens[0], tokens[-1]} & _CHANGES and any(map(usual_name, {*tokens} - _CHANGES)):
        return "relative"
    last = usual_name(tokens[-1])
    named = _RELATIVE.match(shown) and not re.fullmatch("[A-Z]+", shown)  # GAIN is a method
    if named and (last is None or last.metric in ("seconds", "gap")):
        return "relative"
    if shown.lower() in WORDS["strategy_names"]:  # InceptionTime is no time, N-BEATS no number
        return ""
    if not counts:
        for role, words in _KEYS.items():
            if any(candidate in WORDS[words] for candidate in candidates):
                return role
    if {*tokens} & {*PARTS} and {*tokens} - {*PARTS} == {"score"}:  # of AutoGluon
        return "score"
    if counts or word in WORDS["sizes"] or "_".join(singular) in WORDS["sizes"]:
        return "size"
    if word in WORDS["spreads"][:12]:
        return "spread"
    if usual_name(shown) is None and len(tokens) > 1:
        if tokens[-1] in _LAST:
            return "size"
        if tokens[-1] == "seed" and "per" not in tokens:  # as split_seed and model_seed
            return "repeat"
        for role in ("dataset", "strategy"):
            if ends and ends[-1] in WORDS[_KEYS[role]][:14]:
                return role
    *inside, setting = re.split(r"[./]", shown)  # as trainer.seed, of a nested configuration
    return role_of(setting) if inside and role_of(setting) in ("repeat", "fold") else ""


def part_by_name(name: str) -> str:
    """Return whether a column that tells rows apart is of the dataset or of the strategy.

    Examples
    --------
    >>> [part_by_name(name) for name in ("noise level", "batchSize", "Dim", "model size", "phase")]
    ['dataset', 'strategy', '', 'strategy', '']
    """
    word = word_of(_IN_CAMEL.sub("_", without_unit(name))).strip("_")
    tokens = [x for x in word.split("_") if x not in _ENDS]
    if {word, *tokens} & _SETTINGS:
        return "strategy"
    if {word, *tokens[-1:]} & {*WORDS["conditions"]}:
        return "dataset"
    return role_of(name) if role_of(name) in ("dataset", "strategy") else ""


@lru_cache(maxsize=65536)
def is_summary(name: str) -> bool:
    """Return whether a name is that of an average, of ranks or of wins, as ``Avg. rank`` is."""
    main = set(WORDS["averages"])
    if name.strip().lower() in {"all", *main} or re.fullmatch(
        r"\W*w(ins?)?\s*[/-]\s*[td]\w*\s*[/-]\s*l\w*\W*|best (?:on|\(?(?:avg|average|mean)\b.*)",
        name.lower(),
    ):
        return True
    split = _IN_CAMEL.sub("_", name)
    words = set(re.findall(r"hm\d+|[^\W\d_]+", split.lower()))  # HM2 is the name of a method
    return bool(words & main) and words <= {*main, *WORDS["beside"]}


def is_size(name: str) -> bool:
    """Return whether a whole name, and not its last word only, is that of a size or a time."""
    word = word_of(without_unit(name.replace("#", " "))).strip("_")
    counts = _COUNTED.match(name) or word in _FIRST or _counts_something(word.split("_"))
    every = {*word.split("_")} <= {*WORDS["sizes"], *_LAST}  # as in anomaly_ratio
    return word in WORDS["sizes"] or every or bool(counts)


def _counts_something(tokens: list[str]) -> bool:
    """Return whether words begin as n_rows, and not as the arrow from n to c."""
    share = tokens[0] in ("no", *_SHARES)  # as no_image_accuracy, fraction_solved
    without = share and usual_name(tokens[-1]) is not None
    return len(tokens) > 1 and tokens[0] in _FIRST and tokens[1].isascii() and not without


def looks_like(names: list[str], kind: str) -> float:
    """Return the share of names in which people's strategies, or datasets, are recognised.

    Examples
    --------
    >>> looks_like(["XGBoost", "my net"], "strategy"), looks_like(["XGBoost"], "dataset")
    (0.5, 0.0)
    """
    own, form = _KNOWN[kind], {"strategy": _CALL, "dataset": _FILE}[kind]
    other = {"strategy": _FILE, "dataset": _CALL}[kind]
    low = [x.strip().lower() for x in names]
    hits = [x for x in low if form.search(x) or (own.search(x) and not other.search(x))]
    return len(hits) / max(len(names), 1)


def same_metric(one: str, other: str) -> bool:
    """Return whether two names are those of one metric, whatever part of the data it is of."""
    name, _, short = one.lower().partition("(")
    same = other.lower() == short.rstrip(")") == "".join(x[0] for x in re.findall(r"\w+", name))
    letters = [_PLURAL.sub("", re.sub(r"[\W_]", "", x.lower())) for x in (one, other)]
    if letters[0] == letters[1] or same:  # of mAU-ROC_I, too, whose I was printed small
        return bool(one.strip())
    a, b = usual_name(one), usual_name(other)
    return a is not None and b is not None and {a.metric, b.metric} in ({a.metric}, _TOP1)
