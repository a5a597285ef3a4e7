"""Campaigns of the kinds and ways whose sentences are not all known: their numbers are read."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

from teiten.model.plan import Plan, PlannedTrial
from tests.fixtures.invented_partitions import insert_plan, invented_trial, partitions_plan
from tests.fixtures.pairs import ab_plan
from tests.reader.drawn import EFFECTS, NOISES, Draw, Drawn, Luck, analysed, latencies, probes
from tests.unit.test_placement import FAST_SLOW
from tests.unit.test_placement import plan_of as placement_plan
from tests.unit.test_scale_out_plan import planned as scale_out_plan

WAYS = ("pairs", "in-step", "classic")


def procedures(chance: Random) -> Drawn:
    """Steps that are timed, by several methods."""
    plan = chance.choice((insert_plan, partitions_plan))()
    noise = chance.choice(NOISES[:-1])
    effects = {
        one.name: chance.choice(EFFECTS[:-1]) for one in plan.study.workloads[0].options.texts
    }

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, object]]:
        invented = invented_trial(planned)
        factor = effects.get(planned.cell.level("method") or "", 1.0)
        factor *= math.exp(chance.gauss(0, noise))
        return {name: value * factor for name, value in invented.metrics.items()}, invented.facts

    return analysed("procedure", plan, Luck.drawn(chance).trials(plan, numbers))


def of_levels(kind: str, plan: Plan, chance: Random) -> Drawn:
    """Throughput that each side of a contrast has of its own, on each workload."""
    noise = chance.choice(NOISES[:-1])
    effects: dict[tuple[str, str | None], float] = {}

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, object]]:
        cell = planned.cell
        key = cell.workload, cell.level(plan.study.contrast)
        effect = effects.setdefault(key, chance.choice(EFFECTS))
        tps = 500 * planned.load.connections * effect * math.exp(chance.gauss(0, noise))
        return latencies(tps, planned.load.connections), {}

    return analysed(kind, plan, Luck.drawn(chance).trials(plan, numbers))


def placements(chance: Random) -> Drawn:
    """Parts of the cluster on a fast and on a slow storage."""
    blocks = chance.choice((2, 3))
    return of_levels(
        "placement",
        placement_plan(*FAST_SLOW, overrides=(f"blocks={blocks}", "conclusive=yes")),
        chance,
    )


def scale_outs(chance: Random) -> Drawn:
    """Plain PostgreSQL against a coordinator with one node or more."""
    plan = scale_out_plan(f"blocks={chance.choice((2, 3, 5))}", "conclusive=yes")
    return of_levels("scale-out", plan, chance)


def two_sides(chance: Random) -> Drawn:
    """Two servers that are loaded at the same time, in step or by turns."""
    plan = ab_plan(way=chance.choice(WAYS), clients=chance.choice(("2", "1,4")), duration="8s")
    noise, effect = chance.choice(NOISES[1:-1]), chance.choice(EFFECTS[:-1])
    kept = chance.choice((2, 6, 8, 20))
    left = chance.choice((1.0, 1.0, 1.0, 1.2))

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, object]]:
        factor = 1.0 if planned.cell.level("server") == "17" else effect
        tps = 1000.0 * factor * math.exp(chance.gauss(0, noise))
        further = {
            "latency_typical": 0.8 / tps,
            "mean_by_typical": 1.25 * math.exp(chance.gauss(0, noise)),
            "left_behind_throughput": left * math.exp(chance.gauss(0, noise)),
        }
        return {**latencies(tps, planned.load.connections), **further}, {}

    luck = replace(Luck.drawn(chance), missing=0.0)
    trials = luck.trials(plan, numbers)
    run = [one for one in trials if plan.trials[one.number - 1].block <= kept]
    return analysed("two-sides", plan, run)


BY_NUMBERS: tuple[Draw, ...] = (procedures, placements, scale_outs, two_sides, probes)
