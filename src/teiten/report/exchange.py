"""A campaign's verdicts in the forms of other programs: JUnit's XML, the summary of a step of
GitHub Actions, Bencher's metric format, and what github-action-benchmark reads.

Only what the question is about is told, over all levels and at each. Benchmarks are named by
workload, levels and sides, so that the next campaign of the same question has the same names.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, Verdict, VerdictKind
from teiten.model.metrics import Better
from teiten.model.text import Language
from teiten.report.blocks import Block, Statement
from teiten.report.numbers import spaced
from teiten.report.parts import noted
from teiten.report.render.markdown import markdown_text
from teiten.report.sentences import is_open, verdict_sentence
from teiten.report.texts import valid_xml
from teiten.report.view.answer import line_of, primary
from teiten.report.view.contrasts import judged_by_pairs, verdict_table
from teiten.report.view.kit import Kit
from teiten.report.view.report import view


@dataclass(frozen=True)
class ToldVerdict:
    """One verdict with its name."""

    contrast: ContrastResult
    name: str
    verdict: Verdict
    text: str
    """A sentence, with the interval where there is one."""


def render_exchange(analysis: CampaignAnalysis, form: str, language: Language) -> tuple[str, bytes]:
    """The name of the file, and what stands in it. Names of benchmarks are English always."""
    if form == "github":
        return "summary.md", _github(analysis, language).encode()
    made = {"junit": _junit, "bencher": _bencher, "benchmark-action": _benchmark_action}[form]
    name = {"junit": "junit.xml", "bencher": "bencher.json"}.get(form, "benchmark.json")
    return name, made(analysis).encode()


def _told(analysis: CampaignAnalysis) -> Iterator[ToldVerdict]:
    kit = Kit(analysis, "en")
    for contrast in primary(kit):
        sides = f"{contrast.new} against {contrast.old}"
        of_all = verdict_sentence(analysis, contrast, "en")
        yield ToldVerdict(contrast, f"{contrast.workload}, {sides}", contrast.overall, of_all)
        if len(contrast.levels) < 2:
            continue
        for level in contrast.levels:
            context = ", ".join(f"{name} {value}" for name, value in level.context)
            name = f"{contrast.workload}, {context}, {sides}"
            text = line_of(kit, contrast, level.verdict, kit.names.context(level.context))
            yield ToldVerdict(contrast, name, level.verdict, text)


def _junit(analysis: CampaignAnalysis) -> str:
    """A verdict is a test: it fails where the new side is slower, be it at one level of a mixed
    verdict, and is skipped where nothing was decided, or the campaign supports no conclusion."""
    statements = list(_told(analysis))
    suite = ElementTree.Element(
        "testsuite",
        name=analysis.name,
        tests=str(len(statements)),
        failures=str(sum(_fails(statement.verdict) for statement in statements)),
        errors="0",
        skipped=str(sum(is_open(statement.verdict) for statement in statements)),
        time=f"{analysis.wall:.3f}",
    )
    for statement in statements:
        case = ElementTree.SubElement(
            suite, "testcase", classname=analysis.plan.study.name, name=statement.name, time="0"
        )
        if _fails(statement.verdict):
            ElementTree.SubElement(case, "failure", message=spaced(statement.text), type="slower")
        elif is_open(statement.verdict):
            ElementTree.SubElement(case, "skipped", message=spaced(statement.text))
        ElementTree.SubElement(case, "system-out").text = spaced(statement.text)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return valid_xml(ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)) + "\n"


def _fails(verdict: Verdict) -> bool:
    return verdict.conclusive and VerdictKind.SLOWER in verdict.holds_of


def _github(analysis: CampaignAnalysis, language: Language) -> str:
    """The first screen as Markdown, with the table of each answer in place of its chart."""
    kit = Kit(analysis, language)
    page = view(analysis, language)
    first = page.sections[0]
    shown: list[Block] = [
        replace(block, chart=None) if isinstance(block, Statement) else block
        for block in first.blocks
    ]
    for at, contrast in enumerate(primary(kit)):
        judged = judged_by_pairs(kit, contrast, noted=at == 0)
        shown.append(verdict_table(f"summary-{at}", judged, contrast.levels, contrast.overall))
    section = noted(kit.t, replace(first, blocks=tuple(shown)))
    return markdown_text(replace(page, sections=(section,)), analysis.teiten_version)


def _bencher(analysis: CampaignAnalysis) -> str:
    """Bencher's metric format: the ratio new ÷ old with its interval, without an end that is
    infinite. A verdict without an interval has no number to give, and is left out. What supports no
    conclusion is a measure of its own, so that no threshold is held against it."""
    benchmarks: dict[str, Any] = {}
    for statement in _told(analysis):
        effect = statement.verdict.effect
        if effect is not None:
            ends = {"lower_value": effect.low, "upper_value": effect.high}
            benchmarks[statement.name] = {
                f"{statement.contrast.metric.name}-ratio{_apart(statement.verdict)}": {
                    "value": effect.ratio,
                    **{name: end for name, end in ends.items() if math.isfinite(end)},
                }
            }
    return _json(benchmarks)


def _apart(verdict: Verdict) -> str:
    return "" if verdict.conclusive else "-no-conclusion"


def _benchmark_action(analysis: CampaignAnalysis) -> str:
    """``customSmallerIsBetter``: the time that the same work takes, new ÷ old."""
    benchmarks = []
    for statement in _told(analysis):
        effect = statement.verdict.effect
        if effect is None:
            continue
        if statement.contrast.metric.better is Better.HIGHER:
            effect = effect.inverse
        benchmarks.append(
            {
                "name": statement.name + _apart(statement.verdict),
                "unit": "time of new ÷ old",
                "value": effect.ratio,
                "range": f"{effect.low:.4f} to {effect.high:.4f}",
                "extra": spaced(statement.text),
            }
        )
    return _json(benchmarks)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
