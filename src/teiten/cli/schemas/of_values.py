"""The schema of a dataclass as ``asdict`` and JSON make an object of it, from its types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from teiten.cli.schemas.parts import TEXT, Schema, closed, listed, maybe, named

_PLAIN: dict[Any, Schema] = {
    str: TEXT,
    Path: TEXT,
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
}


def of_type(kind: Any, extended: frozenset[type] = frozenset()) -> Schema:
    """``extended``: dataclasses whose subclasses have keys of their own, which stay open.

    Raises TypeError for a type that has no form in JSON.
    """
    kind = getattr(kind, "__supertype__", kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return _of_dataclass(kind, extended)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [one.value for one in kind]}
    return _of_generic(kind, extended)


def _of_generic(kind: Any, extended: frozenset[type]) -> Schema:
    """A union, or a collection with the types of what is in it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _of_union(inner, extended)
    if origin is tuple:
        return _of_tuple(inner, extended)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return named(of_type(inner[1], extended))
    if isinstance(origin, type) and issubclass(origin, Collection):
        return listed(of_type(inner[0], extended))
    raise TypeError(f"{kind} has no form in JSON")


def _of_dataclass(kind: type, extended: frozenset[type]) -> Schema:
    hints = get_type_hints(kind)
    found = closed({one.name: of_type(hints[one.name], extended) for one in fields(kind)})
    if kind in extended:
        del found["additionalProperties"]
    return found


def _of_union(inner: tuple[Any, ...], extended: frozenset[type]) -> Schema:
    forms = [of_type(one, extended) for one in inner if one is not NoneType]
    one = forms[0] if len(forms) == 1 else {"anyOf": forms}
    return maybe(one) if NoneType in inner else one


def _of_tuple(inner: tuple[Any, ...], extended: frozenset[type]) -> Schema:
    if inner[1:] == (Ellipsis,):
        return listed(of_type(inner[0], extended))
    return {
        "type": "array",
        "prefixItems": [of_type(one, extended) for one in inner],
        "minItems": len(inner),
        "items": False,
    }
