"""All workloads of a study with many in one chart, the slowest first, and what to do next."""

from __future__ import annotations

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from teiten.analysis.model.findings import ContrastResult, Verdict, VerdictKind
from teiten.model.installation import Version
from teiten.model.metrics import Better
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Code, Text
from teiten.report.charts.base import Chart
from teiten.report.charts.forest import ForestRow, forest
from teiten.report.sentences import verdict_word
from teiten.report.tables import Column, Table, TableCell, with_columns
from teiten.report.view.contrasts import forest_row, forest_words, with_sides
from teiten.report.view.kit import Kit
from teiten.report.view.usual import contrasts_of

MANY_WORKLOADS = 6
"""So many are told together first; their charts and causes are looked up."""


def overview(kit: Kit, contrasts: Sequence[ContrastResult]) -> tuple[Block, ...]:
    """The findings in words, charts by sides, and commands; none for few workloads."""
    if len({contrast.workload for contrast in contrasts}) < MANY_WORKLOADS:
        return ()
    by_sides: dict[tuple[str, str], list[ContrastResult]] = {}
    for contrast in contrasts:
        by_sides.setdefault((contrast.old, contrast.new), []).append(contrast)
    charts = (_chart(kit, at, of_sides) for at, of_sides in enumerate(by_sides.values(), start=1))
    undrawn = (contrast for contrast in contrasts if not any(_rows(kit, [contrast])))
    sentences = (counted_with_slower(kit, contrasts), _listed(kit, "overview.undrawn", undrawn))
    text = joined_sentences(sentences)
    return (Text(text), *filter(None, charts), *_next_steps(kit, contrasts))


def counted_with_slower(kit: Kit, contrasts: Sequence[ContrastResult]) -> str:
    """Count the comparisons of each verdict, the slower first, and name what is slower."""
    by_kind = sorted(contrasts, key=lambda contrast: [*VerdictKind].index(contrast.overall.kind))
    words = Counter(verdict_word(kit.t, contrast.overall) for contrast in by_kind)
    counts = (kit.t("summary.count", word=word, count=count) for word, count in words.items())
    separator = kit.t("list.separator")
    counted = kit.t("summary.counted", count=len(contrasts), words=separator.join(counts))
    slower = slower_ones(contrasts) if kit.study.conclusive else ()
    return joined_sentences((counted, _listed(kit, "overview.slower", slower)))


def _listed(kit: Kit, key: str, contrasts: Iterable[ContrastResult]) -> str:
    """A sentence that names workloads; empty without any."""
    names = dict.fromkeys(kit.names.workload(contrast.workload) for contrast in contrasts)
    return kit.t(key, listed=kit.t.listed(names)) if names else ""


def is_many(kit: Kit) -> bool:
    return len(list(kit.workloads_measured())) >= MANY_WORKLOADS


def in_one_table(
    kit: Kit, parts: Mapping[str, tuple[Block, ...]]
) -> tuple[tuple[Table, ...], dict[str, tuple[Block, ...]]]:
    """Tables of one row that many workloads have alike, as one with a row for each; and what is
    left of ``parts``, the blocks by workload."""
    alike: dict[tuple[int, tuple[Column, ...]], dict[str, Table]] = {}
    for workload, blocks in parts.items():
        for table in blocks:
            if isinstance(table, Table) and len(table.rows) == 1 and table.total is None:
                _, _, number = table.name.rpartition("-contrast-")
                if number.isdecimal():
                    alike.setdefault((int(number), table.columns), {})[workload] = table
    merged = {key: tables for key, tables in alike.items() if len(tables) >= MANY_WORKLOADS}
    gone = {id(table) for tables in merged.values() for table in tables.values()}
    left = {
        workload: tuple(block for block in blocks if id(block) not in gone)
        for workload, blocks in parts.items()
    }
    return tuple(_together(kit, *key, tables) for key, tables in merged.items()), left


def _together(
    kit: Kit, number: int, columns: tuple[Column, ...], tables: Mapping[str, Table]
) -> Table:
    contrast = contrasts_of(kit, next(iter(tables)))[number - 1]
    factors = kit.names.varied([level.context for level in contrast.levels])
    first = next(iter(tables.values())).rows[0]
    differ = [
        at
        for at in range(len(columns))
        if at >= len(factors) or any(table.rows[0][at] != first[at] for table in tables.values())
    ]
    titles, values = with_columns(differ, columns, (table.rows[0] for table in tables.values()))
    named = (TableCell(kit.names.workload(workload), kind="left") for workload in tables)
    return Table(
        f"workloads-contrast-{number}",
        with_sides(kit, kit.metric_title(contrast.metric), contrast),
        (Column(kit.t("table.workload")), *titles),
        tuple((name, *row) for name, row in zip(named, values, strict=True)),
        note=joined_sentences(dict.fromkeys(table.note for table in tables.values())),
    )


