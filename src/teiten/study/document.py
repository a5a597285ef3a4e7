"""A study file as it was read: its text, its tables, and where each key stands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from teiten.addresses import AddressError, holds_secret, names_secret, read_address
from teiten.errors import StudyError, UsageError
from teiten.given_paths import exists, expanded
from teiten.host.system.causes import translate_os_errors
from teiten.model.attached import holds_address
from teiten.study.file import StudyFile
from teiten.study.locate import (
    Fail,
    Further,
    KeyPath,
    dotted,
    key_lines,
    line_of,
    syntax_error_line,
)
from teiten.study.tables import ChosenForm, KeyedError
from teiten.suggest import did_you_mean

CATALOGUE = Path(__file__).resolve().parent.parent / "studies"
"""The folder of the built-in studies."""
_OF_VERBS = CATALOGUE / "verbs" / "pairs.toml"


@dataclass(frozen=True)
class Document:
    """A study file that has the right form (its levels are not yet checked together)."""

    path: Path
    text: str
    data: dict[str, Any]
    """The tables as TOML gave them."""
    tables: StudyFile
    built_in: bool
    lines: dict[KeyPath, int] = field(repr=False)

    @property
    def is_of_verbs(self) -> bool:
        """Whether it is what ``teiten ab`` and ``teiten null`` run, which nobody can name."""
        return self.path == _OF_VERBS

    @property
    def hint(self) -> str:
        """Where to see what may be changed."""
        if self.is_of_verbs:
            return "teiten init observe prints every key"
        return "teiten show STUDY lists what the study holds; teiten init STUDY prints every key"

    @property
    def script_flag(self) -> str:
        """The flag with which a script of one's own is named."""
        return "--script FILE" if self.is_of_verbs else "--set script=FILE"

    def place(self, path: Sequence[str | int]) -> str:
        """``mine.toml:12: measure.delta``: where a key stands, for an error."""
        return f"{self.path}:{line_of(self.lines, path)}: {dotted(path)}"


def catalogue_names() -> tuple[str, ...]:
    """The names of the built-in studies."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.toml")))


def read_verb_document() -> Document:
    """The study of the verbs that compare two sides; no part of the catalogue."""
    return read_file(_OF_VERBS, built_in=True)


def read_document(reference: str) -> Document:
    """Read a study by its name in the catalogue, or a study file.

    Raises UsageError where there is none, StudyError where the file is wrong.
    """
    if reference in catalogue_names():
        return read_file(CATALOGUE / f"{reference}.toml", built_in=True)
    path = expanded(reference)
    if exists(path):
        return read_file(path, built_in=False)
    if path.suffix == ".toml" or len(path.parts) > 1:
        folder = path.parent
        beside = [file.name for file in folder.glob("*.toml")] if exists(folder) else []
        near = did_you_mean(path.name, beside)
        raise UsageError(
            f"there is no study file {reference}.{near}",
            f"teiten init observe > {path.name} writes one to begin with",
        )
    raise UsageError(
        f"there is no study {reference!r}.{did_you_mean(reference, catalogue_names())}",
        "teiten studies lists the catalogue; a study file of your own ends in .toml",
    )


def read_file(path: Path, *, built_in: bool) -> Document:
    """Read one study file. Raises StudyError with file, line and key where it is wrong."""
    text = read_text(path)
    data = read_tables(path, text)
    lines = key_lines(text)

    def located(place: Sequence[str | int], message: str) -> str:
        return f"{line_of(lines, place)}: {dotted(place) or 'the file'}: {message}"

    def fail(
        place: Sequence[str | int], message: str, hint: str, further: Further = ()
    ) -> StudyError:
        every = [located(place, message), *(f"line {located(*problem)}" for problem in further)]
        return StudyError(f"{path}:{'; '.join(every)}", hint)

    return Document(path, text, data, validated(data, fail), built_in, lines)


LARGEST = 16 * 1024 * 1024
"""Bytes: far more than anybody writes."""


def read_text(path: Path) -> str:
    """Raises StudyError for what is no text, MachineError for what the system refuses."""
    try:
        with translate_os_errors(f"{path} cannot be read"):
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
        words = (word.strip("\"'()<>") for word in text.split() if holds_address(word))
        uri = holds_address(text) and any(map(holds_secret, words))
        if uri or (names_secret(text) and _is_connection_string(text)):
            raise StudyError(
                f"{path}: {dotted(key)}: the address holds a password, and a study file goes to"
                " ledger and report",
                "leave it out, and give it by PGPASSWORD, in ~/.pgpass or a service file",
            )


def _is_connection_string(text: str) -> bool:
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


_WORDS = {
    "string_type": "must be a text in quotes",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "too_short": "must hold at least one entry",
}
FILE_HINT = "teiten init observe prints a commented study file in which every key is explained"


def validated(data: Mapping[str, Any], fail: Fail) -> StudyFile:
    """The tables in their checked form; raises what ``fail`` makes of all problems."""
    try:
        return StudyFile.model_validate(data)
    except ValidationError as error:
        problems = [(_path(problem), problem) for problem in error.errors(include_url=False)]
        (path, message), *further = [(at, _message(problem, at, data)) for at, problem in problems]
        raise fail(path, message, FILE_HINT, further) from error


def first_problem(path: Path, text: str, error: ValidationError, hint: str) -> StudyError:
    """Make the error of a file's first problem, with its line and key."""
    problem = error.errors(include_url=False)[0]
    place = problem["loc"]
    return StudyError(
        f"{path}:{line_of(key_lines(text), place)}: {dotted(place) or 'the file'}:"
        f" {problem['msg'].removeprefix('Value error, ')}",
        hint,
    )


def _path(problem: ErrorDetails) -> KeyPath:
    path = tuple(part for part in problem["loc"] if part != "[key]")
    cause = problem.get("ctx", {}).get("error")
    return (*path, cause.key) if isinstance(cause, KeyedError) else path


def _message(problem: ErrorDetails, path: KeyPath, data: Mapping[str, Any]) -> str:
    kind = problem["type"]
    if kind == "extra_forbidden":
        known = _known_keys(path[:-1], data)
        return f"unknown key.{did_you_mean(str(path[-1]), known) or ' Known: ' + ', '.join(known)}"
    if kind == "missing":
        return "is missing"
    if kind in {"greater_than_equal", "less_than_equal"}:
        context = problem["ctx"]
        bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        return f"must be {bound}, not {problem['input']}"
    if kind in _WORDS:
        return _WORDS[kind]
    return problem["msg"].removeprefix("Value error, ")


def _known_keys(path: Sequence[str | int], data: Mapping[str, Any]) -> list[str]:
    """The keys that may stand in the table at a path."""
    form: Any = StudyFile
    value: Any = data
    for part in path:
        value = value[part]
        if _is_table(form):
            field = form.model_fields.get(str(part))
            if field is None:
                return []
            form = field.annotation
            if get_origin(form) in (list, dict):
                continue  # the next part is a place or a name
        form = form if _is_table(form) else _table_inside(form, value)
    fields = form.model_fields.items() if _is_table(form) else ()
    return [field.alias or name for name, field in fields]


def _table_inside(annotation: Any, value: Any) -> Any:
    """The table in ``dict[…, Table]``, ``list[Table]`` or ``Table | None``, for a value of that
    form; None where there is none."""
    arguments = get_args(annotation)
    for argument in arguments:
        if isinstance(argument, ChosenForm):
            return argument.choose(value)
    for argument in arguments:
        inner = argument if _is_table(argument) else _table_inside(argument, value)
        if inner is not None:
            return inner
    return None


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
