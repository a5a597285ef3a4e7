"""Whether and how call stacks are sampled: decided from facts."""

from __future__ import annotations

import pytest

from teiten.execute.probes.perf import call_graph_for, parse_counters, rate_for
from teiten.execute.stacks import stack_cautions
from teiten.host.cautions.machine import plan_cautions
from teiten.host.facts.stacks import ProfilingFacts, kernel_allowed, profiling_caution
from teiten.model.facts import Severity
from teiten.model.stacks import CallGraph, StackSamples
from teiten.model.units import Seconds
from teiten.report.texts import caution_text
from tests.fixtures.invented_machine import GOOD_MACHINE
from tests.fixtures.synthetic_plan import make_plan


def facts(
    system: str = "linux", perf: str | None = "/p", paranoid: int | None = 2, root: bool = False
) -> ProfilingFacts:
    return ProfilingFacts(system, perf, paranoid, root)


@pytest.mark.parametrize(
    ("found", "code", "kernel"),
    [
        (facts(root=True), None, True),
        (facts(root=True, paranoid=4), None, True),
        (facts(paranoid=1), None, True),
        (facts(paranoid=-1), None, True),
        (facts(paranoid=2), "profile-user-only", False),
        (facts(paranoid=3), "profile-forbidden", False),
        (facts(perf=None, root=True), "profile-no-perf", True),
        (facts(system="darwin", paranoid=None), "profile-system", True),
    ],
)
def test_what_stands_in_the_way(found: ProfilingFacts, code: str | None, kernel: bool) -> None:
    caution = profiling_caution(found)
    assert (caution.code if caution else None) == code
    assert kernel_allowed(found) is kernel
    if caution is not None:
        only_half = code == "profile-user-only"
        assert (caution.severity is Severity.NOTE) is only_half
        what, advice = caution_text(caution, "en")
        assert "lame graph" in what and advice


def test_the_advice_names_package_and_sysctl() -> None:
    missing, forbidden = profiling_caution(facts(perf=None)), profiling_caution(facts(paranoid=3))
    assert missing is not None and forbidden is not None
    assert "linux-perf on Debian" in caution_text(missing, "en")[1]
    what, advice = caution_text(forbidden, "en")
    assert "kernel.perf_event_paranoid is 3" in what
    assert "sysctl kernel.perf_event_paranoid=1" in advice


def test_a_plan_without_flame_graphs_has_no_caution_of_them() -> None:
    plan = make_plan()
    assert not any(one.code.startswith("profile") for one in plan_cautions(plan, GOOD_MACHINE))


def test_frame_pointers_only_where_the_server_was_built_with_them() -> None:
    assert call_graph_for("-O2 -Wall") is CallGraph.DWARF
    assert call_graph_for("-O2 -fno-omit-frame-pointer -g") is CallGraph.FRAME_POINTERS
    assert call_graph_for("-O2 -fno-omit-frame-pointers-x") is CallGraph.DWARF


def test_the_rate_falls_where_many_run_at_once() -> None:
    assert rate_for(10, 1) == 499
    assert rate_for(10, 8) == 199
    assert rate_for(60, 128) == 99


def test_counters_in_base_units_without_what_was_not_counted() -> None:
    text = (
        "4848.37,msec,task-clock,4848371733,100.00,0.968,CPUs utilized\n"
        "4370,,context-switches,4848384121,100.00,901.334,/sec\n"
        "<not supported>,,instructions,0,100.00,,\n"
        "123456,,cycles:u,4848384121,100.00,,\n"
        "<not counted>,,page-faults,0,100.00,,\n"
        "Events disabled\n"
        "0,,context-switches:u,835889,100.00,,\n"
    )
    assert parse_counters(text) == {
        "cpu_seconds": pytest.approx(4.84837),
        "context_switches": 4370.0,
        "cycles": 123456.0,
    }


def profile(stacks: dict[str, int], **changes: object) -> StackSamples:
    values: dict[str, object] = {
        "frequency": 499.0,
        "seconds": Seconds(10.0),
        "transactions": 10.0,
        "call_graph": CallGraph.DWARF,
        "kernel": True,
        **changes,
    }
    return StackSamples(stacks=stacks, **values)  # type: ignore[arg-type]


def test_stripped_symbols_and_cut_stacks_are_cautions() -> None:
    assert stack_cautions(profile({"main;f": 90, "main;[vdso]": 5, "x_[k]": 5}), "18") == ()
    (stripped,) = stack_cautions(profile({"main;f": 70, "main;[postgres]": 30}), "9.6")
    assert (stripped.code, dict(stripped.values)) == ("profile-stripped", {"server": "9.6"})
    (cut,) = stack_cautions(profile({"f": 100}, truncated=6), "18")
    assert cut.code == "profile-truncated"
    (user,) = stack_cautions(profile({"main;f": 100}, kernel=False), "18")
    assert user.code == "profile-user-only"


def test_a_sample_stands_for_what_was_counted_where_samples_were_lost() -> None:
    assert profile({"f": 1}).sample_seconds == pytest.approx(1 / 499)
    counted = {"cpu_seconds": 2.0}
    assert profile({"f": 500}, counters=counted).sample_seconds == pytest.approx(0.004)
    user = profile({"f": 500}, counters=counted, kernel=False)
    assert user.sample_seconds == pytest.approx(1 / 499), "the counter knows the kernel, too"
