"""A campaign's system calls: root reaches nothing by a path through a folder of another user."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from tests.fixtures.campaigns import with_installations
from tests.fixtures.traced_paths import is_available, read_notes, traced
from tests.fixtures.undrawn import PROGRAM

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
    pytest.mark.skipif(not is_available(), reason="the program strace is missing"),
]
ROOT = Path(__file__).resolve().parents[2]
PLANTED = """
import os, sys
from pathlib import Path
folder, uid = Path(sys.argv[1]), int(sys.argv[2])
theirs = folder / "theirs"
theirs.mkdir()
held = os.open(theirs, os.O_RDONLY)
os.fchown(held, uid, -1)
os.chdir(folder)
def make_held():
    os.close(os.open("file", os.O_CREAT | os.O_EXCL, dir_fd=held))
{code}
"""
BY_PATH = (
    "open(theirs / 'file', 'w')",
    "open('theirs/file', 'w')",
    "os.chdir('/'); open(str(theirs)[1:] + '/file', 'w')",
    "os.open('file', os.O_CREAT | os.O_WRONLY, dir_fd=held)",
    "(folder / 'ours').touch(); os.rename(folder / 'ours', theirs / 'ours')",
    "(folder / 'ours').touch(); os.link(folder / 'ours', theirs / 'ours')",
    "os.symlink('/', theirs / 'link')",
    "os.mkdir(theirs / 'folder')",
    "make_held(); os.unlink(theirs / 'file')",
    "make_held(); os.chmod('file', 0, dir_fd=held)",
    "make_held(); os.chown('file', 0, 0, dir_fd=held)",
    "os.mkdir('folder', dir_fd=held); os.chdir(theirs / 'folder')",
    "os.system(f'cat {theirs}/file')",
    "os.rename(theirs, folder / 'moved'); open(folder / 'moved' / 'file', 'w')",
)
HELD = """
os.close(os.open('file', os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=held))
os.close(os.open('file', os.O_NOFOLLOW, dir_fd=held))
os.close(os.open('.', os.O_TMPFILE | os.O_RDWR, dir_fd=held))
os.chown('file', uid, -1, dir_fd=held, follow_symlinks=False)
os.symlink('/', 'link', dir_fd=held)
os.rename('file', 'new', src_dir_fd=held, dst_dir_fd=held)
os.unlink('new', dir_fd=held)
os.mkdir('folder', dir_fd=held)
inner = os.open('folder', os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=held)
os.rmdir('folder', dir_fd=held)
os.chdir('/proc/self/fd/%d' % held)
os.chdir(folder)
os.fchown(held, 0, 0)
open(theirs / 'taken-back', 'w').close()
os.fchown(held, uid, -1)
if os.fork() == 0:
    os.setuid(uid)
    open(theirs / 'their own', 'w').close()
    os.mkdir(theirs / 'own')
    os._exit(0)
os.wait()
"""
STUDY = """
[study]
name = "traced"
title = "A traced campaign"
question = "By which paths?"
contrast = "server"
[factors]
server = ["a", "b"]
clients = [1]
directory = ["{theirs}"]
[servers]
a = "{server}"
b = "{server}"
[[workloads]]
name = "changing"
script = "tpcb-like"
scale = 1
changes_data = true
[[workloads]]
name = "reading"
script = "select-only"
scale = 1
changes_data = false
[settings.shared_buffers]
value = "32MB"
[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = 2
way = "classic"
disturbed_share = "100%"
"""


def run_planted(code: str, folder: Path) -> Path:
    notes = folder / "notes"
    program = PLANTED.format(code=code)
    words = [sys.executable, "-I", "-S", "-c", program, str(folder), str(server_user().uid)]
    subprocess.run(traced(words, notes), check=False, stderr=subprocess.DEVNULL)
    return notes


@pytest.mark.parametrize("code", BY_PATH)
def test_each_way_by_a_path_is_seen(workdir: Workdir, code: str) -> None:
    found = read_notes(run_planted(code, workdir.root))
    assert found.crossings, code


def test_what_is_held_or_not_roots_is_not_a_finding(workdir: Workdir) -> None:
    notes = run_planted(HELD, workdir.root)
    found = read_notes(notes)
    assert found.crossings == ()
    assert found.inside >= 9
    assert (workdir.root / "theirs" / "own").is_dir()


REUSED = """100 openat(AT_FDCWD</>, "/etc/hosts", O_RDONLY) = 3</etc/hosts>
100 clone(child_stack=NULL) = 200
200 fchown(3</theirs>, 33, 33) = 0
200 +++ exited with 0 +++
100 clone(child_stack=NULL) = 300
300 setreuid(33, 33) = 0
200 openat(AT_FDCWD</theirs>, "/theirs/file", O_RDWR|O_CREAT, 0600) = 3</theirs/file>
300 clone(child_stack=NULL) = 200
200 openat(AT_FDCWD</theirs>, "/theirs/file", O_RDWR|O_CREAT, 0600) = 3</theirs/file>
200 +++ killed by SIGKILL +++
100 vfork() = 200
200 openat(AT_FDCWD</>, "/theirs/file", O_RDONLY) = 3</theirs/file>
"""


def test_numbers_of_processes_are_used_again(tmp_path: Path) -> None:
    """Of three processes of one number the last is root's, and the second began before its parent
    was told."""
    notes = tmp_path / "notes"
    notes.write_text(REUSED)
    found = read_notes(notes)
    assert [(crossing.call, crossing.path) for crossing in found.crossings] == [
        ("openat", "/theirs/file")
    ]


PARTED = """100 openat(AT_FDCWD</>, "/etc/hosts", O_RDONLY) = 3</etc/hosts>
100 clone(child_stack=NULL) = 200
200 fchown(3</theirs>, 33, 33) = 0
200 setreuid(33, 33 <unfinished ...>
100 openat(AT_FDCWD</>, "/etc/hosts", O_RDONLY) = 3</etc/hosts>
200 <... setreuid resumed>) = 0
200 openat(AT_FDCWD</theirs>, "/theirs/file", O_RDWR|O_CREAT, 0600) = 3</theirs/file>
100 clone(child_stack=NULL) = 300
300 setreuid(33, 33 <unfinished ...>
100 openat(AT_FDCWD</>, "/etc/hosts", O_RDONLY) = 3</etc/hosts>
300 <... setreuid resumed>) = -1 EPERM (Operation not permitted)
300 openat(AT_FDCWD</theirs>, "/theirs/file", O_RDONLY) = 3</theirs/file>
"""


def test_a_change_of_user_that_another_call_interrupts(tmp_path: Path) -> None:
    """Of two processes the first becomes another user; the second is refused, and stays root's."""
    notes = tmp_path / "notes"
    notes.write_text(PARTED)
    assert len(read_notes(notes).crossings) == 1


def test_a_campaign_in_a_folder_of_theirs(workdir: Workdir, server: str) -> None:
    with_installations(workdir)
    theirs = workdir.root / "theirs"
    theirs.mkdir()
    os.chown(theirs, server_user().uid or 0, -1)
    study, notes = workdir.root / "traced.toml", workdir.root / "notes"
    study.write_text(STUDY.format(server=server, theirs=theirs), encoding="utf-8")
    words = ["--workdir", str(workdir.root), "run", str(study), "--yes"]
    done = subprocess.run(
        traced([sys.executable, "-c", PROGRAM, *words], notes),
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = read_notes(notes, [theirs])
    assert found.inside > 1000, "clusters were made there"
    assert found.crossings == ()
