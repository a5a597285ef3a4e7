"""The options that ``plan`` and ``run`` share (CLI.md)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from teiten.cli.completion import profiles, servers
from teiten.cli.parameters import Flag, renamed, repeating, with_flags, with_keys
from teiten.errors import UsageError
from teiten.execute.postgres.conf import parse
from teiten.given_paths import expanded
from teiten.model.settings import OWN_NAMES
from teiten.plan.ordering import LARGEST_SEED
from teiten.study.changes import StudyFlags

Command = TypeVar("Command", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


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


def note_agreement(context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    """Let whatever asks before it connects know of ``--yes``."""
    if context.obj is not None:
        context.obj.agreed_to_all = value
    return value


CONF = Flag(
    "--conf",
    "A postgresql.conf of yours: each of its parameters as if given by --guc, which goes first.",
    "FILE",
    repeats=False,  # as the parameters that it came to
)
OF_A_PLACE = ("include", "ssl", "archive_", "primary_", "restore_command", "recovery_")
"""Beginnings of parameters that belong to where a server stands, and to what stands beside it."""
STANDBYS = "synchronous_standby_names"
"""Servers that are not here: each commit would wait for them."""
SET = Flag(
    "--set",
    "Change a key of the study: clients=1,4 or duration=20s or workloads=read.",
    "KEY=VALUE",
    many=True,
    own_field="overrides",
)
GUC = Flag(
    "--guc", "Set a server parameter in every trial.", "NAME=VALUE", many=True, own_field="gucs"
)
PROFILE = Flag(
    "--profile",
    "Size of the campaign: quick, standard (the default) or published.",
    "PROFILE",
    complete=profiles,
)
BLOCKS = Flag(
    "--blocks", "How often every combination runs; with --until-decided, at most.", "N", type=int
)
BUDGET = Flag(
    "--budget", "What a campaign that runs until all is decided may take, for example 2h.", "TIME"
)
FLAME_GRAPH = Flag(
    "--flame-graph",
    "Why: sample the server's call stacks with perf, in an extra window after each counted trial.",
)
DELTA = Flag("--delta", "The smallest difference that matters, for example 2%.", "SHARE")
ALPHA = Flag("--alpha", "The share of false alarms you accept, for example 5%.", "SHARE")
SEED = Flag(
    "--seed", "Repeat the order of an earlier campaign.", "N", type=click.IntRange(0, LARGEST_SEED)
)
NAME = Flag("--name", "Name of the campaign.", "TEXT", check=checked_name, repeats=False)
HOSTS = (
    Flag(
        "--db-host",
        "Run the servers on another host: USER@HOST or an alias, as for ssh. Given several times,"
        " or with commas: node 1 on the first host, node 2 on the second.",
        "HOST",
        many=True,
        key="hosts.db",
    ),
    Flag(
        "--client-host",
        "Run pgbench on another host; the same as --db-host for one host with both.",
        "HOST",
        key="hosts.client",
    ),
)
YES = Flag(
    "--yes",
    "Do not ask before a campaign that takes long or drops the system's page cache, makes databases"
    " on servers that run already, or reaches servers and hosts that only a file names.",
    check=note_agreement,
    repeats=False,
)
FLAGS = (
    Flag(
        "--servers",
        "Servers to compare, the old one first: 17,18 or a path or NAME=postgresql://…",
        "OLD,NEW",
        many=True,
        complete=servers,
    ),
    PROFILE,
    SET,
    GUC,
    CONF,
    Flag("--queries", "A folder of SQL files, one query each, in place of the study's.", "DIR"),
    Flag(
        "--schema",
        "Your own tables: SQL, or a dump of pg_dump's; each file of --queries is then a workload of"
        " its own, with the values of a file *.csv of the same name.",
        "FILE",
    ),
    Flag(
        "--rows",
        "With --schema: repeat each row of the dump (10x: ten times), with the integers of keys"
        " shifted.",
        "TIMES",
    ),
    Flag(
        "--keep-texts",
        "With --schema: ledger and report hold your statements, and not only their fingerprints.",
    ),
    Flag("--only", "Run these workloads alone: insert,queue.", "NAMES", key="workloads"),
    Flag(
        "--tags", "Run the workloads that have one of these tags: read,planner.", "TAGS", key="tags"
    ),
    Flag(
        "--script",
        "A script of pgbench, beside the study's own workloads (buffers, scale-out).",
        "FILE",
        own_field="workload",
    ),
    BLOCKS,
    Flag("--until-decided", "Run blocks until every verdict is decided, for --budget at most."),
    BUDGET,
    FLAME_GRAPH,
    Flag(
        "--memory",
        "Limit server, load generator and page cache together to this memory, for example 2GiB;"
        " machine: no limit (the default).",
        "SIZE",
    ),
    Flag(
        "--storage",
        "A storage for placements: NAME=DIR, for example fast=/mnt/ssd; as root also an emulated"
        " slow device: NAME=emulate:size=4GB,iops=400.",
        "NAME=DIR",
        many=True,
    ),
    Flag(
        "--source",
        "Of the study's builds: a tarball, its folder, or a git checkout, perhaps @REF.",
        "SOURCE",
    ),
    DELTA,
    ALPHA,
    SEED,
    NAME,
    Flag(
        "--find-saturation",
        "First find in short trials where TPS stops rising, and choose the clients around it.",
    ),
    *HOSTS,
    Flag(
        "--node-memory",
        "Emulate each node as a machine with so much memory, for example 512MiB.",
        "SIZE",
        key="nodes.memory",
    ),
    Flag("--node-cpus", "The same with so many processors.", "N", key="nodes.cpus"),
    Flag(
        "--node-read",
        "The same with storage that reads so fast, for example 20MiB/s.",
        "RATE",
        key="nodes.read",
    ),
    Flag("--node-write", "The same with storage that writes so fast.", "RATE", key="nodes.write"),
    YES,
)


def plan_options(function: Command) -> Command:
    """Give a verb the shared options, as one argument ``options: PlanOptions``."""

    @functools.wraps(function)
    def with_options(*args: Any, **kwargs: Any) -> Any:
        names = PlanOptions.__dataclass_fields__
        chosen = {name: kwargs.pop(name) for name in names}
        if kwargs["only"] is not None and kwargs["tags"] is not None:
            raise UsageError("--only and --tags both select workloads", "give one of the two")
        chosen["overrides"] = with_keys(FLAGS, chosen["overrides"], kwargs)
        chosen["gucs"] = with_conf(chosen["gucs"], kwargs)
        return function(*args, options=PlanOptions(**chosen), **kwargs)

    result: Command = renamed("--workload", "--script")(with_flags(FLAGS, with_options))
    return result


def with_conf(gucs: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """Add the file's parameters to what ``--guc`` gives; takes the file out of ``given``.

    What belongs to the file's own server is left out, and said. Raises UsageError where the file
    cannot be read, or sets nothing.
    """
    file = given.pop("conf")
    if file is None:
        return gucs
    parameters = _read(expanded(file))
    left_out = tuple(name for name in parameters if is_of_its_place(name))
    context = click.get_current_context(silent=True)
    if left_out and context is not None and context.obj is not None:
        context.obj.console.warn(
            f"--conf {file}: left out, since they are of another server: {', '.join(left_out)}"
        )
    known = {*left_out, *(text.partition("=")[0].strip() for text in gucs)}
    changes = (f"{name}={value}" for name, value in parameters.items() if name not in known)
    return (*gucs, *changes)


def is_of_its_place(name: str) -> bool:
    """Whether a parameter says where its server stands, not how it works."""
    return name in OWN_NAMES or name == STANDBYS or name.startswith(OF_A_PLACE)


def _read(path: Path) -> dict[str, str]:
    try:
        parameters = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text in UTF-8"
        raise UsageError(
            f"--conf {path} cannot be read: {why}", "name a file like postgresql.conf"
        ) from error
    if not parameters:
        raise UsageError(f"--conf {path} sets no parameter", "remove the # before what is meant")
    return parameters
