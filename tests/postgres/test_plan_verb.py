"""``teiten plan`` with the installations of this machine: a plan, and nothing started."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest

from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session, main
from teiten.cli.plan.make import make_plan
from teiten.cli.plan.options import PlanOptions
from teiten.errors import MachineError, UsageError
from teiten.host.facts.native_part import INTERFACE, MODULE, how_to_get
from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import with_installations

pytestmark = pytest.mark.pg(">=9.6")


@pytest.fixture(autouse=True)
def pgbench_is_here(workdir: Workdir) -> None:
    """Not every machine has the distribution's."""
    with_installations(workdir)


def against_itself(server: Installation) -> tuple[str, ...]:
    """Two names for one server."""
    path = server.bin_directory
    return (f"servers.old={path}", f"servers.new={path}")


def session(workdir: Workdir) -> Session:
    return Session(workdir, Console(Verbosity.QUIET, "never"))


def test_a_plan_for_a_real_server(server_installation: Installation, workdir: Workdir) -> None:
    options = PlanOptions(
        servers=("old,new",),
        profile="quick",
        overrides=against_itself(server_installation),
        seed=7,
    )
    planned = make_plan(session(workdir), "observe", options)
    assert len(planned.plan.trials) == 60
    assert {installation.version for _, installation in planned.plan.servers} == {
        server_installation.version
    }
    assert planned.ready == frozenset()
    assert planned.plan.needs.disk < planned.facts.disk.free
    assert planned.plan == make_plan(session(workdir), "observe", options).plan
    assert not any(workdir.clusters.iterdir()), "nothing is started"
    assert not any(workdir.templates.iterdir()), "nothing is built"


def test_pairs_without_a_native_part_that_can_are_refused_by_the_plan(
    server_installation: Installation, workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = server_installation.bin_directory
    of_two = PlanOptions(
        servers=("a,b",),
        profile="quick",
        overrides=("way=pairs", *(f"servers.{name}={path}" for name in "ab")),
    )
    earlier = SimpleNamespace(pairs_main=int, INTERFACE=INTERFACE - 1)
    for module, said in ((None, "is not here"), (earlier, "is of an earlier Teiten")):
        monkeypatch.setitem(sys.modules, MODULE, module)
        with pytest.raises(MachineError, match=f"no paired transactions: .*{said}") as caught:
            make_plan(session(workdir), "observe", of_two)
        assert caught.value.hint == how_to_get()


def test_the_verb_prints_what_would_run_and_why_it_cannot(
    server_installation: Installation, workdir: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ("--workdir", str(workdir.root))
    servers = [word for each in against_itself(server_installation) for word in ("--set", each)]
    size = ("--profile", "quick", "--set", "scale=1000000")
    with pytest.raises(SystemExit) as caught:
        main([*folder, "plan", "observe", "--servers", "old,new", *servers, *size, "--json"])
    assert caught.value.code == MachineError.exit_code
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["trials"]) == 60
    assert f"of disk in {workdir.root}, " in printed.err
    assert "TiB short" in printed.err


def test_one_server_under_two_names_that_are_no_aliases_is_refused(
    server_installation: Installation, workdir: Workdir
) -> None:
    path = server_installation.bin_directory
    options = PlanOptions(servers=(f"{path},{path.parent}",), profile="quick")
    with pytest.raises(UsageError) as caught:
        make_plan(session(workdir), "observe", options)
    assert "are the same installation" in caught.value.message


def test_a_server_that_is_not_here(workdir: Workdir) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(session(workdir), "observe", PlanOptions(servers=("8.4,8.3",)))
    assert "8.4" in caught.value.message
