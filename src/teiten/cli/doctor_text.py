"""The tables of ``teiten doctor``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from rich.table import Table
from rich.text import Text

from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.text import Language
from teiten.report.numbers import bytes_text
from teiten.report.texts import Texts, caution_text, read_entries

WIDTH = 100
"""Lines longer than this are hard to read, however wide the terminal is."""


@cache
def words(language: Language) -> Texts:
    """The words of this verb."""
    return Texts(language, read_entries(f"doctor.{language}.toml"))


def facts_table(facts: HostFacts, language: Language) -> Table:
    """Label and value of each fact."""
    say = words(language)
    table = _table(say("doctor.machine"))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in fact_lines(facts, say):
        table.add_row(say(f"doctor.{label}"), Text(value))
    return table


def cautions_table(cautions: tuple[Caution, ...], language: Language) -> Table:
    """Severity, what it is, and what to do."""
    say = words(language)
    table = _table(say("doctor.cautions"))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for caution in cautions:
        what, advice = caution_text(caution, language)
        style = "yellow" if caution.severity is Severity.WARNING else "dim"
        text = Text(what)
        text.append(f"\n→ {advice}", style="dim")
        table.add_row(Text(say(f"doctor.{caution.severity.value}"), style=style), text)
    if not cautions:
        table.add_row("", Text(say("doctor.no_cautions")))
    return table


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
    yield "instruments", _joined(_instruments(facts, say))


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
    yield "cores", _joined(cores)
    yield "clock", _joined(_clock(facts, say)) or say("doctor.unknown")


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
    yield (
        "file_system",
        _joined([f"{disk.file_system} {disk.mount_point}", disk.device])
        + (f" ({disk.options.replace(',', ', ')})" if disk.options else ""),
    )


def _instruments(facts: HostFacts, say: Texts) -> Iterator[str]:
    paranoid = facts.perf_event_paranoid
    if paranoid is not None:
        allowed = facts.is_root or paranoid <= 1
        yield say("doctor.perf_yes") if allowed else say("doctor.perf_no", paranoid=paranoid)
    yield say("doctor.pressure_yes" if facts.pressure_stall else "doctor.pressure_no")
    yield say("doctor.drop_yes" if facts.can_drop_page_cache else "doctor.drop_no")


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(part for part in parts if part)


def _table(title: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        show_header=False,
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
