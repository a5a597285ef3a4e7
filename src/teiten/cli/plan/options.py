"""The options that ``plan`` and ``run`` share (CLI.md)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from teiten.cli.completion import profiles, servers
from teiten.cli.plan.conf_file import CONF, with_conf
from teiten.cli.plan.flags import Flag, renamed, repeating, with_flags
from teiten.errors import UsageError
from teiten.study.changes import StudyFlags

Command = TypeVar("Command", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class PlanOptions(StudyFlags):
    """The options of the command line for a study. Shares as written (``2%``)."""

    seed: int | None = None
    name: str | None = None
    find_saturation: bool = False
    yes: bool = False

    def as_arguments(self) -> list[str]:
        """The options as a command line that repeats them; without the campaign's name."""
        return repeating(FLAGS, lambda name: getattr(self, name, None))


def checked_name(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    if value is not None and _NAME.fullmatch(value) is None:
        raise click.BadParameter(
            f"{value!r} cannot name a folder; use letters, digits, '.', '-' and '_',"
            " a letter or digit first, at most 80"
        )
    return value


SET = Flag(
    "--set",
    "overrides",
    "Change a key of the study: clients=1,4 or duration=20s or workloads=read.",
    "KEY=VALUE",
    many=True,
)
GUC = Flag("--guc", "gucs", "Set a server parameter in every trial.", "NAME=VALUE", many=True)
PROFILE = Flag(
    "--profile",
    "profile",
    "Size of the campaign: quick, standard (the default) or published.",
    "PROFILE",
    complete=profiles,
)
BLOCKS = Flag(
    "--blocks",
    "blocks",
    "How often every combination runs; with --until-decided, at the most.",
    "N",
    type=int,
)
BUDGET = Flag(
    "--budget",
    "budget",
    "With --until-decided: what the campaign may take, for example 2h.",
    "TIME",
)
FLAME_GRAPH = Flag(
    "--flame-graph",
    "flame_graph",
    "Why: sample the server's call stacks with perf, in an extra window after each counted trial.",
)
MEMORY = Flag(
    "--memory",
    "memory",
    "Hold server, load generator and page cache in so much memory together, for example 2GiB;"
    " machine: in all that there is (the default).",
    "SIZE",
)
STORAGE = Flag(
    "--storage",
    "storage",
    "A storage for placements: NAME=DIR, for example fast=/mnt/ssd; as root also a slow device that"
    " this machine has not: NAME=emulate:size=4GB,iops=400.",
    "NAME=DIR",
    many=True,
)
DELTA = Flag("--delta", "delta", "The smallest difference that matters, for example 2%.", "SHARE")
ALPHA = Flag("--alpha", "alpha", "The share of false alarms you accept, for example 5%.", "SHARE")
SEED = Flag(
    "--seed",
    "seed",
    "Repeat the order of an earlier campaign.",
    "N",
    type=click.IntRange(0, LARGEST_SEED),
)
NAME = Flag("--name", "name", "Name of the campaign.", "TEXT", check=checked_name, repeats=False)
SELECTION = (  # they become keys of the study, which repeat them
    Flag("--only", "only", "Run these workloads alone: insert,queue.", "NAMES", repeats=False),
    Flag(
        "--tags",
        "tags",
        "Run the workloads that have one of these tags: read,planner.",
        "TAGS",
        repeats=False,
    ),
)
HOSTS = (  # they become keys of the study, which repeat them
    Flag(
        "--db-host",
        "db_host",
        "Run the servers on another host: USER@HOST or an alias, as for ssh. Given several times,"
        " or with commas: node 1 on the first host, node 2 on the second.",
        "HOST",
        many=True,
        repeats=False,
    ),
    Flag(
        "--client-host",
        "client_host",
        "Run pgbench on another host; the same as --db-host for one host with both.",
        "HOST",
        repeats=False,
    ),
)
NODES = (  # the same
    Flag(
        "--node-memory",
        "node_memory",
        "Emulate each node as a machine with so much memory, for example 512MiB.",
        "SIZE",
        repeats=False,
    ),
    Flag("--node-cpus", "node_cpus", "The same with so many processors.", "N", repeats=False),
    Flag(
        "--node-read",
        "node_read",
        "The same with storage that reads so fast, for example 20MiB/s.",
        "RATE",
        repeats=False,
    ),
    Flag(
        "--node-write",
        "node_write",
        "The same with storage that writes so fast.",
        "RATE",
        repeats=False,
    ),
)
YES = Flag(
    "--yes",
    "yes",
    "Do not ask before a campaign that takes long or drops the system's page cache.",
    repeats=False,
)
FLAGS = (
    Flag(
        "--servers",
        "servers",
        "Servers to compare, the old one first: 17,18 or a path or NAME=postgresql://…",
        "OLD,NEW",
        many=True,
        complete=servers,
    ),
    PROFILE,
    SET,
    GUC,
    CONF,
    Flag(
        "--queries",
        "queries",
        "A folder of SQL files, one query each, in place of the study's.",
        "DIR",
    ),
    Flag(
        "--schema",
        "schema",
        "Your own tables: SQL, or a dump of pg_dump's; each file of --queries is then a workload of"
        " its own, with the values of a file *.csv of the same name.",
        "FILE",
    ),
    Flag(
        "--rows",
        "rows",
        "With --schema: each row of the dump so often (10x), with the integers of keys shifted.",
        "TIMES",
    ),
    Flag(
        "--keep-texts",
        "keep_texts",
        "With --schema: ledger and report hold your statements, and not only their fingerprints.",
    ),
    *SELECTION,
    Flag(
        "--script",
        "workload",
        "A script of pgbench, beside the study's own workloads (buffers).",
        "FILE",
    ),
    BLOCKS,
    Flag(
        "--until-decided",
        "until_decided",
        "Run blocks until every verdict is decided, at the most for --budget.",
    ),
    BUDGET,
    FLAME_GRAPH,
    MEMORY,
    STORAGE,
    Flag(
        "--source",
        "source",
        "Of the study's builds: a tarball, its folder, or a git checkout, perhaps @REF.",
        "SOURCE",
    ),
    DELTA,
    ALPHA,
    SEED,
    NAME,
    Flag(
        "--find-saturation",
        "find_saturation",
        "First find in short trials where TPS stops rising, and choose the clients around it.",
    ),
    *HOSTS,
    *NODES,
    YES,
)


def with_selection(overrides: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Add what selects workloads to what ``--set`` gives; takes it out of ``given``."""
    only, tags = given.pop("only"), given.pop("tags")
    if only is not None and tags is not None:
        raise UsageError("--only and --tags both select workloads", "give one of the two")
    flags = (("workloads", only), ("tags", tags))
    return (*overrides, *(f"{key}={value}" for key, value in flags if value is not None))


def with_hosts(overrides: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Add the two flags of hosts to what ``--set`` gives; takes them out of ``given``."""
    db = ",".join(given.pop("db_host")) or None
    flags = (("hosts.db", db), ("hosts.client", given.pop("client_host")))
    return (*overrides, *(f"{key}={value}" for key, value in flags if value is not None))


def with_nodes(overrides: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Add the flags of what each node has to what ``--set`` gives; takes them out of ``given``."""
    flags = {flag.field.replace("node_", "nodes."): given.pop(flag.field) for flag in NODES}
    return (*overrides, *(f"{key}={value}" for key, value in flags.items() if value is not None))


def plan_options(function: Command) -> Command:
    """Give a verb the shared options, as one argument ``options: PlanOptions``."""

    @functools.wraps(function)
    def with_options(*args: Any, **kwargs: Any) -> Any:
        names = PlanOptions.__dataclass_fields__
        chosen = {name: kwargs.pop(name) for name in names}
        selected = with_selection(chosen["overrides"], kwargs)
        chosen["overrides"] = with_nodes(with_hosts(selected, kwargs), kwargs)
        chosen["gucs"] = with_conf(chosen["gucs"], kwargs)
        return function(*args, options=PlanOptions(**chosen), **kwargs)

    result: Command = renamed("--workload", "--script")(with_flags(FLAGS, with_options))
    return result
