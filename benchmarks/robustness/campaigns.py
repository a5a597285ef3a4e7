"""Small campaigns of real servers, to be broken off, and what must hold of them afterwards."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from benchmarks.running import command_line
from benchmarks.servers import passable_folder
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.postgres.sockets import socket_directories
from teiten.execute.sites.local.notes import PREFIX
from teiten.host.system.namespaces import NAMED
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.store import Ledger
from teiten.model.progress import counting

NAME = "broken-off"
LINES = 55
"""That a whole campaign says with -v, about."""
PATIENCE = 600.0
"""Seconds for a command that is not broken off, on a busy machine."""
STUDY = """
[study]
name = "small"
title = "A small study"
question = "Does it end in order?"
contrast = "guc:work_mem"
[factors]
server = [{server}]
clients = [1]
"guc:work_mem" = ["4MB", "8MB"]
[[workloads]]
name = "tpcb-like"
title = "TPC-B like"
script = "tpcb-like"
scale = 1
changes_data = true
[settings.shared_buffers]
value = "32MB"
[measure]
duration = "1s"
warmup = "0s"
settle = "0s"
blocks = 2
prewarm = false
disturbed_share = "100%"
"""


SHORT = (
    *("--profile", "quick", "--blocks", "2", "--set", "scale=1", "--set", "duration=1s"),
    *("--set", "warmup=0s", "--set", "settle=0s", "--set", "disturbed_share=100%"),
)


@dataclass(frozen=True)
class Broken:
    """A campaign that is broken off."""

    words: tuple[str, ...]
    """Of the command line that begins it."""
    lines: int = LINES
    """That a whole one says with -v, about."""


CAMPAIGNS = {
    "study": Broken(("run", "{study}")),
    "ab": Broken(
        ("ab", "{server}", "{server}", "--guc-b", "work_mem=8MB", *SHORT, "--blocks", "6"), 75
    ),
    "storage": Broken(
        ("run", "placement", *SHORT, "--servers", "{server}", "--set", "workloads=read",
         "--set", "placement=all-slow,all-fast", "--storage", "fast=emulate:size=1GB,iops=8000",
         "--storage", "slow=emulate:size=1GB,iops=4000"), 75
    ),
    "nodes": Broken(
        ("run", "scale-out", *SHORT, "--servers", "{server}", "--set", "workloads=read",
         "--set", "nodes=0,2", "--set", "scenario=throughput", "--node-memory", "200MiB",
         "--node-cpus", "1"), 80
    ),
}  # fmt: skip
"""By name: one of a small study; paired transactions; and those that make things in the kernel."""


@dataclass
class Small:
    """A working folder for small campaigns of one server."""

    root: Path
    server: str
    kind: str = "study"
    """Which of ``CAMPAIGNS``."""
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _heard: dict[int, list[str]] = field(default_factory=dict, repr=False)
    _listeners: dict[int, threading.Thread] = field(default_factory=dict, repr=False)
    _last: subprocess.Popen[str] | None = field(default=None, repr=False)

    @classmethod
    def made(cls, root: Path, server: str | None) -> Small:
        """With the installations of the usual working folder."""
        known = default_workdir() / "installations"
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o755)
        link = root / "installations"
        if known.is_dir() and not link.exists():
            link.symlink_to(known)
        made = cls(root, server or _newest(root))
        made.study.write_text(STUDY.format(server=json.dumps(made.server)), encoding="utf-8")
        return made

    @classmethod
    @contextmanager
    def for_a_while(cls, server: str | None, kind: str = "study") -> Iterator[Small]:
        """In a folder that goes with the ``with``."""
        with passable_folder("teiten-robustness-") as folder:
            small = cls.made(folder / "work", server)
            small.kind = kind
            try:
                yield small
            finally:
                small.kill_last()

    @property
    def workdir(self) -> Workdir:
        return Workdir(self.root)

    @property
    def study(self) -> Path:
        return self.root / "small.toml"

    @property
    def folder(self) -> Path:
        return self.workdir.campaigns / NAME

    @property
    def lines(self) -> int:
        """That a whole campaign says with -v, about."""
        return CAMPAIGNS[self.kind].lines

    def next_words(self) -> tuple[str, ...]:
        """What begins the campaign, or continues it."""
        if (self.folder / FILE_NAME).is_file():
            return ("resume", NAME)
        given = {"study": self.study, "server": self.server}
        words = (word.format(**given) for word in CAMPAIGNS[self.kind].words)
        return (*words, "--name", NAME, "--yes")

    def start(self, *words: str, verbose: bool = True) -> subprocess.Popen[str]:
        flags = ("-v",) if verbose else ()
        self._last = subprocess.Popen(
            command_line(self.root, *flags, *words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
            env=self.environment,
        )
        return self._last

    def kill_last(self) -> None:
        """Kill what was started last, where it still runs: a long run was cut short meanwhile."""
        if self._last is not None and self._last.poll() is None:
            self._last.kill()
            self._last.wait(PATIENCE)

    def reach(self, process: subprocess.Popen[str], lines: int, delay: float) -> str | None:
        """Let a program say so many lines, and go on for ``delay`` seconds: so the same step is met
        on a busy machine. All that it said, where it has ended before; else None.

        What it says afterwards is not lost: ``heard`` gives all.
        """
        assert process.stdout is not None
        heard: list[str] = []
        self._heard[process.pid] = heard

        def listen(stream: IO[str]) -> None:
            with stream:
                heard.extend(iter(stream.readline, ""))

        listener = threading.Thread(target=listen, args=(process.stdout,), daemon=True)
        listener.start()
        self._listeners[process.pid] = listener
        limit = time.monotonic() + PATIENCE
        while len(heard) < lines and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.01)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            return None
        return self.heard(process)

    def end_of(self, process: subprocess.Popen[str]) -> str:
        """All that a program has said at its end, which is made where it does not come."""
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"{self.heard(process)}\nit did not end"
        return self.heard(process)

    def heard(self, process: subprocess.Popen[str]) -> str:
        """All that a program has said, after its end."""
        self._listeners[process.pid].join(timeout=PATIENCE)
        return "".join(self._heard[process.pid])

    def call(self, *words: str) -> tuple[int, str]:
        process = self.start(*words, verbose=False)
        output, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, output

    def kept(self) -> list[tuple[int, int]]:
        """Number and attempt of the trials that are recorded; none where there is no campaign."""
        if not (self.folder / FILE_NAME).is_file():
            return []
        with Ledger.open(self.folder, read_only=True) as ledger:
            return [trial[:2] for trial in ledger.finished()]

    def damages(self, before: Sequence[tuple[int, int]]) -> Iterator[str]:
        """What may not be after a campaign was broken off. ``before``: the trials kept so far."""
        code, output = self.call("runs")
        if code != 0:
            yield f"runs: exit code {code}: {output.strip()[-300:]}"
        kept = self.kept()
        if kept[: len(before)] != list(before):
            yield f"trials lost: {before} became {kept}"
        if len(set(kept)) != len(kept):
            yield f"trials doubled: {kept}"
        if (self.folder / FILE_NAME).is_file():
            connection = sqlite3.connect(self.folder / FILE_NAME)
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                yield "the ledger is damaged"
            connection.close()

    def leftovers(self) -> Iterator[str]:
        """What may not be after a campaign has ended in order."""
        for process in psutil.process_iter():
            try:
                words = " ".join(process.cmdline())
                if str(self.root) in words + process.cwd() and process.pid != os.getpid():
                    yield f"a process is left: {process.pid} {words[:200]}"
            except psutil.Error:
                continue
        for folder in (*self.workdir.clusters.glob("*"), *self.workdir.campaigns.glob(".making*")):
            yield f"a folder is left: {folder}"
        yield from _left_in_the_kernel(self.root)

    def unfinished(self) -> Iterator[str]:
        """What is missing in a campaign that is said to be complete."""
        with Ledger.open(self.folder, read_only=True) as ledger:
            counts = counting(ledger.plan, ledger.finished())
            numbers = [number for number, _ in counts]
            if sorted(numbers) != list(range(1, ledger.planned + 1)):
                yield f"counted trials {sorted(numbers)} of {ledger.planned}"

    def forget(self) -> None:
        """Make room for the next campaign; its template stays."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _left_in_the_kernel(root: Path) -> Iterator[str]:
    """Mounts and loop devices of files below a folder, whose names the kernel tells."""
    for mount in psutil.disk_partitions(all=True):
        if mount.mountpoint.startswith(f"{root}/"):
            yield f"a mount is left: {mount.mountpoint}"
    for file in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):  # it goes meanwhile
            if file.read_text(encoding="utf-8").startswith(f"{root}/"):
                yield f"a loop device is left: {file.parent.parent.name}"


def made_in_the_kernel(pids: set[int]) -> Iterator[str]:
    """Network namespaces and control groups that Teitens of these numbers have left."""
    for pid in pids:
        named = f"{PREFIX}{pid}-*"
        spaces = NAMED.glob(named)
        for path in (*spaces, *Path("/sys/fs/cgroup").glob(f"**/{named}")):
            yield f"left in the kernel: {path}"


def socket_folders_of(pids: set[int]) -> Iterator[str]:
    """Socket folders that processes of ours have left."""
    for folder, marker in socket_directories(server_user()):
        if marker.maker.pid in pids:
            yield f"a socket folder is left: {folder}"


def _newest(root: Path) -> str:
    Workdir(root).prepare()
    names = server_names(Workdir(root))
    if not names:
        sys.exit("no PostgreSQL server is installed: teiten pg install 18")
    return names[0]


def server_names(workdir: Workdir) -> list[str]:
    """The managed servers of a working folder, the newest first."""
    managed = managed_installations(workdir)
    servers = [installed for installed in managed if installed.postgres is not None]
    return [server.name for server in sorted(servers, key=lambda server: server.version)][::-1]
