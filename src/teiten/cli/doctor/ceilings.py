"""``teiten doctor --ceilings``: measure, and print what was measured now or earlier."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from rich.text import Text

from teiten.cli.doctor.text import Row, rows_text, words
from teiten.cli.main import Session
from teiten.host.ceilings.measure import PATTERNS, SECONDS, measure_ceilings
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import read_cpu_facts
from teiten.model.bottleneck import Ceilings
from teiten.model.text import Language
from teiten.report.numbers import bytes_text, significant

BANDWIDTHS = ("sequential_read", "sequential_write")
REQUESTS = ("random_reads", "random_writes", "fsyncs")
SPEEDS = ("memory", "core_speed", "machine_speed")


def measure(session: Session, language: Language) -> None:
    """Measure and keep the ceilings. Raises MachineError where the disk cannot be measured."""
    session.console.say(
        words(language)("doctor.ceilings_measuring", seconds=f"{PATTERNS * SECONDS:.0f}")
    )
    limits = read_cgroup_limits()
    measure_ceilings(session.workdir, logical=read_cpu_facts(limits.cpu_quota_cores).logical)


def ceilings_text(ceilings: Ceilings, language: Language, width: int) -> Text:
    """A line for each ceiling. ``width``: of the terminal, in cells."""
    say = words(language)
    moment = datetime.fromtimestamp(ceilings.measured_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    title = say("doctor.ceilings_title", tool=ceilings.tool, moment=moment)
    rows = [Row(say(f"doctor.{name}"), "dim", text) for name, text in _lines(ceilings, language)]
    return rows_text(title, rows, width)


def _lines(ceilings: Ceilings, language: Language) -> Iterator[tuple[str, str]]:
    per_second = words(language)
    for name in (*BANDWIDTHS, *REQUESTS, *SPEEDS):
        value = getattr(ceilings, name)
        shown = significant(value) if name in REQUESTS else bytes_text(value)
        yield f"ceiling_{name}", per_second("doctor.per_second", value=shown)
    yield "ceiling_cores", significant(ceilings.cores)
