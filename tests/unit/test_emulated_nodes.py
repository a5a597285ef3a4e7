"""Nodes that are emulated as machines of their own, as far as a plan is concerned."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from teiten.analysis.across.comparability import comparability
from teiten.analysis.across.fingerprint import conditions_fingerprint
from teiten.analysis.model.comparison import Weight
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.cli.plan.options import FLAGS, plan_options
from teiten.cli.text.study import study_lines
from teiten.errors import MachineError, StudyError, TeitenError, UsageError
from teiten.execute.postgres.conf import Opening, host_rules
from teiten.execute.probes.os_linux import NodeReader
from teiten.execute.sites.local.checks import lacks
from teiten.execute.sites.local.limit_files import NO_THROTTLE, STORAGE, Allowed, Throttle
from teiten.host.facts.cgroups import Hierarchy
from teiten.host.system.namespaces import inside, why_no_namespaces
from teiten.model.facts import LogicalCpu, Severity
from teiten.model.memory import memory_of
from teiten.model.nodes import EmulatedNodes, NodeMachine, NodePart
from teiten.model.plan import Plan, TemplateSpec
from teiten.model.text import Language
from teiten.model.trial import Event
from teiten.model.units import GIB, MIB, Bytes
from teiten.plan.checks import check, limits_of
from teiten.plan.nodes import emulated, machines, node_cautions, with_machines
from teiten.plan.sites.contract import ActionContext
from teiten.plan.sites.local import LocalPlan
from teiten.report.texts import caution_text
from teiten.report.view.kit import Kit
from teiten.report.view.variants import emulates_nodes, node_rows
from teiten.study.load import load_study
from tests.fixtures.planned import FOLDER, planned
from tests.fixtures.synthetic_plan import HOST
from tests.fixtures.two_machines import campaign
from tests.unit.test_attached import server

NODES = ("nodes.memory=512MiB", "nodes.cpus=1", "nodes.read=20MiB/s", "nodes.write=10MiB")
EVERY = EmulatedNodes(Bytes(512 * MIB), 1, Bytes(20 * MIB), Bytes(10 * MIB))
CPUS = tuple(LogicalCpu(number, number, 0, 0) for number in range(4))


def of_nodes(plan: Plan, count: int) -> Plan:
    """Its trials with so many nodes each, of the same template."""
    many = [replace(trial, templates=trial.templates * count, machines=()) for trial in plan.trials]
    return replace(plan, trials=tuple(with_machines(plan.study, many, CPUS)))


def test_every_node_of_every_trial_has_what_the_study_says() -> None:
    plan = planned(*NODES)
    assert plan.study.nodes == EVERY
    for trial in of_nodes(plan, 3).trials:
        assert [machine.cpus for machine in trial.machines] == [(0,), (1,), (2,)]
        for machine in trial.machines:
            assert (machine.network, machine.memory) == (True, 512 * MIB)
            assert (machine.read, machine.write) == (20 * MIB, 10 * MIB)
        assert trial.memory_limit is None and trial.memory_limits == (512 * MIB,) * 3
    assert limits_of(plan) == (512 * MIB,)
    assert all(not trial.machines for trial in planned().trials)


def test_nodes_share_processors_in_turn_where_there_are_too_few() -> None:
    two = replace(EVERY, cpus=3)
    assert [one.cpus for one in machines(two, 2, CPUS)] == [(0, 1, 2), (0, 1, 3)]
    assert [one.cpus for one in machines(replace(EVERY, cpus=9), 1, CPUS)] == [(0, 1, 2, 3)]
    shared = of_nodes(planned(*NODES[:1], "nodes.cpus=3"), 2)
    found = list(node_cautions(shared, buffered_writes=True))
    assert {one.code for one in found} == {"nodes-emulated", "nodes-share-processors"}
    assert {one.severity for one in found} == {Severity.WARNING}


def test_sizes_come_from_the_memory_of_one_node() -> None:
    plan = planned("nodes.memory=512MiB", "guc:shared_buffers=25%")
    assert memory_of(plan.study, plan.trials[0]) == 512 * MIB
    assert {dict(trial.settings)["shared_buffers"] for trial in plan.trials} == {"128MB"}
    without = replace(EVERY, lacking=((NodePart.MEMORY, "why"),))
    assert memory_of(replace(plan.study, nodes=without)) == 8 * GIB


def test_what_a_machine_lacks_is_left_out_and_told_in_both_languages() -> None:
    asked = [(part, "no root") for part in NodePart]
    study = emulated(planned(*NODES).study, asked)
    assert study.nodes is not None and not study.nodes.in_force
    plan = of_nodes(replace(planned(*NODES), study=study), 2)
    assert all(not trial.machines for trial in plan.trials)
    found = list(node_cautions(plan, buffered_writes=True))
    assert [one.code for one in found] == [f"nodes-without-{part}" for part in NodePart]
    for one in found:
        for language in ("en", "ja"):
            assert "no root" in caution_text(one, language)[0]
    part = emulated(planned(*NODES).study, asked[:1])
    assert {
        machine.network for machine in of_nodes(replace(plan, study=part), 2).trials[0].machines
    } == {False}
    memory_alone = planned("nodes.memory=512MiB").study
    assert emulated(memory_alone, asked[2:]) == memory_alone, "the others are not asked for"


def test_attached_servers_are_as_they_are() -> None:
    plan = planned(*NODES)
    trials = [
        replace(trial, templates=(of_somebody(trial.template),), machines=())
        for trial in plan.trials
    ]
    found = tuple(with_machines(plan.study, trials, CPUS))
    assert list(found) == trials
    said = list(node_cautions(replace(plan, trials=found), buffered_writes=True))
    assert {one.code for one in said} == {f"nodes-without-{part}" for part in NodePart}
    insisting = planned(*NODES, "nodes.insist=yes").study
    with pytest.raises(MachineError, match="is attached") as caught:
        list(with_machines(insisting, trials, CPUS))
    assert caught.value.hint


def of_somebody(template: TemplateSpec) -> TemplateSpec:
    return replace(template, installation=replace(template.installation, attached=server()))


def test_only_the_measured_part_is_held_to_a_nodes_bandwidth_in_the_plan() -> None:
    slow, fast = planned("nodes.read=1MiB", "scale=50"), planned("nodes.read=1GiB", "scale=50")
    assert slow.needs.seconds == fast.needs.seconds


def test_a_study_that_insists_is_refused() -> None:
    study = planned(*NODES, "nodes.insist=yes").study
    assert emulated(study, ()) == study
    with pytest.raises(MachineError, match="their storage cannot be emulated: no disk") as caught:
        emulated(study, [(NodePart.STORAGE, "no disk")])
    assert "nodes.insist=no" in caught.value.hint


@pytest.mark.parametrize(
    ("overrides", "flags", "words"),
    [
        (("nodes.memory=1kB",), {}, "must be at least 128MB"),
        (("nodes.read=1kB",), {}, "must be at least 1MB/s"),
        (("nodes.read=fast",), {}, "is not a size"),
        (("nodes.cpus=0",), {}, "nodes.cpus"),
        (("nodes.memroy=1GiB",), {}, "Did you mean"),
        (("nodes.memory=1GiB",), {"memory": "2GiB"}, "measure.memory sets it for all"),
        (("nodes.memory=1GiB", "memory=1GiB,2GiB"), {}, "the factor memory sets it for all"),
        (("nodes.cpus=1", "cores=1,2"), {}, "the factor cores sets it for all"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(
    overrides: tuple[str, ...], flags: dict[str, Any], words: str
) -> None:
    with pytest.raises((UsageError, StudyError), match=words) as caught:
        planned(*overrides, **flags)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("overrides", "count", "words"),
    [
        (("nodes.memory=3GiB",), 3, "3GB for each of 3 nodes: the machine has 8.0 GiB"),
        (("nodes.memory=512MiB", "guc:shared_buffers=500MB"), 1, "is too small for"),
    ],
)
def test_a_memory_that_does_not_suffice_is_refused(
    overrides: tuple[str, ...], count: int, words: str
) -> None:
    with pytest.raises(TeitenError, match=words) as caught:
        check(of_nodes(planned(*overrides), count), HOST, FOLDER)
    assert caught.value.hint


def test_flags_profiles_and_no_nodes_at_all(tmp_path: Path) -> None:
    given: dict[str, object] = {one.field: () if one.many else None for one in FLAGS}
    given |= {"overrides": ("scale=1",), "node_memory": "1GiB", "node_cpus": "2"}

    def take(**kwargs: object) -> object:
        return kwargs["options"]

    overrides = plan_options(take)(**given).overrides  # type: ignore[attr-defined]
    assert overrides == ("scale=1", "nodes.memory=1GiB", "nodes.cpus=2")
    assert planned(*NODES, "nodes.emulate=no").study.nodes is None
    text = (Path(load_study.__code__.co_filename).parent.parent / "studies/observe.toml").read_text(
        encoding="utf-8"
    )
    text = text.replace("[profiles.quick]", '[profiles.quick]\nnode_memory = "256MiB"')
    path = tmp_path / "mine.toml"
    path.write_text(text + '\n[nodes]\nmemory = "1GiB"\nread = "machine"\n', encoding="utf-8")
    assert load_study(str(path)).nodes == EmulatedNodes(Bytes(GIB))
    quick = load_study(str(path), profile="quick")
    assert quick.nodes == EmulatedNodes(Bytes(256 * MIB))
    assert any("memory=256.0 MiB" in line for line in study_lines(quick, (), (), "en"))


def test_a_plan_says_what_is_made() -> None:
    plan = of_nodes(planned(*NODES), 2)
    said = "\n".join(LocalPlan().actions(ActionContext(plan, HOST, FOLDER, "postgres")))
    for words in (
        "a network namespace for each of up to 2 nodes",
        "512.0 MiB of memory without swap, reading at most 20.0 MiB/s",
        "no network port is opened outside of the nodes' own network namespaces",
        "to processors: 0; 1",
    ):
        assert words in said
    assert "as emulated nodes of 512.0 MiB on" in LocalPlan().start(plan.trials[0])
    context = ActionContext(planned(), HOST, FOLDER, "x")
    assert "namespace" not in "\n".join(LocalPlan().actions(context))


def test_what_is_noticed_of_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status = tmp_path / "proc/self/status"
    status.parent.mkdir(parents=True)
    status.write_text("CapEff:\t0000000000000000\n", encoding="ascii")
    place = "teiten.host.system.namespaces._ip"
    monkeypatch.setattr(place, lambda: "/sbin/ip")
    assert "needs root" in (why_no_namespaces(tmp_path) or "")
    status.write_text("CapEff:\t000001ffffffffff\n", encoding="ascii")
    assert why_no_namespaces(tmp_path) is None
    monkeypatch.setattr(place, lambda: None)
    assert "iproute2" in (why_no_namespaces(tmp_path) or "")
    assert (NodePart.NETWORK, "the program ip (iproute2) is missing") in lacks(EVERY, tmp_path)


def test_whoever_cannot_enter_a_namespace_stays_where_it_is(tmp_path: Path) -> None:
    no_space = tmp_path / "file"
    no_space.touch()
    home = Path("/proc/self/ns/net").readlink()
    with pytest.raises(OSError), inside(no_space):
        raise AssertionError("never inside")
    assert Path("/proc/self/ns/net").readlink() == home


def test_the_servers_are_open_to_their_own_network_alone() -> None:
    opening = Opening("198.18.0.2", "198.18.0.0/16", "all", "all", "trust")
    assert host_rules(opening) == "local all all trust\nhost all all 198.18.0.0/16 trust\n"


VERSION_1 = {
    "cpuacct.usage": "2500000000\n",
    "memory.usage_in_bytes": "900\n",
    "memory.stat": "cache 1\nrss 2\ntotal_cache 600\n",
    "blkio.throttle.io_service_bytes": "254:0 Read 10\n254:0 Write 20\n8:0 Read 5\nTotal 35\n",
}
VERSION_2 = {
    "cpu.stat": "usage_usec 2500000\nuser_usec 1\n",
    "memory.current": "900\n",
    "memory.stat": "anon 300\nfile 600\n",
    "io.stat": "254:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n8:0 rbytes=5 wbytes=0\n",
}


@pytest.mark.parametrize("files", [VERSION_1, VERSION_2], ids=["version 1", "version 2"])
def test_a_nodes_counters_are_read_in_both_versions(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="ascii")
    reader = NodeReader((tmp_path,), os.getpid())
    found = asdict(reader.read())
    reader.close()
    assert found.pop("received_bytes") is not None and found.pop("sent_bytes") is not None
    assert found == {
        "cpu_seconds": 2.5,
        "memory_bytes": 900,
        "page_cache_bytes": 600,
        "disk_read_bytes": 15,
        "disk_written_bytes": 20,
    }


def test_campaigns_on_other_nodes_are_not_compared() -> None:
    one, two = campaign("one"), campaign("two")

    def on(found: CampaignAnalysis, memory: int) -> CampaignAnalysis:
        machine = NodeMachine(network=True, memory=Bytes(memory))
        trials = (replace(each, machines=(machine,)) for each in found.plan.trials)
        return replace(found, plan=replace(found.plan, trials=tuple(trials)))

    def codes(a: CampaignAnalysis, b: CampaignAnalysis) -> set[str]:
        return {each.code for each in comparability(a, b) if each.weight is Weight.OBSTACLE}

    assert codes(on(one, GIB), on(two, GIB)) == codes(one, two)
    assert "node-machine" in codes(on(one, GIB), on(two, 2 * GIB)) & codes(one, on(two, GIB))
    plain, other, emulating = (
        conditions_fingerprint(each.plan) for each in (one, two, on(two, GIB))
    )
    assert plain == other != emulating


@pytest.mark.parametrize(
    ("version", "files"),
    [
        (1, ("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device")),
        (2, ("io.max",)),
    ],
)
def test_storage_is_let_go_and_held_again(
    tmp_path: Path, version: int, files: tuple[str, ...]
) -> None:
    allowed = Allowed(read=5, write=7, disk="8:0")
    (tmp_path / "group").mkdir()
    parents = {STORAGE: Hierarchy(version, tmp_path)}
    throttle = Throttle.of(allowed, parents, "group")

    def written() -> list[str]:
        return [(tmp_path / "group" / name).read_text() for name in files]

    throttle.apply()
    held = written()
    throttle.lift()
    assert not any(" 5" in one or "=5" in one or " 7" in one or "=7" in one for one in written())
    throttle.apply()
    assert written() == held == [one for one in held if "8:0 " in one]
    assert " ".join(held).count("5") == 1 == " ".join(held).count("7")
    assert Throttle.of(Allowed(memory=5), parents, "group") == NO_THROTTLE
    (tmp_path / "group" / files[0]).unlink()
    (tmp_path / "group" / files[0]).mkdir()
    with pytest.raises(MachineError, match="limit of a node's storage cannot be changed"):
        throttle.apply()


def test_the_report_says_that_nodes_are_emulated_and_what_each_had() -> None:
    machines = tuple(NodeMachine(True, Bytes(GIB), Bytes(20 * MIB), None, (n,)) for n in (0, 1))
    found = campaign("one")
    planned_trials = tuple(replace(trial, machines=machines) for trial in found.plan.trials)
    peaks = {"nodes": {"1": {"memory": {"peak": 5}}, "2": {"memory": {"peak": 768 * MIB}}}}
    trials = tuple(replace(trial, facts={**trial.facts, **peaks}) for trial in found.trials)
    addresses = ["198.18.0.1", "198.18.0.2"]
    seen = {"nodes": 2, "addresses": addresses, "cgroup": 2, "read": 4096, "counted": 8192}
    event = Event(0.0, "nodes-emulated", None, None, seen)
    found = replace(
        found,
        plan=replace(found.plan, trials=planned_trials),
        trials=trials,
        events=(*found.events, event),
    )
    for language, words in LANGUAGES.items():
        kit = Kit(found, language)
        ((what, text),) = node_rows(kit)
        assert what == words and emulates_nodes(kit)
        for said in (
            "1 GiB",
            "20 MiB/s",
            kit.t("list.separator").join(addresses),
            "0 / 1",
            "768 MiB",
        ):
            assert said in text.replace("\u00a0", " ")
    assert list(node_rows(Kit(campaign("one"), "en"))) == []


LANGUAGES: dict[Language, str] = {"en": "Emulated nodes", "ja": "模擬ノード"}
