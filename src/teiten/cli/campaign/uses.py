"""Programs and templates of campaigns that run or can be resumed: not to be deleted under them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from teiten.errors import LedgerError, TeitenError
from teiten.host.system.paths import Workdir
from teiten.ledger.campaigns import CampaignState, list_campaigns
from teiten.ledger.lock import is_locked
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.plan.sites.of import program_folders

PILOT = "pilot"
"""The folder among the caches of the one campaign that is never resumed."""


@dataclass(frozen=True)
class Unfinished:
    """A campaign that is not complete."""

    name: str
    running: bool
    plan: Plan

    def needs_folder(self, folder: Path) -> bool:
        """Whether a server or a load generator of the plan lies in a folder."""
        programs = (*program_folders(self.plan), self.plan.pgbench.path)
        root = folder.resolve()
        return any(program.resolve().is_relative_to(root) for program in programs)


class Uses:
    """The unfinished campaigns of a working folder, read when they are asked for."""

    def __init__(self, workdir: Workdir) -> None:
        self._workdir = workdir

    @cached_property
    def unfinished(self) -> tuple[Unfinished, ...]:
        return tuple(self._read())

    def of_folder(self, folder: Path) -> Unfinished | None:
        return next((user for user in self.unfinished if user.needs_folder(folder)), None)

    def of_template(self, fingerprint: str) -> Unfinished | None:
        for user in self.unfinished:
            if any(template.fingerprint == fingerprint for template in user.plan.templates):
                return user
        return None

    def _read(self) -> Iterator[Unfinished]:
        running, resumable = CampaignState.RUNNING, CampaignState.INTERRUPTED
        folders = [
            (campaign.folder, campaign.state is running)
            for campaign in list_campaigns(self._workdir.campaigns)
            if campaign.state in (running, resumable)
        ]
        pilot = self._workdir.caches / PILOT
        if is_locked(pilot):
            folders.append((pilot, True))
        for folder, runs in folders:
            try:
                with Ledger.open(folder, read_only=True) as ledger:
                    yield Unfinished(ledger.name, runs, ledger.plan)
            except TeitenError:  # one that cannot be read cannot be resumed either
                continue


def refusal(what: str, user: Unfinished) -> LedgerError:
    """Why something is not deleted."""
    first = "wait for its end" if user.running else f"finish it (teiten resume {user.name})"
    how = "is running" if user.running else "can be resumed"
    return LedgerError(
        f"{what} is not deleted: the campaign {user.name}, which {how}, needs it",
        f"{first} or delete it (teiten rm {user.name}) first; --anyway deletes in spite of it",
    )
