"""A cluster made and run by a user who is not root, with its own home and temporary folder.

The program becomes that user after its imports: root's Python may be one that others cannot read.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.model.installation import Installation

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user"),
]
PROGRAM = """
import getpass, os, sys
from pathlib import Path
from teiten.execute.postgres.binaries import BinaryCache
from teiten.execute.postgres.inspection import inspect_folder
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.templates.clone import clone_tree
from teiten.execute.postgres.marker import Kind, new_folder
from teiten.execute.postgres.sweep import sweep
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Source

os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[2]))
installation = inspect_folder(Path(sys.argv[1]), Source.NAMED, BinaryCache(None))
user, workdir = server_user(), Workdir(default_workdir())
workdir.prepare()
assert not user.is_other
folder, copy = workdir.clusters / "one", workdir.clusters / "two"
cluster = Cluster.create(
    installation, folder / "data", user=user, checksums=True, log=folder / "server.log"
)
new_folder(copy, Kind.CLUSTER)
clone_tree(folder / "data", copy / "data", user=user, caches=workdir.caches)
cluster = Cluster.adopt(installation, copy / "data", user=user, log=copy / "server.log")
cluster.start()
with cluster.connect() as connection:
    print(connection.execute("SHOW data_checksums").fetchone()[0], cluster.socket_directory)
print(cluster.stop())
sweep(workdir)
cluster.remove()
"""


@pytest.mark.pg(">=9.6")
def test_without_root(server_installation: Installation, session_folder: Path) -> None:
    run_as_nobody(server_installation, session_folder, runtime_folder=True)


@pytest.mark.pg(">=18")
def test_without_a_runtime_folder(server_installation: Installation, session_folder: Path) -> None:
    run_as_nobody(server_installation, session_folder, runtime_folder=False)


def run_as_nobody(
    server_installation: Installation, session_folder: Path, *, runtime_folder: bool
) -> None:
    nobody = pwd.getpwnam("nobody")
    home = session_folder / f"home-{server_installation.version.major}-{runtime_folder}"
    temporary = home / "tmp"
    temporary.mkdir(parents=True)
    for path in (home, temporary):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    environment = {"HOME": str(home), "TMPDIR": str(temporary), "PATH": os.environ["PATH"]}
    if runtime_folder:
        environment["XDG_RUNTIME_DIR"] = str(temporary)
    done = subprocess.run(
        [
            *(sys.executable, "-c", PROGRAM, str(server_installation.bin_directory)),
            *(str(nobody.pw_uid), str(nobody.pw_gid)),
        ],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer, manner = done.stdout.splitlines()
    assert answer.startswith(f"on {temporary}/teiten-")
    assert manner == "fast"
    assert list(temporary.iterdir()) == []
