"""Change random single lines of MLaut and check that a test fails for each: a mutation check.

    python tools/mutate.py FOLDER --commit HEAD --count 60 --seed 1

A run has four steps, each stored in FOLDER. After an interruption the same command continues where
the run stopped. Nothing outside of FOLDER is written, except with ``--table``.

1. It copies the commit to ``FOLDER/tree``.
2. It draws lines of the package at random, each with the same probability, from the lines that one
   of these changes: an operator, a comparison, a number, a condition, the order of two arguments,
   a dropped statement, a returned value. It draws one change of each line.
3. It runs the tests once, without the slow ones, and records which tests reach which of the lines,
   also in processes that a test starts.
4. For each change it runs the tests that reach the line, the quickest first, until one fails. If
   none fails, it runs all tests of the package of that line, without the slow ones.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
BOOLEAN = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
DROPPED = ast.AugAssign | ast.Continue | ast.Break | ast.Delete | ast.Raise
# Tests that reach a line run for up to this many seconds (measured unchanged) before the wider set.
QUICK = 120.0
# A changed line can make a test wait forever. The limit is far above any load of the machine.
PATIENCE = (300.0, 20.0)  # seconds, and times the seconds of the unchanged tests


@dataclass(frozen=True)
class Mutant:
    """A change of one line: its file, line number, columns in bytes, and the new text."""

    file: str
    line: int
    start: int
    end: int
    new: str
    kind: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        lines = source.splitlines(keepends=True)
        lines[self.line - 1] = self.changed(lines[self.line - 1])
        return b"".join(lines)

    def changed(self, line: bytes) -> bytes:
        """Return the changed line."""
        return line[: self.start] + self.new.encode() + line[self.end :]


# ---------------------------------------------------------------------- drawing


def draw(tree: Path, count: int, seed: int) -> list[Mutant]:
    """Return a change of each of ``count`` lines, drawn without replacement."""
    generator = random.Random(seed)
    lines: dict[tuple[str, int], list[Mutant]] = {}
    sources = {}
    for path in sorted(tree.glob("mlaut/**/*.py")):
        file = path.relative_to(tree).as_posix()
        sources[file] = path.read_bytes()
        for mutant in mutants(sources[file], file):
            lines.setdefault((file, mutant.line), []).append(mutant)
    found: list[Mutant] = []
    for changes in generator.sample(list(lines.values()), len(lines)):
        mutant = generator.choice(changes)
        if len(found) < count and _compiles(mutant.apply(sources[mutant.file])):
            found.append(mutant)
    return found


def mutants(source: bytes, file: str) -> Iterator[Mutant]:
    """Yield the changes of a file."""
    lines = source.splitlines()
    for node in _walk(ast.parse(source)):
        for line, start, end, new, kind in _changes(node, lines):
            # Changed, a line that signals processes could end others on the machine.
            if b"kill" not in lines[line - 1]:
                yield Mutant(file, line, start, end, new, kind)


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node; annotations are left out, because they have no effect."""
    yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def _changes(node: ast.AST, lines: list[bytes]) -> Iterator[tuple[int, int, int, str, str]]:
    """Yield the line, columns, new text and kind of each change of one node."""

    def text(part: ast.expr) -> str:
        return lines[part.lineno - 1][part.col_offset : part.end_col_offset].decode()

    def whole(part: ast.expr | ast.stmt, new: str, kind: str) -> tuple[int, int, int, str, str]:
        return part.lineno, part.col_offset, part.end_col_offset or 0, new, kind

    def between(left: ast.expr, right: ast.expr, table: dict, operator: ast.AST, kind: str):
        if type(operator) in table and left.end_lineno == right.lineno:
            start, end = left.end_col_offset or 0, right.col_offset
            old, new = table[type(operator)]
            gap = lines[right.lineno - 1][start:end].decode()
            yield right.lineno, start, end, gap.replace(old, new, 1), kind

    match node:
        case ast.Compare(left, [operator], [right]):
            yield from between(left, right, COMPARISONS, operator, "comparison")
        case ast.BinOp(left, operator, right):
            yield from between(left, right, ARITHMETIC, operator, "operator")
        case ast.BoolOp(operator, [*_, left, right]):
            yield from between(left, right, BOOLEAN, operator, "operator")
    if not isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "test"):
        return
    test = getattr(node, "test", None)
    if isinstance(test, ast.expr) and _one_line(test) and text(test) != "TYPE_CHECKING":
        yield whole(test, f"(not ({text(test)}))", "condition")
    if not _one_line(node):
        return
    match node:
        case ast.Constant(bool(value)):
            yield whole(node, str(not value), "constant")
        case ast.Constant(int(value) | float(value)):
            yield whole(node, repr(value + 1), "constant")
        case ast.Expr(ast.Call()):
            yield whole(node, "pass", "dropped statement")
        case ast.Return(ast.expr()) if not isinstance(node.value, ast.Constant):
            yield whole(node, "return None", "returned value")
        case ast.Call(args=[first, second, *_]):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                gap = lines[node.lineno - 1][first.end_col_offset : second.col_offset].decode()
                start, end = first.col_offset, second.end_col_offset or 0
                new = f"{text(second)}{gap}{text(first)}"
                if text(first) != text(second):
                    yield node.lineno, start, end, new, "swapped arguments"
        case _ if isinstance(node, DROPPED):
            yield whole(node, "pass", "dropped statement")


