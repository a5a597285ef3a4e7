"""Print the figures of a checkout, and beside them those of a commit."""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.house.arrows import beyond_a_package, circles, imports_of, upward
from benchmarks.house.style import FIRST_WORDS, VAGUE, first_words, functions_with, vague_names

ROOT = Path(__file__).parents[2]


def python_below(folder: Path) -> dict[str, str]:
    """The text of each Python file, by its path below the folder."""
    return {
        str(file.relative_to(folder)): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*.py"))
    }


def modules(files: Mapping[str, str]) -> dict[str, str]:
    """The same by the modules' names, packages by theirs."""
    named = {path.removesuffix(".py").replace("/", "."): text for path, text in files.items()}
    return {
        "" if name == "__init__" else name.removesuffix(".__init__"): text
        for name, text in named.items()
    }


def figures(checkout: Path) -> Iterator[tuple[str, int]]:
    """Each figure's name and value."""
    source = python_below(checkout / "src" / "teiten")
    trees = {path: ast.parse(text) for path, text in source.items()}
    yield "lines of Python below src", _lines(source)
    yield "of them code", sum(map(code_lines, source.values()))
    yield "files of Python below src", len(source)
    yield "lines of tests/reader", _lines(python_below(checkout / "tests" / "reader"))
    yield "lines of tests", _lines(python_below(checkout / "tests"))
    imports = imports_of(modules(source))
    yield "imports upward", len(upward(imports))
    rings = circles(imports)
    yield "circles of imports", len(rings)
    yield "files of the largest circle", max(map(len, rings), default=0)
    yield "circles beyond one package", sum(map(beyond_a_package, rings))
    names: Counter[str] = sum(map(vague_names, trees.values()), Counter())
    for name in VAGUE:
        yield f"variables named {name}", names[name]
    yield "functions with one", sum(functions_with(tree, "one") for tree in trees.values())
    words: Counter[str] = sum(map(first_words, trees.values()), Counter())
    for begin in FIRST_WORDS:
        yield f"docstrings that begin with {begin}", words[begin]


def _lines(files: Mapping[str, str]) -> int:
    return sum(len(text.splitlines()) for text in files.values())


def code_lines(text: str) -> int:
    """Lines that hold a statement: without empty ones, comments and docstrings."""
    tree = ast.parse(text)
    docstrings = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in docstrings
        for number, line in enumerate(text.splitlines(), start=1)
    )


def at_commit(commit: str, folder: Path) -> Path:
    """The tree of a commit, unpacked into a folder."""
    command = ["git", "-C", str(ROOT), "archive", commit, "src", "tests"]
    packed = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.house", description=__doc__)
    parser.add_argument("--against", metavar="COMMIT", help="print this commit's figures too")
    parser.add_argument("--arrows", action="store_true", help="list imports upward and circles")
    arguments = parser.parse_args()
    now = dict(figures(ROOT))
    before: dict[str, int] = {}
    if arguments.against:
        with tempfile.TemporaryDirectory(prefix="teiten-house-") as place:
            before = dict(figures(at_commit(arguments.against, Path(place))))
    width = max(map(len, now))
    for name, value in now.items():
        old = f"{before[name]:>9,}" if name in before else ""
        print(f"{name:<{width}}{old}{value:>9,}")
    if arguments.arrows:
        imports = imports_of(modules(python_below(ROOT / "src" / "teiten")))
        for arrow in upward(imports):
            print(f"upward: {arrow}")
        for circle in circles(imports):
            print(f"circle: {' '.join(circle)}")


if __name__ == "__main__":
    main()
