"""From a study's name or file, a profile and the command line to a ``Study``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from teiten.model.study import Study, StudySummary
from teiten.study.build import build
from teiten.study.changes import UNCHANGED, Change, StudyFlags, from_command_line
from teiten.study.document import Document, catalogue_names, read_document
from teiten.study.draft import Draft
from teiten.study.profiles import apply_profile
from teiten.study.values import titled


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