def _one_line(node: ast.AST) -> bool:
    return getattr(node, "lineno", 0) == getattr(node, "end_lineno", 1)


# ------------------------------------------------------- which tests reach a line


def mark(source: bytes, sites: dict[int, int]) -> str:
    """Return the source with a call of `mutation_hits.hit` before the statement of each site.

    ``sites`` maps sites to line numbers. A default of an argument is marked inside its function. A
    line that runs at import is marked inside every function of the module.
    """
    tree = ast.parse(source)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for site, line in sites.items():
        around = [f for f in functions if f.lineno <= line <= (f.end_lineno or 0)]
        call = ast.parse(f"__import__('mutation_hits').hit({site})").body[0]
        for function in around[-1:] or functions:  # `ast.walk` yields inner functions later
            body = _innermost(function.body, line) if around else None
            start = 1 if ast.get_docstring(function, clean=False) is not None else 0
            block, position = body or (function.body, start)
            block.insert(position, call)
    return ast.unparse(ast.fix_missing_locations(tree))


def _innermost(block: list, line: int) -> tuple[list, int] | None:
    """Return the innermost block with a statement on a line, and the position of that statement."""
    for position, statement in enumerate(block):
        if getattr(statement, "lineno", 0) and statement.lineno <= line <= statement.end_lineno:
            inner = [
                value
                for part in [statement, *getattr(statement, "handlers", ()), *_cases(statement)]
                for value in (getattr(part, name, None) for name in ("body", "orelse", "finalbody"))
                if isinstance(value, list)
            ]
            found = (_innermost(one, line) for one in inner)
            return next(filter(None, found), (block, position))
    return None


def _cases(statement: ast.stmt) -> list:
    return statement.cases if isinstance(statement, ast.Match) else []


def record(work: Path, found: list[Mutant], processes: str) -> None:
    """Run the tests once with marked lines; write the files of the folder ``record``."""
    marked = work / "marked"
    for old in (marked, work / "record"):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(work / "tree", marked)
    (work / "record").mkdir()
    for file in {mutant.file for mutant in found}:
        sites = {i: m.line for i, m in enumerate(found) if m.file == file}
        (marked / file).write_text(mark((marked / file).read_bytes(), sites), encoding="utf-8")
    options = ["-p", "mutation_hits", "-n", processes, "--dist", "worksteal", "-m", "not slow"]
    run_tests(work, marked, [], None, *options)
    # A test can fail because of the marks alone. Those that fail without marks too never count.
    _, outcomes = recorded(work)
    failed = [test for test, (outcome, _) in outcomes.items() if outcome == "failed"]
    again = [test for test in failed if run_tests(work, work / "tree", [test], None)]
    (work / "record" / "failing.json").write_text(json.dumps(again))


def recorded(work: Path) -> tuple[dict[int, set[str]], dict[str, tuple[str, float]]]:
    """Return the tests that reach each site, and the outcome and seconds of each test."""
    hits: dict[int, set[str]] = {}
    for line in (work / "record" / "hits.tsv").read_text(encoding="utf-8").splitlines():
        site, _, test = line.partition("\t")
        hits.setdefault(int(site), set()).add(test)
    tests: dict[str, tuple[str, float]] = {}
    for line in (work / "record" / "tests.tsv").read_text(encoding="utf-8").splitlines():
        test, outcome, seconds = line.rsplit("\t", 2)
        before, so_far = tests.get(test, ("passed", 0.0))
        outcome = before if outcome == "passed" else outcome
        tests[test] = (outcome, so_far + float(seconds))
    return hits, tests


# ---------------------------------------------------------------------- running


