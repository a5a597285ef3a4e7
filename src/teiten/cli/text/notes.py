"""The file of ``teiten report --with``, and the one that ``teiten init report-notes`` prints."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from teiten.errors import UsageError
from teiten.model.text import UNWRITTEN
from teiten.report.notes import Author, Notes, Revision
from teiten.study.tables import Text, Texts, TomlTable

HINT = "teiten init report-notes prints a file in which every key is explained"
EXAMPLE = """\
# What people add to a report: teiten report last --with notes.toml --format pdf
# Everything may be left out. A text is one in both languages, or { en = "…", ja = "…" }.

# title = "PostgreSQL 18 on our new machines"            # instead of the study's
organisation = { en = "Example Consortium", ja = "例示コンソーシアム" }
licence = "CC BY 4.0"

# Paragraphs, which stand as a section of their own after the results. Nothing of them is checked.
remarks = [
  { en = "We expected less.", ja = "予想より差は小さかった。" },
]
acknowledgements = []

[[authors]]
name = "A. Author"
organisation = "Example Ltd."

[[revisions]]
version = "1.0"
date = "2026-01-31"
text = { en = "First edition", ja = "初版" }
"""


class _AuthorTable(TomlTable):
    name: str
    organisation: str = ""


class _RevisionTable(TomlTable):
    version: str = ""
    date: str
    text: Text


class _NotesTable(TomlTable):
    title: Text = UNWRITTEN
    organisation: Text = UNWRITTEN
    licence: Text = UNWRITTEN
    remarks: Texts = ()
    acknowledgements: Texts = ()
    authors: list[_AuthorTable] = Field(default=[])
    revisions: list[_RevisionTable] = Field(default=[])


def read_notes(path: Path) -> Notes:
    """Raises UsageError for a file that is not there, or is wrong, with the keys."""
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", HINT) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML file: {error}", HINT) from error
    try:
        table = _NotesTable.model_validate(data)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors(include_url=False)
        )
        raise UsageError(f"{path}: {'; '.join(problems)}", HINT) from error
    values = dict(table)
    values["authors"] = tuple(Author(**dict(author)) for author in table.authors)
    values["revisions"] = tuple(Revision(**dict(revision)) for revision in table.revisions)
    return Notes(**values)
