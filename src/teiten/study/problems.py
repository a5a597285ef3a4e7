"""Problems that pydantic found in a study, in words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from teiten.study.chosen import ChosenForm, KeyedError
from teiten.study.file import StudyFile
from teiten.study.locate import Fail, KeyPath
from teiten.suggest import did_you_mean

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
    return list(form.model_fields) if _is_table(form) else []


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
