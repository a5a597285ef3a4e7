"""Parameters of a plan that a server would refuse, told before the first trial; pure.

The servers themselves decide (``execute.postgres.parameters`` asks them); the table of versions
beside this file only words the hint.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from teiten.errors import UsageError
from teiten.model.installation import Version
from teiten.model.settings import Refusal
from teiten.suggest import did_you_mean

TABLE = Path(__file__).with_name("parameter_versions.toml")


@dataclass(frozen=True)
class Lifetime:
    """Major versions in which a parameter exists; None is beyond those that are known."""

    since: str | None = None
    until: str | None = None


def check_parameters(refusals: Sequence[Refusal]) -> None:
    """Raise UsageError for the first refusal, with the number of the others."""
    if not refusals:
        return
    one = refusals[0]
    others = len(refusals) - 1
    more = f" (and {others} more)" if others else ""
    if one.unknown:
        raise UsageError(
            f"server {one.server}: PostgreSQL {one.version} does not know the parameter"
            f" {one.name}{more}",
            f"{_lifetime_text(one) or _meant(one)}leave {one.name} out, or choose other servers",
        )
    raise UsageError(
        f"server {one.server}: PostgreSQL {one.version} refuses {one.name} = {one.value}:"
        f" {one.said}{more}",
        _value_hint(one),
    )


def lifetime(name: str) -> Lifetime:
    """When a parameter came and went, as far as it is known."""
    table = _table()
    return Lifetime(_major_of(name, table["since"]), _major_of(name, table["until"]))


def _meant(one: Refusal) -> str:
    near = did_you_mean(one.name, one.known).strip()
    return f"{near} Else " if near else ""


def _lifetime_text(one: Refusal) -> str:
    known = lifetime(one.name)
    if known.since is not None and known.until is not None:
        return f"{one.name} exists in PostgreSQL {known.since} to {known.until}: "
    if known.since is not None:
        return f"{one.name} exists since PostgreSQL {known.since}: "
    if known.until is not None:
        return f"{one.name} exists up to PostgreSQL {known.until}: "
    return ""


def _value_hint(one: Refusal) -> str:
    own = f"{one.hint.rstrip('.')}; " if one.hint else ""
    since = _table()["values"].get(one.name, {}).get(one.value.lower())
    if since is not None and one.version < Version.parse(since):
        return f"{own}{one.value} exists since PostgreSQL {since}: choose later servers"
    option = _table()["configure"].get(one.name, {}).get(one.value.lower())
    if option is not None:
        return (
            f"{own}{one.value} needs a server that was built {option}: yours, or teiten pg install"
            f" {one.version.major} --build --configure {option}"
        )
    if since is not None:
        return f"{own}{one.value} needs a server that was built with it"
    return f"{own}correct {one.name} in the study or on the command line"


def _major_of(name: str, table: dict[str, list[str]]) -> str | None:
    return next((major for major, names in table.items() if name in names), None)


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
