"""What pydantic found wrong in a study, in words for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from teiten.errors import TeitenError
from teiten.study.schema import KeyedError, StudyFile
from teiten.suggest import did_you_mean

KeyPath = tuple[str | int, ...]
Fail = Callable[[KeyPath, str, str, int], TeitenError]
"""Makes the error of a key path, a message, a hint, and the number of further problems."""

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
    """The tables in their checked form; raises what ``fail`` makes of the first problem."""
    try:
        return StudyFile.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        first = problems[0]
        path = _path(first)
        raise fail(path, _message(first, path), FILE_HINT, len(problems) - 1) from error


def _path(problem: ErrorDetails) -> KeyPath:
    path = tuple(part for part in problem["loc"] if part != "[key]")
    cause = problem.get("ctx", {}).get("error")
    return (*path, cause.key) if isinstance(cause, KeyedError) else path


def _message(problem: ErrorDetails, path: KeyPath) -> str:
    kind = problem["type"]
    if kind == "extra_forbidden":
        known = _known_keys(path[:-1])
        return f"unknown key.{did_you_mean(str(path[-1]), known) or f' Known: {_listed(known)}'}"
    if kind == "missing":
        return "is missing"
    if kind in {"greater_than_equal", "less_than_equal"}:
        context = problem["ctx"]
        bound = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        return f"must be {bound}, not {problem['input']}"
    if kind in _WORDS:
        return _WORDS[kind]
    return problem["msg"].removeprefix("Value error, ")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _known_keys(path: Sequence[str | int]) -> list[str]:
    """The keys that may stand in the table at a path."""
    form: Any = StudyFile
    for part in path:
        if _is_table(form):
            field = form.model_fields.get(str(part))
            form = _without_none(field.annotation) if field is not None else None
        else:
            form = _table_inside(form)
    return list(form.model_fields) if _is_table(form) else []


def _without_none(annotation: Any) -> Any:
    """The table of ``Table | None``."""
    given = get_args(annotation)
    tables = [one for one in given if one is not NoneType]
    optional = NoneType in given and len(tables) == 1 and _is_table(tables[0])
    return tables[0] if optional else annotation


def _table_inside(annotation: Any) -> Any:
    """The table in ``dict[…, Table]`` or ``list[Table]``; None where there is none."""
    for argument in get_args(annotation):
        inner = argument if _is_table(argument) else _table_inside(argument)
        if inner is not None:
            return inner
    return None


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
