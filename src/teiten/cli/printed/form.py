"""Dataclasses as JSON: the object, and its schema (JSON Schema, draft 2020-12) from the types.

``Annotated[T, …]`` says more of a key: a text describes it, a ``Keyword`` constrains it, ``From``
says where its value stands in the object that is printed, and ``SPREAD`` puts the keys of its
object in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from teiten.model.study import DataOptions, WorkloadOptions

Schema = dict[str, Any]
T = TypeVar("T")

SPREAD = "spread"
"""Marks a field whose keys stand in its place: a dataclass, one that may be None and has no keys
then, or a mapping with keys of its own, which leaves the object open."""


@dataclass(frozen=True)
class Keyword:
    """A keyword of JSON Schema with its value, which is hashable."""

    name: str
    value: Any


@dataclass(frozen=True)
class From:
    """The source of a key's value; without it, the attribute of the key's name."""

    place: str | Callable[[Any], Any]
    """An attribute, perhaps of another (``metric.name``), a function, or "" for the whole object;
    an attribute of None is None."""
    end: str | None = None
    """The attribute of the second value of a pair; there is no pair where both are None."""

    def __call__(self, source: Any) -> Any:
        """Find the value in an object."""
        if callable(self.place):
            return self.place(source)
        value = _attribute(source, self.place)
        if self.end is None:
            return value
        pair = value, _attribute(source, self.end)
        return None if pair == (None, None) else pair


def _attribute(source: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        source = None if source is None else getattr(source, name)
    return source


EMPTY_IS_NULL = object()
"""Marks a key that is null where its value is empty."""
Count = Annotated[int, Keyword("minimum", 0)]
Positive = Annotated[float, Keyword("minimum", 0)]
"""Seconds, shares and ratios."""
Names = Mapping[str, str]
Text = Annotated[str | None, EMPTY_IS_NULL]
Form = Callable[[Any], Any]

_PLAIN: dict[Any, Schema] = {
    Any: {},
    str: {"type": "string"},
    Path: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
}


class OpenObject:
    """A base of objects to which verbs add keys of their own."""


_OPEN = (OpenObject, DataOptions, WorkloadOptions)
"""Kinds of workload and of data have options of their own."""


def taken(kind: type[T], source: object, /, **others: object) -> T:
    """Make an object whose keys have their values from ``source``, but for ``others``, and all in
    the forms of its types: a dataclass of a key from whatever has its attributes, the same."""
    values = {}
    for name, find, form in _keys(kind):  # type: ignore[arg-type]  # classes are hashable
        value = others[name] if name in others else find(source)
        values[name] = value if form is None or value is None else form(value)
    return kind(**values)


@cache
def _keys(kind: type) -> tuple[tuple[str, Form, Form | None], ...]:
    """Each key, what finds its value, and what puts that into its form."""
    keys: list[tuple[str, Form, Form | None]] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        remarks = getattr(hint, "__metadata__", ())
        sources = (remark for remark in remarks if isinstance(remark, From))
        keys.append((name, next(sources, attrgetter(name)), _form(hint)))
    return tuple(keys)


@cache
def _form(hint: Any) -> Form | None:
    """Find what puts a value other than None into the form of a type; None where it stays."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        form = _form(inner[0])
        if EMPTY_IS_NULL not in hint.__metadata__:
            return form
        return lambda value: (form(value) if form else value) if value else None
    if origin in (Union, UnionType):
        return next((form for form in map(_form, inner) if form is not None), None)
    if origin is tuple:
        of_part = _form(inner[0]) if inner[1:] == (Ellipsis,) else None
        return lambda values: tuple(map(of_part, values) if of_part else values)
    if isinstance(origin, type) and issubclass(origin, Mapping):  # also of pairs
        of_value = _form(inner[1]) or (lambda value: value)
        return lambda values: {key: of_value(value) for key, value in dict(values).items()}
    return _form_of_class(hint)


def _form_of_class(kind: Any) -> Form | None:
    if kind is str:
        return lambda value: value.value if isinstance(value, Enum) else str(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return lambda value: value if isinstance(value, kind) else taken(kind, value)
    return None


def jsonable(value: Any) -> Any:
    """Make what ``json`` writes: texts of paths, values of enumerations, lists of collections, and
    null of what JSON has no number for: the open end of an interval."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return _object(value)
    if isinstance(value, Mapping):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value


def _object(value: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    spread = _spread(value.__class__)
    for field in fields(value):
        item = jsonable(getattr(value, field.name))
        if field.name in spread:
            made.update(item or {})
        else:
            made[field.name] = item
    return made


@cache
def _spread(kind: type) -> frozenset[str]:
    """Names of fields whose annotation, a text here, has the mark: to resolve the annotations of
    all that is printed would load every module that they name."""
    return frozenset(field.name for field in fields(kind) if "SPREAD" in str(field.type))


def schema_of_type(kind: Any) -> Schema:
    """Raises TypeError for a type that has no form in JSON."""
    kind = getattr(kind, "__supertype__", kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return _of_dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    return _of_generic(kind)


def _of_generic(kind: Any) -> Schema:
    """An annotated type, a union, or a collection with the types of what is in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _of_annotated(inner[0], kind.__metadata__)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of_type(part) for part in inner]}
    if origin is tuple and inner[1:] != (Ellipsis,):
        parts = [schema_of_type(part) for part in inner]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "items": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of_type(inner[1])}
    if isinstance(origin, type) and issubclass(origin, Collection):
        return {"type": "array", "items": schema_of_type(inner[0])}
    raise TypeError(f"{kind} has no form in JSON")


def _of_annotated(kind: Any, metadata: tuple[Any, ...]) -> Schema:
    made = dict(schema_of_type(kind))
    for remark in metadata:
        if isinstance(remark, str):
            made["description"] = remark
        elif isinstance(remark, Keyword):
            value = remark.value
            made[remark.name] = list(value) if isinstance(value, tuple) else value
    return made


def _of_dataclass(kind: type) -> Schema:
    """All keys are always there, but for those of a spread object that may be None."""
    properties: dict[str, Schema] = {}
    required: list[str] = []
    is_open = issubclass(kind, _OPEN)
    hints = get_type_hints(kind, include_extras=True)
    for name in (field.name for field in fields(kind)):
        if SPREAD not in getattr(hints[name], "__metadata__", ()):
            properties[name] = schema_of_type(hints[name])
            required.append(name)
            continue
        for part, always in _parts(get_args(hints[name])[0]):
            properties |= part.get("properties", {})
            required += part.get("required", ()) if always else ()
            is_open |= "properties" not in part
    made: Schema = {"type": "object", "properties": properties}
    made["required"] = list(dict.fromkeys(required))
    return made if is_open else {**made, "additionalProperties": False}


def _parts(kind: Any) -> Iterator[tuple[Schema, bool]]:
    """Yield the schemas of what a spread field may hold, and whether it always does."""
    inner = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for part in inner:
        if part is not NoneType:
            yield schema_of_type(part), NoneType not in inner
