"""The drawing of where load and servers were: which boxes it has, and what stands in them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from teiten.model.plan import PlannedLoad
from teiten.report.texts import texts
from teiten.report.view.kit import Kit
from teiten.report.view.topology import BESIDE_ARROW, beside_arrow, topology
from teiten.ways.registry import rules
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_partitions import insert_plan, of_partitions
from tests.fixtures.invented_probes import Invented, invented_probes


def texts_of(kit: Kit) -> list[str]:
    return re.findall(r">([^<>]+)</text>", str(topology(kit).svg))


def test_each_side_has_its_own_buffers() -> None:
    lines = texts_of(Kit(invented_probes(Invented(blocks=2)), "en"))
    sides = [line for line in lines if line.startswith("shared_buffers =")]
    assert sides == ["shared_buffers = 25%", "shared_buffers = 50%", "shared_buffers = 75%"]
    values = [lines[lines.index(side) + 1] for side in sides]
    assert values == [f"shared_buffers {size}" for size in ("512MB", "1GB", "1536MB")]


def test_of_many_sides_the_servers_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    kit = Kit(of_partitions(insert_plan()), "en")
    sides = [side.long for side in kit.names.sides.values()]
    assert set(sides) < set(texts_of(kit))
    monkeypatch.setattr("teiten.report.view.topology.MOST_SIDES", len(sides) - 1)
    lines = texts_of(kit)
    assert not set(sides) & set(lines)
    for server in kit.names.servers.values():
        assert lines.count(server.long) == 1


def test_a_side_with_settings_of_its_own_has_them_in_lines() -> None:
    """Behind its name they ran over the box."""
    analysis = invented_analysis(seconds=2)
    own = (("17", ()), ("18", (("guc:max_parallel_workers_per_gather", "0"),)))
    study = replace(analysis.plan.study, server_levels=own)
    kit = Kit(replace(analysis, plan=replace(analysis.plan, study=study)), "en")
    lines = texts_of(kit)
    at = lines.index("18 (PostgreSQL 18.4)")
    assert lines[at + 1] == "max_parallel_workers_per_gather = 0"
    assert not any("…" in line for line in lines)


def test_the_clients_of_pgbench_are_those_of_its_own_trials() -> None:
    """A workload of another kind has a connection, which is no client of pgbench."""
    analysis = invented_analysis(seconds=2)
    assert "1 to 64 clients" in texts_of(Kit(analysis, "en"))
    trials = tuple(
        replace(trial, load=PlannedLoad()) if trial.load.connections == 1 else trial
        for trial in analysis.plan.trials
    )
    kit = Kit(replace(analysis, plan=replace(analysis.plan, trials=trials)), "en")
    assert "4 to 64 clients" in texts_of(kit)


@pytest.mark.parametrize(
    "key", ["topology.turns-nodes", *(f"way.{name}.turns" for name in rules())]
)
def test_what_is_said_below_the_arrow_stays_between_the_boxes(key: str) -> None:
    for language, wide in (("en", 1), ("ja", 2)):
        text = texts(language)(key)
        lines = beside_arrow(text)
        assert all(len(line) * wide <= BESIDE_ARROW for line in lines)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert not any(line.startswith("、") for line in lines)
