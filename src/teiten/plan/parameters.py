"""Parameters of a plan that a server would refuse, told before the first trial; pure.

The servers themselves decide (``execute.postgres.parameters`` asks them); the table of versions
beside this file only words the hint.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from teiten.errors import UsageError
from teiten.model.installation import Version
from teiten.model.settings import Refusal
from teiten.suggest import did_you_mean

TABLE = Path(__file__).with_name("parameter_versions.toml")


def check_parameters(refusals: Sequence[Refusal]) -> None:
    """Raise UsageError for the first refusal, with the number of the others."""
    if not refusals:
        return
    refusal, *others = refusals
    server, name = f"server {refusal.server}: PostgreSQL {refusal.version}", refusal.name
    more = f" (and {len(others)} more)" if others else ""
    if refusal.unknown:
        raise UsageError(
            f"{server} does not know the parameter {name}{more}",
            f"{_lifetime_text(refusal) or _meant(refusal)}leave {name} out, or choose other"
            " servers",
        )
    raise UsageError(
        f"{server} refuses {name} = {refusal.value}: {refusal.message}{more}", _value_hint(refusal)
    )


def lifetime(name: str) -> tuple[str | None, ...]:
    """The first and the last major version that has a parameter; None is beyond those known."""
    ends = (_table()[end].items() for end in ("since", "until"))
    return tuple(next((major for major, names in end if name in names), None) for end in ends)


def _meant(refusal: Refusal) -> str:
    near = did_you_mean(refusal.name, refusal.known).strip()
    return f"{near} Else " if near else ""


def _lifetime_text(refusal: Refusal) -> str:
    since, until = lifetime(refusal.name)
    if since is not None and until is not None:
        return f"{refusal.name} exists in PostgreSQL {since} to {until}: "
    if since is not None:
        return f"{refusal.name} exists since PostgreSQL {since}: "
    return "" if until is None else f"{refusal.name} exists up to PostgreSQL {until}: "


def _value_hint(refusal: Refusal) -> str:
    name, value = refusal.name, refusal.value
    own = f"{refusal.hint.rstrip('.')}; " if refusal.hint else ""
    since, option = (
        _table()[table].get(name, {}).get(value.lower()) for table in ("values", "configure")
    )
    if since is not None and refusal.version < Version.parse(since):
        return f"{own}{value} exists since PostgreSQL {since}: choose later servers"
    if option is not None:
        return (
            f"{own}{value} needs a server that was built {option}: yours, or teiten pg install"
            f" {refusal.version.major} --build --configure {option}"
        )
    if since is not None:
        return f"{own}{value} needs a server that was built with it"
    return f"{own}correct {name} in the study or on the command line"


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
