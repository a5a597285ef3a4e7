"""A study file from the disk: only a plain file, only a text, and nothing secret in it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from teiten.addresses import holds_secret, names_secret
from teiten.errors import StudyError
from teiten.host.system.causes import machine_error
from teiten.model.attached import holds_address
from teiten.study.locate import KeyPath, dotted, syntax_error_line

LARGEST = 16 * 1024 * 1024
"""Bytes: far more than anybody writes."""


def read_text(path: Path) -> str:
    """Raises StudyError for what is no text, MachineError for what the system refuses."""
    try:
        if not path.is_file():
            raise StudyError(
                f"{path} is no plain file",
                "name a file; of a pipe or a device, save what it gives first",
            )
        if path.stat().st_size > LARGEST:
            raise StudyError(f"{path} is larger than 16 MiB", "name a study file")
        return path.read_text(encoding="utf-8-sig")  # some editors write a byte-order mark
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not a text in UTF-8", "save it as UTF-8") from error
    except OSError as error:
        raise machine_error(error, f"{path} cannot be read") or error from error


def read_tables(path: Path, text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises StudyError with the line that is wrong."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(
            f"{path}:{syntax_error_line(error)}: this is not TOML: {error}",
            'texts stand in quotes ("300s"), lists in brackets; see https://toml.io',
        ) from error
    except RecursionError as error:
        raise StudyError(
            f"{path}: lists or tables stand inside one another too deeply",
            "no key of a study is deeper than a few levels",
        ) from error
    except ValueError as error:  # a number of thousands of digits, or a day that is none
        raise StudyError(
            f"{path}: a value cannot be read: {error}", "write shorter numbers, and texts in quotes"
        ) from error
    _refuse_secrets(path, data)
    return data


def _refuse_secrets(path: Path, data: Any) -> None:
    """Whatever stands in a study may be shown, and goes to ledger and report."""
    for key, text in _texts(data):
        uri = holds_address(text) and any(holds_secret(one) for one in _addresses(text))
        if uri or (names_secret(text) and _is_connection_string(text)):
            raise StudyError(
                f"{path}: {dotted(key)}: the address holds a password, and a study file goes to"
                " ledger and report",
                "leave it out, and give it by PGPASSWORD, in ~/.pgpass or a service file",
            )


def _addresses(text: str) -> Iterator[str]:
    return (word.strip("\"'()<>") for word in text.split() if holds_address(word))


def _is_connection_string(text: str) -> bool:
    from teiten.addresses import AddressError, read_address  # noqa: PLC0415 - seldom needed

    try:
        return bool(read_address(text))
    except AddressError:
        return False


def _texts(data: Any, at: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Every text, keys too, with the path of its key."""
    if isinstance(data, str):
        yield at, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield at, key
            yield from _texts(value, (*at, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from _texts(value, (*at, number))
