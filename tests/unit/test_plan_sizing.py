"""What is derived from the machine, on machines that are invented."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.pgbench.plan import PLAN as DATA
from teiten.datasets.plan import data_bytes
from teiten.factors.clients import automatic_clients
from teiten.model.facts import HostFacts
from teiten.model.settings import size_setting
from teiten.model.study import Study
from teiten.model.units import GIB, Bytes, Seconds
from teiten.plan.sizing import size
from teiten.study.load import load_study
from tests.fixtures.synthetic_plan import HOST


def machine(*, cores: int = 2, memory: float = 8, free: float = 120) -> HostFacts:
    """An invented machine; sizes in GiB."""
    return replace(
        HOST,
        cpu=replace(HOST.cpu, logical=cores, online=cores),
        memory=replace(
            HOST.memory, total=Bytes(int(memory * GIB)), available=Bytes(int(memory * GIB))
        ),
        disk=replace(HOST.disk, total=Bytes(2000 * GIB), free=Bytes(int(free * GIB))),
    )


def sized(facts: HostFacts, *overrides: str, profile: str | None = None) -> Study:
    return size(load_study("observe", profile=profile, overrides=overrides), facts)


def values(study: Study) -> dict[str, str]:
    return {setting.name: setting.value or "" for setting in study.settings}


def clients(study: Study) -> tuple[str, ...]:
    factor = study.factor("clients")
    assert factor is not None
    return factor.levels


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        (1, ("1", "2", "4")),
        (2, ("1", "2", "4", "8")),
        (3, ("1", "3", "6", "12")),
        (32, ("1", "16", "32", "64", "128")),
    ],
)
def test_clients_go_from_one_to_four_times_the_cores(cores: int, expected: tuple[str, ...]) -> None:
    assert automatic_clients(cores) == expected
    assert clients(sized(machine(cores=cores))) == expected


def test_clients_stay_below_the_connections_that_the_study_sets() -> None:
    assert clients(sized(machine(cores=192)))[-1] == "384"
    study = sized(machine(cores=192), "settings.max_connections=auto")
    assert clients(study)[-1] == "768"
    assert values(study)["max_connections"] == "800"


def test_a_small_machine() -> None:
    study = sized(machine(cores=2, memory=8))
    assert {workload.data.scale for workload in study.workloads} == {50}
    assert values(study)["shared_buffers"] == "1152MB"
    assert values(study)["maintenance_work_mem"] == "512MB"
    assert values(study)["work_mem"] == "128MB"
    assert study.measure.duration is not None and 10 <= study.measure.duration <= 60
    assert study.measure.warmup == 3.0


def test_a_machine_of_the_reports_size() -> None:
    """vCPU 32, 128 GB: the data still fit well, and the campaign still takes about an hour."""
    study = sized(machine(cores=32, memory=128, free=500))
    scale = study.workloads[0].data.scale
    assert scale is not None and scale <= 1000
    assert study.measure.duration is not None and study.measure.duration >= 10


def test_little_free_disk_makes_a_small_scale() -> None:
    study = sized(machine(memory=64, free=10))
    assert study.workloads[0].data.scale is not None
    assert study.workloads[0].data.scale <= 50


def test_where_nothing_fits_the_smallest_scale_is_planned() -> None:
    assert sized(machine(memory=0.5, free=0.1)).workloads[0].data.scale == DATA.scales[0]


def test_what_is_given_is_left_alone() -> None:
    study = load_study("observe", profile="published", overrides=["disturbed_share=7%"])
    given = machine(cores=4)
    assert size(study, given) == replace(study, machine_memory=given.memory.total)
    fixed = sized(machine(), "scale=7", "duration=33s", "warmup=0s", "clients=3")
    assert {workload.data.scale for workload in fixed.workloads} == {7}
    assert (fixed.measure.duration, fixed.measure.warmup) == (33.0, 0.0)
    assert clients(fixed) == ("3",)


def test_other_programs_disturb_one_side_at_a_time_and_widen_the_interval_of_pairs() -> None:
    assert sized(machine(), "way=classic").measure.disturbed_share == 0.05
    assert sized(machine(), "way=in-step").measure.disturbed_share == 1.0
    assert sized(machine(), "way=pairs", "disturbed_share=9%").measure.disturbed_share == 0.09


def test_one_workload_may_have_its_own_scale_and_clients() -> None:
    study = sized(machine(), "workloads.read.scale=7", "workloads.read.clients=5")
    assert study.workload("read").data == pgbench_data(7, 100)
    assert study.workload("update").data.scale == 50
    assert clients(study) == ("1", "2", "4", "5", "8")
    assert study.workload("read").own_levels("clients") == ("5",)
    assert study.workload("update").own_levels("clients") == ("1", "2", "4", "8")


def test_a_longer_target_makes_longer_trials() -> None:
    hour = sized(machine())
    more = sized(machine(), "target=3h")
    assert (more.measure.duration or 0) > 2 * (hour.measure.duration or Seconds(1000))


@given(
    st.integers(1, 256),
    st.floats(1, 2048),
    st.floats(5, 4000),
    st.sampled_from([None, "quick"]),
    st.lists(st.sampled_from(["17", "18", "16", "15", "14"]), min_size=2, max_size=5, unique=True),
)
@settings(max_examples=60, deadline=None)
def test_every_machine_gets_a_study_without_open_values(
    cores: int, memory: float, free: float, profile: str | None, servers: list[str]
) -> None:
    facts = machine(cores=cores, memory=memory, free=free)
    study = size(load_study("observe", profile=profile, servers=servers), facts)
    assert all(setting.value for setting in study.settings)
    assert clients(study)
    assert study.measure.duration is not None and study.measure.warmup is not None
    assert float(study.measure.duration).is_integer()
    largest = max(data_bytes(workload.data) for workload in study.workloads)
    assert size_setting(values(study), "shared_buffers") >= 1.25 * largest
    if study.workloads[0].data.scale != DATA.scales[0]:
        assert largest <= 0.15 * facts.memory.total
    assert size(study, facts) == study, "sizing a sized study changes nothing"


def test_the_data_have_the_reports_sizes() -> None:
    """2021 §4.2, table 4.1: scale 100 has 1.5 GB, scale 1000 has 15 GB."""
    assert data_bytes(pgbench_data(100)) == pytest.approx(1.5e9, rel=0.08)
    assert data_bytes(pgbench_data(1000)) == pytest.approx(15e9, rel=0.08)
    assert data_bytes(pgbench_data(100, 80)) > 1.2 * data_bytes(pgbench_data(100))
