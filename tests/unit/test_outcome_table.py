"""What a terminal shows of a campaign: cautions by cause before, a table of verdicts after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, Verdict
from teiten.cli.campaign.begin import tell_cautions
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.cli.text.cautions import brief_cautions
from teiten.cli.text.outcome import MOST_LEVELS, outcome_lines
from teiten.host.system.paths import Workdir
from teiten.model.facts import Caution, Severity
from teiten.model.units import Share
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_probes import invented_probes
from tests.fixtures.invented_queries import invented_queries

ANALYSIS = invented_analysis(seconds=2)
BUDGET = Caution(
    "budget-short", Severity.WARNING, (("pairs", "2"), ("least", "6"), ("budget", "9m"))
)
MANY = (
    Caution("few-cores", Severity.WARNING, (("cores", "2"),)),
    Caution("shared-cores", Severity.NOTE, (("cores", "2"),)),
    Caution("virtual-machine", Severity.NOTE, (("hypervisor", "kvm"),)),
    Caution("other-load", Severity.WARNING, (("load", "2.48"), ("cores", "2"))),
    Caution("cores-nodes", Severity.NOTE, (("cores", "8"),)),
    Caution("rotational-disk", Severity.NOTE, (("device", "sda"),)),
    Caution("read-before", Severity.NOTE, (("servers", "18"),)),
    BUDGET,
)


def test_the_table_has_old_new_ratio_interval_and_verdict_of_every_level() -> None:
    header, *lines, note = outcome_lines(ANALYSIS, None)
    assert header.split() == ["TPS", "17.10", "18.4", "new/old", "(interval)", "verdict"]
    (level,) = [line for line in lines if line.startswith("  4 clients")][:1]
    assert level.split()[2:4] == ["782", "798"] and level.endswith("1.017 (1.009–1.025)  faster")
    assert [line for line in lines if line.startswith("Single-row update")], lines
    assert "97.5" in note and "δ = 2" in note


def test_every_level_of_the_intervals_in_a_table_is_said() -> None:
    """Workloads with other numbers of comparisons have other ones; only what is shown is said."""

    def surely(verdict: Verdict, confidence: float) -> Verdict:
        assert verdict.effect is not None
        return replace(verdict, effect=replace(verdict.effect, confidence=Share(confidence)))

    one = ANALYSIS.contrasts[0]
    levels = tuple(replace(level, verdict=surely(level.verdict, 0.995)) for level in one.levels)
    first = replace(one, overall=surely(one.overall, 0.975), levels=levels)
    surer = replace(first, overall=surely(one.overall, 0.99))
    many = replace(surer, levels=levels * MOST_LEVELS)
    alone = replace(surer, levels=levels[:1])
    mixed = replace(first, overall=replace(one.overall, effect=None))

    def note(*contrasts: ContrastResult) -> str:
        *_, said = outcome_lines(replace(ANALYSIS, contrasts=contrasts), None)
        return said.partition(";")[0]

    assert note(first, many) == "intervals of 97.5 % to 99 % over all levels and 99.5 % at each"
    assert note(many) == "intervals of 99 % over all levels"
    assert note(alone) == "intervals of 99 %"
    assert note(mixed) == "intervals of 99.5 % at each"


@pytest.mark.parametrize("invented", [lambda: ANALYSIS, invented_queries, invented_probes])
def test_it_is_as_wide_as_80_columns_and_whole_in_a_pipe(
    invented: Callable[[], CampaignAnalysis],
) -> None:
    analysis = invented()
    narrow, whole = list(outcome_lines(analysis, 80)), list(outcome_lines(analysis, None))
    assert max(map(cell_len, narrow)) <= 80
    words = " ".join(whole).split()
    assert sorted(" ".join(narrow).split()) == sorted(words)


def test_of_many_levels_there_is_their_mean_and_how_many_they_are() -> None:
    one = ANALYSIS.contrasts[0]
    many = replace(one, levels=one.levels * MOST_LEVELS)
    _, line, _ = outcome_lines(replace(ANALYSIS, contrasts=(many,)), 80)
    assert f"Range read, {len(many.levels)} levels" in line and line.endswith("faster")


def test_a_note_that_tables_share_follows_the_last() -> None:
    one = ANALYSIS.contrasts[0]
    several = (one, replace(one, new="another side"))
    *lines, note = outcome_lines(replace(ANALYSIS, contrasts=several), None)
    assert "does not matter here" in note
    assert not any("does not matter here" in line for line in lines)


def test_a_campaign_without_a_conclusion_has_no_verdict_in_the_table() -> None:
    contrasts = tuple(
        replace(one, overall=replace(one.overall, conclusive=False), levels=one.levels[:1])
        for one in ANALYSIS.contrasts
    )
    _, *lines, _ = outcome_lines(replace(ANALYSIS, contrasts=contrasts), 80)
    assert lines and all(line.endswith("no conclusion") for line in lines)


def test_cautions_are_a_line_for_each_cause_and_the_budget_comes_first() -> None:
    lines = list(brief_cautions(MANY))
    assert len(lines) == 5
    assert lines[0].startswith("budget: At most 2 of the ") and "--budget 9m" in lines[0]
    assert [line.partition(":")[0] for line in lines[1:]] == [
        "servers",
        "other load",
        "processors",
        "also",
    ]
    assert lines[2].startswith("other load: Other programs") and "(and 1 more)" in lines[2]
    assert "(and 2 more)" in lines[3]
    assert ["--verbose" in line for line in lines] == [False] * 4 + [True]


def test_all_that_will_not_be_measured_is_said() -> None:
    values = (("server", "prod"), ("why", "it is not Teiten's"))
    left_out = [
        Caution("attached-left-out", Severity.WARNING, (*values, ("levels", levels)))
        for levels in ("clock-sweep", "working-set, after-scan")
    ]
    of_six_causes = list(brief_cautions((*MANY, *left_out)))
    assert len(of_six_causes) == 5 and "(and 3 more)" in of_six_causes[-1]
    (line,) = brief_cautions(left_out)
    assert line.startswith("not measured: Left out on the server prod: clock-sweep; Left out on")
    assert "prod: working-set, after-scan" in line


@pytest.mark.parametrize(("verbosity", "count"), [(Verbosity.NORMAL, 5), (Verbosity.VERBOSE, 8)])
def test_verbose_says_every_caution_with_its_advice(
    verbosity: Verbosity, count: int, workdir: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(workdir, Console(verbosity, "never"))
    tell_cautions(session, Planned(ANALYSIS.plan, ANALYSIS.facts, MANY))
    said = capsys.readouterr().err
    assert said.count("caution:") == count
    assert ("hint:" in said) == (verbosity is Verbosity.VERBOSE)


def test_a_campaign_that_compares_nothing_has_no_table() -> None:
    assert not [*outcome_lines(replace(invented_analysis(seconds=1), contrasts=()), None)]
