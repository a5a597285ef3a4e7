"""A profile of a study file as changes: the size of a campaign."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.errors import UsageError
from teiten.study.changes import (
    MEASURE_KEYS,
    NODE_KEYS,
    STUDY_KEYS,
    Change,
    shared_workload_keys,
)
from teiten.study.document import Document
from teiten.study.draft import Draft
from teiten.study.locate import KeyPath
from teiten.study.schema import OF_NODES
from teiten.suggest import did_you_mean

DEFAULT_PROFILE = "standard"


def apply_profile(draft: Draft, document: Document, name: str | None) -> str:
    """Change the draft as a profile says; returns the profile's name.

    ``name``: None for ``standard``, which a study file may leave undefined. Raises UsageError where
    the study has no such profile.
    """
    profiles = document.data.get("profiles", {})
    if name is None and DEFAULT_PROFILE not in profiles:
        return DEFAULT_PROFILE
    chosen = name or DEFAULT_PROFILE
    if chosen not in profiles:
        raise UsageError(
            f"--profile {chosen}: the study has no such profile.{did_you_mean(chosen, profiles)}",
            f"it has {', '.join(profiles)}" if profiles else "it defines none: leave --profile out",
        )
    for change in sorted(_changes(document, chosen), key=lambda change: change.key.count(".") > 1):
        draft.apply(change)
    draft.add_differences(profiles[chosen].get("differences", []))
    return chosen


def _changes(document: Document, profile: str) -> Iterator[Change]:
    table = document.data["profiles"][profile]
    for key, value in table.items():
        path: KeyPath = ("profiles", profile, key)
        if key == "settings":
            for setting, text in value.items():
                yield _change(f"settings.{setting}", text, document, (*path, setting))
        elif key == "workloads":
            for workload, changes in value.items():
                for each, text in changes.items():
                    place = (*path, workload, each)
                    yield _change(f"workloads.{workload}.{each}", text, document, place)
        elif key.startswith(OF_NODES) and (own := key.removeprefix(OF_NODES)) in NODE_KEYS:
            yield _change(f"nodes.{own}", value, document, path)
        elif key != "differences":
            yield _change(f"{_table_of(key)}{key}", value, document, path)


def _table_of(key: str) -> str:
    """The table of a key, with its dot; the keys of all workloads have none."""
    if key in MEASURE_KEYS:
        return "measure."
    if key in STUDY_KEYS:
        return "study."
    return "" if key in shared_workload_keys() else "factors."


def _change(key: str, value: object, document: Document, path: KeyPath) -> Change:
    return Change(key, value, document.place(path), f"{key}={value}", by_flag=False)
