"""``teiten gate`` without servers: its decision, its study, when it stops, and its words."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.analysis.model.verdict import Extreme, Interval, Verdict, VerdictKind
from teiten.analysis.verdict.gate import (
    GateOutcome,
    GateReason,
    decide_gate,
    gate_lines,
    gate_outcome,
)
from teiten.analysis.verdict.verdict import LEFT_BEHIND, NOT_AVERAGED, NOT_POSITIVE, withheld
from teiten.cli.campaign.read import analyse_campaign
from teiten.cli.gate.answer import (
    GateAnswer,
    annotation_lines,
    answer_lines,
    answer_of,
    markdown,
    needed,
    title,
)
from teiten.cli.printed.gate import json_gate
from teiten.errors import UsageError
from teiten.kinds.pgbench.metrics import LATENCY_MEAN, TPS
from teiten.model.plan import PlannedTrial
from teiten.model.units import Share
from teiten.study.sides import AGAIN, BASE, HEAD, Shared, SideFlags, gate_study
from tests.fixtures.pairs import carry_on, new_ledger
from tests.fixtures.planned import expanded
from tests.fixtures.schemas import as_printed, described

KIND = VerdictKind
REGRESSION, NONE, CANNOT_TELL = GateOutcome
UNDECIDED, DIFFER = GateReason
QUIET = (KIND.EQUIVALENT, KIND.INCONCLUSIVE)
"""What the base may say of itself where the head is believed as it is."""


def verdict(kind: VerdictKind, *, beyond: bool = False) -> Verdict:
    effect = Interval(0.9, 0.89, 0.91, Share(0.975))
    return Verdict(kind, beyond, effect, 9, Share(0.02), None)


@pytest.mark.parametrize("control", QUIET)
@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (KIND.SLOWER, REGRESSION),
        (KIND.FASTER, NONE),
        (KIND.EQUIVALENT, NONE),
        (KIND.DIFFERENT_BUT_SMALL, NONE),
        (KIND.INCONCLUSIVE, UNDECIDED),
        (KIND.MIXED, UNDECIDED),
    ],
)
def test_where_the_base_is_like_itself_the_heads_verdict_decides(
    head: VerdictKind, expected: object, control: VerdictKind
) -> None:
    assert decide_gate(verdict(head), verdict(control)) is expected


@pytest.mark.parametrize("head", [kind for kind in KIND if kind is not KIND.UNJUDGED])
@pytest.mark.parametrize("control", [KIND.SLOWER, KIND.FASTER, KIND.MIXED])
def test_a_base_that_differs_from_itself_is_no_witness(
    head: VerdictKind, control: VerdictKind
) -> None:
    assert decide_gate(verdict(head, beyond=True), verdict(control)) is DIFFER


def test_beside_a_small_bias_only_a_slowdown_wholly_beyond_delta_counts() -> None:
    small = verdict(KIND.DIFFERENT_BUT_SMALL)
    assert decide_gate(verdict(KIND.SLOWER), small) is DIFFER
    assert decide_gate(verdict(KIND.SLOWER, beyond=True), small) is REGRESSION
    assert decide_gate(verdict(KIND.EQUIVALENT), small) is NONE


def contrast(new: str, overall: Verdict, *levels: Verdict, workload: str = "q") -> ContrastResult:
    results = tuple(
        LevelResult((("clients", str(at)),), (), (), level) for at, level in enumerate(levels)
    )
    return ContrastResult(workload, BASE, new, TPS, results, overall)


def outcomes(*pairs: tuple[ContrastResult, ContrastResult]) -> list[GateOutcome]:
    found = [one for pair in pairs for one in pair]
    found += [replace(one, metric=LATENCY_MEAN, overall=verdict(KIND.UNJUDGED)) for one in found]
    lines = gate_lines(found, head=HEAD, again=AGAIN)
    return [*(line.outcome for line in lines), gate_outcome(lines)]


def test_the_worst_workload_is_the_answer() -> None:
    def pair(name: str, kind: VerdictKind) -> tuple[ContrastResult, ContrastResult]:
        control = contrast(AGAIN, verdict(KIND.EQUIVALENT), workload=name)
        return control, contrast(HEAD, verdict(kind), workload=name)

    well, slow, open_ = pair("a", KIND.FASTER), pair("b", KIND.SLOWER), pair("c", KIND.INCONCLUSIVE)
    assert outcomes(well) == [NONE, NONE]
    assert outcomes(well, open_) == [NONE, CANNOT_TELL, CANNOT_TELL]
    assert outcomes(open_, slow, well) == [CANNOT_TELL, REGRESSION, NONE, REGRESSION]


def test_where_levels_contradict_their_mean_each_level_decides() -> None:
    slow, fast, same = (verdict(kind) for kind in (KIND.SLOWER, KIND.FASTER, KIND.EQUIVALENT))
    open_ = verdict(KIND.INCONCLUSIVE)
    ends = tuple(Extreme((), one.kind, one.effect) for one in (same, fast) if one.effect)
    mixed = replace(same, kind=KIND.MIXED, effect=None, extremes=ends)

    def answer(*levels: Verdict) -> GateOutcome:
        control = contrast(AGAIN, same, *(same for _ in levels))
        return outcomes((control, contrast(HEAD, mixed, *levels)))[0]

    assert answer(slow, fast) is REGRESSION
    assert answer(same, fast) is NONE
    assert answer(open_, fast) is CANNOT_TELL


def test_a_base_that_differs_from_itself_at_a_level_is_no_witness_there() -> None:
    """Without a mean over levels, each level of the base against itself stands for itself."""
    same, slow = verdict(KIND.EQUIVALENT), verdict(KIND.SLOWER)
    control = contrast(AGAIN, withheld(same, NOT_AVERAGED), slow, same)
    assert outcomes((control, contrast(HEAD, same, same, same)))[0] is CANNOT_TELL
    assert outcomes((control, contrast(HEAD, slow, slow, slow)))[0] is REGRESSION
    alike = contrast(AGAIN, same, same, same)
    assert outcomes((alike, contrast(HEAD, same, same, same)))[0] is NONE


def side(name: str, server: str = "18", *gucs: str) -> SideFlags:
    return SideFlags(name, server, (), gucs)


def test_the_base_is_there_twice_in_rounds_and_nothing_waits_for_it() -> None:
    study = gate_study(side("base", "17"), side("head"), Shared(clients="2"))
    assert study.contrasted_levels == (BASE, AGAIN, HEAD)
    assert dict(study.server_aliases) == {BASE: "17", AGAIN: "17", HEAD: "18"}
    assert study.measure.rounds and study.measure.sequential is not None
    assert study.measure.sequential.controls == (AGAIN,)
    assert study.measure.sequential.budget == 300.0


def test_one_server_is_a_gate_too_and_rounds_can_be_left_out() -> None:
    shared = Shared(clients="2", budget="1h", overrides=("rounds=no",))
    study = gate_study(side("base"), side("head"), shared)
    assert not study.measure.rounds and study.measure.sequential is not None
    assert study.measure.sequential.budget == 3600.0


def test_several_scripts_are_as_many_workloads(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("q.sql", "r.sql")]
    for file in files:
        file.write_text("SELECT 1;\n", encoding="ascii")
    both = Shared(clients="2", script=tuple(map(str, files)), overrides=("changes_data=no",))
    study = gate_study(side("base"), side("head"), both)
    assert [workload.name for workload in study.workloads] == ["q", "r"]
    assert not any(workload.changes_data for workload in study.workloads)
    own = gate_study(side("base"), side("head"), Shared(clients="2", script=("read", "update")))
    assert [workload.name for workload in own.workloads] == ["read", "update"]
    with pytest.raises(UsageError, match="--script read is a workload of Teiten's"):
        gate_study(side("base"), side("head"), replace(both, script=("read", str(files[0]))))
    with pytest.raises(UsageError, match="--script: there is no script"):
        gate_study(side("base"), side("head"), replace(both, script=(str(files[0]), "none.sql")))


def campaign(
    folder: Path,
    *overrides: str,
    head: float = 0.0,
    again: float = 0.0,
    deviation: float = 0.004,
    spared: str = "",
) -> GateAnswer:
    """The answer of a campaign of invented servers; effects as shares, none at the query mode
    ``spared``."""
    shared = Shared(clients="2", budget="1h", overrides=overrides)
    study = gate_study(side("base", "17"), side("head"), shared)
    effects = {BASE: 0.0, AGAIN: again, HEAD: head}

    def tps_of(trial: PlannedTrial) -> float:
        noise = random.Random(f"{trial.number}").gauss(0.0, deviation)
        is_spared = trial.cell.level("query_mode") == spared
        effect = 0.0 if is_spared else effects[trial.cell.level("server") or ""]
        return 1000.0 * math.exp(noise) * (1 + effect)

    with new_ledger(folder, expanded(study)) as ledger:
        carry_on(ledger, tps_of)
        return answer_of(analyse_campaign(ledger))


def test_a_slowdown_ends_the_gate_before_the_base_is_decided(tmp_path: Path) -> None:
    answer = campaign(tmp_path / "slow", head=-0.2, deviation=0.02)
    assert answer.outcome is REGRESSION and title(answer) == "regression"
    (line,) = answer.lines
    assert line.control.overall.kind is KIND.INCONCLUSIVE
    assert line.head.overall.pairs == line.control.overall.pairs == 6
    assert [text.partition(" (")[0] for text in annotation_lines(answer)] == [
        "::error title=Gate%3A regression"
    ]


@pytest.mark.parametrize(
    ("effects", "outcome"),
    [({}, NONE), ({"head": 0.1}, NONE), ({"again": 0.1, "head": -0.1}, CANNOT_TELL)],
)
def test_the_answer_of_a_campaign(
    tmp_path: Path, effects: dict[str, Any], outcome: GateOutcome
) -> None:
    answer = campaign(tmp_path / "gate", **effects)
    assert answer.outcome is outcome
    (line,) = answer_lines(answer)
    assert line.startswith("no regression (" if outcome is NONE else "cannot tell (the base")
    table = markdown(answer)
    rows = [row for row in table.splitlines() if row.startswith("|")]
    assert len(rows) == 3 and len({row.count("|") for row in rows}) == 1
    assert "base 17.4 and head 18.4" in table
    assert "\u00a0" not in table + line
    assert (
        ("doctor" in needed(answer))
        == ("What would be needed" in table)
        == (outcome is CANNOT_TELL)
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (-0.2, {"prepared": r"regression \(slower by at least 2 %\): R .20\."}),
        (
            0.2,
            {
                "simple": r"no regression \(equivalent within ±2 %\): R .0\.",
                "prepared": r"no regression \(faster by at least 2 %\): R \+(19|20)\.",
            },
        ),
    ],
)
def test_levels_that_decide_are_named_with_their_numbers(
    tmp_path: Path, head: float, expected: dict[str, str]
) -> None:
    answer = campaign(tmp_path / "gate", "query_mode=simple,prepared", head=head, spared="simple")
    lines = list(answer_lines(answer))
    assert not answer.lines[0].head.overall.effect, "their mean says nothing"
    assert len(lines) == len(expected)
    for text, (level, words) in zip(lines, expected.items(), strict=True):
        beginning = words.replace("R", f"read, query mode = {level}")
        numbers = r"\d % \(98.8 % interval .* %\)"
        assert re.fullmatch(f"{beginning}{numbers}; the base against itself .*%\\)", text), text
    rows = [row for row in markdown(answer).splitlines() if row.startswith("| **")]
    assert len(rows) == len(expected) and all(map(str.__contains__, rows, expected))
    notes = list(annotation_lines(answer))
    assert len(notes) == (head < 0) and all("prepared" in note for note in notes)
    (printed,) = described("gate", as_printed(json_gate(answer, ())))["workloads"]
    levels = [verdicts["levels"]["query_mode"] for verdicts in printed["decisive"]]
    assert levels == list(expected) and printed["head"]["ratio"] is None


@pytest.fixture(scope="module")
def undecided(module_folder: Path) -> GateAnswer:
    """The answer of a gate whose hour is over before its noise is."""
    return campaign(module_folder / "gate", deviation=0.2)


def test_what_an_undecided_gate_would_need_is_told(undecided: GateAnswer) -> None:
    assert (undecided.outcome, undecided.lines[0].reason) == (CANNOT_TELL, UNDECIDED)
    said = re.fullmatch(
        r"read: about \d+ rounds more, --budget (\d+)m in all, if .*", needed(undecided)
    )
    assert said is not None and int(said[1]) > 60, "more than the plan had room for in its hour"
    (note,) = annotation_lines(undecided)
    assert note.startswith("::warning title=Gate%3A cannot tell (inconclusive)::read ")
    assert "%25" in note and "\n" not in note


def test_where_sides_disturb_each_other_another_way_is_needed_and_no_further_rounds(
    undecided: GateAnswer,
) -> None:
    assert "--way classic" in needed(without_forecast(undecided, LEFT_BEHIND))


def without_forecast(
    answer: GateAnswer, reason: str = "", *, pairs: int = 15, level: str = ""
) -> GateAnswer:
    """The answer where nobody knows how many more decide. ``level``: it is asked at one."""
    (line,) = answer.lines
    overall = replace(line.head.overall, pairs=pairs)
    overall = withheld(overall, reason) if reason else overall
    head = replace(line.head, overall=overall, forecast=line.head.forecast if level else None)
    context = (("query_mode", level),) if level else ()
    decisive = (replace(line.decisive[0], head=overall, context=context),)
    return replace(answer, lines=(replace(line, head=head, decisive=decisive),))


def test_the_least_number_of_rounds_is_named_only_where_fewer_have_run(
    undecided: GateAnswer,
) -> None:
    assert needed(without_forecast(undecided, pairs=5)) == "read: 6 rounds at least"
    for enough in (without_forecast(undecided), without_forecast(undecided, level="simple")):
        assert needed(enough).startswith("read: a longer --budget; nobody can foretell")
    hopeless = needed(without_forecast(undecided, NOT_POSITIVE))
    assert hopeless == "read: not a longer --budget (a measured value is zero)"
