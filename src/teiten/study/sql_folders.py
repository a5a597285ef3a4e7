"""Two folders of SQL, the old statements or schema and the new, as changes of a study.

Files of one name are a workload, whose statements are those of either folder. The file
``schema.sql`` makes tables, or changes those that both sides have: it is a layout.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import UsageError
from teiten.given_paths import expanded
from teiten.study.changes import LAYOUT_KEY, Change
from teiten.study.scripts import SCHEMA, assumed_size, workload_name
from teiten.study.values import name as valid_name

STATEMENTS, LAYOUT = "statements", "layout"
ORIGIN = "BASE HEAD"
EMPTY = "SELECT 1;\n"
"""Tables of both sides where each folder makes its own: none."""


@dataclass(frozen=True)
class SqlFolder:
    """The SQL of one side."""

    level: str
    """Its name as a level of the factors statements and layout."""
    path: Path

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are workloads."""
        names = (path.name for path in self.path.glob("*.sql") if path.is_file())
        return tuple(sorted(name for name in names if name != SCHEMA))

    @property
    def schema(self) -> Path | None:
        path = self.path / SCHEMA
        return path if path.is_file() else None


@dataclass(frozen=True)
class SqlFolders:
    """The SQL of both sides."""

    base: SqlFolder
    head: SqlFolder

    @property
    def both(self) -> tuple[SqlFolder, SqlFolder]:
        return self.base, self.head

    @property
    def files(self) -> tuple[str, ...]:
        """The files that both folders have."""
        return tuple(name for name in self.base.files if name in self.head.files)

    @property
    def unpaired(self) -> tuple[str, ...]:
        """The files that one folder alone has, which nothing can be compared with."""
        return tuple(sorted({*self.base.files} ^ {*self.head.files}))

    @property
    def has_schema(self) -> bool:
        return any(folder.schema is not None for folder in self.both)

    @property
    def _assumed_bytes(self) -> int:
        """The size of tables that a schema makes, where nobody says it."""
        texts = [folder.schema.stat().st_size for folder in self.both if folder.schema is not None]
        return assumed_size(max(texts))

    def overrides(self, folder: SqlFolder) -> tuple[str, ...]:
        """The levels of one side, as ``KEY=VALUE``."""
        keys = (STATEMENTS, LAYOUT) if self.has_schema else (STATEMENTS,)
        return tuple(f"{key}={folder.level}" for key in keys)

    def workloads(self) -> Iterator[Change]:
        """The workloads in place of the study's own."""
        yield Change("script", str(self.base.path), ORIGIN, f"script={self.base.path}")
        if self.unpaired:
            names = [workload_name(Path(file).stem) for file in self.files]
            yield Change("workloads", names, ORIGIN, f"workloads={','.join(names)}")
        sources = {folder.level: str(folder.path) for folder in self.both}
        yield Change(STATEMENTS, sources, ORIGIN, "")

    def tables(self, given: Collection[str]) -> Iterator[Change]:
        """The tables of each side. ``given``: keys of the command line, which may say what both
        sides have."""
        if not self.has_schema:
            return
        if not any(key == "scale" or key in ("data.script", "data.kind") for key in given):
            yield Change("data.script", EMPTY, ORIGIN, "", by_flag=False)
            if "data.size" not in given:
                yield Change("data.size", f"{self._assumed_bytes}B", ORIGIN, "", by_flag=False)
        for folder in self.both:
            scripts = [] if folder.schema is None else [str(folder.schema)]
            yield Change(f"{LAYOUT_KEY}{folder.level}", scripts, ORIGIN, "")


def sql_folders(base: str, head: str, names: tuple[str, str]) -> SqlFolders:
    """The folders of both sides; their levels are called as the folders, or else by ``names``.

    Raises UsageError where one is no folder, or where no file has the same name in both.
    """
    paths = [expanded(given).absolute() for given in (base, head)]
    for given, path in zip((base, head), paths, strict=True):
        if not path.is_dir():
            raise UsageError(
                f"{given} is no folder of SQL",
                "with --server, BASE and HEAD are folders, each with a file *.sql for a workload;"
                " commits of an extension need --extension too",
            )
    levels = names if paths[0].name == paths[1].name else tuple(map(_level, paths, names))
    folders = SqlFolders(*(SqlFolder(*side) for side in zip(levels, paths, strict=True)))
    if not folders.files:
        raise UsageError(
            f"{base} and {head} have no file *.sql of the same name beside {SCHEMA}",
            "the statements of a workload stand in files of one name, say q.sql in both",
        )
    return folders


def _level(path: Path, usual: str) -> str:
    try:
        return valid_name(path.name)
    except ValueError:
        return usual
