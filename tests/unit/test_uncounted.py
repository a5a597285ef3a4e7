"""A campaign on a busy machine: what it says of trials that do not count, and when it failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.campaign.uncounted import busy_machine_line, refuse_uncounted, uncounted_lines
from teiten.errors import TrialsFailedError
from teiten.model.progress import Ending, Standing
from teiten.model.trial import PARTNER, Outcome, Problem
from tests.fixtures.invented_analysis import invented_analysis

ANALYSIS = invented_analysis(seconds=2)
OTHERS = Problem("other-load", "31.2% > 5.0%")


def disturbed(analysis: CampaignAnalysis, kept: int, *problems: Problem) -> CampaignAnalysis:
    """With all trials but ``kept`` disturbed, each by the next of ``problems``."""
    trials = tuple(
        one
        if number < kept
        else replace(
            one,
            outcome=Outcome.DISTURBED,
            problems=(problems[number % len(problems)],),
            metrics={"cpu_other_share": 0.312},
        )
        for number, one in enumerate(analysis.trials)
    )
    return replace(analysis, trials=trials)


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize("ending", [None, Ending.BUDGET_SPENT, Ending.BLOCKS_SPENT])
def test_nothing_counted_is_a_failure_however_it_ended(ending: Ending | None) -> None:
    count = len(ANALYSIS.trials)
    lost = replace(disturbed(ANALYSIS, 0, OTHERS), standing=Standing(ending=ending))
    with pytest.raises(TrialsFailedError) as caught:
        refuse_uncounted(lost)
    assert caught.value.exit_code == 4
    assert plain(caught.value.message) == (
        "no trial counts: other programs used more than 5 % of the CPU in"
        f" {count} of {count} trials"
    )
    assert "--set disturbed_share=40%" in caught.value.hint


def test_a_partner_was_lost_by_what_its_other_side_met() -> None:
    partner = Problem(PARTNER, "trial 3: other-load")
    count = len(ANALYSIS.trials)
    why, key = uncounted_lines(disturbed(ANALYSIS, 2, OTHERS, partner))
    assert plain(why) == (
        f"{count - 2} of {count} trials do not count: other programs used more than 5 % of the CPU"
        f" in {count - 2} of {count} trials"
    )
    assert "disturbed_share" in key


def test_what_failed_is_no_matter_of_a_share() -> None:
    why, key = uncounted_lines(disturbed(ANALYSIS, 0, Problem("server-crash", "signal 9")))
    assert "the server crashed in" in why and "disturbed_share" not in key


def test_a_decided_campaign_does_without_the_trials_that_it_lost() -> None:
    ending = Standing(ending=Ending.DECIDED)
    refuse_uncounted(
        replace(disturbed(ANALYSIS, len(ANALYSIS.trials) // 2, OTHERS), standing=ending)
    )
    sound = [trial for trial in ANALYSIS.trials if trial.outcome is Outcome.COUNTED]
    assert uncounted_lines(replace(ANALYSIS, trials=tuple(sound))) == ()


def test_a_busy_machine_is_named_first_with_what_it_left_undecided() -> None:
    calm = [replace(trial, metrics={"cpu_other_share": 0.01}) for trial in ANALYSIS.trials]
    assert busy_machine_line(replace(ANALYSIS, trials=tuple(calm))) is None
    busy = [replace(trial, metrics={"cpu_other_share": 0.62}) for trial in ANALYSIS.trials]
    line = busy_machine_line(replace(ANALYSIS, trials=tuple(busy)))
    assert line is not None and plain(line).startswith("Other programs used 62 % of the CPU")
