"""The folder of a site: which files in it are ours, and what each was made from.

A manifest lists them: what it does not list is never touched, what is no longer made is removed.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from teiten.cli.verbs.report import write_files
from teiten.errors import UsageError

MANIFEST = ".teiten-site.json"
FORMAT = 1


class Output:
    """A site's folder, while it is made."""

    def __init__(self, folder: Path) -> None:
        """Raises UsageError where the folder holds other things and no site."""
        self.folder = folder
        self._before = _read(folder)
        self._now: dict[str, str] = {}
        self.written = 0

    def has(self, name: str, key: str) -> bool:
        """Whether a file is there that was made from the same; it stays."""
        if self._before.get(name) != key or not (self.folder / name).is_file():
            return False
        self._now[name] = key
        return True

    def write(self, name: str, key: str, content: bytes) -> None:
        """``key``: of what it is made from. Raises UsageError where the name is another's."""
        self._take(name)
        write_files(self.folder, {name: content})
        self._now[name] = key

    def finish(self) -> int:
        """Write the manifest and remove what is no longer made; how many files that were."""
        gone = [name for name in self._before if name not in self._now]
        manifest = {"format": FORMAT, "files": self._now}
        write_files(self.folder, {MANIFEST: json.dumps(manifest, indent=1).encode()})
        for name in gone:
            path = self.folder / name
            path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty, or the folder itself
                path.parent.rmdir()
        return len(gone)

    def _take(self, name: str) -> None:
        if name not in self._before and name not in self._now and (self.folder / name).exists():
            raise UsageError(
                f"{self.folder / name} was not made by teiten site, and is not replaced",
                "name another folder with --to, or move it away",
            )
        self.written += 1


def _read(folder: Path) -> dict[str, str]:
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] == FORMAT:
            return {
                str(name): str(key) for name, key in found["files"].items() if _is_below(str(name))
            }
    except FileNotFoundError:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                f"--to {folder} holds other things, and no site",
                "name a new or empty folder, or one that teiten site made",
            ) from None
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise UsageError(f"{path} is no manifest of a site", "name a new folder with --to")


def _is_below(name: str) -> bool:
    """A manifest that somebody changed leads nowhere else."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts
