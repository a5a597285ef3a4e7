"""The SQL of the probes: one file per view and range of versions, chosen by the file's name.

``pg_stat_bgwriter.16.sql`` is for 16 and later, until the next file of the same view
(``pg_stat_bgwriter.17.sql``) takes over. A view without a file for an old version does not exist
there.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources

from teiten.model.installation import Version

FOLDER = "sql"
WAIT_EVENTS = "wait_events"


def choose(names: Iterable[str], version: Version) -> dict[str, str]:
    """View to the name of its file for a server of ``version``. Pure.

    ``names``: file names ``VIEW.VERSION.sql``.
    """
    best: dict[str, tuple[Version, str]] = {}
    for name in names:
        view, _, rest = name.removesuffix(".sql").partition(".")
        since = Version.parse(rest)
        if since <= version and (view not in best or since > best[view][0]):
            best[view] = (since, name)
    return {view: name for view, (_, name) in sorted(best.items())}


@cache
def statements(version: Version) -> dict[str, str]:
    """View to its statement for a server of ``version``."""
    folder = resources.files(__package__) / FOLDER
    names = [entry.name for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return {
        view: (folder / name).read_text(encoding="utf-8")
        for view, name in choose(names, version).items()
    }
