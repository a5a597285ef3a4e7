"""A kind, a way, a factor, a predicate and a verb, each added to a copy of the source and used
there: which files each touches.

``python -m benchmarks.house.additions``. What is added stands in ``tests/fixtures``, at the place
that it has below ``src/teiten`` (docs/design/how-to-add.md).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import ndiff
from pathlib import Path

import teiten
from benchmarks.house.__main__ import ROOT

SOURCE = Path(teiten.__file__).parents[1]
"""Where Teiten is imported from, and what was compiled of it is kept: the copies are not compiled
again."""
FIXTURES = ROOT / "tests" / "fixtures"
RUNS = '    "runs": "list campaigns",\n'
"""The line of a verb, which the added one follows."""
COMPILED = "__pycache__"


@dataclass(frozen=True)
class Addition:
    """What is added, and by which words its use shows."""

    place: str
    """The folder or file, below ``tests/fixtures`` as below ``src/teiten``."""
    shown: tuple[str, ...]
    lines: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By a file that has to name it: a line there, and the line that follows it then."""


ADDITIONS = {
    "kind": Addition("kinds/vacuum", ("The longest VACUUM took", "最も長いVACUUMは")),
    "way": Addition("ways/rotation", ("stay up for a block", "ブロックの間動かしておく")),
    "factor": Addition("factors/niceness", ("a server of niceness 5", "nice値5のサーバ")),
    "predicate": Addition(
        "claims/predicates/at_least_times.py", ("It grows.", "増加する。", "≥ 8", "8以上")
    ),
    "verb": Addition(
        "cli/verbs/uptime.py",
        ("how long a campaign took", "added: "),
        {"cli/main.py": (RUNS, '    "uptime": "how long a campaign took",\n')},
    ),
}


@dataclass(frozen=True)
class Tried:
    """An addition to a copy, used there."""

    files: Mapping[str, int]
    """Each file below ``src`` that is new or differs, and how many lines were added and removed."""
    output: str
    """What Teiten said, with the reports that it wrote."""


def try_out(name: str, folder: Path) -> Tried:
    """Add to a copy of the source in an empty folder, and use it there.

    Raises CalledProcessError where Teiten does not get along with it.
    """
    addition, copy = ADDITIONS[name], folder / "src"
    shutil.copytree(SOURCE / "teiten", copy / "teiten", copy_function=_link)
    _add(addition, copy / "teiten")
    files = dict(_changed(copy))
    command = [sys.executable, "-m", "benchmarks.house.using", name, str(folder)]
    environment = {**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    used = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return Tried(files, used.stdout)


def _link(source: str, target: str) -> None:
    """A hard link, where there can be one: it costs a tenth of a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _add(addition: Addition, package: Path) -> None:
    given, place = FIXTURES / addition.place, package / addition.place
    if given.is_dir():
        shutil.copytree(given, place, ignore=shutil.ignore_patterns(COMPILED))
    else:
        shutil.copyfile(given, place)
    for name, (before, line) in addition.lines.items():
        file = package / name
        text = file.read_text(encoding="utf-8")
        file.unlink()  # or the source itself would be written
        file.write_text(text.replace(before, before + line, 1), encoding="utf-8")


def _changed(copy: Path) -> Iterator[tuple[str, int]]:
    """Yield ``Tried.files``."""
    for file in sorted(path for path in copy.rglob("*") if path.is_file()):
        if file.parent.name == COMPILED:
            continue
        own = SOURCE / file.relative_to(copy)
        old = own.read_bytes() if own.is_file() else b""
        new = file.read_bytes()
        if old != new:
            before, after = (text.decode("utf-8").splitlines() for text in (old, new))
            differing = sum(line.startswith(("+", "-")) for line in ndiff(before, after))
            yield str(file.relative_to(copy)), differing


def main() -> None:
    for name, addition in ADDITIONS.items():
        with tempfile.TemporaryDirectory(prefix="teiten-house-") as folder:
            tried = try_out(name, Path(folder))
        missing = [words for words in addition.shown if words not in tried.output]
        print(f"a {name}: {'not shown: ' + ', '.join(missing) if missing else 'in use'}")
        for file, lines in tried.files.items():
            print(f"{lines:>6} lines  {file}")


if __name__ == "__main__":
    main()
