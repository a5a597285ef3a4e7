"""The scripts that workloads run: pgbench's own, a file, or a text in the study; the rows that a
workload names for the variables of its script or queries; and archives of pg_dump's where a script
is meant, read by a program that whoever starts names."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from teiten.given_paths import expanded
from teiten.model.rows import MOST_ROWS, VariableRows, checked, require_fit
from teiten.model.study import Script
from teiten.model.units import MIB, Bytes
from teiten.study.locate import Place
from teiten.study.values import BUILTIN_SCRIPTS
from teiten.suggest import did_you_mean

SCHEMA = "schema.sql"
"""The file of a folder of scripts that makes tables, or changes them, and is no workload."""
TIMES_ITS_TEXT, LEAST_SIZE = 3, 64 * MIB
"""Assumed size of tables by the size of the text that makes them, and the least."""


def read_script(value: str, *, workload: str, folders: Sequence[Path]) -> Script:
    """The script that a workload names.

    ``value``: one of pgbench's own, a file (relative to one of the folders), or, where it has
    several lines or a semicolon, the script itself. Raises ValueError with a sentence for people.
    """
    if value in BUILTIN_SCRIPTS:
        return Script(name=value, builtin=True, text="")
    if "\n" in value or ";" in value:
        return Script(name=f"{workload}.sql", builtin=False, text=_checked(value.strip() + "\n"))
    path = find_file(value, folders, archives=True)
    if path is None:
        raise ValueError(f"there is no script {value!r}.{did_you_mean(value, _known(folders))}")
    return Script(
        name=path.name, builtin=False, text=_checked(text_of(path, "script", archives=True))
    )


def read_sql(place: Place, key: Sequence[str | int], value: str) -> Script:
    """A file with SQL that a key names, or the SQL itself. Raises what ``place.error`` makes."""
    try:
        script = read_script(value, workload="data", folders=place.folders)
        if script.builtin:
            raise ValueError(f"{script.name} is a load of pgbench, and makes no tables")
    except ValueError as error:
        raise place.error(key, str(error), "name a file with SQL") from error
    return script


def assumed_size(text: int) -> Bytes:
    """The size of the tables and indexes that a dump or a schema makes, where nobody says it, by
    that of its text."""
    return Bytes(max(LEAST_SIZE, TIMES_ITS_TEXT * text))


def workload_name(title: str) -> str:
    """The name of a workload after that of its script, without ``.sql``."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in title)


def find_file(value: str, folders: Sequence[Path], *, archives: bool = False) -> Path | None:
    """The first file of a name, or folder with an archive where ``archives`` may be, relative to
    one of the folders; None where there is none."""
    paths = (folder / expanded(value) for folder in folders)
    return next((path for path in paths if path.is_file() or (archives and is_archive(path))), None)


def _known(folders: Sequence[Path]) -> list[str]:
    files = (path.name for folder in folders for path in folder.glob("*.sql"))
    return [*BUILTIN_SCRIPTS, *files]


def text_of(path: Path, what: str, *, archives: bool = False) -> str:
    """The text of a file, or the SQL of an archive of pg_dump where ``archives`` may be. Raises
    ValueError with a sentence for people, which calls it ``what``."""
    try:
        as_archive = archives and is_archive(path)
        return sql_of(path) if as_archive else path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"the {what} {path} is not a text in UTF-8") from error
    except OSError as error:
        raise ValueError(f"the {what} {path} cannot be read: {error.strerror}") from error


def _checked(text: str) -> str:
    """The text, where at least one line of it does something."""
    lines = (line.strip() for line in text.splitlines())
    if not any(line and not line.startswith("--") for line in lines):
        raise ValueError("the script holds no command")
    if "\0" in text:
        raise ValueError("the script holds a NUL character")
    return text


VARIABLES = "variables"
"""The key of a workload that names a list."""
_HINT = (
    "name a file *.csv, whose first line names the variables, or a query, or its file *.sql, whose"
    " columns are the variables"
)


def rows_for(place: Place, value: str | None, texts: Sequence[Script]) -> VariableRows | None:
    """The list that the key ``variables`` names, which fits these scripts; None where there is
    none. Raises what ``place.error`` makes."""
    if value is None:
        return None
    try:
        rows = read_rows(value, place.folders)
        if not rows.sql:
            require_fit(rows, texts)
    except ValueError as error:
        raise place.error(VARIABLES, str(error), _HINT) from error
    return rows


def from_here(value: str) -> str:
    """A list that a flag names, found from the current folder; a query as it stands."""
    return value if ";" in value or "\n" in value else str(expanded(value).absolute())


def read_rows(value: str, folders: Sequence[Path]) -> VariableRows:
    """The rows of a CSV file, or the query that gives them.

    Raises ValueError with a sentence for people.
    """
    if not value.lower().endswith(".csv"):
        script = read_script(value, workload=VARIABLES, folders=folders)
        if script.builtin:
            raise ValueError(f"{script.name} is a load of pgbench, and gives no rows")
        return VariableRows(script.name, sql=script.text)
    path = find_file(value, folders)
    if path is None:
        raise ValueError(f"there is no file {value!r}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return checked(_rows(path.name, file))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a text in UTF-8") from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error


def _rows(source: str, lines: Iterable[str]) -> VariableRows:
    """Take an empty field for NULL, as COPY does."""
    reader = csv.reader(lines, strict=True)
    rows: list[tuple[str | None, ...]] = []
    try:
        names = tuple(name.strip() for name in next(reader, []))
        for fields in reader:
            if not fields:
                continue
            if len(fields) != len(names):
                raise ValueError(
                    f"{source}, line {reader.line_num}: {len(fields)} fields, and the first line"
                    f" names {len(names)}"
                )
            if any("\0" in field for field in fields):
                raise ValueError(f"{source}, line {reader.line_num}: a NUL character")
            rows.append(tuple(field or None for field in fields))
            if len(rows) > MOST_ROWS:
                break
    except csv.Error as error:
        raise ValueError(f"{source}, line {reader.line_num}: {error}") from error
    if not names:
        raise ValueError(f"{source} is empty")
    return VariableRows(source, names, tuple(rows))


BEGINNING = b"PGDMP"
"""The first bytes of ``pg_dump --format=custom``, and of the contents of ``--format=directory``
(pg_backup_archiver.c)."""
CONTENTS = "toc.dat"
"""The file that such a folder has."""
_readers: list[Callable[[Path], str]] = []


def read_archives_by(reader: Callable[[Path], str]) -> None:
    """Have archives read by ``reader``, which gives their SQL, or raises ValueError with a sentence
    for people."""
    _readers[:] = [reader]


def is_archive(path: Path) -> bool:
    """Whether a file or a folder is one. Raises OSError."""
    place = path / CONTENTS if path.is_dir() else path
    if not place.is_file():
        return False
    with place.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING


def sql_of(archive: Path) -> str:
    """Read an archive, each once in a run of this program. Raises OSError, and ValueError where
    nobody reads archives, or the reader cannot."""
    return _sql_of(archive, archive.stat().st_mtime_ns)


@cache
def _sql_of(archive: Path, changed: int) -> str:
    del changed
    if not _readers:
        raise ValueError(f"{archive} is an archive of pg_dump's, and no SQL")
    return _readers[0](archive)
