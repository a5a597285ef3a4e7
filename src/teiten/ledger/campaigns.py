"""The campaigns of a working folder: list them, find one by what the user typed, name a new one."""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from teiten.errors import LedgerError, MachineError, UsageError
from teiten.given_paths import expanded, is_file
from teiten.host.system.causes import translate_os_errors
from teiten.ledger.folders import FILE_NAME, MAKING, is_taken
from teiten.ledger.lock import is_locked
from teiten.ledger.store import Ledger
from teiten.model.progress import ALLOTTED, CAMPAIGN_NAME, Finished, is_published
from teiten.model.trial import Outcome
from teiten.model.units import Bytes
from teiten.suggest import did_you_mean

LAST = "last"
MOST_LISTED = 5
"""Names in an error, the newest of them."""
FINISHED = "campaign-finished"
"""The event with which a campaign ends, whatever of its plan was needed."""


class CampaignState(StrEnum):
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    RUNNING = "running"
    DAMAGED = "damaged"
    """The ledger cannot be read; ``problem`` says why."""


@dataclass(frozen=True)
class CampaignSummary:
    """A line of ``teiten runs``."""

    name: str
    folder: Path
    state: CampaignState
    study: str | None
    profile: str | None
    created_at: float | None
    """Seconds since the epoch."""
    done: int
    """Planned trials that have ended."""
    planned: int
    failed: int
    """Planned trials that ended without one that counts."""
    size: Bytes
    """The size of everything in the folder, on disk."""
    problem: str | None = None


def list_campaigns(campaigns: Path) -> tuple[CampaignSummary, ...]:
    """The campaigns in a folder (``Workdir.campaigns``), the newest first, damaged ones last."""
    summaries = [summarise(folder) for folder in _folders(campaigns)]
    return tuple(
        sorted(summaries, key=lambda line: (line.created_at or 0.0, line.name), reverse=True)
    )


def find_campaign(campaigns: Path, reference: str) -> Path:
    """The folder of the campaign that is meant: ``last``, its name, a unique prefix, or its path.

    ``campaigns``: the folder of them all (``Workdir.campaigns``), which need not exist. Raises
    LedgerError where none or several are meant.
    """
    if os.sep in reference or reference in (".", ".."):
        return _by_path(expanded(reference).absolute())
    names = [folder.name for folder in _folders(campaigns)]
    if reference in names:
        return campaigns / reference
    if reference == LAST:
        return _last(campaigns)
    matches = [name for name in names if reference and name.startswith(reference)]
    if len(matches) == 1:
        return campaigns / matches[0]
    if not matches and is_file(Path(reference) / FILE_NAME):
        return Path(reference).absolute()
    raise _not_one(reference, matches, names)


def is_campaign(campaigns: Path, reference: str) -> bool:
    """Whether a campaign was named where something else was asked for; as ``find_campaign``."""
    if expanded(reference).is_file():  # a study's, with an error in it
        return False
    try:
        find_campaign(campaigns, reference)
    except LedgerError:
        return False
    return True


def summarise(folder: Path) -> CampaignSummary:
    """Summarise a campaign's folder; a ledger that cannot be read is DAMAGED, not an error."""
    size = Bytes(_size(folder))
    try:
        with Ledger.open(folder, read_only=True) as ledger:
            finished = ledger.finished()
            done, counted = _progress(finished, ledger.repeats)
            return CampaignSummary(
                name=folder.name,
                folder=folder,
                state=_state(folder, complete=done >= ledger.planned or has_ended(ledger)),
                study=ledger.study_name,
                profile=ledger.profile,
                created_at=ledger.created_at,
                done=done,
                planned=ledger.planned,
                failed=done - counted,
                size=size,
            )
    except (LedgerError, MachineError) as error:
        state = CampaignState.RUNNING if is_locked(folder) else CampaignState.DAMAGED
        return CampaignSummary(
            folder.name, folder, state, None, None, None, 0, 0, 0, size, error.message
        )


