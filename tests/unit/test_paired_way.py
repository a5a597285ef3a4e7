"""Two sides in paired transactions: what is planned, what forbids it, and when it ends."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, TrialView
from teiten.analysis.model.verdict import CpuWitness, Verdict, VerdictKind
from teiten.analysis.per_transaction import server_cpu
from teiten.analysis.verdict.carry_over import (
    CarryOverBias,
    carry_overs,
    cpu_witnesses,
    mixed_cautions,
    withheld_for_bias,
    witness_cautions,
)
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.pairs import observe
from teiten.analysis.verdict.stopping import standing, undecided
from teiten.analysis.verdict.unseen import unseen_cautions
from teiten.analysis.verdict.verdict import LEFT_BEHIND, Rule, of_interval, withheld
from teiten.cli.campaign.decision import standing_lines
from teiten.cli.plan.text import loaded_text
from teiten.cli.text.noise import needed_text, noise_lines
from teiten.errors import UsageError, WayError
from teiten.host.facts.kept import noise_key
from teiten.kinds.metrics import deciding
from teiten.kinds.pgbench.analyse import scalings
from teiten.kinds.pgbench.model import PgbenchOptions
from teiten.kinds.pgbench.plan import PLAN
from teiten.model.facts import Caution
from teiten.model.metrics import CPU_PER_TRANSACTION, Better
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Ending
from teiten.model.settings import size_setting
from teiten.model.starts import FIRST_SECONDS, FIRST_STARTS, planned_seconds, starts_of
from teiten.model.study import MOST_SECONDS, Script, Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.model.units import Seconds, Share
from teiten.report.sentences import verdict_sentence
from teiten.report.texts import caution_text
from teiten.ways.registry import rules, way_of_clients
from tests.fixtures.drawn_kinds import two_sides
from tests.fixtures.pairs import ab_plan, names_of_ways, side
from tests.fixtures.planned import planned
from tests.fixtures.synthetic_plan import HOST

FIXED = 4.0
LOADS = ("classic", "pairs", "in-step")


def paired(*overrides: str, **given: object) -> Plan:
    return ab_plan(way="pairs", overrides=overrides, **given)  # type: ignore[arg-type]


def obstacles(plan: Plan) -> Iterator[str]:
    """To paired transactions, whatever the plan's way."""
    return rules()["pairs"].obstacles(plan.study)


def attempts_of(
    plan: Plan, starts: int, *, effect: float = 0.0, left: float = 0.0, within: float = 1e-4
) -> Iterator[Attempt]:
    """Starts of eight seconds that deviate by 0.2 %."""
    for trial in plan.trials[: 2 * starts]:
        noise = random.Random(trial.block).gauss(0.0, 0.002)
        is_new = trial.cell.level("server") == "18"
        begun = trial.block * (FIRST_SECONDS + FIXED)
        metrics = {
            "tps": 1000.0 * math.exp((effect + noise) * is_new),
            PLAN.paired_within: within,
            "measured_seconds": FIRST_SECONDS,
            **{name: math.exp(left + noise) for name in PLAN.carry_over},
        }
        ended = begun + FIRST_SECONDS + FIXED
        yield Attempt(trial.number, 1, Outcome.COUNTED, metrics, begun, ended)


def test_both_servers_of_a_block_start_together_on_copies_of_their_own() -> None:
    plan = paired(budget="10m")
    measure = plan.study.measure
    assert (measure.way, measure.duration, measure.lengthens) == ("pairs", FIRST_SECONDS, True)
    for trial in plan.trials:
        pair = plan.pair_of(trial)
        assert {one.copy for one in pair} == {1, 2} and len({one.seed for one in pair}) == 1
        assert sorted(turn for one in pair for turn in one.turns) == [1, 2]
        assert {one.restart for one in pair} == {trial.block}, "a start is a block"
    assert plan.needs.seconds <= 600
    classic = ab_plan(way="classic", duration="8s", budget="10m")
    assert len(plan.trials) > len(classic.trials), "the seconds of load are of both sides"
    assert plan.needs.memory > classic.needs.memory


