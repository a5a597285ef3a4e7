"""A memory that is really limited, and the page cache of a server's relations, on real systems."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from teiten.errors import MachineError
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.placement import path_of, segments
from teiten.execute.sites.local.checks import check_limit
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.page_cache import cached, cached_below, evict
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import MEMBERS
from teiten.model.installation import Installation
from teiten.model.units import MIB, Bytes
from tests.fixtures.campaigns import Teiten, kill, step_of
from tests.fixtures.control_groups import control_groups
from tests.fixtures.servers import open_folder, place_on_a_disk
from tests.fixtures.sweeping import swept

MEMORY = Bytes(200 * MIB)
pytestmark = pytest.mark.disk


@pytest.fixture(autouse=True)
def _permitted(request: pytest.FixtureRequest) -> None:
    """Skips with the reason where this machine permits no limit."""
    if "workdir" not in request.fixturenames:
        return
    try:
        Limit.make(request.getfixturevalue("workdir"), Allowed(memory=MEMORY)).remove()
    except MachineError as error:
        pytest.skip(error.message)


def test_a_limit_is_seen_to_hold_and_nothing_is_left(workdir: Workdir) -> None:
    found = check_limit(workdir, MEMORY, workdir.clusters)
    assert found["memory"] == MEMORY < found["read"]
    assert MEMORY * 0.7 < found["stayed"] <= MEMORY
    assert MEMORY * 0.9 < found["charged"] <= MEMORY + MIB
    assert list(workdir.clusters.iterdir()) == []


def test_where_the_page_cache_does_not_count_that_is_said(workdir: Workdir) -> None:
    with open_folder("teiten-test-", "/dev/shm") as folder:
        with pytest.raises(MachineError, match="does not count to a control group") as caught:
            check_limit(workdir, MEMORY, folder)
        assert list(folder.iterdir()) == []
    assert "--memory machine" in caught.value.hint
    assert list(workdir.clusters.iterdir()) == []


ENDLESS = """
import sys
from pathlib import Path
from teiten.execute.sites.local import checks
from teiten.host.system.paths import Workdir
checks.READ_ALL = "import time; time.sleep(600)"
workdir = Workdir(Path(sys.argv[1]))
checks.check_limit(workdir, int(sys.argv[2]), workdir.clusters)
"""


def test_a_check_that_was_killed_leaves_no_more_than_what_the_next_start_sweeps(
    workdir: Workdir,
) -> None:
    checking = subprocess.Popen([sys.executable, "-c", ENDLESS, str(workdir.root), str(MEMORY)])
    deadline = time.monotonic() + 240
    while not (groups := [one for one in _groups(workdir) if (one / MEMBERS).read_text().strip()]):
        assert checking.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    assert swept(workdir) == [], "what a living one uses is left alone"
    checking.send_signal(signal.SIGKILL)
    checking.wait()
    assert all(group.is_dir() for group in groups)
    said = swept(workdir)
    assert said == [f"removed the left control group {group}" for group in groups]
    assert not any(group.exists() for group in groups)
    assert list(workdir.clusters.iterdir()) == []


def _groups(workdir: Workdir) -> Iterator[Path]:
    for note in workdir.clusters.glob("*.limit"):
        yield from control_groups(note.stem)


def test_a_campaign_in_a_limit_goes_on_after_a_kill(
    teiten: Teiten, installation: Callable[[str], Installation]
) -> None:
    """The group is swept when the campaign is resumed; every trial ran in a new one."""
    one = installation("18")
    study = teiten.study(one, one, workload="reads")
    arguments = ("run", study, "--memory", "400MB", "--yes", "--name", "m")
    process = teiten.start(*arguments, "--set", "factors.guc:shared_buffers=25%")
    teiten.wait_for(process, step_of(1, "prewarm"))
    groups = list(_groups(teiten.workdir))
    assert groups
    kill(process)
    assert all(group.is_dir() for group in groups)
    done = teiten.run("resume", "m")
    assert done.returncode == 0, done.stderr
    assert "removed the left control group" in done.stdout + done.stderr
    assert not any(group.exists() for group in groups) and not list(_groups(teiten.workdir))
    for trial in teiten.trials():
        assert 0 < trial.facts["memory"]["peak"] <= 401 * MIB
        assert trial.facts["settings"]["shared_buffers"] == "12800 8kB"


TABLE = "CREATE TABLE t AS SELECT i, repeat('x', 700) AS filler FROM generate_series(1, 20000) i"


@pytest.mark.pg(">=9.6")
def test_the_page_cache_of_a_relation_is_seen_and_emptied(running_cluster: Cluster) -> None:
    data = running_cluster.data_directory
    with running_cluster.connect() as connection:
        connection.execute(TABLE)
        connection.execute("CHECKPOINT")
        path, size = path_of(connection, "t"), _size(connection)
        assert path is not None and size > 8 * MIB
        (whole,) = (cached(file) for file in segments(data, path))
        assert whole is not None and whole.size == size and whole.share > 0.9
        assert [evict(file) for file in segments(data, path)] == [True]
        assert [cached(file).resident for file in segments(data, path)] == [0]  # type: ignore[union-attr]
        connection.execute("SELECT count(*) FROM t")  # from shared buffers
        assert [cached(file).resident for file in segments(data, path)] == [0]  # type: ignore[union-attr]
    running_cluster.stop()
    running_cluster.start()
    with running_cluster.connect() as connection:
        connection.execute("SELECT count(*) FROM t")
        # not all: a kernel may take some back at any time
        (again,) = (cached(file) for file in segments(data, path))
        assert again is not None and again.size == size and again.share > 0.9
        every = cached_below(data)
        assert every is not None and every.size > size and every.resident > 0.9 * size


def _size(connection: psycopg.Connection[tuple[int]]) -> int:
    row = connection.execute("SELECT pg_relation_size('t')").fetchone()
    assert row is not None
    return row[0]


def test_a_relation_of_a_tablespace_in_the_clusters_own_folder(
    cluster_kit: object, workdir: Workdir, installation: Callable[[str], Installation]
) -> None:
    cluster = cluster_kit.make(installation("18"), workdir.clusters / "spaces")  # type: ignore[attr-defined]
    space = cluster.data_directory.parent / "space"
    space.mkdir()
    if cluster.user.is_other:
        os.chown(space, cluster.user.uid, cluster.user.gid)
    try:
        cluster.start()
        with cluster.connect() as connection:
            connection.autocommit = True
            connection.execute(f"CREATE TABLESPACE near LOCATION '{space}'")
            connection.execute(TABLE.replace(" t AS", " t TABLESPACE near AS"))
            connection.execute("CHECKPOINT")
            path = path_of(connection, "t")
            assert path is not None and path.startswith("pg_tblspc/")
            (found,) = (cached(file) for file in segments(cluster.data_directory, path))
            assert found is not None and found.size == _size(connection)
            assert found.share > 0.9
            connection.execute("CREATE TABLE parted (i int) PARTITION BY RANGE (i)")
            assert path_of(connection, "parted") is None
    finally:
        cluster.remove()


def test_segments_are_read_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "base" / "5"
    folder.mkdir(parents=True)
    for name, text in (("16", "first"), ("16.1", "second"), ("16.2", "third"), ("16.4", "no")):
        (folder / name).write_text(text)
    found = segments(tmp_path / "data", "base/5/16")
    assert [file.read() for file in found] == [b"first", b"second", b"third"]
    assert list(segments(tmp_path / "data", "base/5/17")) == []
    (tmp_path / "secret").write_text("of somebody else")
    (folder / "18").symlink_to(tmp_path / "secret")
    with pytest.raises(UnsafePlaceError):
        list(segments(tmp_path / "data", "base/5/18"))
    (tmp_path / "data" / "global").symlink_to(tmp_path)
    with pytest.raises(UnsafePlaceError):
        list(segments(tmp_path / "data", "global/secret"))
    for outside in ("../secret", "base/../../secret", str(tmp_path / "secret")):
        with pytest.raises(UnsafePlaceError, match="is not in the data directory"):
            list(segments(tmp_path / "data", outside))


UNPRIVILEGED = """
import getpass, os, sys
from pathlib import Path
from teiten.errors import MachineError
from teiten.execute.postgres.binaries import BinaryCache
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.inspection import inspect_folder
from teiten.execute.postgres.placement import path_of, segments
from teiten.execute.sites.local.limit import require_limits
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.system.page_cache import cached, evict
from teiten.host.system.users import server_user
from teiten.model.installation import Source

