"""A study file as it was read: its text, its tables, and where each key stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from teiten.errors import StudyError, UsageError
from teiten.given_paths import exists, expanded
from teiten.study.file import StudyFile
from teiten.study.locate import KeyPath, dotted, key_lines, line_of
from teiten.study.place import Further
from teiten.study.problems import validated
from teiten.study.reading import read_tables, read_text
from teiten.suggest import did_you_mean

CATALOGUE = Path(__file__).resolve().parent.parent / "studies"
"""The folder of the built-in studies."""
_OF_VERBS = CATALOGUE / "verbs" / "pairs.toml"


@dataclass(frozen=True)
class Document:
    """A study file that has the right form (its levels are not yet checked together)."""

    path: Path
    text: str
    data: dict[str, Any]
    """The tables as TOML gave them."""
    tables: StudyFile
    built_in: bool
    lines: dict[KeyPath, int] = field(repr=False)

    @property
    def is_of_verbs(self) -> bool:
        """Whether it is what ``teiten ab`` and ``teiten null`` run, which nobody can name."""
        return self.path == _OF_VERBS

    @property
    def hint(self) -> str:
        """Where to see what may be changed."""
        if self.is_of_verbs:
            return "teiten init observe prints every key"
        return "teiten show STUDY lists what the study holds; teiten init STUDY prints every key"

    @property
    def script_flag(self) -> str:
        """The flag with which a script of one's own is named."""
        return "--script FILE" if self.is_of_verbs else "--set script=FILE"

    def place(self, path: Sequence[str | int]) -> str:
        """``mine.toml:12: measure.delta``: where a key stands, for an error."""
        return f"{self.path}:{line_of(self.lines, path)}: {dotted(path)}"


def catalogue_names() -> tuple[str, ...]:
    """The names of the built-in studies."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.toml")))


def read_verb_document() -> Document:
    """The study of the verbs that compare two sides; no part of the catalogue."""
    return read_file(_OF_VERBS, built_in=True)


def read_document(reference: str) -> Document:
    """Read a study by its name in the catalogue, or a study file.

    Raises UsageError where there is none, StudyError where the file is wrong.
    """
    if reference in catalogue_names():
        return read_file(CATALOGUE / f"{reference}.toml", built_in=True)
    path = expanded(reference)
    if exists(path):
        return read_file(path, built_in=False)
    if path.suffix == ".toml" or len(path.parts) > 1:
        near = did_you_mean(path.name, _names_beside(path))
        raise UsageError(
            f"there is no study file {reference}.{near}",
            f"teiten init {catalogue_names()[0]} > {path.name} writes one to begin with",
        )
    raise UsageError(
        f"there is no study {reference!r}.{did_you_mean(reference, catalogue_names())}",
        "teiten studies lists the catalogue; a study file of your own ends in .toml",
    )


def read_file(path: Path, *, built_in: bool) -> Document:
    """Read one study file. Raises StudyError with file, line and key where it is wrong."""
    text = read_text(path)
    data = read_tables(path, text)
    lines = key_lines(text)

    def said(place: Sequence[str | int], message: str) -> str:
        return f"{line_of(lines, place)}: {dotted(place) or 'the file'}: {message}"

    def fail(
        place: Sequence[str | int], message: str, hint: str, further: Further = ()
    ) -> StudyError:
        every = [said(place, message), *(f"line {said(*one)}" for one in further)]
        return StudyError(f"{path}:{'; '.join(every)}", hint)

    return Document(path, text, data, validated(data, fail), built_in, lines)


def _names_beside(path: Path) -> list[str]:
    folder = path.parent
    return [each.name for each in folder.glob("*.toml")] if exists(folder) else []
