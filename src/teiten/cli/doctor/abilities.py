"""The abilities of this installation, and for those that it lacks the command that adds them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from teiten.cli.doctor.text import Row, rows_text, words
from teiten.cli.plan.site import why_no_memory_limit
from teiten.host.facts.native_part import NativePart, how_to_get, native_part
from teiten.host.facts.stacks import of_host, profiling_caution
from teiten.host.system.namespaces import why_no_namespaces
from teiten.model.facts import HostFacts, Severity
from teiten.model.text import Language
from teiten.report.render.pdf import how_to_get_pdf, missing_for_pdf

ROOT = shlex.join(["sudo", sys.executable, "-m", "teiten", "…"])


@dataclass(frozen=True)
class Ability:
    """Something that an installation can do, or lacks a thing for."""

    name: str
    """pairs, data, pdf, profiles, emulation."""
    can: bool = True
    lacks: str | None = None
    """The thing that is missing, or too old, in a few words; None where nothing is."""
    command: str | None = None
    """The command that adds it."""


def abilities(facts: HostFacts) -> tuple[Ability, ...]:
    """The abilities of this process's installation, on this machine. Changes nothing."""
    return (*_native(native_part()), _pdf(), _profiles(facts), _emulation())


def _native(part: NativePart) -> Iterator[Ability]:
    lacks = {
        NativePart.HERE: None,
        NativePart.OLD: "the native part is of an earlier Teiten",
        NativePart.ABSENT: "no native part",
    }[part]
    command = how_to_get() if lacks else None
    yield Ability("pairs", part is NativePart.HERE, lacks, command)
    yield Ability("data", part is not NativePart.ABSENT, lacks, command)


def _pdf() -> Ability:
    missing = missing_for_pdf()
    return (
        Ability("pdf", False, ", ".join(missing), how_to_get_pdf()) if missing else Ability("pdf")
    )


def _profiles(facts: HostFacts) -> Ability:
    caution = profiling_caution(of_host(facts))
    if caution is None or caution.severity is Severity.NOTE:
        return Ability("profiles")
    lacks, command = {
        "profile-no-perf": ("no perf", "sudo apt-get install linux-perf"),
        "profile-forbidden": (
            "perf_event_paranoid forbids it",
            "sudo sysctl kernel.perf_event_paranoid=1",
        ),
    }.get(caution.code, ("only Linux has perf", None))
    return Ability("profiles", False, lacks, command)


def _emulation() -> Ability:
    lacks = why_no_namespaces()
    if lacks is None:
        refusal = why_no_memory_limit()
        if refusal is None:
            return Ability("emulation")
        return Ability("emulation", False, refusal.message, refusal.hint)
    if "iproute2" in lacks:
        return Ability("emulation", False, lacks, "sudo apt-get install iproute2")
    return Ability("emulation", False, lacks, ROOT if "root" in lacks else None)


def abilities_text(shown: tuple[Ability, ...], language: Language, width: int) -> Text:
    """Each ability with what is missing, and below it the command. ``width``: in cells."""
    say, rows = words(language), []
    for ability in shown:
        label, command = say(f"doctor.ability_{ability.name}"), ability.command or ""
        if ability.lacks:
            key = "doctor.ability_but" if ability.can else "doctor.ability_no"
            rows.append(Row(label, "yellow", say(key, lacks=ability.lacks), command))
        else:
            rows.append(Row(label, "dim", say("doctor.yes"), command))
    return rows_text(say("doctor.abilities"), rows, width)