def test_a_duration_that_is_given_is_that_of_every_start() -> None:
    measure = paired(duration="3s").study.measure
    assert (measure.duration, measure.lengthens) == (Seconds(3.0), False)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (("slices=4", "duration=8s"), "slices"),
        (("restart_every=2",), "restart_every"),
        (("caches=evict",), "cold caches"),
        (("index_lookups=yes",), None),
        (("pgbench_options=-C",), "-C"),
        (("query_mode=simple,prepared",), None),
    ],
)
def test_what_cannot_be_had_is_said(overrides: tuple[str, ...], said: str | None) -> None:
    if said is None:
        assert not list(obstacles(paired(*overrides, duration="1s")))
        return
    classic = ab_plan(way="classic", overrides=overrides)
    assert any(said in reason for reason in obstacles(classic))
    with pytest.raises(WayError, match=said):
        paired(*overrides)


def test_a_script_that_runs_programs_is_for_pgbench() -> None:
    study = paired(duration="1s").study
    options = study.workloads[0].options
    assert isinstance(options, PgbenchOptions)
    for text, classic in (("\\shell date\nSELECT 1;", True), ("SELECT 1; -- a shell", False)):
        script = Script("mine.sql", False, text)
        workload = replace(study.workloads[0], options=replace(options, script=script))
        reasons = rules()["pairs"].obstacles(replace(study, workloads=(workload,)))
        assert any("run programs" in reason for reason in reasons) == classic


def test_another_word_for_a_way_is_refused() -> None:
    with pytest.raises(UsageError, match="way"):
        ab_plan(way="duet")


def test_the_length_of_later_starts_follows_from_what_the_ledger_has() -> None:
    plan = paired(budget="1h")
    names = ("tps", PLAN.paired_within)

    def seconds(starts: int, within: float) -> Seconds:
        attempts = list(attempts_of(plan, starts, within=within))
        found = starts_of(plan, attempts, plan.trials[-1], *names)
        assert [one.fixed for one in found[0]] == pytest.approx([FIXED] * starts)
        return planned_seconds(plan, found)

    assert seconds(FIRST_STARTS - 1, 1.0) == FIRST_SECONDS
    assert seconds(FIRST_STARTS, 1.0) == MOST_SECONDS
    assert seconds(FIRST_STARTS, 1e-9) < FIRST_SECONDS
    cut = list(attempts_of(plan, 2))[:3]
    assert len(starts_of(plan, cut, plan.trials[0], *names)[0]) == 1, "one side is no start"


def test_a_longer_start_that_does_not_fit_into_the_budget_is_not_begun() -> None:
    plan = paired("alpha=1%", "delta=0.1%", budget="2m")
    attempts = list(attempts_of(plan, FIRST_STARTS, within=1.0))
    needed = MOST_SECONDS + FIXED
    assert standing(plan, attempts, Seconds(120 - needed - 1)).ending is None
    assert standing(plan, attempts, Seconds(120 - needed + 1)).ending is Ending.BUDGET_SPENT


def test_what_a_side_leaves_behind_forbids_a_verdict_only_where_that_is_sure() -> None:
    plan = paired(budget="10m")
    few = list(attempts_of(plan, FIRST_STARTS - 1, effect=0.1, left=0.09))
    enough = list(attempts_of(plan, FIRST_STARTS, effect=0.1, left=0.09))
    none = list(attempts_of(plan, FIRST_STARTS, effect=0.1))
    assert standing(plan, few, Seconds(60)).ending is None
    assert standing(plan, none, Seconds(80)).ending is Ending.DECIDED
    stands = standing(plan, enough, Seconds(80))
    assert stands.ending is Ending.LEFT_BEHIND
    assert len(stands.unneeded) == len(plan.trials)
    (result,) = contrasts(plan, enough, judged_only=True)
    for verdict in (result.overall, *(level.verdict for level in result.levels)):
        assert (verdict.reason, verdict.effect) == (LEFT_BEHIND, None)
    assert result.forecast is None, "no further start decides it"
    (line,) = standing_lines(plan, [result], enough)
    assert "leaves behind" in line and "more to a decision" not in line
    found = list(carry_overs(plan, "read", observe(plan, enough)))
    assert [one.metric for one in found] == list(PLAN.carry_over)
    assert all(one.low < one.share < one.high and one.is_too_much for one in found)
    small = list(attempts_of(plan, FIRST_STARTS, effect=0.1, left=0.01))
    assert standing(plan, small, Seconds(80)).ending is Ending.DECIDED, "at least δ with it too"
    classic = replace(plan.study.measure, way="classic")
    plain = replace(plan, study=replace(plan.study, measure=classic))
    assert not list(carry_overs(plain, "read", observe(plain, enough)))


