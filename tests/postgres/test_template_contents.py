"""A template is what was built: a script of any campaign can write to none, and one that has
changed all the same is built anew, or no copy of it is measured."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import MachineError
from teiten.execute.postgres.templates.contents import CONTENTS, find_change, seal
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser, server_user
from teiten.model.installation import Installation, Pgbench
from tests.fixtures.campaigns import Teiten, with_installations
from tests.fixtures.pgbench_run import pgbench
from tests.postgres.test_templates import quiet, spec_of

__all__ = ["pgbench"]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user is the servers' user too")
POISON = """#!/bin/sh
cat >/dev/null
for file in {templates}/*/data/{name}; do
    echo "work_mem = 64kB" >>$file
    echo $? >>{log}
done
"""
AUTO = "postgresql.auto.conf"
HOLDER = """
import os, sys
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[2]))
file = open(sys.argv[1], "r+b", buffering=0)
print("open", flush=True)
status = os.fstat(file.fileno())
sys.stdin.readline()
file.write(b"x")
try:
    os.utime(file.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
except PermissionError:
    print("his time stays", flush=True)
"""


@pytest.mark.root
@as_root
@pytest.mark.pg(">=18")
def test_a_script_writes_to_no_template(
    server_installation: Installation, workdir: Workdir
) -> None:
    with_installations(workdir)
    teiten = Teiten(workdir)
    others = teiten.study(server_installation, server_installation, workload="reads")
    assert teiten.run("run", others).returncode == 0
    files = sorted(workdir.templates.glob(f"*/data/{AUTO}"))
    before = [file.read_bytes() for file in files]
    assert before
    log = workdir.root / "log"
    log.touch()
    log.chmod(0o666)
    program, script = workdir.root / "poison.sh", workdir.root / "poison.sql"
    program.write_text(POISON.format(templates=workdir.templates, name=AUTO, log=log))
    program.chmod(0o755)
    script.write_text(f"COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; {program}';\n\\sleep 50 ms\n")
    theirs = others.with_name("theirs.toml")
    theirs.write_text(others.read_text().replace(str(teiten.script("reads")), str(script)))
    done = teiten.run("run", theirs)
    assert log.read_text(), done.stderr
    assert set(log.read_text().split()) == {"2"}, "the shell may open none of them"
    assert [file.read_bytes() for file in files] == before
    assert all(find_change(file.parents[1]) is None for file in files)


@pytest.mark.pg(">=18")
def test_a_changed_template_is_built_anew_and_not_copied(
    server_installation: Installation, workdir: Workdir, pgbench: Pgbench
) -> None:
    spec = spec_of(server_installation, pgbench_data(1))
    store = TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)
    auto = workdir.templates / spec.fingerprint / "data" / AUTO
    assert auto.stat().st_uid == os.geteuid()
    with auto.open("a") as file:
        file.write("work_mem = '64kB'\n")
    with pytest.raises(MachineError, match=rf"has changed .*data/{AUTO} was -rw-------, 0 bytes"):
        store.clone(spec, workdir.clusters / "copy")
    assert not list(workdir.clusters.iterdir())
    assert not store.ready(spec)
    said: list[str] = []
    store.build(spec, pgbench, said.append)
    assert "has changed since it was built" in said[0] and "built anew" in said[0]
    assert store.ready(spec)
    assert b"work_mem" not in auto.read_bytes()
    store.clone(spec, workdir.clusters / "copy")


@pytest.fixture
def sealed(workdir: Workdir) -> Path:
    """A template's folder with a data directory of the servers' user."""
    user, folder = server_user(), workdir.templates / "sealed"
    data = folder / "data"
    (data / "base").mkdir(parents=True)
    (data / "base" / "1").write_text("rows")
    (data / AUTO).write_text("# Do not edit\n")
    (data / "link").symlink_to("base")
    for path in (data, *data.rglob("*")):
        with contextlib.suppress(NotImplementedError):
            os.chown(path, _uid(user), -1, follow_symlinks=False)
    return folder


def _uid(user: ServerUser) -> int:
    return os.geteuid() if user.uid is None else user.uid


def test_each_change_is_named(sealed: Path) -> None:
    data = sealed / "data"
    assert find_change(sealed) == "it has no list of its files: an older Teiten built it"
    seal(sealed, server_user())
    assert find_change(sealed) is None
    assert {path.lstat().st_uid for path in (data, *data.rglob("*"))} == {os.geteuid()}
    (data / "new").touch()
    assert find_change(sealed) == "data/new is new"
    (data / "new").unlink()
    (data / "base" / "1").write_text("ROWS")
    assert find_change(sealed) == "data/base/1 was written to"
    (data / "link").unlink()
    assert find_change(sealed) == "data/base/1 was written to, data/link is gone"
    (data / AUTO).chmod(0o640)
    assert "data/postgresql.auto.conf was -rw-r--r--, 14 bytes" in (find_change(sealed) or "")
    (sealed / CONTENTS).write_text("{")
    assert (find_change(sealed) or "").startswith("its files cannot be compared")


@pytest.mark.root
@as_root
def test_a_file_that_was_kept_open_shows(sealed: Path) -> None:
    """By a program of the servers' user that was there while the template was filled."""
    user = server_user()
    command = [sys.executable, "-I", "-S", "-c", HOLDER, str(sealed / "data" / "base" / "1")]
    with subprocess.Popen(
        [*command, str(user.uid), str(user.gid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        seal(sealed, user)
        assert find_change(sealed) is None
        assert holder.communicate("\n")[0] == "his time stays\n"
    assert find_change(sealed) == "data/base/1 was written to"


@pytest.mark.root
@as_root
def test_only_files_of_the_servers_user_alone_are_taken(sealed: Path) -> None:
    (sealed / "other").write_text("of root")
    (sealed / "data" / "hard").hardlink_to(sealed / "other")
    with pytest.raises(UnsafePlaceError, match=r"hard is not a file of postgres alone"):
        seal(sealed, server_user())
