"""Which function explains a difference: invented windows with a known cause."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from teiten.analysis.model.findings import CampaignAnalysis, TrialView
from teiten.analysis.model.stacks import Explained, StacksContrast, Unexplained
from teiten.analysis.stacks import costs_of, share_of, stack_costs, stacks_found
from teiten.analysis.verdict.changes import change
from teiten.analysis.verdict.verdict import student_half_width
from teiten.model.stacks import CallGraph, StackSamples
from teiten.model.units import Seconds
from teiten.report.blocks import Details, of_kind
from teiten.report.view.kit import Kit
from teiten.report.view.root_cause import root_causes
from tests.fixtures.invented_analysis import NEW, PROFILED, invented_analysis
from tests.fixtures.invented_profiles import DEARER, ONLY_NEW, invented_profile
from tests.fixtures.shown import Shown

ANALYSIS = invented_analysis(seconds=2)


def contrast_of(
    *,
    dearer: float = 1.25,
    noise: float = 0.01,
    all_dearer: float = 1.0,
    uneven: float = 0.0,
    blocks: int | None = None,
) -> StacksContrast:
    """The contrast at one client of the range read, with windows of one's own."""
    random = np.random.default_rng(5)
    views = []
    for view in ANALYSIS.trials:
        if view.stack_samples is None or (blocks is not None and view.block > blocks):
            continue
        new = dict(view.levels)["server"] == NEW
        speed = float(np.exp(random.normal(0, uneven))) if uneven else 1.0
        transactions = speed * (9000 / all_dearer if new else 9000.0)
        made = invented_profile(random, new=new, dearer=dearer, noise=noise)
        views.append(replace(view, stack_samples=replace(made, transactions=transactions)))
    return stacks_found(ANALYSIS.plan, views).contrasts[0]


def test_the_planted_function_is_named_with_its_part() -> None:
    found = contrast_of()
    assert found.change.certain and found.change.mean == pytest.approx(85e-6, rel=0.15)
    assert isinstance(found.explained, Explained)
    assert found.explained.function == DEARER, "the narrowest, not its callers"
    assert found.explained.part == pytest.approx(1.0, abs=0.2)
    assert found.explained.change.certain
    assert found.explained.before < found.explained.after
    assert found.most_itself is not None and found.most_itself.function == DEARER
    assert found.functions[0].name == DEARER, "what explains most comes first"
    assert found.functions[0].self_change.certain


def test_where_all_gets_dearer_no_function_is_named() -> None:
    found = contrast_of(dearer=1.0, all_dearer=1.3)
    assert found.change.certain
    assert found.explained is Unexplained.SPREAD


def test_windows_of_a_restless_machine_still_name_the_function() -> None:
    found = contrast_of(dearer=2.0, uneven=0.15)
    assert found.change.certain
    assert isinstance(found.explained, Explained)
    assert found.explained.function == DEARER


@pytest.mark.parametrize("all_dearer", [0.6, 1.6])
def test_windows_of_a_restless_machine_name_nothing_without_a_cause(all_dearer: float) -> None:
    found = contrast_of(dearer=1.0, uneven=0.1, all_dearer=all_dearer)
    assert found.change.certain
    assert found.explained is Unexplained.SPREAD


def test_without_a_certain_difference_no_function_is_named() -> None:
    found = contrast_of(dearer=1.0, noise=0.05)
    assert found.explained is Unexplained.NO_DIFFERENCE
    assert found.most_itself is None


def test_one_pair_has_no_interval() -> None:
    found = contrast_of(blocks=1)
    assert found.pairs == 1
    assert found.change.low is None and not found.change.certain
    assert found.explained is Unexplained.TOO_FEW


def test_a_function_of_one_side_says_so() -> None:
    by_name = {function.name: function for function in contrast_of().functions}
    assert by_name[ONLY_NEW].only_new and not by_name[ONLY_NEW].only_old
    assert by_name["ReleaseBuffer"].only_old
    assert not by_name[DEARER].only_new


def test_self_costs_add_up_to_the_whole_and_main_holds_it() -> None:
    profile = invented_profile(np.random.default_rng(1), new=True)
    costs = costs_of(profile)
    assert math.fsum(costs.itself.values()) == pytest.approx(costs.whole)
    assert costs.total["main"] == pytest.approx(costs.whole, rel=0.01)
    assert math.fsum(stack_costs([profile]).values()) == pytest.approx(costs.whole)


def test_recursion_counts_once() -> None:
    profile = StackSamples(
        {"main;f;f;g;f": 10, "main;g": 10},
        frequency=100.0,
        seconds=Seconds(1.0),
        transactions=2.0,
        call_graph=CallGraph.DWARF,
        kernel=True,
    )
    costs = costs_of(profile)
    assert costs.total["f"] == pytest.approx(0.05)
    assert costs.itself == pytest.approx({"f": 0.05, "g": 0.05})
    assert share_of(profile, "f") == 0.5
    assert share_of(profile, "nowhere") == 0.0


def test_no_windows_no_profiles() -> None:
    views: Sequence[TrialView] = [replace(trial, stack_samples=None) for trial in ANALYSIS.trials]
    assert stacks_found(ANALYSIS.plan, views).contrasts == ()


def test_equal_pairs_claim_no_certainty() -> None:
    found = change([1.0, 2.0], [1.5, 2.5], starts=[1, 2], alpha=0.05, width=student_half_width)
    assert found.mean == 0.5 and found.low is None and not found.certain


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_sentence_is_computed(language: str) -> None:
    kit = Kit(ANALYSIS, "ja" if language == "ja" else "en")
    causes = [Shown([one]) for one in root_causes(kit, "w", "read")]
    causes = [cause for cause in causes if cause.findings]
    assert len(causes) == len(PROFILED)
    said = causes[0].findings[0]
    assert DEARER in said and "µs" in said and "%" in said
    assert DEARER in causes[0].findings[1]


def test_without_profiles_the_table_per_transaction_stays() -> None:
    bare: CampaignAnalysis = ANALYSIS
    found = root_causes(Kit(bare, "en"), "w", "update")
    causes = [Shown([block]) for block in of_kind(found, Details)]
    assert causes and all(not cause.drawings and not cause.findings for cause in causes)
    assert all(len(cause.tables) == 1 for cause in causes)
