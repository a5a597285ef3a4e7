"""Files of a server that are kept beside its trial, and what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from teiten.host.system.held_folder import HeldFolder
from teiten.model.trial import Problem


class Server(Protocol):
    """One whose files somebody else may change."""

    def replaced_file(self) -> str | None:
        """Say what stands in the place of one of its files; None where the file does."""
        ...


def keep(folder: Path, name: str, content: bytes) -> None:
    """Write a server's file into the evidence, for those alone who may read the server's."""
    with HeldFolder.open_itself(folder) as evidence:
        evidence.write(name, content, durable=True)


def replaced(server: Server) -> tuple[Problem, ...]:
    """A trial of a server whose files are not its own any more says nothing."""
    found = server.replaced_file()
    return () if found is None else (Problem("replaced-file", found),)
