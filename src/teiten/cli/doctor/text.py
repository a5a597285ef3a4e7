"""Text that ``teiten doctor`` prints.

Result of a check of paired transactions, in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from teiten.cli.text.layout import wrap
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.pairs_check import CheckedNumber, PairsCheck
from teiten.model.text import Language
from teiten.report.numbers import bytes_text
from teiten.report.texts import Texts, caution_text, read_entries

WIDEST = 90
"""Cells: longer lines are hard to read, however wide the terminal is."""
NARROWEST = 20
GAP = 2
ARROW = "→ "
ARROW_WIDTH = 2


class Row(NamedTuple):
    """A label in its style, a text beside it, and a dimmed one below."""

    label: str
    style: str
    text: str
    advice: str = ""


@cache
def words(language: Language) -> Texts:
    """The words of this verb."""
    return Texts(language, read_entries(f"doctor.{language}.toml"))


def facts_text(facts: HostFacts, language: Language, width: int) -> Text:
    """A line for each fact, its label before it. ``width``: of the terminal, in cells."""
    say = words(language)
    rows = [Row(say(f"doctor.{label}"), "dim", value) for label, value in fact_lines(facts, say)]
    return rows_text(say("doctor.machine"), rows, width)


def cautions_text(cautions: tuple[Caution, ...], language: Language, width: int) -> Text:
    """Severity, what it is, and below it what to do."""
    say = words(language)
    title = say("doctor.cautions")
    if not cautions:
        return rows_text(title, [Row("", "", say("doctor.no_cautions"))], width)
    rows = []
    for caution in cautions:
        what, advice = caution_text(caution, language)
        style = "yellow" if caution.severity is Severity.WARNING else "dim"
        rows.append(Row(say(f"doctor.{caution.severity.value}"), style, what, advice))
    return rows_text(title, rows, width)


def summary(cautions: tuple[Caution, ...], language: Language) -> str:
    """How many of each kind."""
    warnings = sum(caution.severity is Severity.WARNING for caution in cautions)
    return words(language)("doctor.summary", warnings=warnings, notes=len(cautions) - warnings)


def fact_lines(facts: HostFacts, say: Texts) -> Iterator[tuple[str, str]]:
    """Key of the label, and the value as text."""
    yield "system", f"{facts.distribution} ({facts.architecture})"
    yield "kernel", f"{facts.system} {facts.kernel}"
    yield "virtualisation", _virtualisation(facts, say)
    yield "container", facts.container or say("doctor.none")
    yield from _processor(facts, say)
    yield from _memory(facts, say)
    yield from _disk(facts, say)
    if facts.load_average is not None:
        yield "load", f"{facts.load_average:.2f}"
    yield "clock_source", facts.clock_source or say("doctor.unknown")
    yield "instruments", _joined(_instruments(facts, say), say)


def _virtualisation(facts: HostFacts, say: Texts) -> str:
    if facts.virtualisation == "unknown":
        return say("doctor.unknown")
    return facts.virtualisation or say("doctor.bare_metal")


def _processor(facts: HostFacts, say: Texts) -> Iterator[tuple[str, str]]:
    cpu = facts.cpu
    yield "cpu", cpu.model
    cores = [say("doctor.cores_text", logical=cpu.logical, online=cpu.online)]
    if cpu.physical_cores:
        unknown = say("doctor.unknown")
        cores.append(
            say(
                "doctor.cores_physical",
                cores=cpu.physical_cores,
                sockets=cpu.sockets or unknown,
                threads=cpu.threads_per_core or unknown,
            )
        )
    if cpu.numa_nodes:
        cores.append(say("doctor.numa", nodes=cpu.numa_nodes))
    if cpu.quota_cores is not None:
        cores.append(say("doctor.quota", quota=f"{cpu.quota_cores:g}"))
    yield "cores", _joined(cores, say)
    yield "clock", _joined(_clock(facts, say), say) or say("doctor.unknown")


def _clock(facts: HostFacts, say: Texts) -> Iterator[str]:
    cpu = facts.cpu
    if cpu.maximum_mhz:
        yield say("doctor.maximum", mhz=f"{cpu.maximum_mhz:.0f}")
    if cpu.governor:
        yield say("doctor.governor", governor=cpu.governor)
    if cpu.turbo is not None:
        yield say("doctor.turbo_on" if cpu.turbo else "doctor.turbo_off")


def _memory(facts: HostFacts, say: Texts) -> Iterator[tuple[str, str]]:
    memory = facts.memory
    total, available = bytes_text(memory.total), bytes_text(memory.available)
    yield "memory", say("doctor.memory_text", total=total, available=available)
    if memory.swap_total:
        total, used = bytes_text(memory.swap_total), bytes_text(memory.swap_used)
        yield "swap", say("doctor.swap_text", total=total, used=used)
    else:
        yield "swap", say("doctor.none")
    if memory.huge_page_size is not None:
        yield (
            "huge_pages",
            say(
                "doctor.huge_pages_text",
                total=memory.huge_pages_total or 0,
                free=memory.huge_pages_free or 0,
                size=bytes_text(memory.huge_page_size),
                transparent=memory.transparent_huge_pages or say("doctor.unknown"),
            ),
        )


def _disk(facts: HostFacts, say: Texts) -> Iterator[tuple[str, str]]:
    disk = facts.disk
    total, free = bytes_text(disk.total), bytes_text(disk.free)
    yield "disk", say("doctor.disk_text", total=total, free=free, kind=disk.kind)
    options = f" ({disk.options.replace(',', ', ')})" if disk.options else ""
    yield "file_system", f"{disk.mount_point}: {disk.file_system} {disk.device}{options}"


def _instruments(facts: HostFacts, say: Texts) -> Iterator[str]:
    paranoid = facts.perf_event_paranoid
    if paranoid is not None:
        allowed = facts.is_root or paranoid <= 1
        yield say("doctor.perf_yes") if allowed else say("doctor.perf_no", paranoid=paranoid)
    yield say("doctor.pressure_yes" if facts.pressure_stall else "doctor.pressure_no")
    yield say("doctor.drop_yes" if facts.can_drop_page_cache else "doctor.drop_no")


def _joined(parts: Iterable[str], say: Texts) -> str:
    return say("doctor.separator").join(parts)


def rows_text(title: str, rows: list[Row], width: int) -> Text:
    """A title, and below it rows of a label, a text, and a further one; wrapped by hand."""
    indent = max(cell_len(row.label) for row in rows) + GAP
    room = max(NARROWEST, min(width - indent, WIDEST))
    text = Text(title, style="bold")
    for row in rows:
        first, *rest = wrap(row.text, room)
        text.append("\n" + set_cell_size(row.label, indent), style=f"not bold {row.style}".strip())
        text.append(first, style="not bold")
        for line in rest:
            text.append(f"\n{' ' * indent}{line}", style="not bold")
        for number, line in enumerate(wrap(row.advice, room - ARROW_WIDTH) if row.advice else ()):
            mark = ARROW if number == 0 else " " * ARROW_WIDTH
            text.append(f"\n{' ' * indent}{mark}{line}", style="not bold dim")
    return text


def pairs_text(check: PairsCheck, language: Language, width: int) -> Text:
    """Two lines for each number. ``width``: of the terminal, in cells."""
    say = words(language)
    title = say(
        "doctor.pairs_title",
        version=check.version,
        clients=check.clients,
        starts=check.starts,
        load=f"{check.load_average:.1f}",
        moment=datetime.fromtimestamp(check.measured_at, UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    rows = [row for number in check.numbers for row in _rows(number, language)]
    return rows_text(title, rows, width)


def _rows(one: CheckedNumber, language: Language) -> Iterator[Row]:
    say = words(language)
    equal = say(
        "doctor.pairs_equal",
        mean=signed(one.mean),
        low=signed(one.low),
        high=signed(one.high),
        deviation=f"{one.deviation:.2%}".replace("%", " %"),
        band=f"{math.expm1(one.band) * 100:.2g} %",
        holds=say(f"doctor.pairs_{one.equal}"),
    )
    slope = say(
        "doctor.pairs_slope",
        slope=f"{one.slope:.2f}",
        low=f"{one.slope_low:.2f}",
        high=f"{one.slope_high:.2f}",
        holds=say(f"doctor.pairs_{one.true_to_scale}"),
    )
    yield Row(say(f"doctor.pairs_{one.name}"), "dim", equal)
    yield Row("", "dim", slope)


def signed(logarithm: float) -> str:
    """``+1.20 %`` of the logarithm of 1.012."""
    return f"{math.expm1(logarithm) * 100:+.2f} %"
