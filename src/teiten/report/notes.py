"""Notes that people add to a report: who made it, under which licence, and their remarks."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.model.text import UNWRITTEN, Bilingual


@dataclass(frozen=True)
class Author:
    name: str
    organisation: str = ""


@dataclass(frozen=True)
class Revision:
    date: str
    text: Bilingual
    version: str = ""


@dataclass(frozen=True)
class Notes:
    """All of it may be missing."""

    title: Bilingual = UNWRITTEN
    """Instead of the study's."""
    organisation: Bilingual = UNWRITTEN
    authors: tuple[Author, ...] = ()
    licence: Bilingual = UNWRITTEN
    remarks: tuple[Bilingual, ...] = ()
    """Paragraphs; what they say is their authors', and nothing of it is checked."""
    acknowledgements: tuple[Bilingual, ...] = ()
    revisions: tuple[Revision, ...] = ()


NO_NOTES = Notes()