def test_a_decided_verdict_is_given_up_only_where_no_number_of_starts_helps() -> None:
    """A true +3.5 %, and carry-over between 0.5 and 1 %."""
    rule = Rule(Share(0.02), Share(0.05), Better.HIGHER)
    bias = CarryOverBias(0.005, 0.01)

    def judged(ratio: float, half: float) -> Verdict:
        of_pairs = of_interval(ratio, half, (half / 2, 5), 6, rule)
        return withheld_for_bias(of_pairs, bias, rule)

    open_, stands = judged(0.035, 0.029), judged(0.035, 0.019)
    assert (open_.reason, open_.given_up) == (LEFT_BEHIND, False)
    assert (stands.kind, stands.reason) == (VerdictKind.FASTER, None)
    small, alone = judged(0.004, 0.003), judged(0.004, 0.017)
    assert (small.reason, small.given_up) == (LEFT_BEHIND, True), "it may be nothing"
    assert (alone.kind, alone.reason) == (VerdictKind.INCONCLUSIVE, None), "more starts may do"
    never = judged(0.022, 0.001)
    assert never.given_up, "by at least δ with any number of starts, and never so beside the bias"
    undecided_for_ever = judged(-0.018, 0.03)
    assert undecided_for_ever.kind is VerdictKind.INCONCLUSIVE
    assert not undecided_for_ever.given_up, "slower is what more starts would say"


def test_a_campaign_ends_where_verdicts_are_decided_or_given_up_over_levels_and_at_each() -> None:
    attempts = list(attempts_of(paired(budget="10m"), FIRST_STARTS, effect=0.1))
    (known,) = contrasts(paired(budget="10m"), attempts, judged_only=True)
    decided, (level,) = known.overall, known.levels
    open_, given_up = withheld(decided, LEFT_BEHIND), withheld(decided, LEFT_BEHIND, given_up=True)

    def goes_on(overall: Verdict, at_level: Verdict) -> bool:
        levels = (replace(level, verdict=at_level),)
        return bool(undecided([replace(known, overall=overall, levels=levels)], Sequential(None)))

    assert not goes_on(decided, decided)
    assert goes_on(open_, decided) and not goes_on(given_up, decided)
    assert goes_on(decided, open_) and not goes_on(decided, given_up)
    assert goes_on(given_up, open_), "another verdict is left to decide"


def test_a_decided_verdict_that_more_starts_would_let_stand_is_waited_for() -> None:
    plan = paired(budget="10m")
    for left in (0.02, 0.06):
        attempts = [
            replace(attempt, metrics={**attempt.metrics, "tps": tps_of(attempt.number)})
            for attempt in attempts_of(plan, FIRST_STARTS, left=left)
        ]
        (contrast,) = contrasts(plan, attempts, judged_only=True)
        assert contrast.overall.reason == LEFT_BEHIND
        waits = left == 0.02
        assert standing(plan, attempts, Seconds(80)).ending is (
            None if waits else Ending.LEFT_BEHIND
        )
        if waits:
            (line,) = standing_lines(plan, [contrast], attempts)
            assert "no interval yet" not in line and "leaves behind for the other" in line


def tps_of(number: int) -> float:
    """5 % more on the new side, with a deviation between starts of 2 %."""
    trial = paired(budget="10m").trials[number - 1]
    deviation = 0.02 * (-1) ** trial.block
    return 1000.0 * math.exp((0.05 + deviation) * is_new(trial))


def test_what_has_no_verdict_is_not_withheld() -> None:
    """Metrics beside throughput keep their intervals and are called what they are: unjudged."""
    plan = paired(budget="10m")
    attempts = [
        replace(attempt, metrics={**attempt.metrics, "latency_mean": 2.0 / attempt.metrics["tps"]})
        for attempt in attempts_of(plan, FIRST_STARTS, effect=0.1, left=0.09)
    ]
    of_tps, beside = contrasts(plan, attempts)
    assert (of_tps.overall.reason, beside.overall.reason) == (LEFT_BEHIND, None)
    for verdict in (beside.overall, *(level.verdict for level in beside.levels)):
        assert verdict.kind is VerdictKind.UNJUDGED and verdict.effect is not None


