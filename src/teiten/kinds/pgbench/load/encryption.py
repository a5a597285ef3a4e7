"""How the generator of pairs is to encrypt its connections: as libpq would, of an address."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from teiten.errors import WorkloadError

DISABLE, DEFAULT = "disable", "prefer"
"""``sslmode``: what leaves all in clear, and what libpq takes where nothing is said."""
FILES = {"roots": "sslrootcert", "certificate": "sslcert", "key": "sslkey"}
"""The generator's words for files, and libpq's."""
KEPT_AT_HOME = {"sslrootcert": "root.crt", "sslcert": "postgresql.crt", "sslkey": "postgresql.key"}
"""Where libpq looks without being told, in ``~/.postgresql``."""
UNKNOWN = ("sslcrl", "sslcrldir", "sslkeylogfile", "ssl_max_protocol_version")
ONLY = {"sslnegotiation": "postgres", "gssencmode": DISABLE, "ssl_min_protocol_version": "TLSv1.2"}
"""Parameters of which the generator knows one value."""


def encryption_of(given: Mapping[str, str]) -> dict[str, str] | None:
    """``PairedServer.encryption`` of libpq's parameters of a server; None where connections are in
    clear: by a socket of this machine, or since the address says so. Raises WorkloadError where the
    address asks for what the generator cannot."""
    mode = given.get("sslmode", DEFAULT)
    if mode == DISABLE or given.get("host", "").startswith("/"):
        return None
    unknown = [name for name in UNKNOWN if given.get(name)]
    unknown += [name for name, value in ONLY.items() if given.get(name) not in {None, "", value}]
    if unknown:
        raise WorkloadError(
            f"the generator of pairs does not know {', '.join(unknown)} of a server's address",
            "have the sides loaded one after the other, by pgbench: --way classic",
        )
    home = Path.home() / ".postgresql"
    known = {name: given.get(parameter) or "" for name, parameter in FILES.items()}
    for name, parameter in FILES.items():
        kept = home / KEPT_AT_HOME[parameter]
        if not known[name] and kept.is_file():
            known[name] = str(kept)
    return {"mode": mode, **{name: value for name, value in known.items() if value}}
