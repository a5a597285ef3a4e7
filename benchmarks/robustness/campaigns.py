"""Small campaigns of real servers, to be broken off, and what must hold of them afterwards."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from teiten.execute.postgres.marker import read_marker
from teiten.execute.postgres.provision.staging import managed_installations
from teiten.execute.postgres.sockets import socket_directories
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.ledger.store import FILE_NAME, Ledger
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


@dataclass
class Small:
    """A working folder for small campaigns of one server."""

    root: Path
    server: str
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    _heard: dict[int, list[str]] = field(default_factory=dict, repr=False)
    _listeners: dict[int, threading.Thread] = field(default_factory=dict, repr=False)

    @classmethod
    def made(cls, root: Path, server: str | None, installations: Path | None = None) -> Small:
        """``installations``: those of another working folder; the usual one's by default."""
        known = installations or default_workdir() / "installations"
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
    def for_a_while(cls, server: str | None) -> Iterator[Small]:
        """In a folder that goes with the ``with``."""
        with tempfile.TemporaryDirectory(prefix="teiten-robustness-") as folder:
            Path(folder).chmod(0o755)  # the servers' user passes through
            yield cls.made(Path(folder) / "work", server)

    @property
    def workdir(self) -> Workdir:
        return Workdir(self.root)

    @property
    def study(self) -> Path:
        return self.root / "small.toml"

    @property
    def folder(self) -> Path:
        return self.workdir.campaigns / NAME

    def next_words(self) -> tuple[str, ...]:
        """What begins the campaign, or continues it."""
        if (self.folder / FILE_NAME).is_file():
            return ("resume", NAME)
        return ("run", str(self.study), "--name", NAME, "--yes")

    def start(self, *words: str, verbose: bool = True) -> subprocess.Popen[str]:
        flags = ("-v",) if verbose else ()
        return subprocess.Popen(
            [sys.executable, "-m", "teiten", *flags, "--workdir", str(self.root), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
            env=self.environment,
        )

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

    def heard(self, process: subprocess.Popen[str]) -> str:
        """All that a program has said, after its end."""
        self._listeners[process.pid].join(timeout=PATIENCE)
        return "".join(self._heard[process.pid])

    def call(self, *words: str) -> tuple[int, str]:
        process = self.start(*words, verbose=False)
        said, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, said

    def kept(self) -> list[tuple[int, int]]:
        """Number and attempt of the trials that are recorded; none where there is no campaign."""
        if not (self.folder / FILE_NAME).is_file():
            return []
        with Ledger.open(self.folder, read_only=True) as ledger:
            return [one[:2] for one in ledger.finished()]

    def damages(self, before: Sequence[tuple[int, int]]) -> Iterator[str]:
        """What may not be after a campaign was broken off. ``before``: the trials kept so far."""
        code, said = self.call("runs")
        if code != 0:
            yield f"runs: exit code {code}: {said.strip()[-300:]}"
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


def socket_folders_of(pids: set[int]) -> Iterator[str]:
    """Socket folders that processes of ours have left."""
    for folder in socket_directories(server_user()):
        marker = read_marker(folder)
        if marker is not None and marker.pid in pids:
            yield f"a socket folder is left: {folder}"


def _newest(root: Path) -> str:
    Workdir(root).prepare()
    servers = [one for one in managed_installations(Workdir(root)) if one.postgres is not None]
    if not servers:
        sys.exit("no PostgreSQL server is installed: teiten pg install 18")
    return max(servers, key=lambda one: one.version).name
