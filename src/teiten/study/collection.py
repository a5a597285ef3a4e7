"""A collection: several studies whose findings are judged together (``studies/collections``)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from teiten.errors import UsageError
from teiten.given_paths import expanded
from teiten.model.progress import CAMPAIGN_NAME
from teiten.study.changes import StudyFlags
from teiten.study.document import CATALOGUE, first_problem, read_document, read_tables, read_text
from teiten.study.tables import Budget, Name, Target, Text, TomlTable, Words
from teiten.suggest import did_you_mean

COLLECTIONS = CATALOGUE / "collections"
"""The folder of the built-in collections."""


class CampaignTable(TomlTable):
    """A campaign of a collection: a study with its flags. ``set`` and ``storage`` are as
    on the command line."""

    study: Annotated[str, Field(min_length=1)]
    name: str = ""
    """Its study's, where left out."""
    servers: Words = ()
    profile: str | None = None
    target: Target | None = None
    """How long its first pass should take, to which trials and data are fitted."""
    blocks: Annotated[int, Field(ge=2)] | None = None
    """Blocks of its first pass; six, with which an interval can be finite, where left out."""
    set: Words = ()
    storage: Words = ()
    memory: str | None = None
    source: str | None = None
    """The source of PostgreSQL, for studies that build it."""
    remark: Text | None = None

    @property
    def called(self) -> str:
        return self.name or self.study


class CollectionTable(TomlTable):
    """The file of a collection; its campaigns run in the order in which they stand."""

    name: Name
    title: Text
    profile: str = "standard"
    budget: Budget
    """The time for measuring."""
    target: Target
    atlas: bool = False
    """Its report tells every workload by version, and open verdicts count like open findings where
    time is given."""
    campaigns: Annotated[list[CampaignTable], Field(min_length=1)]

    @model_validator(mode="after")
    def _named_apart(self) -> Self:
        names = [campaign.called for campaign in self.campaigns]
        for name in names:
            if not CAMPAIGN_NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot name a campaign; give it a name of its own")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two campaigns are called {twice[0]}; give each a name")
        return self

    def flags(self, campaign: CampaignTable) -> StudyFlags:
        """The flags with which a campaign's study is loaded: with the collection's profile where
        the study has it."""
        known = read_document(campaign.study).tables.profiles
        return StudyFlags(
            profile=campaign.profile or (self.profile if self.profile in known else None),
            servers=campaign.servers,
            overrides=campaign.set,
            storage=campaign.storage,
            memory=campaign.memory,
            source=campaign.source,
        )


@dataclass(frozen=True)
class Collection:
    """A collection with the text that it was read from."""

    path: Path
    text: str
    table: CollectionTable


def collection_names() -> tuple[str, ...]:
    """The names of the built-in collections."""
    return tuple(sorted(path.stem for path in COLLECTIONS.glob("*.toml")))


def read_collection(reference: str) -> Collection:
    """Read a built-in collection by its name, or a file. Raises UsageError where there is none,
    StudyError with file, line and key where it is wrong."""
    path = COLLECTIONS / f"{reference}.toml"
    if reference not in collection_names():
        path = expanded(reference)
        if not path.is_file():
            known = collection_names()
            raise UsageError(
                f"no collection {reference!r}.{did_you_mean(reference, known)}",
                f"name a TOML file, or one of {', '.join(known)}",
            )
    return parsed(path, read_text(path))


def parsed(path: Path, text: str) -> Collection:
    """Check a collection's text; ``path`` is told in errors."""
    try:
        table = CollectionTable.model_validate(read_tables(path, text))
    except ValidationError as error:
        hint = f"{COLLECTIONS / 'pgecons.toml'} is an example"
        raise first_problem(path, text, error, hint) from error
    return Collection(path, text, table)
