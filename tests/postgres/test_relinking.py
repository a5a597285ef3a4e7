"""Rounds with a build of Teiten's own: each has a server whose objects lie in a new order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import kill, step_of, with_own_installations
from tests.fixtures.small_source import link_server, write_source

native = pytest.importorskip("teiten_native", reason="the native part is not built: make native")
TWO_ROUNDS = (
    *("--clients", "2", "--duration", "1s", "--set", "scale=1", "--set", "changes_data=no"),
    *("--set", "settle=0s", "--set", "warmup=0s", "--set", "disturbed_share=100%"),
    *("--set", "rounds=yes", "--blocks", "2"),
    *("--seed", "4"),  # of which the orders of all four trials differ: three objects have six
)


def test_each_round_has_an_order_of_its_own(
    workdir: Workdir, installation: Callable[[str], Installation], tmp_path: Path
) -> None:
    teiten = with_own_installations(workdir, "17")
    source = link_server(write_source(workdir.root / "sources" / "small", installation("17")))
    flags = ("--configure", "--without-readline --without-zlib", "--jobs", "2", "--json")
    result = teiten.run("pg", "build", "mine", "--source", source, *flags)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["build"]["relink_seconds"] > 0
    builds = teiten.workdir.builds
    assert [one.name for one in builds.iterdir()] == [".lock"], "the trial of the linker is gone"
    script = tmp_path / "sleep.sql"
    script.write_text("SELECT pg_sleep(0.02);\n", encoding="ascii")
    words = ("ab", "17", "mine", "--script", str(script), *TWO_ROUNDS)
    process = teiten.start(*words)
    teiten.wait_for(process, step_of(3, "settle"))
    kill(process)
    assert list(builds.glob("linked-*")), "the second round's"
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    assert not list(builds.glob("linked-*")) and not list(teiten.processes("postgres"))
    names = {trial.number: trial.template.installation.name for trial in teiten.plan().trials}
    linked = [one.facts.get("linked") for one in teiten.trials() if names[one.number] == "mine"]
    fingerprints = {one["fingerprint"] for one in linked if one is not None}
    installed = json.loads(teiten.run("pg", "list", "--json").stdout)
    own = {one["fingerprint"] for one in installed if one["name"] == "mine"}
    assert len(linked) == 2 and len(fingerprints - own) == 2, "no two rounds have one program"
    others = [one for one in teiten.trials() if names[one.number] != "mine"]
    assert len(others) == 2 and all("linked" not in one.facts for one in others)
