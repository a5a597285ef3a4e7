"""Belongings that Teiten keeps on this host between campaigns, and giving them back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from teiten.execute.postgres.marker import Kind, read_marker, remove_marked
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.postgres.usage import folder_bytes
from teiten.execute.sites.remote.agent.room import AgentFolder

TEMPLATE, PACKAGE = "template", "package"


class Belongings:
    """Templates, and programs that were sent here."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room

    def listed(self) -> list[dict[str, Any]]:
        """Kind, name, folder, bytes, and when it was last used (seconds since the epoch)."""
        store = TemplateStore(self._room.workdir, self._room.user)
        entries = [
            _entry(TEMPLATE, use.description, use.path, use.bytes, use.last_used)
            for use in store.usage()
        ]
        installations = self._room.workdir.installations
        for folder in sorted(installations.iterdir()) if installations.is_dir() else ():
            marker = read_marker(folder)
            if marker is not None and marker.what == Kind.PACKAGE:
                size = folder_bytes(folder)
                entries.append(_entry(PACKAGE, marker.about, folder, size, marker.created))
        return entries

    def remove(self, kind: str, folder: str) -> bool:
        """Delete one; False where it is in use."""
        if kind == TEMPLATE:
            store = TemplateStore(self._room.workdir, self._room.user)
            return store.remove(Path(folder).name)
        remove_marked(Path(folder))
        return True

    def end(self) -> None:
        """Nothing is open."""


def _entry(kind: str, name: str, folder: Path, size: int, used: float) -> dict[str, Any]:
    return {"kind": kind, "name": name, "path": str(folder), "bytes": size, "last_used": used}
