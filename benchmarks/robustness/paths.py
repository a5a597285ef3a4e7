"""Campaigns of every kind and way under a tracer: by which paths root reaches folders of others.

Those on this machine get a folder that belongs to the servers' user, for clusters (``directory``)
and storages. Attached servers keep their data in such a folder. Of other hosts the tracer follows
sshd, and so the agents that it starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from tests.fixtures.attached import ADMIN, CREATOR, strange_server
from tests.fixtures.hosts import network
from tests.fixtures.traced_paths import Findings, is_available, read_notes, traced

from benchmarks.robustness.campaigns import PATIENCE, Small, server_names
from benchmarks.running import command_line
from benchmarks.servers import passable_folder
from teiten.execute.postgres.installations import managed_installations
from teiten.execute.sites.remote.ssh import COMMAND
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.kinds import registry as kinds
from teiten.ledger.folders import FILE_NAME
from teiten.ledger.store import Ledger
from teiten.ways.registry import rules, way_of

QUICK = ("--profile", "quick", "--yes", "--set", "disturbed_share=100%")
THEIRS = ("--set", "directory={theirs}")
LOAD = (
    *("--guc-b", "work_mem=8MB", *QUICK, "--blocks", "2", "--clients", "1", "--duration", "1s"),
    *("--set", "scale=1", "--set", "warmup=0s", "--set", "settle=0s"),
)
SIDES = ("ab", "{server}", "{server}", *LOAD, *THEIRS)
CATALOGUE = (*QUICK, "--blocks", "2")
ONE, BOTH = ("--servers", "{server}"), ("--servers", "{older},{server}")
CAMPAIGNS: dict[str, tuple[str, ...]] = {
    "classic": (*SIDES, "--way", "classic", "--script", "tpcb-like"),
    "slices": (*SIDES, "--way", "classic", "--duration", "2s", "--slices", "2"),
    "pairs": (*SIDES, "--way", "pairs"),
    "in step": (*SIDES, "--way", "in-step"),
    "rounds": (*(word for word in SIDES if word not in ("--blocks", "2")), "--rounds", "6"),
    "flame graphs": (*SIDES, "--way", "classic", "--flame-graph"),
    "cold caches": (*SIDES, "--way", "classic", "--set", "caches=evict"),
    "queries": ("run", "queries", *CATALOGUE, "--set", "scale=1", *THEIRS, *BOTH),
    "procedure": ("run", "log-partitions", *CATALOGUE, "--set", "scale=1", "--set", "data.days=3",
                  "--set", "layout=days-30", "--set", "workloads=insert,remove",
                  "--set", "method=one-table,trigger-c,copy-freeze,delete,detach", *THEIRS, *ONE),
    "probes": ("run", "buffers", *CATALOGUE, "--set", "repeats=2", "--set", "share=25%",
               "--set", "measure.memory=384MiB", "--set", "guc:shared_buffers=25%,75%",
               "--set", "probe=buffer-read,os-cache-read", *THEIRS, *ONE),
    "placement": ("run", "placement", *CATALOGUE, "--set", "scale=1", "--set", "duration=1s",
                  "--storage", "fast={theirs}", "--storage", "slow=emulate:size=1GB,iops=4000",
                  *ONE),
    "statements": ("run", "partition-olap", *CATALOGUE, "--set", "runs=1", "--set", "scale=0.01",
                   "--set", "query=q1.1,q2.1", *THEIRS, *ONE),
    "states": ("run", "operations", *CATALOGUE, "--only", "queue", "--set", "way=classic",
               "--set", "contrast=state",
               "--set", "state=fresh,bloated,pinned,stale-statistics,no-statistics",
               "--set", "duration=1s", "--set", "scale=1", *THEIRS, *ONE),
    "upgraded": ("run", "operations", *CATALOGUE, "--only", "queue", "--set", "way=classic",
                 "--set", "state=upgraded", "--set", "duration=1s", "--set", "scale=1", *THEIRS,
                 "--servers", "wheel:16,wheel:18"),
    "layouts": ("run", "index-only", *CATALOGUE, "--set", "scale=1", "--set", "duration=1s",
                "--set", "way=classic", *THEIRS, *ONE),
    "checksums": ("run", "checksums", *CATALOGUE, "--set", "scale=1", "--set", "duration=1s",
                  "--set", "clients=1", "--set", "way=classic", *THEIRS, *ONE),
    "cores": ("run", "cores", *CATALOGUE, "--set", "scale=1", "--set", "duration=1s",
              "--set", "clients=1", *THEIRS, *ONE),
    "killed": (*SIDES, "--way", "classic", "--script", "tpcb-like", "--name", "broken-off"),
    "nodes": ("run", "scale-out", *CATALOGUE, "--set", "scale=1", "--set", "duration=1s",
              "--set", "nodes=0,2", "--node-memory", "200MiB", "--node-cpus", "1", *ONE),
}  # fmt: skip
"""Words of the campaigns on this machine, by name. ``{theirs}``: a folder of the servers' user."""
ATTACHED = {
    "attached": ("ab", "a={one}", "b={other}", *LOAD, "--way", "classic", "--script", "tpcb-like"),
    "attached, in pairs": ("ab", "a={one}", "b={other}", *LOAD, "--way", "pairs"),
    "attached, queries": ("run", "queries", *CATALOGUE, "--set", "scale=1",
                          "--servers", "a={one},b={other}"),
    "attached, probes": ("run", "buffers", *CATALOGUE, "--set", "share=5%", "--set", "repeats=2",
                         "--servers", "a={other}"),
}  # fmt: skip
"""With one server of another's, by two of its roles."""
DB_HOST = ("--db-host", "db", "--set", "hosts.db_workdir={db}")
BOTH_HOSTS = (*DB_HOST, "--client-host", "client", "--set", "hosts.client_workdir={client}")
ON_HOSTS = {
    "hosts": ("ab", "{server}", "{server}", *LOAD, *BOTH_HOSTS, "--way", "classic",
              "--script", "tpcb-like"),
    "hosts, in pairs": ("ab", "{server}", "{server}", *LOAD, *DB_HOST, "--way", "pairs"),
    "hosts, queries": ("run", "queries", *CATALOGUE, "--set", "scale=1", *DB_HOST, *BOTH),
    "hosts, procedure": ("run", "log-partitions", *CATALOGUE, "--set", "scale=1",
                         "--set", "data.days=3", "--set", "layout=days-30",
                         "--set", "workloads=insert", "--set", "method=one-table,copy-freeze",
                         *DB_HOST, *ONE),
}  # fmt: skip
"""With servers, or servers and load, on other hosts, whose sshd and agents are traced too."""
EVERY = {**CAMPAIGNS, **ATTACHED, **ON_HOSTS}
AFTER = {"killed": (("resume", "broken-off"), ("rm", "broken-off", "--yes"), ("clean", "--yes"))}
"""What follows on a campaign that is killed in the midst of a trial."""


