"""The scripts that workloads run: pgbench's own, a file, or a text in the study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from teiten.given_paths import expanded
from teiten.model.study import Script
from teiten.study.archives import is_archive, sql_of
from teiten.study.locate import Place
from teiten.study.values import BUILTIN_SCRIPTS
from teiten.suggest import did_you_mean

SCHEMA = "schema.sql"
"""The file of a folder of scripts that makes tables, or changes them, and is no workload."""


def read_script(value: str, *, workload: str, folders: Sequence[Path]) -> Script:
    """The script that a workload names.

    ``value``: one of pgbench's own, a file (relative to one of the folders), or, where it has
    several lines or a semicolon, the script itself. Raises ValueError with a sentence for people.
    """
    if value in BUILTIN_SCRIPTS:
        return Script(name=value, builtin=True, text="")
    if "\n" in value or ";" in value:
        return Script(name=f"{workload}.sql", builtin=False, text=_checked(value.strip() + "\n"))
    path = find_file(value, folders)
    if path is None:
        raise ValueError(f"there is no script {value!r}.{did_you_mean(value, _known(folders))}")
    return Script(name=path.name, builtin=False, text=_checked(_text_of(path)))


def read_sql(place: Place, key: Sequence[str | int], value: str) -> Script:
    """A file with SQL that a key names, or the SQL itself. Raises what ``place.error`` makes."""
    try:
        script = read_script(value, workload="data", folders=place.folders)
        if script.builtin:
            raise ValueError(f"{script.name} is a load of pgbench, and makes no tables")
    except ValueError as error:
        raise place.error(key, str(error), "name a file with SQL") from error
    return script


def workload_name(title: str) -> str:
    """The name of a workload after that of its script, without ``.sql``."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in title)


def find_file(value: str, folders: Sequence[Path]) -> Path | None:
    """The first file of a name, or folder with an archive, relative to one of the folders; None
    where there is none."""
    paths = (folder / expanded(value) for folder in folders)
    return next((path for path in paths if path.is_file() or is_archive(path)), None)


def _known(folders: Sequence[Path]) -> list[str]:
    files = (path.name for folder in folders for path in folder.glob("*.sql"))
    return [*BUILTIN_SCRIPTS, *files]


def _text_of(path: Path) -> str:
    try:
        return sql_of(path) if is_archive(path) else path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"the script {path} is not a text in UTF-8") from error
    except OSError as error:
        raise ValueError(f"the script {path} cannot be read: {error.strerror}") from error


def _checked(text: str) -> str:
    """The text, where at least one line of it does something."""
    lines = (line.strip() for line in text.splitlines())
    if not any(line and not line.startswith("--") for line in lines):
        raise ValueError("the script holds no command")
    if "\0" in text:
        raise ValueError("the script holds a NUL character")
    return text
