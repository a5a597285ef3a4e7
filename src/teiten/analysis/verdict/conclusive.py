"""Verdicts of a campaign that supports no conclusion, marked as such wherever they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from teiten.analysis.model.verdict import Verdict
from teiten.model.study import Study

T = TypeVar("T")


def as_declared(findings: T, study: Study) -> T:
    """``findings`` as they are where the study supports a conclusion, else with every verdict in
    them marked: in dataclasses, tuples, lists and mappings, however deep. Here and once, so that no
    kind of workload has to remember it for results of its own."""
    return findings if study.conclusive else marked(findings)


def marked(findings: T) -> T:
    """Set ``conclusive=False`` in every verdict of a copy; what holds none is the same object."""
    return cast("T", _marked(findings))


def _marked(findings: Any) -> Any:
    if isinstance(findings, Verdict):
        return replace(findings, conclusive=False) if findings.conclusive else findings
    if isinstance(findings, Mapping):
        new = {key: _marked(part) for key, part in findings.items()}
        return new if any(new[key] is not findings[key] for key in findings) else findings
    if type(findings) in {tuple, list}:
        whole = [_marked(part) for part in findings]
        changed = any(new is not old for new, old in zip(whole, findings, strict=True))
        return type(findings)(whole) if changed else findings
    if is_dataclass(findings) and not isinstance(findings, type):
        return _marked_dataclass(findings)
    return findings


def _marked_dataclass(findings: Any) -> Any:
    parts = {field.name: getattr(findings, field.name) for field in fields(findings) if field.init}
    new = {name: _marked(part) for name, part in parts.items()}
    changed = {name: part for name, part in new.items() if part is not parts[name]}
    return replace(findings, **changed) if changed else findings
