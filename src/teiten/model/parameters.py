"""Server parameters that a server would refuse."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.model.installation import Version


@dataclass(frozen=True)
class Refusal:
    """One complaint of a server about one of its parameters."""

    server: str
    """The level of the factor server."""
    version: Version
    name: str
    value: str
    """Empty where the parameter is unknown: no value would do."""
    said: str
    """In the server's own words."""
    unknown: bool = False
    """It does not know the parameter at all."""
    known: tuple[str, ...] = ()
    """The parameters that it knows, where it does not know this one."""
    hint: str = ""
    """The server's own: ``Available values: …``."""
