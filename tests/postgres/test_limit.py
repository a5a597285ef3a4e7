"""What a server and its load may use: real control groups, removed in the end and swept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psutil
import pytest

from teiten.datasets.plan import template_bytes
from teiten.errors import MachineError
from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.contract import Program
from teiten.execute.client.here import ChildHere, Here
from teiten.execute.executor import Facts
from teiten.execute.postgres.cluster import StartOptions
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.real import RealExecutor
from teiten.execute.sites.cluster_site import ClusterSite
from teiten.execute.sites.local.clusters import LocalClusters
from teiten.execute.sites.local.limit import Limit, sweep_limits
from teiten.execute.sites.local.limit_files import Allowed
from teiten.execute.trial import TrialRun, run_trial
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import MEMBERS
from teiten.host.system.users import server_user
from teiten.kinds.pgbench.model import PgbenchClients
from teiten.ledger.store import Ledger
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec
from teiten.model.trial import Outcome, Step, Trial
from teiten.model.units import MIB, Bytes, Seconds
from tests.fixtures.pgbench_run import pgbench
from tests.fixtures.servers import ClusterKit
from tests.fixtures.sweeping import swept
from tests.fixtures.synthetic_plan import HOST, make_plan

__all__ = ["pgbench"]

MEMORY = 300 * MIB


@pytest.fixture
def limit(workdir: Workdir) -> Iterator[Limit]:
    """300 MiB; skips with the reason where this machine does not permit it."""
    made = limited(workdir)
    yield made
    made.remove()


def limited(workdir: Workdir) -> Limit:
    try:
        return Limit.make(workdir, Allowed(memory=MEMORY))
    except MachineError as error:
        pytest.skip(error.message)


def members(limit: Limit) -> set[int]:
    return {int(pid) for group in limit.groups for pid in (group / MEMBERS).read_text().split()}


def test_server_and_load_are_held_by_one_limit(
    limit: Limit,
    cluster_kit: ClusterKit,
    tmp_path: Path,
    session_folder: Path,
    installation: Callable[[str], Installation],
) -> None:
    cluster = cluster_kit.make(installation("18"), session_folder / "limited")
    try:
        cluster.start(StartOptions(groups=limit.groups))
        asleep = Program("sleep", Path("/bin/sleep"), ("60",), tmp_path, "out", "err", Seconds(60))
        child = ChildHere(replace(asleep, groups=limit.groups))
        postmaster = psutil.Process(cluster.pid)
        ours = {postmaster.pid, *(one.pid for one in postmaster.children())}
        assert len(ours) > 3 and ours | {child.pid} <= members(limit)
        assert os.getpid() not in members(limit)
        with cluster.connect() as connection:
            row = connection.execute("SELECT pg_backend_pid()").fetchone()
            assert row is not None and row[0] in members(limit)
        child.end(0.1)
    finally:
        cluster.remove()
    limit.remove()
    assert not any(group.exists() for group in limit.groups) and not limit.note.exists()


def test_more_memory_is_not_to_be_had(limit: Limit, tmp_path: Path) -> None:
    """The kernel ends what takes twice as much; nothing outside of the group is touched."""
    code = f"block = bytearray({2 * MEMORY}); print(len(block))"
    greedy = Program(
        "python", Path(sys.executable), ("-I", "-c", code), tmp_path, "out", "err", Seconds(60)
    )
    child = ChildHere(replace(greedy, groups=limit.groups))
    assert child.wait(60)
    assert child.returncode == -signal.SIGKILL
    assert limit.readings()["oom_kills"] == 1
    assert MEMORY * 0.9 < limit.readings()["peak"] <= MEMORY + MIB
    assert (tmp_path / "out").read_bytes() == b""


KILLED = """
import os, signal, sys
from pathlib import Path
from subprocess import DEVNULL
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import spawn
limit = Limit.make(Workdir(Path(sys.argv[1])), Allowed(memory=int(sys.argv[2])))
left = spawn(
    ["/bin/sleep", "600"], groups=limit.groups, death_signal=signal.SIGCONT, stdout=DEVNULL,
    stderr=DEVNULL,
)
print(left.pid, *limit.groups, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_one_left_is_swept_with_what_runs_in_it(workdir: Workdir) -> None:
    limited(workdir).remove()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(workdir.root), str(MEMORY)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    pid, *groups = done.stdout.split()
    assert groups and all(Path(group).is_dir() for group in groups)
    said = swept(workdir)
    assert said == [f"removed the left control group {group}" for group in groups]
    assert not any(Path(group).exists() for group in groups)
    assert not psutil.pid_exists(int(pid)) or psutil.Process(int(pid)).status() == "zombie"
    assert not list(workdir.clusters.iterdir())


def test_what_a_living_one_uses_is_left_alone(limit: Limit, workdir: Workdir) -> None:
    assert sweep_limits(workdir) == ()
    assert all(group.is_dir() for group in limit.groups)
    assert sweep_limits(workdir, ending=True)
    assert not any(group.exists() for group in limit.groups)


def test_a_note_of_something_else_removes_nothing(workdir: Workdir, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    note = {"pid": 2**30, "process_started": 0.0, "groups": [str(other)]}
    (workdir.clusters / "x.limit").write_text(json.dumps(note), encoding="utf-8")
    assert sweep_limits(workdir) == ()
    assert other.is_dir()


class Unseen:
    """Nobody watches."""

    def preparing(self, what: str) -> None: ...
    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None: ...
    def step_started(self, trial: PlannedTrial, step: Step) -> None: ...
    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None: ...
    def trial_finished(self, trial: Trial) -> None: ...


def limited_plan(newest: Installation, pgbench: Pgbench) -> Plan:
    """An invented plan whose first trial is a real one of a second."""
    plan = make_plan(servers=("18",), clients=("1",))
    measure = replace(plan.study.measure, duration=Seconds(1), warmup=Seconds(0), settle=Seconds(0))
    first, *others = plan.trials
    data = replace(first.template.data, scale=1)
    template = TemplateSpec(
        newest, True, data, template_fingerprint(newest, True, data), template_bytes(data)
    )
    first = replace(
        first,
        templates=(template,),
        settings=(("shared_buffers", "64MB"),),
        load=PgbenchClients(),
        memory_limit=Bytes(MEMORY),
    )
    study = replace(plan.study, measure=measure)
    return replace(plan, study=study, pgbench=pgbench, trials=(first, *others))


@pytest.mark.disk
def test_a_site_sees_its_page_cache_and_what_the_kernel_ended(
    workdir: Workdir, tmp_path: Path, installation: Callable[[str], Installation], pgbench: Pgbench
) -> None:
    limited(workdir).remove()
    plan, folder = limited_plan(installation("18"), pgbench), tmp_path / "campaign"
    with Ledger.create(
        folder, plan=plan, name="limited", facts=HOST, cautions=(), command="teiten run observe"
    ) as ledger:
        bench = Bench(plan, folder, Unseen(), lambda: None, ledger)
        machine, here = ThisMachine(workdir, server_user(), ()), Here()
        clusters = LocalClusters(bench, machine, here, print, print)
        (first, *_) = plan.trials
        site = clusters.site(first, 1)
        bench.evidence_folder(first, 1).mkdir(parents=True)
        try:
            clusters.prepare(first.template)
            site.restore()
            site.caches()
            site.limit(first.memory_limit)
            site.start()
            size = _count(site, "SELECT pg_relation_size('pgbench_accounts')")
            _count(site, "SELECT sum(abalance) FROM pgbench_accounts")
            whole = site.page_cache("pgbench_accounts")
            assert whole is not None and whole.size == whole.resident == size
            part = site.page_cache("pgbench_accounts", first=Bytes(MIB))
            assert part is not None and part.size == part.resident == MIB
            assert site.evict("pgbench_accounts")
            left = site.page_cache("pgbench_accounts")
            assert left is not None and left.resident == 0
            every = site.page_cache()
            assert every is not None and every.size > size > every.resident > 0
            assert site.problems() == ()
            greedy = f"block = bytearray({2 * MEMORY})"
            arguments = ("-I", "-c", greedy)
            program = Program(
                "python", Path(sys.executable), arguments, tmp_path, "out", "err", Seconds(60)
            )
            assert site.spawn(program).wait(60)
            (problem,) = (one for one in site.problems() if one.code == "out-of-memory")
            assert problem.detail == "1 in 300.0 MiB"
        finally:
            site.abandon()
            clusters.finish()
            here.close()
    assert list(workdir.clusters.iterdir()) == []


def _count(site: ClusterSite, query: LiteralString) -> int:
    with site.connect() as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.disk
def test_a_trial_is_limited_from_its_start_to_its_end(
    workdir: Workdir, tmp_path: Path, installation: Callable[[str], Installation], pgbench: Pgbench
) -> None:
    limited(workdir).remove()
    plan, steps = limited_plan(installation("18"), pgbench), dict[Step, Facts]()
    folder = tmp_path / "campaign"
    with Ledger.create(
        folder, plan=plan, name="limited", facts=HOST, cautions=(), command="teiten run observe"
    ) as ledger:
        executor = RealExecutor(
            record=ledger,
            campaign=folder,
            machine=ThisMachine(workdir, server_user(), ()),
            observer=Unseen(),
            say=lambda _: None,
            tell=lambda _: None,
            check_interruption=lambda: None,
            passwords={},
        )
        seen: list[int] = []

        def note(_: PlannedTrial, step: Step, facts: Facts) -> None:
            steps[step] = facts
            if step is Step.WARM_UP:
                (noted,) = workdir.clusters.glob("*.limit")
                groups = json.loads(noted.read_text(encoding="utf-8"))["groups"]
                seen.extend(len((Path(group) / MEMBERS).read_text().split()) for group in groups)

        try:
            executor.prepare(plan.trials[0].template)
            trial = run_trial(TrialRun(executor, Unseen(), note), plan.trials[0], 1)
        finally:
            executor.finish()
        events = list(ledger.events())
    assert trial.outcome is not Outcome.FAILED, trial.problems
    assert steps[Step.CACHES].items() >= {"caches": "evicted", "left_in_cache": 0}.items()
    assert steps[Step.START]["limit"]["memory"] == MEMORY
    assert 0 < trial.facts["memory"]["peak"] <= MEMORY + MIB
    assert trial.facts["memory"]["oom_kills"] == 0
    (checked,) = (event.detail for event in events if event.kind == "memory-limit")
    assert checked["memory"] == MEMORY < checked["read"]
    assert MEMORY / 2 < checked["stayed"] <= MEMORY
    assert seen and min(seen) > 3, "the server's processes are in the group"
    assert list(workdir.clusters.iterdir()) == []
