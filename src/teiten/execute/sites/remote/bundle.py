"""Code that is sent to a host's Python: the agent, and those of Teiten's modules it imports."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from teiten import __version__
from teiten.model.hosts import OLDEST_PYTHON

PROGRAM = "teiten"
AGENT = "teiten.execute.sites.remote.agent.serve"
BOOTSTRAP = "execute/sites/remote/agent/bootstrap.py"
LOADER = 'import sys;exec(eval(getattr(sys.stdin,"buffer",sys.stdin).readline()))'
"""The Python program on the command line: it runs the first line that it is sent. No shell finds
anything in it that it would change, within single quotes."""


def first_words(oldest: tuple[int, int] = OLDEST_PYTHON) -> bytes:
    """Compose what is written to the Python that runs LOADER, before the messages.

    ``oldest``: the version that it must have, else it says its own.
    """
    text = (_root() / BOOTSTRAP).read_text(encoding="utf-8")
    text = text.replace("OLDEST = (3, 9)", f"OLDEST = {oldest!r}")
    return ascii(text).encode("ascii") + b"\n" + _modules() + b"\n"


@cache
def sources() -> dict[str, tuple[bool, str]]:
    """Name of a module to whether it is a package, and its text."""
    modules: dict[str, tuple[bool, str]] = {}
    waiting = [AGENT]
    while waiting:
        name = waiting.pop()
        if name in modules:
            continue
        path = _file(name)
        text = path.read_text(encoding="utf-8") if path is not None else ""
        modules[name] = (path is None or path.name == "__init__.py", text)
        waiting += [*_parents(name), *_imports(text)]
    modules[PROGRAM] = (True, f"__version__ = {__version__!r}\n")
    return modules


@cache
def _modules() -> bytes:
    return json.dumps(sources()).encode("ascii")


def _imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (
                imported.name for imported in node.names if imported.name.startswith(PROGRAM + ".")
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PROGRAM + "."):
            module = node.module or ""
            yield module
            for imported in node.names:
                if _file(f"{module}.{imported.name}") is not None:
                    yield f"{module}.{imported.name}"


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _file(name: str) -> Path | None:
    parts = name.split(".")[1:]
    folder = _root().joinpath(*parts)
    for path in (folder.with_suffix(".py"), folder / "__init__.py"):
        if path.is_file():
            return path
    return None


@cache
def _root() -> Path:
    return Path(str(resources.files(PROGRAM)))
