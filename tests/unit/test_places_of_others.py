"""An ordinary user whose home, working folder or data folder cannot be written: told as that, with
what helps, in every verb; never as a defect."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.servers import open_folder

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user"),
]
NOBODY = pwd.getpwnam("nobody")
WRITING = (
    ("run", "observe", "--servers", "17,18", "--yes"),
    ("ab", "17", "18", "--script", "select-only"),
    ("null", "18", "--script", "select-only"),
    ("bisect", "--source", "/", "--good", "a", "--bad", "b"),
    ("pg", "install", "18"),
)
READING = (
    ("runs",),
    ("report", "last"),
    ("resume",),
    ("rm", "last", "--yes"),
    ("history",),
    ("pg", "list"),
    ("clean", "--yes"),
)
# It becomes that user after its imports: root's Python may be one that others cannot read.
PROGRAM = """
import encodings, gc, importlib, json, os, pkgutil, sys, tempfile
import teiten
from teiten.cli.main import main
for package in (teiten, encodings):
    for one in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not one.name.endswith((".__main__", ".bootstrap", ".serve", ".mbcs", ".oem")):
            importlib.import_module(one.name)
gc.freeze()
uid, gid = map(int, sys.argv[1:])
os.setgroups([])
os.setgid(gid)
os.setuid(uid)
for request in sys.stdin:
    home, words = json.loads(request)
    with tempfile.TemporaryFile(dir="/tmp") as output:
        pid = os.fork()
        if pid == 0:
            os.environ["HOME"] = home
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                main(words)
            except SystemExit as end:
                sys.stderr.flush()
                os._exit(end.code)  # taking all modules down would take longer than the rest
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        output.seek(0)
        print(json.dumps([code, output.read().decode()]), flush=True)
"""


@dataclass(frozen=True)
class Told:
    line: tuple[str, ...]
    code: int
    text: str


@dataclass(frozen=True)
class Places:
    """Folders of nobody's and of others, and the program as nobody runs it."""

    root: Path
    program: subprocess.Popen[str]

    def make(self, name: str, mode: int, owner: int) -> Path:
        folder = self.root / name
        folder.mkdir()
        os.chown(folder, owner, owner)
        folder.chmod(mode)
        return folder

    def told(self, home: Path, *lines: tuple[str, ...]) -> Iterator[Told]:
        """What nobody is told with this home."""
        assert self.program.stdin is not None and self.program.stdout is not None
        for line in lines:
            self.program.stdin.write(json.dumps([str(home), line]) + "\n")
            self.program.stdin.flush()
            yield Told(line, *json.loads(self.program.stdout.readline()))


@pytest.fixture(scope="module")
def program() -> Iterator[subprocess.Popen[str]]:
    ours = ("XDG_", "TEITEN_")
    environment = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(NOBODY.pw_uid), str(NOBODY.pw_gid)],
        env=environment,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        yield started
    assert started.returncode == 0


@pytest.fixture
def places(program: subprocess.Popen[str]) -> Iterator[Places]:
    with open_folder("teiten-places-") as folder:
        yield Places(folder, program)


def assert_told(found: Told, *words: str) -> None:
    assert found.code == 3, found
    assert "hint: " in found.text and "Errno" not in found.text, found
    for word in (*words, "no permission"):
        assert word in found.text, found


def test_a_home_of_ones_own_that_cannot_be_written(places: Places) -> None:
    home = places.make("home", 0o555, NOBODY.pw_uid)
    for found in places.told(home, *WRITING):
        assert_told(found, f"{home} is yours, but its mode forbids it", f"chmod u+rwX {home}")
    for found in places.told(home, *READING):  # there is nothing yet, and nothing has to be made
        assert found.code in (0, 2) and "permission" not in found.text, found
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_working_folder_of_another_user(places: Places, mode: int) -> None:
    home = places.make("home", 0o755, NOBODY.pw_uid)
    theirs = places.make("theirs", mode, 1)
    name = pwd.getpwuid(1).pw_name
    lines = WRITING if mode == 0o755 else (*WRITING, *READING)
    for found in places.told(home, *(("--workdir", str(theirs), *line) for line in lines)):
        assert_told(found, f"{theirs} belongs to the user {name}", "--workdir")
    assert list(theirs.iterdir()) == [] and list(home.iterdir()) == []


def test_a_data_folder_of_root(places: Places) -> None:
    """As `sudo teiten` with the user's HOME would leave it."""
    home = places.make("home", 0o755, NOBODY.pw_uid)
    data = home / ".local" / "share" / "teiten"
    data.mkdir(parents=True)
    data.chmod(0o700)
    for found in places.told(home, *WRITING, *READING):
        assert_told(found, f"{data} belongs to the user root")


def test_rooms_of_root_in_a_working_folder_that_is_ours(places: Places) -> None:
    home = places.make("home", 0o755, NOBODY.pw_uid)
    work = places.make("work", 0o755, NOBODY.pw_uid)
    for room in ("installations", "caches", "clusters", "bisects"):
        (work / room).mkdir()
    for found in places.told(home, *(("--workdir", str(work), *one) for one in WRITING)):
        assert_told(found, "belongs to the user root")