@dataclass
class Traced:
    """What was seen."""

    inside: Counter[str] = field(default_factory=Counter)
    """By campaign: root's calls on what is in folders of others."""
    kinds: set[str] = field(default_factory=set)
    """Of the workloads that were measured."""
    ways: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Of the campaigns that were traced."""
        return len(self.inside)

    def lines(self) -> Iterator[str]:
        calls = ", ".join(f"{name}: {count:,}" for name, count in self.inside.items())
        yield f"paths: calls of root in folders of others by campaign ({calls})"
        yield f"    kinds {', '.join(sorted(self.kinds))}; ways {', '.join(sorted(self.ways))}"
        yield f"    {len(self.findings)} findings"
        for finding in self.findings:
            yield f"    {finding}"

    def add(self, name: str, findings: Findings) -> None:
        self.inside[name] += findings.inside
        crossings = Counter((crossing.call, crossing.path) for crossing in findings.crossings)
        for (call, path), count in crossings.most_common():
            self.findings.append(f"{name}: {call} {path} ({count} times)")

    def add_measured(self, workdir: Workdir) -> None:
        """Note what the campaigns of a working folder have measured."""
        for file in workdir.campaigns.glob(f"*/{FILE_NAME}"):
            with Ledger.open(file.parent, read_only=True) as ledger:
                plan = ledger.plan
            self.kinds |= {workload.kind for workload in plan.study.workloads}
            self.ways.add(way_of(plan.study.measure).name)

    def add_missing(self) -> None:
        """A kind or a way that no campaign has is a finding."""
        for kind in sorted({*kinds.names()} - self.kinds):
            self.findings.append(f"no campaign has the kind {kind}")
        for way in sorted({*rules()} - self.ways):
            self.findings.append(f"no campaign has the way {way}")


@dataclass(frozen=True)
class Surroundings:
    """What a campaign finds around it."""

    given: Mapping[str, object]
    """For the places in its words."""
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    """Of its command line."""
    foreign: Sequence[Path] = ()
    """Folders of others besides those in the campaign's own."""
    notes: Sequence[Path] = ()
    """The system calls of what runs on other hosts, whole once their sshd has ended."""