def new_name(study: str, profile: str, created: float, campaigns: Path | None = None) -> str:
    """A name such as ``observe-quick-20261121-124500`` (local time), not taken in ``campaigns``.

    ``created``: seconds since the epoch.
    """
    moment = datetime.datetime.fromtimestamp(created).astimezone()
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{study}-{profile}").strip("-._")[:60] or "campaign"
    name = f"{safe}-{moment:%Y%m%d-%H%M%S}"
    taken = {folder.name for folder in campaigns.glob(f"{name}*")} if campaigns else set()
    candidates = (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken)


def is_name(name: str) -> bool:
    """Whether a campaign may be named so."""
    return bool(CAMPAIGN_NAME.fullmatch(name)) and name != LAST


def check_name(name: str, campaigns: Path) -> None:
    """Raise UsageError where a campaign cannot have this ``--name``."""
    if not is_name(name):
        raise UsageError(
            f"--name {name!r} cannot name a campaign",
            "use letters, digits, '.', '_' and '-', begin with a letter or digit, and not 'last'",
        )
    folder = campaigns / name
    if is_taken(folder) and not is_file(folder / FILE_NAME):
        raise UsageError(
            f"--name {name!r}: there is a file or folder {folder}, which is no campaign",
            "choose another name, or move it away",
        )
    if is_taken(folder):
        raise UsageError(
            f"--name {name!r}: there is a campaign of this name",
            f"choose another name, continue it with `teiten resume {name}`,"
            f" or delete it with `teiten rm {name}`",
        )


def _folders(campaigns: Path) -> list[Path]:
    with translate_os_errors("the campaigns cannot be listed"):
        try:
            entries = sorted(campaigns.iterdir())
        except FileNotFoundError:
            return []
    return [
        folder
        for folder in entries
        if not folder.name.startswith(MAKING) and is_file(folder / FILE_NAME)
    ]


def _by_path(path: Path) -> Path:
    folder = path.parent if path.name == FILE_NAME else path
    if not is_file(folder / FILE_NAME):
        raise LedgerError(
            f"no campaign in {folder}: it has no {FILE_NAME}",
            "`teiten runs` lists the campaigns that there are",
        )
    return folder


def _last(campaigns: Path) -> Path:
    readable = [
        campaign for campaign in list_campaigns(campaigns) if campaign.created_at is not None
    ]
    if not readable:
        raise LedgerError(
            f"no campaign in {campaigns} yet", "make one: teiten run observe --profile quick"
        )
    return readable[0].folder


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    shown = ", ".join(sorted(names)[-MOST_LISTED:])
    return f"{shown} and {more} more" if more > 0 else shown


def _not_one(reference: str, matches: Sequence[str], names: Sequence[str]) -> LedgerError:
    if matches:
        return LedgerError(
            f"{reference!r} is the beginning of several campaigns: {_listed(matches)}",
            "give more of the name, or `last` for the newest",
        )
    return LedgerError(
        f"no campaign {reference!r}.{did_you_mean(reference, [*names, LAST])}",
        "`teiten runs` lists the campaigns that there are",
    )


def _progress(finished: Sequence[Finished], repeats: int) -> tuple[int, int]:
    """How many planned trials have ended, and how many of them with one that counts: the last
    attempt, for one that counted is repeated only where another side of its comparison did not."""
    last = {number: outcome for number, _, outcome in finished}
    counted = {number for number, outcome in last.items() if outcome is Outcome.COUNTED}
    tries = Counter(number for number, _, _ in finished)
    given_up = {number for number, count in tries.items() if count > repeats} - counted
    return len(counted) + len(given_up), len(counted)


def has_ended(ledger: Ledger) -> bool:
    """Nothing is left to run: a sequential campaign may end before all that was planned, and one
    of a collection goes on where it is given more blocks."""
    events = ledger.campaign_events()
    ends = [event.kind for event in events if event.kind in (FINISHED, ALLOTTED)]
    return ends[-1:] == [FINISHED] or is_published(events)


def _state(folder: Path, *, complete: bool) -> CampaignState:
    if is_locked(folder):
        return CampaignState.RUNNING
    return CampaignState.COMPLETE if complete else CampaignState.INTERRUPTED


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                status = (Path(parent) / name).lstat()
            except OSError:  # removed meanwhile by the campaign that runs
                continue
            total += getattr(status, "st_blocks", 0) * 512 or status.st_size
    return total