def test_beside_a_withheld_verdict_no_sentence_calls_a_side_faster_by_another_number() -> None:
    def speaks_of_the_typical(analysis: CampaignAnalysis, contrast: ContrastResult) -> bool:
        sentence = verdict_sentence(analysis, contrast, "en").replace("\u00a0", " ")
        return "typical transaction" in sentence

    drawn = (two_sides(random.Random(seed)).analysis for seed in range(50))
    analysis, judged = next(
        (analysis, contrast)
        for analysis in drawn
        for contrast in analysis.contrasts
        if contrast.metric.judged and speaks_of_the_typical(analysis, contrast)
    )
    left = replace(judged, overall=withheld(judged.overall, LEFT_BEHIND))
    assert not speaks_of_the_typical(analysis, left)


def test_what_decides_is_read_from_the_ledger_with_what_plans_the_next_start() -> None:
    names = set(deciding(paired()))
    assert {"tps", "measured_seconds", PLAN.paired_within, *PLAN.carry_over} <= names
    assert set(deciding(ab_plan(way="classic"))) == {"tps"}


def test_ways_are_told_apart_wherever_numbers_are_laid_side_by_side() -> None:
    ways = [name for name in rules() if rules()[name].in_file and name != "statements"]
    plans = [ab_plan(way=way, duration="8s") for way in ways]
    assert len({conditions_fingerprint(plan) for plan in plans}) == len(ways)
    assert len({noise_key(HOST, plan, plan.trials[0]) for plan in plans}) == len(ways)


def test_more_clients_than_processors_are_on_one_side_at_a_time() -> None:
    plan = ab_plan(way="pairs", duration="4s", clients="1,2,4,8")
    assert plan.study.measure.processors == HOST.cpu.logical == 2
    assert names_of_ways(plan) == {1: "pairs", 2: "pairs", 4: "in-step", 8: "in-step"}
    assert set(names_of_ways(ab_plan(way="in-step", clients="1,4")).values()) == {"in-step"}
    assert set(names_of_ways(ab_plan(way="classic", clients="1,4")).values()) == {"classic"}
    said = loaded_text(plan)
    assert "with 4, 8 clients, more than the 2 processors" in said and "scheduler" in said
    assert "clients" not in loaded_text(ab_plan(way="pairs", clients="1,2"))
    older = replace(plan.study.measure, processors=None)
    assert way_of_clients(older, 8).name == "pairs", (
        "a ledger of an earlier version says how it was measured"
    )
    mixed = replace(plan, study=replace(plan.study, measure=older))
    assert conditions_fingerprint(mixed) != conditions_fingerprint(plan)
    assert {
        noise_key(HOST, mixed, trial) for trial in plan.trials if trial.load.connections > 2
    } & {noise_key(HOST, plan, trial) for trial in plan.trials} == set()
    (caution,) = mixed_cautions(mixed, HOST)
    assert dict(caution.values) == {"clients": "4, 8", "processors": "2"}
    assert caution_text(caution, "en")[0].startswith("With 4, 8 clients on 2 processors")
    assert not list(mixed_cautions(plan, HOST))


def is_new(trial: PlannedTrial) -> bool:
    return trial.cell.level("server") == "18"


def _view(trial: PlannedTrial, attempt: Attempt, transactions: float) -> TrialView:
    return TrialView(
        number=attempt.number,
        attempt=attempt.attempt,
        outcome=attempt.outcome,
        metrics={**attempt.metrics, "transactions": transactions},
        started_at=attempt.started_at,
        finished_at=attempt.finished_at,
        block=trial.block,
        workload=trial.cell.workload,
        levels=trial.cell.levels,
        problems=(),
        series=(),
        histogram=(),
        facts={},
        evidence=(),
    )