def slowest_first(contrasts: Iterable[ContrastResult]) -> list[ContrastResult]:
    """Contrasts by the speed of the new side; last those without a mean."""
    return sorted(contrasts, key=lambda contrast: _speed(contrast, contrast.overall))


def slower_ones(contrasts: Iterable[ContrastResult]) -> list[ContrastResult]:
    """Those whose new side is slower, over all levels or at one of them; the slowest first."""
    return [
        contrast
        for contrast in slowest_first(contrasts)
        if VerdictKind.SLOWER
        in (contrast.overall.kind, *(level.verdict.kind for level in contrast.levels))
    ]


def _speed(contrast: ContrastResult, verdict: Verdict) -> float:
    if verdict.effect is None:
        return float("inf")
    ratio = verdict.effect.ratio
    return 1 / ratio if contrast.metric.better is Better.LOWER and ratio > 0 else ratio


def _chart(kit: Kit, number: int, contrasts: Sequence[ContrastResult]) -> Chart | None:
    rows = sorted(_rows(kit, contrasts), key=lambda sorted_row: sorted_row[0])
    if not rows:
        return None
    first, ratio = contrasts[0], kit.names.ratio
    sides, keys = kit.ratio_of(first), {"title": "overview.title", "note": "overview.note"}
    words = forest_words(kit.t, first, sides, ratio, **keys)
    shown = [row for _, row in rows]
    return forest(kit.t, f"overview-{number}", shown, first.overall.delta, words)


def _rows(kit: Kit, contrasts: Iterable[ContrastResult]) -> Iterator[tuple[float, ForestRow]]:
    """A row for each workload; for each of its levels where they have no verdict together."""
    for contrast in contrasts:
        title, kind = kit.names.workload(contrast.workload), contrast.overall.kind
        verdicts = [(title, contrast.overall)]
        if len(contrast.levels) > 1 and kind in (VerdictKind.MIXED, VerdictKind.INCONCLUSIVE):
            verdicts = []
            for level in contrast.levels:
                values = {"workload": title, "level": kit.names.context(level.context)}
                verdicts.append((kit.t("overview.at", **values), level.verdict))
        for label, verdict in verdicts:
            row = forest_row(kit.t, label, verdict)
            if row is not None:
                yield _speed(contrast, verdict), row


def _next_steps(kit: Kit, contrasts: Sequence[ContrastResult]) -> tuple[Block, ...]:
    slower = slower_ones(contrasts)
    tables = _tables(kit) if slower else {}
    steps = [_bisect(kit, contrast, tables.get(contrast.workload, {})) for contrast in slower]
    commands = "\n".join(dict.fromkeys(filter(None, steps)))
    return (Text(kit.t("overview.next")), Code(commands, "sh")) if commands else ()


def _tables(kit: Kit) -> Mapping[str, Mapping[str, Any]]:
    """Script and data of each workload: from the study file, or the user's own files."""
    study = kit.study
    given = dict(override.partition("=")[::2] for override in study.overrides)
    own = given.get("script", "")
    if not own:
        written = tomllib.loads(study.source_text).get("workloads", ())
        return {str(table.get("name")): table for table in written}
    of_data = {
        key.removeprefix("data."): value for key, value in given.items() if key.startswith("data.")
    }
    sources = {workload.name: workload.options.source for workload in study.workloads}
    files = {name: own if own.endswith(file) else f"{own}/{file}" for name, file in sources.items()}
    return {name: {"script": file, "data": of_data} for name, file in files.items()}


def _bisect(kit: Kit, contrast: ContrastResult, table: Mapping[str, Any]) -> str:
    """The search for the commit, ready to paste but for the checkout; empty where the sides are no
    two releases, or the workload is no script. ``table``: the workload in the study file."""
    versions = {level: server.version for level, server in kit.analysis.plan.servers}
    tags = [_tag(versions.get(level)) for level in (contrast.old, contrast.new)]
    if not all(tags) or tags[0] == tags[1] or "script" not in table:
        return ""
    data = [f"data.{key}={value}" for key, value in table.get("data", {}).items()]
    words = ["teiten", "bisect", "--good", tags[0], "--bad", tags[1], "--source", "postgresql"]
    words += ["--script", table["script"], *(word for key in data for word in ("--set", key))]
    return shlex.join(words)


def _tag(version: Version | None) -> str:
    """The tag of a release from 10 on in PostgreSQL's repository."""
    if version is None or version.number < 100_000:
        return ""
    return f"REL_{version.number // 10_000}_{version.number % 10_000}"
