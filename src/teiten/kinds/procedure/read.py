"""The files that a procedure names: SQL, and C functions."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.given_paths import expanded
from teiten.model.study import Script
from teiten.study.data import read_sql
from teiten.study.place import Place

Key = Sequence[str | int]


def sql_scripts(place: Place, key: Key, values: Sequence[str]) -> tuple[Script, ...]:
    """Files with SQL, or SQL itself. Raises what ``place.error`` makes."""
    return tuple(read_sql(place, key, value) for value in values)


def module_source(place: Place, key: Key, value: str) -> Script | None:
    """A file with C functions; None where none is named. Raises what ``place.error`` makes."""
    if not value:
        return None
    for folder in place.folders:
        path = folder / expanded(value)
        if path.suffix == ".c" and path.is_file():
            try:
                return Script(path.name, False, path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise place.error(
                    key, f"{path} cannot be read: {error}", "a module is a text of C in UTF-8"
                ) from error
    raise place.error(key, f"there is no file {value!r}", "name a file *.c with C functions")