def of_cpu(
    speed: float, by_cpu: float, transactions: float = 8000.0, left: float = 0.0
) -> tuple[CpuWitness, list[Caution]]:
    """Starts in which the new side is so much faster by throughput, and by processor time."""
    plan = paired(budget="10m")
    trials = {trial.number: trial for trial in plan.trials}

    def with_cpu(attempt: Attempt) -> Attempt:
        noise = math.exp(random.Random(attempt.number).gauss(0.0, 0.002))
        cpu = 1e-3 * noise / (by_cpu if is_new(trials[attempt.number]) else 1.0)
        return replace(attempt, metrics={**attempt.metrics, CPU_PER_TRANSACTION.name: cpu})

    starts = attempts_of(plan, 2 * FIRST_STARTS, effect=math.log(speed), left=left)
    attempts = [with_cpu(attempt) for attempt in starts]
    views = [_view(trials[attempt.number], attempt, transactions) for attempt in attempts]
    (witness,) = cpu_witnesses(contrasts(plan, attempts), views)
    return witness, list(witness_cautions([witness]))


def test_processor_time_contradicts_a_throughput_that_it_excludes() -> None:
    agreeing, none = of_cpu(1.10, 1.10)
    assert agreeing.speed.low < 1.10 < agreeing.speed.high
    assert agreeing.agrees and not agreeing.parting and not none
    contradicting, (caution,) = of_cpu(1.21, 1.10)
    assert not contradicting.agrees and len(contradicting.parting) == 1
    assert caution.code == "cpu-parts-levels"
    assert "clients=2" in caution_text(caution, "en")[0]
    few, none = of_cpu(1.21, 1.10, transactions=100.0)
    withheld_one, none = of_cpu(1.21, 1.10, left=0.5)
    assert withheld_one.agrees is None and not none, "throughput has no interval to compare"
    assert withheld_one.speed.low < 1.10 < withheld_one.speed.high
    assert few.agrees and not none, "0.1 s of a server, of which 0.03 s may be the connections'"


def unseen(plan: Plan, starts: int, *, effect: float = 0.0, **metrics: float) -> list[Caution]:
    trials = {trial.number: trial for trial in plan.trials}
    attempts = list(attempts_of(plan, starts, effect=effect))
    views = [
        replace(view, metrics={**view.metrics, **metrics})
        for view in (_view(trials[attempt.number], attempt, 1000.0) for attempt in attempts)
    ]
    return list(unseen_cautions(plan, contrasts(plan, attempts), views))


def test_equivalent_sides_were_observed_for_so_long_and_no_longer() -> None:
    plan = paired(budget="10m")
    (caution,) = unseen(plan, 12)
    assert caution.code == "rare-stalls-unseen"
    what, _ = caution_text(caution, "en")
    assert "for 48 s or more at each level, in starts with at most 8 s" in what
    assert "once in 16 s" in what, "each side had half of the load of 12 starts of 8 s"
    assert unseen(plan, 12, effect=0.2) == [], "sides that differ are not called equivalent"


def test_a_parameter_whose_work_never_ran_has_shown_nothing() -> None:
    def acted(parameter: str, **metrics: float) -> bool:
        plan = ab_plan(side("a", "17"), side("b", "18", parameter), way="pairs", budget="10m")
        codes = {caution.code for caution in unseen(plan, 12, **metrics)}
        return "parameter-never-acted" not in codes

    assert not acted("checkpoint_timeout=30s")
    assert acted("checkpoint_timeout=30s", checkpoints=1.0)
    assert not acted("autovacuum=on", checkpoints=1.0)
    assert acted("work_mem=64MB")


def test_processor_time_is_the_servers_share_of_all_processors() -> None:
    plan = paired(budget="10m")
    (attempt, *_) = attempts_of(plan, 1)
    metrics = {**attempt.metrics, "server_cpu_share": 0.5}
    used = server_cpu(plan, HOST)
    counted = _view(plan.trials[0], replace(attempt, metrics=metrics), 1000.0)
    assert used(counted) == pytest.approx(0.5 * 2 * FIRST_SECONDS / 1000)
    assert math.isnan(used(_view(plan.trials[0], attempt, 1000.0)))


def test_the_time_of_a_verdict_counts_the_load_of_both_sides_once() -> None:
    floor = NoiseFloor(
        *("key", "null", 0.0, "read", 2, Seconds(8.0), "18.4", 20, 0.02, 0.02, 0.0, Share(0.0)),
        alpha=Share(0.05),
    )
    assert floor.seconds_of_a_pair == Seconds(16)
    paired_floor = replace(floor, way="pairs")
    assert paired_floor.seconds_of_a_pair == Seconds(8)
    assert "starts in paired transactions" in next(noise_lines(paired_floor))
    assert "2%: 15 pairs (2 min of measuring)" in needed_text(paired_floor)


