"""This machine and its installations: what ``doctor`` and ``pg`` print as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from teiten.cli.doctor.abilities import Ability
from teiten.cli.printed.form import SPREAD, From, Keyword, Names, taken
from teiten.execute.postgres.inspection import read_build
from teiten.model.build import BuildFacts
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.installation import Installation, Source
from teiten.model.pairs_check import CheckedNumber, Holds, PairsCheck
from teiten.model.text import Language
from teiten.report.texts import caution_text


@dataclass(frozen=True)
class JsonCaution:
    code: str
    severity: Severity
    values: Names


@dataclass(frozen=True)
class JsonExplainedCaution:
    caution: Annotated[JsonCaution, SPREAD]
    what: str
    advice: str


@dataclass(frozen=True)
class JsonCheckedNumber:
    number: Annotated[CheckedNumber, SPREAD, From("")]
    equal: Holds
    true_to_scale: Holds


@dataclass(frozen=True)
class JsonPairsCheck:
    """Logarithms of ratios, and what each came to."""

    check: Annotated[PairsCheck, SPREAD, From("")]
    numbers: tuple[JsonCheckedNumber, ...]
    holds: Annotated[Holds, From(PairsCheck.all_hold)]


@dataclass(frozen=True)
class JsonMachine:
    """Facts in base units, and cautions with their texts."""

    facts: HostFacts
    cautions: tuple[JsonExplainedCaution, ...]
    pairs_check: Annotated[JsonPairsCheck | None, "The last of teiten doctor --pairs."]
    abilities: tuple[Ability, ...]


def json_machine(
    facts: HostFacts,
    cautions: Sequence[Caution],
    check: PairsCheck | None,
    abilities: Sequence[Ability],
    language: Language,
) -> JsonMachine:
    explained = (
        JsonExplainedCaution(taken(JsonCaution, caution), *caution_text(caution, language))
        for caution in cautions
    )
    checked = taken(JsonPairsCheck, check) if check else None
    return JsonMachine(facts, tuple(explained), checked, tuple(abilities))


@dataclass(frozen=True)
class JsonBuiltAs:
    compiler: str | None
    optimisation: str | None
    link_time_optimisation: bool | None
    assertions: bool | None
    jit: bool | None
    icu: bool | None
    cflags: str | None
    configure: str | None


@dataclass(frozen=True)
class JsonInstallation:
    name: Annotated[str, "Unique on this machine."]
    version: Annotated[str, Keyword("pattern", r"^\d+\.\d+(\.\d+)?$")]
    version_number: Annotated[int, "server_version_num", From("version.number")]
    source: Source
    managed: Annotated[bool, "Teiten installed it."]
    server: Annotated[bool, "It is more than client programs."]
    bin_directory: Path
    pgbench: Path | None
    psql: Path | None
    contrib: Annotated[tuple[str, ...], Keyword("uniqueItems", True)]
    fingerprint: Annotated[str, "SHA-256 of the server's program."]
    build: Annotated[BuildFacts | None, "From what and how Teiten built it."]
    built_as: Annotated[
        JsonBuiltAs | None,
        "What its program says of how it was built; null where it says nothing.",
    ]


def json_installation(installation: Installation) -> JsonInstallation:
    return taken(
        JsonInstallation,
        installation,
        server=installation.postgres is not None,
        contrib=sorted(installation.contrib),
        built_as=read_build(installation.postgres),
    )
