"""The files of a finished template: nobody's but ours, and listed, so that a change shows.

Servers of all campaigns run as one user, who fills a template too. What he could write into it
later on would be measured by campaigns of others, so its files are taken from him. A program that
has kept one of them open since then can still write to it, but cannot set its time back.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.users import ServerUser, own_uid
from teiten.model.units import MIB

CONTENTS = "contents.json"
LARGEST = 64 * MIB
"""Bytes of it; a file of a cluster takes about 60."""
NAMED = 3
"""Changes that a message names."""

Contents = dict[str, list[Any]]
"""By path within the template's folder: what ``_entry`` says of it."""


def seal(folder: Path, user: ServerUser) -> None:
    """Take the files of a filled template from the servers' user, and write down what they are.

    Raises UnsafePlaceError for a file that is not his alone, and OSError.
    """
    with HeldFolder.open_itself(folder) as held:
        for part in _parts(held):
            with held.inner(part) as inner:
                inner.take_all(user)
        held.sync_file_system()  # else a page that a program has mapped gets its time later
        content = json.dumps(_read(held), separators=(",", ":"))
        held.write(CONTENTS, content.encode(), mode=0o644, durable=True)


def find_change(folder: Path) -> str | None:
    """In words, what is no longer as ``seal`` left it; None where all is."""
    try:
        with HeldFolder.open_itself(folder) as held:
            if not held.is_trusted:
                return f"it belongs to the user {held.owner}"
            written = json.loads(held.read(CONTENTS, LARGEST))
            return _differences(dict(written), _read(held))
    except FileNotFoundError:
        return "it has no list of its files: an older Teiten built it"
    except (OSError, ValueError, TypeError, UnsafePlaceError) as error:
        return f"its files cannot be compared: {error}"


def _parts(held: HeldFolder) -> list[str]:
    """The data directory, and tablespaces and WAL beside it."""
    return [name for name, status in held.entries() if stat.S_ISDIR(status.st_mode)]


def _read(held: HeldFolder) -> Contents:
    contents: Contents = {}
    for part in _parts(held):
        with held.inner(part) as inner:
            contents[part] = [stat.filemode(inner.mode | stat.S_IFDIR)]
            for outer, name, status in inner.walk():
                path = held.relative(outer, name)
                contents[path] = [stat.filemode(status.st_mode)]
                if status.st_uid != own_uid():
                    contents[path].append(f"user {status.st_uid}")
                if stat.S_ISLNK(status.st_mode):
                    contents[path].append(outer.read_link(name))
                elif not stat.S_ISDIR(status.st_mode):
                    contents[path] += [status.st_size, status.st_mtime_ns]
    return contents


def _differences(before: Contents, now: Contents) -> str | None:
    changed = [
        _difference(path, before.get(path), now.get(path))
        for path in sorted({*before, *now})
        if before.get(path) != now.get(path)
    ]
    if not changed:
        return None
    more = f", and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return ", ".join(changed[:NAMED]) + more


def _difference(path: str, before: list[Any] | None, now: list[Any] | None) -> str:
    if before is None or now is None:
        return f"{path} is {'new' if before is None else 'gone'}"
    if len(before) == len(now) and before[:-1] == now[:-1]:
        return f"{path} was written to"
    return f"{path} was {_words(before)} and is {_words(now)}"


def _words(entry: list[Any]) -> str:
    """Without the time."""
    mode, *rest = entry
    size = f"{rest[-2]} bytes" if len(rest) >= 2 and isinstance(rest[-2], int) else str(rest[-1:])
    return f"{mode}, {size}"
