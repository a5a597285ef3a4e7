"""Verdicts of a campaign that supports no conclusion, marked as such wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from teiten.analysis.model.verdict import Verdict
from teiten.model.study import Study

T = TypeVar("T")


def as_declared(found: T, study: Study) -> T:
    """``found`` as it is where the study supports a conclusion, else with every verdict in it
    marked: in dataclasses, tuples, lists and mappings, however deep. Here and once, so that no
    kind of workload has to remember it for results of its own."""
    return found if study.conclusive else marked(found)


def marked(found: T) -> T:
    """Set ``conclusive=False`` in every verdict of a copy; what holds none is the same object."""
    return cast("T", _marked(found))


def _marked(found: Any) -> Any:
    if isinstance(found, Verdict):
        return replace(found, conclusive=False) if found.conclusive else found
    if isinstance(found, Mapping):
        return _if_changed(found, {key: _marked(one) for key, one in found.items()})
    if type(found) in {tuple, list}:
        whole = [_marked(one) for one in found]
        changed = any(new is not old for new, old in zip(whole, found, strict=True))
        return type(found)(whole) if changed else found
    if is_dataclass(found) and not isinstance(found, type):
        return _marked_dataclass(found)
    return found


def _if_changed(found: Mapping[Any, Any], new: dict[Any, Any]) -> Mapping[Any, Any]:
    return new if any(new[key] is not found[key] for key in found) else found


def _marked_dataclass(found: Any) -> Any:
    values = {one.name: getattr(found, one.name) for one in fields(found) if one.init}
    new = {name: _marked(one) for name, one in values.items()}
    changed = {name: one for name, one in new.items() if one is not values[name]}
    return replace(found, **changed) if changed else found
