"""From a study's name or file, a profile and the command line to a ``Study``.

A profile of a study file as changes: the size of a campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from teiten.errors import UsageError
from teiten.model.study import Study, StudySummary
from teiten.study.build import build
from teiten.study.changes import (
    MEASURE_KEYS,
    NODE_KEYS,
    STUDY_KEYS,
    UNCHANGED,
    Change,
    StudyFlags,
    from_command_line,
    shared_workload_keys,
)
from teiten.study.document import Document, catalogue_names, read_document
from teiten.study.draft import Draft
from teiten.study.locate import KeyPath
from teiten.study.schema import OF_NODES
from teiten.study.values import titled
from teiten.suggest import did_you_mean


def load_study(reference: str, flags: StudyFlags = UNCHANGED, **given: Any) -> Study:
    """Read a study and change it as the profile and the flags say; ``given``: single flags, by the
    names of their fields.

    What the profile leaves to the machine is None or an empty tuple; ``plan.sizing`` fills it.
    Raises UsageError (a flag) or StudyError (the file).
    """
    flags = replace(flags, **given)
    changes = from_command_line(flags)
    return study_of(read_document(reference), changes, profile=flags.profile)


def study_of(document: Document, changes: Sequence[Change], *, profile: str | None = None) -> Study:
    """A study file with a profile and further changes. Raises as ``load_study`` does."""
    draft = Draft(document)
    chosen = apply_profile(draft, document, profile)
    for change in changes:
        draft.apply(change)
    texts = tuple(each.text for each in changes if each.text)
    return build(draft, document, profile=chosen, overrides=texts)


def catalogue() -> tuple[StudySummary, ...]:
    """The built-in studies, by name."""
    return tuple(summary(read_document(name)) for name in catalogue_names())


def summary(document: Document) -> StudySummary:
    """A study in one line."""
    study = document.tables.study
    return StudySummary(
        name=study.name,
        title=titled(study.title, study.name),
        question=study.question,
        sources=study.sources,
        profiles=tuple(document.tables.profiles),
    )


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
