"""The record of a collection besides its campaigns' ledgers: what was asked, and what failed.

Everything else is derived from the ledgers, so that a kill at any moment loses nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from teiten.errors import LedgerError, UsageError, first_line
from teiten.given_paths import is_file
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.held_folder import HeldFolder
from teiten.ledger.campaigns import LAST, is_name
from teiten.model.units import Seconds
from teiten.study.collection import Collection, parsed
from teiten.suggest import did_you_mean

FILE = "collection.json"


@dataclass(frozen=True)
class CollectionState:
    """A collection that has begun."""

    name: str
    text: str
    """The TOML with which it was begun."""
    path: str
    """Where that stood."""
    created_at: float
    budget: Seconds
    """The time for measuring of all its sessions together."""
    command: str
    lacking: Mapping[str, str] = field(default_factory=dict)
    """By campaign: why it could not run, or has failed."""

    @cached_property
    def collection(self) -> Collection:
        """The collection that the text describes."""
        return parsed(Path(self.path), self.text)

    def campaign(self, called: str) -> str:
        """The name of the ledger of one of its campaigns."""
        return f"{self.name}-{called}"


_STATE = TypeAdapter(CollectionState)


def new_state(
    folder: Path, name: str, collection: Collection, budget: Seconds, command: str
) -> CollectionState:
    """A collection that begins now. Raises UsageError where the name is taken, or is no name."""
    if name == LAST:
        raise UsageError(f"--name {name!r} means the newest collection", "choose another name")
    if (folder / name).exists():
        raise UsageError(
            f"--name {name!r}: there is a collection of this name",
            f"choose another name, or continue it with `teiten collection resume {name}`",
        )
    path = str(collection.path)
    return CollectionState(name, collection.text, path, time.time(), budget, command)


def write_state(folder: Path, state: CollectionState) -> None:
    """Write it whole, and durable when this returns; ``folder`` is that of all collections."""
    with translate_os_errors(f"the collection {state.name} cannot be written"):
        place = folder / state.name
        place.mkdir(parents=True, exist_ok=True)
        with HeldFolder.open(place) as held:
            held.write(FILE, state_text(state).encode(), mode=None, durable=True)


def state_text(state: CollectionState) -> str:
    return json.dumps(asdict(state), ensure_ascii=False, indent=1)


def read_state(folder: Path, reference: str) -> CollectionState:
    """Read a collection by its name, a unique prefix, or ``last``. Raises LedgerError."""
    names = sorted(place.name for place in folder.glob("*") if is_file(place / FILE))
    states = {name: read_file(folder / name / FILE) for name in names}
    if reference == LAST and states:
        return max(states.values(), key=lambda state: state.created_at)
    meant = [reference] if reference in names else [n for n in names if n.startswith(reference)]
    if len(meant) == 1:
        return states[meant[0]]
    raise LedgerError(
        f"no collection {reference!r}.{did_you_mean(reference, [*names, LAST])}"
        if not meant
        else f"{reference!r} is the beginning of several collections: {', '.join(meant)}",
        f"begun here: {', '.join(names)}" if names else "begin one: teiten collection run pgecons",
    )


def with_campaigns_of(
    state: CollectionState, collection: Collection, folder: Path
) -> CollectionState:
    """The collection with the campaigns that its file has now; ``folder`` is that of all ledgers.

    Raises UsageError where one that has begun is not among them: its findings would be lost.
    """
    kept = {table.called for table in collection.table.campaigns}
    for table in state.collection.table.campaigns:
        begun = (folder / state.campaign(table.called)).exists()
        if begun and table.called not in kept:
            raise UsageError(
                f"{collection.path} has no campaign {table.called}, which {state.name} has begun",
                "a file with other campaigns is a collection of its own: teiten collection run",
            )
    return replace(state, text=collection.text, path=str(collection.path))


def read_file(path: Path) -> CollectionState:
    """Read a collection's file. Raises LedgerError where it is damaged."""
    whole = "its campaigns are whole: teiten runs lists them"
    try:
        state = _STATE.validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path} is damaged: {first_line(error)}", whole) from error
    if not is_name(state.name):
        raise LedgerError(f"{path} is damaged: nothing can be named {state.name!r}", whole)
    return state