def trace_campaigns(count: int, seed: int, server: str | None) -> Traced:
    """Run the first ``count`` campaigns, in another order for each ``seed``."""
    if os.geteuid() != 0 or not is_available():
        sys.exit("tracing campaigns needs root, and the program strace")
    seen = Traced()
    names = list(EVERY)
    with suppress(KeyboardInterrupt):  # a long run that is cut short says what it found
        for at in range(min(count, len(names))):
            name = names[(at + seed - 1) % len(names)]
            with passable_folder("teiten-robustness-") as folder:
                try:
                    _trace(name, folder, server, seen)
                except pytest.skip.Exception as reason:
                    seen.findings.append(f"{name} was not run: {reason}")
    if set(seen.inside) == set(EVERY):
        seen.add_missing()
    return seen


def _trace(name: str, folder: Path, server: str | None, seen: Traced) -> None:
    small = Small.made(folder / "work", server)
    with _surroundings(name, small, folder) as around:
        small.environment |= around.environment
        words = tuple(word.format(**around.given) for word in EVERY[name])
        if name in AFTER:
            _trace_a_kill(name, words, small, folder, seen)
        else:
            _traced_call(name, words, small, folder / "notes", seen, around=around)
    for notes in around.notes:
        seen.add(name, read_notes(notes))


@contextmanager
def _surroundings(name: str, small: Small, folder: Path) -> Iterator[Surroundings]:
    """Raises pytest's skip where they cannot be had."""
    given = {"server": small.server, "older": _older(small)}
    if name in ATTACHED:
        servers = managed_installations(small.workdir)
        installation = next(server for server in servers if server.name == small.server)
        with strange_server(installation) as attached:
            roles = {"one": attached.address(CREATOR), "other": attached.address(ADMIN)}
            password = {"PGPASSWORD": attached.password}
            yield Surroundings(roles, password, foreign=[attached.folder])
    elif name in ON_HOSTS:
        notes = {host: folder / f"notes-of-{host}" for host in ("db", "client")}
        with network(lambda host, words: traced(words, notes[host])) as hosts:
            yield Surroundings(
                {**given, **{host: hosts.workdir(f"work-{host}") for host in notes}},
                {COMMAND: hosts.ssh},
                ("nsenter", f"--net=/run/netns/{hosts.home}"),
                notes=tuple(notes.values()),
            )
    else:
        theirs = folder / "theirs"
        theirs.mkdir()
        os.chown(theirs, server_user().uid or 0, -1)
        yield Surroundings({**given, "theirs": theirs})


def _trace_a_kill(
    name: str, words: tuple[str, ...], small: Small, folder: Path, seen: Traced
) -> None:
    foreign = list(_theirs(folder))
    tracer = _kill_in_a_trial(name, words, small, folder / "notes", seen)
    for number, further in enumerate(AFTER[name], 1):
        _traced_call(name, further, small, folder / f"notes-{number}", seen)
    tracer.wait(PATIENCE)  # it goes on as long as the servers do, which the next Teiten ends
    seen.add(name, read_notes(folder / "notes", foreign))


NOWHERE = Surroundings({})


def _traced_call(
    name: str,
    words: tuple[str, ...],
    small: Small,
    notes: Path,
    seen: Traced,
    *,
    around: Surroundings = NOWHERE,
) -> None:
    foreign = [*_theirs(notes.parent), *around.foreign]
    done = subprocess.run(
        traced([*around.prefix, *command_line(small.root, *words)], notes),
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        env=small.environment,
    )
    if done.returncode not in (0, 4):
        seen.findings.append(f"{name}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
    seen.add_measured(small.workdir)
    seen.add(name, read_notes(notes, foreign))


def _kill_in_a_trial(
    name: str, words: tuple[str, ...], small: Small, notes: Path, seen: Traced
) -> subprocess.Popen[bytes]:
    """Leave servers that run, with their folders: what the next Teiten has to remove."""
    process = subprocess.Popen(
        traced(command_line(small.root, *words), notes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    limit = time.monotonic() + PATIENCE
    while not _is_in_a_trial(small, notes.parent) and time.monotonic() < limit:
        if process.poll() is not None:
            seen.findings.append(f"{name}: it ended before it was killed: {process.returncode}")
            break
        time.sleep(0.05)
    for teiten in psutil.Process(process.pid).children():
        teiten.kill()
    return process


def _is_in_a_trial(small: Small, folder: Path) -> bool:
    trials = list(small.workdir.campaigns.glob("*/evidence/trial-0002.1"))
    return bool(trials) and bool(list(folder.glob("theirs/*/data/postmaster.pid")))


def _theirs(folder: Path) -> Iterator[Path]:
    """Folders that are another user's now, without those inside of them."""
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            continue
        if path.stat().st_uid != os.geteuid():
            yield path
        else:
            yield from _theirs(path)


def _older(small: Small) -> str:
    """Another server, where there is one."""
    names = server_names(small.workdir)
    return next((name for name in names if name != small.server), small.server)
