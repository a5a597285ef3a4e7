"""Text that ``teiten doctor`` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from teiten.cli.text.layout import wrap
from teiten.model.bottleneck import Ceilings
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.pairs_check import CheckedNumber, PairsCheck
from teiten.model.text import Language
from teiten.report.machine import machine_rows
from teiten.report.numbers import bytes_text, moment, significant
from teiten.report.texts import Texts, caution_text, read_entries, texts

WIDEST = 90
"""Cells: longer lines are hard to read, however wide the terminal is."""
NARROWEST = 20
GAP = 2
ARROW = "→ "
ARROW_WIDTH = 2


BANDWIDTHS = ("sequential_read", "sequential_write")
REQUESTS = ("random_reads", "random_writes", "fsyncs")
SPEEDS = ("memory", "core_speed", "machine_speed")


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
    """A line for each fact that is known, its label before it. ``width``: of the terminal, in
    cells."""
    say = words(language)
    load = None if facts.load_average is None else f"{facts.load_average:.2f}"
    named = [
        *machine_rows(texts(language), facts),
        (say("doctor.load"), load),
        (say("doctor.clock_source"), facts.clock_source),
        (say("doctor.instruments"), say("doctor.separator").join(_instruments(facts, say))),
    ]
    rows = [Row(label, "dim", value) for label, value in named if value]
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


def _instruments(facts: HostFacts, say: Texts) -> Iterator[str]:
    paranoid = facts.perf_event_paranoid
    if paranoid is not None:
        allowed = facts.is_root or paranoid <= 1
        yield say("doctor.perf_yes") if allowed else say("doctor.perf_no", paranoid=paranoid)
    yield say("doctor.pressure_yes" if facts.pressure_stall else "doctor.pressure_no")
    yield say("doctor.drop_yes" if facts.can_drop_page_cache else "doctor.drop_no")


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
    """Two lines for each number and number of clients. ``width``: of the terminal, in cells."""
    say = words(language)
    title = say(
        "doctor.pairs_title",
        version=check.version,
        starts=check.starts,
        load=f"{check.load_average:.1f}",
        moment=moment(check.measured_at),
    )
    rows = [row for number in check.numbers for row in _rows(number, language)]
    return rows_text(title, rows, width)


def _rows(number: CheckedNumber, language: Language) -> Iterator[Row]:
    say = words(language)
    equal = say(
        "doctor.pairs_equal",
        mean=signed(number.mean),
        low=signed(number.low),
        high=signed(number.high),
        deviation=f"{number.deviation:.2%}".replace("%", " %"),
        band=f"{math.expm1(number.band) * 100:.2g} %",
        holds=say(f"doctor.pairs_{number.equal}"),
    )
    slope = say(
        "doctor.pairs_slope",
        slope=f"{number.slope:.2f}",
        low=f"{number.slope_low:.2f}",
        high=f"{number.slope_high:.2f}",
        holds=say(f"doctor.pairs_{number.true_to_scale}"),
    )
    label = say("doctor.pairs_of", number=say(f"doctor.pairs_{number.name}"), n=number.clients)
    yield Row(label, "dim", equal)
    yield Row("", "dim", slope)


def signed(logarithm: float) -> str:
    """``+1.20 %`` of the logarithm of 1.012."""
    return f"{math.expm1(logarithm) * 100:+.2f} %"


def ceilings_text(ceilings: Ceilings, language: Language, width: int) -> Text:
    """A line for each ceiling. ``width``: of the terminal, in cells."""
    say = words(language)
    title = say("doctor.ceilings_title", tool=ceilings.tool, moment=moment(ceilings.measured_at))
    shown = {}
    for name in (*BANDWIDTHS, *REQUESTS, *SPEEDS):
        value = getattr(ceilings, name)
        text = significant(value) if name in REQUESTS else bytes_text(value)
        shown[name] = say("doctor.per_second", value=text)
    shown["cores"] = significant(ceilings.cores)
    rows = [Row(say(f"doctor.ceiling_{name}"), "dim", text) for name, text in shown.items()]
    return rows_text(title, rows, width)