os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[2]))
try:
    require_limits(Allowed(memory=2**30))
except MachineError as error:
    print(error.message, "|", error.hint)
installation = inspect_folder(Path(sys.argv[1]), Source.NAMED, BinaryCache(None))
folder = Path(os.environ["HOME"]) / "cluster"
folder.mkdir()
cluster = Cluster.create(
    installation, folder / "data", user=server_user(), checksums=False, log=folder / "server.log"
)
cluster.start()
with cluster.connect() as connection:
    connection.execute(sys.argv[4])
    connection.execute("CHECKPOINT")
    path = path_of(connection, "t")
    print(*(cached(one).share for one in segments(cluster.data_directory, path)))
    print(*(evict(one) for one in segments(cluster.data_directory, path)))
    print(*(cached(one).share for one in segments(cluster.data_directory, path)))
cluster.stop(immediately=True)
"""


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_root(installation: Callable[[str], Installation]) -> None:
    """The page cache of one's own servers is seen and emptied; a limit is refused with a hint."""
    nobody = pwd.getpwnam("nobody")
    with open_folder("teiten-test-", place_on_a_disk()) as home:
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        done = subprocess.run(
            [
                *(sys.executable, "-c", UNPRIVILEGED, str(installation("18").bin_directory)),
                *(str(nobody.pw_uid), str(nobody.pw_gid), TABLE),
            ],
            env={
                "HOME": str(home),
                "TMPDIR": str(home),
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            },
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    refused, *seen = done.stdout.splitlines()
    assert "memory" in refused and "systemd-run --user --scope -p Delegate=yes" in refused
    assert float(seen[0]) > 0.9 and seen[1:] == ["True", "0.0"]