def test_clients_that_are_spread_over_two_servers_make_no_curve_of_one() -> None:
    plans = {way: ab_plan(way=way, duration="4s", clients="1,2,4,8") for way in LOADS}
    found = {way: scalings(plan, (), ["read"], cores=2) for way, plan in plans.items()}
    assert not found["pairs"]
    assert len(found["classic"]) == len(found["in-step"]) == 2, "one of each side"


def three_sides(*overrides: str) -> Plan:
    given = ("way=pairs", "server=16,17,18", "workloads=read", "clients=2", *overrides)
    return planned(*given, study="observe", profile="quick")


SEQUENTIAL = ("until_decided=yes", "budget=20m", "duration=auto")


def test_a_start_holds_all_levels_of_the_contrast() -> None:
    plan = three_sides("blocks=4", "duration=3s", "warmup=1s", "settle=3s")
    for trial in plan.trials:
        sides = plan.pair_of(trial)
        assert len(sides) == 3 and {side.copy for side in sides} == {1, 2, 3}
        assert {side.restart for side in sides} == {trial.block}
        assert {side.seed for side in sides} == {trial.seed}
        assert sorted(turn for side in sides for turn in side.turns) == [1, 2, 3]
    assert "all 3 servers in turn" in loaded_text(plan)
    two = planned(
        *("way=pairs", "server=17,18", "workloads=read", "clients=2"),
        *("blocks=4", "duration=3s", "warmup=1s", "settle=3s"),
    )
    load = 4 * (3 + 1 + 3)
    assert plan.needs.seconds - load == pytest.approx(1.5 * (two.needs.seconds - load), rel=0.05), (
        "load and rest count once for all sides"
    )
    assert plan.needs.measured_seconds == two.needs.measured_seconds == Seconds(12.0)
    buffers = size_setting(dict(plan.trials[0].settings), "shared_buffers")
    assert plan.needs.memory - two.needs.memory >= buffers, "a third server is up"


def test_the_first_starts_of_several_sides_give_each_what_it_has_of_two() -> None:
    measure = three_sides(*SEQUENTIAL).study.measure
    assert measure.lengthens and measure.duration == Seconds(FIRST_SECONDS * 3 / 2)


def test_a_comparison_that_is_refused_does_not_end_that_of_other_sides() -> None:
    plan = three_sides(*SEQUENTIAL)
    starts = FIRST_STARTS

    def attempts(effect: float, left: float, deviation: float = 0.002) -> Iterator[Attempt]:
        """17 is compared with 16 in vain where it has ``left``; 18 differs by ``effect``."""
        for trial in plan.trials[: 3 * starts]:
            level = trial.cell.level("server")
            noise = random.Random(f"{trial.block} {level}").gauss(0.0, deviation)
            metrics = {
                "tps": 1000.0 * math.exp((effect if level == "18" else 0.0) + noise),
                PLAN.paired_within: 1e-4,
                "measured_seconds": 12.0,
            }
            if level != "16":
                own = left if level == "17" else 0.0
                metrics |= {name: math.exp(own + noise) for name in PLAN.carry_over}
            begun = trial.block * 16.0
            yield Attempt(trial.number, 1, Outcome.COUNTED, metrics, begun, begun + 16.0)

    undecided = list(attempts(0.019, 0.5, deviation=0.02))
    refused, other = contrasts(plan, undecided, judged_only=True)
    assert (refused.new, refused.overall.reason) == ("17", LEFT_BEHIND)
    assert (other.new, other.overall.reason) == ("18", None)
    assert standing(plan, undecided, Seconds(100)).ending is None, "18 is not decided"
    decided = list(attempts(0.1, 0.5))
    assert standing(plan, decided, Seconds(100)).ending is Ending.LEFT_BEHIND
    assert standing(plan, list(attempts(0.1, 0.0)), Seconds(100)).ending is Ending.DECIDED
    found = starts_of(plan, decided, plan.trials[-1], "tps", PLAN.paired_within)
    assert [len(comparison) for comparison in found] == [starts, starts]
