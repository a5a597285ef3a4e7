"""Where Teiten keeps its things: one working folder, which every user that must reach it can."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs

from teiten.host.system.users import is_root

ROOT_WORKDIR = Path("/var/lib/teiten")
"""For root, whose home the servers' unprivileged user cannot enter."""


@dataclass(frozen=True)
class Workdir:
    """The working folder; each of its properties is a room."""

    root: Path

    @property
    def installations(self) -> Path:
        return self.root / "installations"

    @property
    def packages(self) -> Path:
        """Downloaded packages, kept so that an installation works offline."""
        return self.root / "packages"

    @property
    def templates(self) -> Path:
        return self.root / "templates"

    @property
    def campaigns(self) -> Path:
        return self.root / "campaigns"

    @property
    def clusters(self) -> Path:
        """Data directories of servers that run, or may have been left by a crash."""
        return self.root / "clusters"

    @property
    def caches(self) -> Path:
        """Facts measured on this machine that are worth keeping."""
        return self.root / "caches"

    @property
    def builds(self) -> Path:
        """Sources and objects while PostgreSQL is built, and the logs of builds that failed."""
        return self.root / "builds"

    @property
    def bisects(self) -> Path:
        """The searches of ``teiten bisect``: what is known of each commit, and a clone."""
        return self.root / "bisects"

    @property
    def collections(self) -> Path:
        """The records and reports of ``teiten collection``; its campaigns are among all."""
        return self.root / "collections"

    @property
    def attached(self) -> Path:
        """Notes of the databases that Teiten made in attached servers and has not dropped yet."""
        return self.root / "attached"

    def prepare(self) -> None:
        """Make the folders; their modes let the servers' user pass through when we are root."""
        rooms = (name for name, room in vars(Workdir).items() if isinstance(room, property))
        for folder in (self.root, *(getattr(self, name) for name in rooms)):
            folder.mkdir(parents=True, exist_ok=True)


def default_workdir() -> Path:
    """The XDG data folder; for root a folder of the system's."""
    if is_root():
        return ROOT_WORKDIR
    return Path(platformdirs.user_data_dir("teiten", appauthor=False))
