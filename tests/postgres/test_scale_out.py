"""Tables spread over two nodes by postgres_fdw: a campaign in which one of them is killed."""

from __future__ import annotations

import math
import subprocess

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.distribution import ClientEntry
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten, step_of
from tests.fixtures.servers import left_processes
from tests.postgres.test_nodes import Find

STUDY = """
[study]
name = "spread"
title = "Spread"
question = "Does all of it work?"
contrast = "nodes"

[factors]
server = ["{server}"]
nodes = [0, 2]
entry = ["coordinator", "all"]
clients = [2]

[[workloads]]
name = "update"
title = "Update"
script = "tpcb-like"
scale = 1
changes_data = true
invariants = ["tpcb-balances"]
pgbench_options = ["--max-tries=1000"]

[measure]
duration = "3s"
warmup = "0s"
settle = "0s"
blocks = 2
caches = "keep"
prewarm = true
disturbed_share = "100%"

[profiles.quick]
conclusive = false
blocks = 1
"""


def wait_for_a_trial_on_nodes(teiten: Teiten, process: subprocess.Popen[str]) -> int:
    """The number of the one trial that clients enter through all nodes, once it is measured."""
    teiten.wait_for(process, step_of(1, "restore"))
    (number,) = (
        one.number
        for one in teiten.plan().trials
        if one.distribution is not None and one.distribution.entry is ClientEntry.ALL
    )
    teiten.wait_for(process, step_of(number, "warm-up"))
    return number


def kill_the_last_node(teiten: Teiten) -> None:
    """Of the clusters of two parts and an empty database none has a copy: each is known by its
    rows."""
    postmasters = [one for one in teiten.processes("postgres") if "-D" in one.cmdline()]
    assert len(postmasters) == 3
    last = teiten.plan().trials
    part = next(one for one in last if one.distribution).templates[-1].fingerprint[:12]
    (node,) = (one for one in postmasters if part in one.cwd())
    node.kill()


def test_a_campaign_on_nodes_goes_on_after_one_was_killed(
    workdir: Workdir, installation: Find
) -> None:
    """Every transaction is on the nodes that it was committed on, and all sums agree at the end."""
    teiten = Teiten.prepared(workdir)
    study = workdir.root / "spread.toml"
    server = installation("18").bin_directory
    study.write_text(STUDY.format(server=server), encoding="utf-8")
    process = teiten.start("run", study, "--profile", "quick", "--yes")
    spread = wait_for_a_trial_on_nodes(teiten, process)
    kill_the_last_node(teiten)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors

    trials = teiten.trials()
    failed = [one for one in trials if one.outcome is not Outcome.COUNTED]
    assert [one.number for one in failed] == [spread]
    first = failed[0].problems[0]
    assert first.code == "server-crash" and first.detail.startswith("node 3: ")
    (again,) = (one for one in trials if one.number == spread and one.outcome is Outcome.COUNTED)
    commits = [again.metrics[f"node_{node}_commits"] for node in (2, 3)]
    assert min(commits) > 0
    of_a_transaction = math.fsum(commits) / again.metrics["transactions"]
    assert again.metrics["participants"] == pytest.approx(of_a_transaction)
    assert 1 <= of_a_transaction <= 2
    counted = {one.number for one in trials if one.outcome is Outcome.COUNTED}
    assert len(counted) == 4, "on plain PostgreSQL and on nodes, through the coordinator and all"
    (probed,) = (one.detail for one in teiten.events() if one.kind == "fsync-intervals")
    assert "reason" in probed or set(probed["rates"]) == {"8192", "131072", "0"}
    report = teiten.campaign() / "report"
    for language, said in (("en", "Scale-out"), ("ja", "スケールアウト")):
        assert said in (report / f"report.{language}.html").read_text(encoding="utf-8")
    assert list(workdir.clusters.iterdir()) == []
    assert not left_processes([workdir.root])
