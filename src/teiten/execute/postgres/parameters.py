"""Asks servers what they would refuse of a plan's parameters, without starting them.

``postgres -C NAME -D FOLDER`` reads FOLDER's postgresql.conf, complains of what is wrong in it, and
prints a parameter: no data directory is needed (postgres reference, -C).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from teiten.execute.postgres.binaries import ask
from teiten.execute.postgres.conf import quote
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.users import is_root, server_user
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.settings import Refusal

PROBED = "port"
"""A parameter that every version prints at once."""
_COMPLAINT = re.compile(
    r'LOG:\s+(?P<said>.*?)(?: in file ".*" line \d+)?\n(?:.*HINT:\s+(?P<hint>.*))?', re.MULTILINE
)
BY_SESSION = frozenset({"superuser", "user"})
"""Contexts of parameters that SET changes."""
_UNKNOWN = "unrecognized configuration parameter"
_NAMED = re.compile(r'parameter "([^"]+)"')


def read_refusals(plan: Plan) -> tuple[Refusal, ...]:
    """Ask the plan's servers about its parameters, once for each combination."""
    servers = dict(plan.servers)
    asked = dict.fromkeys((trial.cell.server, trial.settings) for trial in plan.trials)
    names = (
        refusal
        for level, settings in asked
        for refusal in refusals(level, servers[level], dict(settings))
    )
    return tuple(dict.fromkeys(names))


def refusals(
    level: str, installation: Installation, settings: Mapping[str, str]
) -> Iterator[Refusal]:
    """Ask a server about parameters; no refusals where it cannot be asked: its start will tell."""
    if installation.postgres is None or not settings:
        return
    for complaint in _COMPLAINT.finditer(_ask(installation.postgres, installation, settings)):
        name = next(
            (named for named in _NAMED.findall(complaint["said"]) if named in settings), None
        )
        if name is not None:
            unknown = complaint["said"].startswith(_UNKNOWN)
            known = known_parameters(installation) if unknown else ()
            yield Refusal(
                server=level,
                version=installation.version,
                name=name,
                value="" if unknown else settings[name],
                message=_UNKNOWN if unknown else complaint["said"],
                unknown=unknown,
                hint=(complaint["hint"] or "").strip(),
                known=known,
            )


def known_parameters(installation: Installation) -> tuple[str, ...]:
    """By ``postgres --describe-config``, which leaves out what no postgresql.conf is to hold."""
    return tuple(name for name, _ in _described(installation))


def session_parameters(installation: Installation) -> frozenset[str]:
    """Find the parameters that a superuser's session can set, in lower case."""
    described = _described(installation)
    return frozenset(name.lower() for name, context in described if context in BY_SESSION)


@cache
def _described(installation: Installation) -> tuple[tuple[str, str], ...]:
    """Each parameter and its context (pg_settings.context); none of a server that cannot tell."""
    if installation.postgres is None:
        return ()
    try:
        done = ask(
            installation.postgres, "--describe-config", library_path=installation.library_path
        )
    except OSError:
        return ()
    rows = (line.split("\t") for line in done.stdout.decode("utf-8", "replace").splitlines())
    return tuple((row[0], row[1]) for row in rows if len(row) > 1)


def _ask(postgres: Path, installation: Installation, settings: Mapping[str, str]) -> str:
    lines = (f"{name} = {quote(value)}\n" for name, value in settings.items())
    user = server_user() if is_root() else None
    with tempfile.TemporaryDirectory(prefix="teiten-parameters-") as folder:
        with HeldFolder.open_itself(Path(folder)) as held:
            held.write("postgresql.conf", "".join(lines).encode(), user=user)
            held.give(None, 0o711)  # entered by the servers' user, but root's
        try:
            done = ask(postgres, "-C", PROBED, "-D", folder, library_path=installation.library_path)
        except OSError:
            return ""
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace")
