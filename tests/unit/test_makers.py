"""What another container or host has made is removed only where it is certain that its maker has
ended; what a crash, a reboot or a restart of a container has left is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from teiten.execute.postgres.marker import MARKER_NAME, Kind, new_folder, read_marker, remove_marked
from teiten.execute.postgres.sweep import sweep
from teiten.execute.sites.local.notes import left_notes, write_note
from teiten.host.system import makers
from teiten.host.system.makers import Life
from teiten.host.system.paths import Workdir
from tests.fixtures.orphans import IN_ANOTHER_CONTAINER, may_make_pid_namespaces

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pid namespaces are Linux's")
OPEN = Path("/proc/self/fd")
MAKES = """
import sys
from pathlib import Path
from teiten.execute.postgres.marker import Kind, new_folder
from teiten.execute.sites.local.notes import write_note
from teiten.host.system.paths import Workdir
workdir = Workdir(Path(sys.argv[1]))
new_folder(workdir.clusters / "other", Kind.CLUSTER)
write_note(workdir, "other.limit", {"groups": []})
print("made", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    workdir = Workdir(tmp_path / "work")
    workdir.prepare()
    return workdir


@contextmanager
def made_elsewhere(workdir: Workdir, *prefix: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process, in a pid namespace of its own, that has made a cluster's folder and a note."""
    words = [*prefix, sys.executable, "-c", MAKES, str(workdir.root)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"made\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def change(folder: Path, **values: Any) -> None:
    marker = json.loads((folder / MARKER_NAME).read_text())
    (folder / MARKER_NAME).write_text(json.dumps({**marker, **values}))


def notes_left(workdir: Workdir) -> list[str]:
    return [note.name for note, _ in left_notes(workdir, ".limit", ours=False)]


@pytest.mark.skipif(not may_make_pid_namespaces(), reason="no pid namespace can be made here")
def test_what_a_living_teiten_in_another_container_made_stays_until_it_ends(
    workdir: Workdir,
) -> None:
    folder = workdir.clusters / "other"
    with made_elsewhere(workdir, *IN_ANOTHER_CONTAINER):
        assert notes_left(workdir) == []
        for ending in (False, True):
            assert not any(str(folder) in line for line in sweep(workdir, ending=ending))
        assert (folder / MARKER_NAME).exists() and (workdir.clusters / "other.limit").exists()
    end = time.monotonic() + 60.0
    while not notes_left(workdir):  # its processes end one after the other
        assert time.monotonic() < end
        time.sleep(0.01)
    assert f"removed the left folder {folder}" in sweep(workdir)
    assert not folder.exists() and not (workdir.clusters / "other.limit").exists()


def test_a_process_of_this_pid_in_another_container_is_not_this_one(workdir: Workdir) -> None:
    """In containers, many a Teiten has the pid 1."""
    folder = workdir.clusters / "other"
    with made_elsewhere(workdir):
        change(folder, pid=os.getpid(), pid_namespace="1")
        sweep(workdir, ending=True)
        assert folder.exists()


def test_after_a_reboot_what_was_left_is_removed(workdir: Workdir) -> None:
    folder = workdir.clusters / "other"
    with made_elsewhere(workdir):
        pass
    change(folder, pid=os.getpid(), process_started=None, boot="of before")
    assert f"removed the left folder {folder}" in sweep(workdir)


def test_another_machines_folder_stays_and_is_told(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file system may be another machine's too, no lock proves anything."""
    monkeypatch.setattr(makers, "NETWORK_FILE_SYSTEMS", everything())
    folder = workdir.clusters / "other"
    with made_elsewhere(workdir):
        pass
    change(folder, boot="another machine's")
    (line,) = (line for line in sweep(workdir) if str(folder) in line)
    assert "delete the folder if no Teiten uses it" in line
    assert folder.exists()
    marker = read_marker(folder)
    assert marker is not None and marker.life is Life.UNKNOWN
    remove_marked(folder)


def everything() -> Any:
    class Everything:
        def __contains__(self, kind: str) -> bool:
            return True

    return Everything()


def test_a_marker_of_teiten_0_2_is_judged_by_its_pid(workdir: Workdir) -> None:
    alive, left = workdir.clusters / "alive", workdir.clusters / "left"
    for folder, started in ((alive, None), (left, 1.0)):
        new_folder(folder, Kind.CLUSTER)
        marker = json.loads((folder / MARKER_NAME).read_text())
        marker = {name: marker[name] for name in ("what", "teiten_version", "created", "pid")}
        marker |= {"process_started": started, "about": ""}
        (folder / MARKER_NAME).write_text(json.dumps(marker))
    done = sweep(workdir)
    assert f"removed the left folder {left}" in done
    assert alive.exists() and str(alive) not in " ".join(done)


def test_no_descriptor_stays_open_of_what_is_deleted(workdir: Workdir) -> None:
    makers.release_deleted()
    before = len(list(OPEN.iterdir()))
    for number in range(5):
        new_folder(workdir.clusters / f"{number}", Kind.CLUSTER)
        write_note(workdir, f"{number}.limit", {"groups": []}).unlink()
        remove_marked(workdir.clusters / f"{number}")
    assert len(list(OPEN.iterdir())) == before
