"""Programs see of our environment what they need, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from teiten.execute.client.contract import Program
from teiten.execute.client.here import ChildHere
from teiten.execute.postgres.building.running import BuildStep, CompileProgress, run_step
from teiten.execute.postgres.cluster import Cluster
from teiten.host.system.detached import VARIABLE
from teiten.host.system.users import server_user
from teiten.model.units import Seconds
from tests.fixtures.campaigns import Teiten
from tests.postgres.test_strangers import study_of

WORD = f"of-the-person-{os.getpid()}"
PLANTED = {
    "AWS_SECRET_ACCESS_KEY": WORD,
    "CI_JOB_TOKEN": WORD,
    "GIT_ASKPASS": WORD,
    "HTTPS_PROXY": f"http://person:{WORD}@localhost:1",
    "KUBECONFIG": WORD,
    "LD_LIBRARY_PATH": f"/nonexistent/{WORD}",
    "PGPASSWORD": WORD,
    "PYTHONPATH": f"/nonexistent/{WORD}",
    "SSH_AUTH_SOCK": WORD,
    "XDG_RUNTIME_DIR": f"/nonexistent/{WORD}",
}
OF_THE_SHELL = {"_", "OLDPWD", "PWD", "SHLVL"}
OF_POSTGRES = {"PGDATA", "PGLOCALEDIR", "PGSYSCONFDIR", "PG_GRANDPARENT_PID"}
"""What its programs set themselves."""
ALLOWED = {"HOME", "LANG", "LANGUAGE", "PATH", "TZ", VARIABLE}


@pytest.fixture
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


def assert_only_what_is_needed(text: str, home: str, *beside: str) -> None:
    assert WORD not in text
    seen = dict(line.split("=", 1) for line in text.splitlines())
    known = ALLOWED | OF_THE_SHELL | OF_POSTGRES | set(beside)
    assert {name for name in seen if not name.startswith("LC_")} <= known
    assert seen["HOME"] == home and seen["PATH"]


@pytest.mark.pg(">=18")
@pytest.mark.usefixtures("_planted")
def test_a_script_of_a_study(teiten: Teiten, server: str) -> None:
    seen = Path("/tmp", f"teiten-seen-{os.getpid()}")
    script = f"COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; env >>{seen}';\n\\sleep 50 ms\n"
    try:
        done = teiten.run("run", study_of(teiten, server, script, [False]))
        assert done.returncode == 0, done.stderr
        assert_only_what_is_needed(seen.read_text(), _home())
    finally:
        seen.unlink(missing_ok=True)


@pytest.mark.pg(">=18")
@pytest.mark.usefixtures("_planted")
def test_a_load_program(running_cluster: Cluster, tmp_path: Path) -> None:
    environment = running_cluster.client_environment
    program = Program(
        "env", Path("/usr/bin/env"), (), tmp_path, "output", "errors", Seconds(1.0),
        environment=environment,
    )  # fmt: skip
    assert ChildHere(program).wait(60)
    text = (tmp_path / "output").read_text()
    assert_only_what_is_needed(text, os.environ["HOME"], *environment)


@pytest.mark.usefixtures("_planted")
def test_a_build(tmp_path: Path) -> None:
    """A makefile of somebody else's sources sees the same, and where compilers look."""
    run_step(
        BuildStep("env", ("/usr/bin/env",)),
        folder=tmp_path,
        log=tmp_path / "log",
        user=server_user(),
        progress=CompileProgress(),
        watch=lambda *_: None,
        environment={},
    )
    said = (tmp_path / "log").read_text().partition("env\n")[2]
    assert f"LD_LIBRARY_PATH=/nonexistent/{WORD}\n" in said
    rest = said.replace(f"LD_LIBRARY_PATH=/nonexistent/{WORD}\n", "")
    assert_only_what_is_needed(rest, _home())


def _home() -> str:
    user = server_user()
    return user.home if user.is_other else os.environ["HOME"]
