"""From a study's name or file, a profile and the command line to a ``Study``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from teiten.errors import UsageError
from teiten.model.study import Study, StudySummary
from teiten.study.build import build
from teiten.study.changes import (
    KEYS,
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
    texts = tuple(change.text for change in changes if change.text)
    return build(draft, document, profile=chosen, overrides=texts)


def catalogue() -> tuple[StudySummary, ...]:
    """The built-in studies, by name, each in one line."""
    documents = [read_document(name).tables for name in catalogue_names()]
    return tuple(
        StudySummary(
            name=tables.study.name,
            title=titled(tables.study.title, tables.study.name),
            question=tables.study.question,
            sources=tables.study.sources,
            profiles=tuple(tables.profiles),
        )
        for tables in documents
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
                for changed, text in changes.items():
                    place = (*path, workload, changed)
                    yield _change(f"workloads.{workload}.{changed}", text, document, place)
        elif key.startswith(OF_NODES) and (own := key.removeprefix(OF_NODES)) in KEYS["nodes"]:
            yield _change(f"nodes.{own}", value, document, path)
        elif key != "differences":
            yield _change(f"{_table_of(key)}{key}", value, document, path)


def _table_of(key: str) -> str:
    """The table of a key, with its dot; the keys of all workloads have none."""
    for table in ("measure", "study"):
        if key in KEYS[table]:
            return f"{table}."
    return "" if key in shared_workload_keys() else "factors."


def _change(key: str, value: object, document: Document, path: KeyPath) -> Change:
    return Change(key, value, document.place(path), f"{key}={value}", by_flag=False)


_SCRIPT_LINE = re.compile(r'^script = "([^"\n]+)"[^\n]*$', re.MULTILINE)


def commented_copy(reference: str) -> str:
    """The text of a study file that can be edited and run on its own.

    Raises UsageError where there is no such study, StudyError where its file is wrong.
    """
    document = read_document(reference)
    study = load_study(reference, StudyFlags(overrides=["workloads=all"]))
    scripts = {text.name: text for workload in study.workloads for text in workload.options.texts}

    def inlined(match: re.Match[str]) -> str:
        """A line that names a script's file as one that holds its text."""
        script = scripts.get(match[1])
        if script is None or script.builtin:
            return match[0]
        if "'''" in script.text:
            raise UsageError(
                f"the script {script.name} holds three quotes in a row and cannot stand in a TOML"
                " text",
                "copy the study file and its script by hand",
            )
        return f"script = '''\n{script.text}'''"

    name = document.tables.study.name
    header = f"# A copy of the study {name}, made by: teiten init {reference}\n# Edit it; then:\n"
    steps = "#   teiten plan FILE     what it would do here\n#   teiten run FILE      run it\n#\n"
    return header + steps + _SCRIPT_LINE.sub(inlined, document.text)
