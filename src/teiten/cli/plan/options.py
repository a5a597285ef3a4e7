"""The options that ``plan`` and ``run`` share (CLI.md)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
LARGEST_SEED = 2**31 - 1
FLAME_GRAPH_HELP = (
    "Why: sample the server's call stacks with perf, in an extra window after each counted trial."
)
DB_HOST_HELP = "Run the servers on another host: USER@HOST or an alias, as for ssh."
CLIENT_HOST_HELP = "Run pgbench on another host; the same as --db-host for one host with both."
YES_HELP = "Do not ask before a campaign that takes long or drops the system's page cache."


@dataclass(frozen=True)
class PlanOptions:
    """What the command line asks of a study. Shares as written (``2%``)."""

    servers: tuple[str, ...] = ()
    profile: str | None = None
    overrides: tuple[str, ...] = ()
    gucs: tuple[str, ...] = ()
    blocks: int | None = None
    delta: str | None = None
    alpha: str | None = None
    until_decided: bool = False
    budget: str | None = None
    source: str | None = None
    flame_graph: bool = False
    seed: int | None = None
    name: str | None = None
    find_saturation: bool = False
    yes: bool = False
    queries: str | None = None

    def as_arguments(self) -> list[str]:
        """The options as a command line that repeats them; without the campaign's name."""
        single = (
            ("--profile", self.profile),
            ("--queries", self.queries),
            ("--blocks", self.blocks),
            ("--delta", self.delta),
            ("--alpha", self.alpha),
            ("--budget", self.budget),
            ("--source", self.source),
            ("--seed", self.seed),
        )
        repeated = (("--servers", self.servers), ("--set", self.overrides), ("--guc", self.gucs))
        words = [
            word
            for flag, values in repeated
            for value in values
            for word in (flag, value)
        ]  # fmt: skip
        for flag, value in single:
            if value is not None:
                words += [flag, str(value)]
        if self.until_decided:
            words.append("--until-decided")
        if self.flame_graph:
            words.append("--flame-graph")
        if self.find_saturation:
            words.append("--find-saturation")
        return words


def checked_name(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> str | None:
    if value is not None and _NAME.fullmatch(value) is None:
        raise click.BadParameter(
            f"{value!r} cannot name a folder; use letters, digits, '.', '-' and '_',"
            " a letter or digit first, at most 80"
        )
    return value


HOST_OPTIONS = (
    click.option("--db-host", metavar="HOST", help=DB_HOST_HELP),
    click.option("--client-host", metavar="HOST", help=CLIENT_HOST_HELP),
)


def with_hosts(overrides: tuple[str, ...], given: dict[str, Any]) -> tuple[str, ...]:
    """What ``--set`` gives, with what the two flags say; takes these out of ``given``."""
    flags = (("hosts.db", given.pop("db_host")), ("hosts.client", given.pop("client_host")))
    return (*overrides, *(f"{key}={value}" for key, value in flags if value is not None))


_OPTIONS = (
    click.option(
        "--servers",
        multiple=True,
        metavar="OLD,NEW",
        help="Servers to compare, the old one first: 17,18 or a path or NAME=postgresql://…",
    ),
    click.option(
        "--profile",
        metavar="PROFILE",
        help="Size of the campaign: quick, standard (the default) or published.",
    ),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change a key of the study: clients=1,4 or duration=20s or workloads=read.",
    ),
    click.option(
        "--guc",
        "gucs",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a server parameter in every trial.",
    ),
    click.option(
        "--queries",
        metavar="DIR",
        help="A folder of SQL files, one query each, in place of the study's.",
    ),
    click.option(
        "--blocks",
        type=int,
        metavar="N",
        help="How often every combination runs; with --until-decided, at the most.",
    ),
    click.option(
        "--until-decided",
        is_flag=True,
        help="Run blocks until every verdict is decided, at the most for --budget.",
    ),
    click.option(
        "--budget",
        metavar="TIME",
        help="With --until-decided: what the campaign may take, for example 2h.",
    ),
    click.option("--flame-graph", is_flag=True, help=FLAME_GRAPH_HELP),
    click.option(
        "--source",
        metavar="SOURCE",
        help="Of the study's builds: a tarball, its folder, or a git checkout, perhaps @REF.",
    ),
    click.option(
        "--delta", metavar="SHARE", help="The smallest difference that matters, for example 2%."
    ),
    click.option(
        "--alpha", metavar="SHARE", help="The share of false alarms you accept, for example 5%."
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, LARGEST_SEED),
        metavar="N",
        help="Repeat the order of an earlier campaign.",
    ),
    click.option("--name", callback=checked_name, metavar="TEXT", help="Name of the campaign."),
    click.option(
        "--find-saturation",
        is_flag=True,
        help="First find in short trials where TPS stops rising, and choose the clients around it.",
    ),
    *HOST_OPTIONS,
    click.option("--yes", is_flag=True, help=YES_HELP),
)


def plan_options(function: Command) -> Command:
    """Give a verb the shared options, as one argument ``options: PlanOptions``."""

    @functools.wraps(function)
    def with_options(*args: Any, **kwargs: Any) -> Any:
        names = PlanOptions.__dataclass_fields__
        chosen = {name: kwargs.pop(name) for name in names}
        chosen["overrides"] = with_hosts(chosen["overrides"], kwargs)
        return function(*args, options=PlanOptions(**chosen), **kwargs)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    result: Command = decorated
    return result