def run_tests(
    work: Path, tree: Path, tests: list[str], limit: float | None, *options: str
) -> int | None:
    """Run pytest in a tree; return its exit status, or None where it ran past the limit."""
    listed = work / "tests.txt"  # a command line can be too short for them
    listed.write_text("\n".join(tests), encoding="utf-8")
    for name in ("tmp", "home"):
        (work / name).mkdir(exist_ok=True)
    # A worker of xdist that runs this is not one of the tests that are started here.
    outer = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment = {
        **outer,
        "HOME": str(work / "home"),
        "TMPDIR": str(work / "tmp"),
        "MUTATION_RECORD": str(work / "record"),
        "PYTHONPATH": f"{tree}{os.pathsep}{HERE}",
        # Two versions of a file of one size within a second would share their bytecode.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    with (work / "pytest.log").open("wb") as log:
        process = subprocess.Popen(
            [*_apart(), *command, f"@{listed}"], cwd=tree, env=environment, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None


def _apart() -> list[str]:
    """Return a prefix that runs a command in a process namespace, if the system permits it.

    A changed line then cannot end a process outside, and leaves no process behind.
    """
    prefix = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    works = (
        shutil.which("unshare")
        and not subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode
    )
    return prefix if works else []


def try_mutant(work: Path, mutant: Mutant, site: int, *, narrow: bool = False) -> str:
    """Return the test that fails with a change; an empty text if all pass.

    ``narrow`` leaves out the tests of the package, which take minutes for each survivor.
    """
    hits, tests = recorded(work)
    failing = set(json.loads((work / "record" / "failing.json").read_text()))
    own = f"test_{Path(mutant.file).stem}."

    def order(test: str) -> tuple[bool, float]:
        return own not in test and mutant.file not in test, tests[test][1]

    # The name of a test can hold the folder in which it ran; there is none of that name in another.
    known = [t for t in hits.get(site, ()) if t in tests and str(work) not in t]
    reaching = sorted((test for test in known if test not in failing), key=order)
    quick, seconds = [], 0.0
    for test in reaching:
        seconds += tests[test][1]
        if seconds < QUICK or not quick:
            quick.append(test)
    package = mutant.file.split("/")[1]
    folder = package if (work / "tree" / "tests" / package).is_dir() else "."
    ours = [t for t in tests if t.startswith((f"tests/{folder}/", mutant.file)) or folder == "."]
    wide = [*(t for t in reaching if t not in quick), f"tests/{folder}", mutant.file]
    skipped = [f"--deselect={test}" for test in failing]
    path = work / "changed" / mutant.file
    source = path.read_bytes()
    for cached in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        cached.unlink()
    try:
        path.write_bytes(mutant.apply(source))
        sets = [(quick, quick), (wide, [*reaching, *ours])]
        for chosen, timed in sets[:1] if narrow else sets:
            limit = PATIENCE[0] + PATIENCE[1] * sum(tests[test][1] for test in timed)
            if chosen:
                options = ["-x", "-m", "not slow"]
                status = run_tests(work, work / "changed", [*skipped, *chosen], limit, *options)
                if status is None:
                    return "the time limit"
                if status not in (0, 5):
                    return _failed(work / "pytest.log")
    finally:
        path.write_bytes(source)
    return ""


def _failed(log: Path) -> str:
    """Return the first test that pytest reports as failed."""
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", log.read_text(errors="replace"), re.M)
    return found[1] if found else "pytest could not start"


# -------------------------------------------------------------------- the results


def table(work: Path, head: str, found: list[Mutant], killers: dict[str, str]) -> str:
    """Return the results as Markdown."""
    rows = []
    for site, killer in killers.items():
        mutant = found[int(site)]
        old = (work / "tree" / mutant.file).read_bytes().splitlines()[mutant.line - 1]
        new = mutant.changed(old)
        before, after = (f"`{line.decode().strip()}`".replace("|", "\\|") for line in (old, new))
        by = killer.replace("|", "\\|") or "**survived**"
        rows.append(f"| {mutant.file}:{mutant.line} | {before} | {after} | {by} |")
    survived = sum(not killer for killer in killers.values())
    text = f"{head}: {len(killers)} changes, {survived} survived."
    return "\n".join(
        [text, "", "| line | before | after | killed by |", "|---|---|---|---|", *rows]
    )


def main() -> None:
    """Run the check, or what is missing of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the run, outside of the checkout")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", default="2", help="processes for the run of all tests")
    parser.add_argument("--narrow", action="store_true", help="run only tests that reach the line")
    parser.add_argument("--table", type=Path, help="file to write the results to, as Markdown")
    chosen = parser.parse_args()
    work = chosen.folder.resolve()
    (work / "tree").mkdir(parents=True, exist_ok=True)
    about = work / "drawn.json"
    if not about.exists():
        command = ["git", "-C", str(HERE.parent), "rev-parse", chosen.commit]
        commit = subprocess.check_output(command, text=True).strip()
        archive = subprocess.check_output(["git", "-C", str(HERE.parent), "archive", commit])
        subprocess.run(["tar", "-x", "-C", str(work / "tree")], input=archive, check=True)
        drawn = [asdict(mutant) for mutant in draw(work / "tree", chosen.count, chosen.seed)]
        head = f"Commit {commit[:12]}, seed {chosen.seed}"
        about.write_text(json.dumps({"head": head, "mutants": drawn}, indent=1))
    stored = json.loads(about.read_text())
    found = [Mutant(**mutant) for mutant in stored["mutants"]]
    if not (work / "record" / "failing.json").exists():
        record(work, found, chosen.processes)
    shutil.rmtree(work / "changed", ignore_errors=True)  # an interrupted run left a change in it
    shutil.copytree(work / "tree", work / "changed")
    results = work / "results.json"
    killers = json.loads(results.read_text()) if results.exists() else {}
    for site, mutant in enumerate(found):
        if str(site) not in killers:
            killers[str(site)] = try_mutant(work, mutant, site, narrow=chosen.narrow)
            results.write_text(json.dumps(killers, indent=1))
            text = f"{mutant.file}:{mutant.line}: {killers[str(site)] or 'SURVIVED'}\n"
            sys.stdout.write(text)
            sys.stdout.flush()
    if chosen.table:
        chosen.table.write_text(table(work, stored["head"], found, killers) + "\n")


if __name__ == "__main__":
    main()
