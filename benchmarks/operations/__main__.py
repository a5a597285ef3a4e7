"""Does the study ``operations`` find a planted regression, and no other; and nothing in a server
against itself?

    python -m benchmarks.operations planted --source postgresql-15.18.tar.bz2 --workdir DIR
    python -m benchmarks.operations null 10 --server 18 --workdir DIR

``planted`` builds PostgreSQL twice, once with an index scan that takes longer to begin and for each
row, compares the builds as a user would, and prints which operations are said to be slower, against
those in whose plans an index scan stands. ``null`` compares a server with itself so many times, and
prints how many verdicts say that a side is slower or faster, against the rate α of a run. The
bounds hold on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.operations.users import users_of_index_scans
from benchmarks.running import teiten
from benchmarks.servers import passable_folder
from teiten.execute.postgres.building.sources import find_source, unpack
from teiten.execute.postgres.installations import find_installations
from teiten.host.system.paths import Workdir
from teiten.study.load import load_study

BUILDS = ("planted-base", "planted-slow")
DIFFERENT = ("slower", "faster")
SCAN = "src/backend/executor/nodeIndexscan.c"
ANCHOR = "\twhile (index_getnext_slot(scandesc, direction, slot))\n\t{\n"
LAST_INCLUDE = '#include "utils/rel.h"\n'
BEGINNING = "\tindexstate = makeNode(IndexScanState);\n"
LOOP = "\tfor (volatile int planted = 0; planted < {limit}; planted++)\n\t\t;\n"


def compared(arguments: argparse.Namespace, *words: str) -> dict[str, str]:
    """The verdict of each operation."""
    chosen = ("--only", arguments.only) if arguments.only else ()
    changes = [word for change in arguments.set for word in ("--set", change)]
    fixed = ("run", "operations", "--profile", arguments.profile, "--yes", "--json")
    begun = time.monotonic()
    printed = json.loads(teiten(arguments.workdir, *fixed, *chosen, *changes, *words))
    print(f"{printed['campaign']}: {time.monotonic() - begun:.0f} s", flush=True)
    return {
        contrast["workload"]: contrast["verdict"]
        for contrast in printed["contrasts"]
        if contrast["metric"] == "tps"
    }


def plant(file: Path, of_row: int, of_scan: int) -> None:
    """Put loops into the index scan, of so many turns for each row and at its beginning.

    Builds with other numbers of turns have the same code at the same places, which has a speed too.
    """
    text = file.read_text(encoding="utf-8")
    for anchor in (LAST_INCLUDE, ANCHOR, BEGINNING):
        if text.count(anchor) != 1:
            raise SystemExit(f"{file} has another form than PostgreSQL 13 to 17: nothing planted")
    limits = f"static volatile int of_row = {of_row}, of_scan = {of_scan};\n"
    text = text.replace(LAST_INCLUDE, f"{LAST_INCLUDE}\n{limits}")
    text = text.replace(ANCHOR, ANCHOR + LOOP.format(limit="of_row"))
    text = text.replace(BEGINNING, BEGINNING + LOOP.format(limit="of_scan"))
    file.write_text(text, encoding="utf-8")


def planted(arguments: argparse.Namespace) -> int:
    with passable_folder("teiten-planted-") as sources:
        for build in BUILDS:
            folder = sources / build
            folder.mkdir()
            unpack(find_source(str(arguments.source)), folder)
            slowed = build == BUILDS[1]
            plant(folder / SCAN, *((arguments.turns, arguments.first) if slowed else (0, 0)))
            compiler = f"--without-readline --without-zlib CC='{arguments.compiler}'"
            words = ("--source", str(folder), "--configure", compiler, "--cflags", arguments.cflags)
            teiten(arguments.workdir, "pg", "build", build, *words)
    try:
        verdicts = compared(arguments, "--servers", ",".join(BUILDS))
        study = load_study("operations", profile=arguments.profile)
        workdir = Workdir(arguments.workdir)
        base = next(
            installation
            for installation in find_installations(workdir)
            if installation.name == BUILDS[0]
        )
        users = users_of_index_scans(study, base) & verdicts.keys()
    finally:
        teiten(arguments.workdir, "pg", "remove", "--anyway", *BUILDS, check=False)
    slower = {name for name, verdict in verdicts.items() if verdict == "slower"}
    faster = {name for name, verdict in verdicts.items() if verdict == "faster"}
    for title, names in (
        ("with an index scan", users),
        ("found", slower & users),
        ("missed", {f"{name} ({verdicts[name]})" for name in users - slower}),
        ("slower without an index scan", slower - users),
        ("faster", faster),
    ):
        print(f"{title}: {len(names)}  {', '.join(sorted(names))}")
    return 0 if slower == users and not faster else 1


def told(named: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {verdict}" for name, verdict in sorted(named.items())) or "no alarm"


def null(arguments: argparse.Namespace) -> int:
    alarms, verdicts, runs = 0, 0, 0
    aliases = (f"servers.{side}={arguments.server}" for side in ("old", "new"))
    words = [word for alias in aliases for word in ("--set", alias)]
    for number in range(1, arguments.times + 1):
        of_run = compared(arguments, *words, "--servers", "old,new")
        named = {name: verdict for name, verdict in of_run.items() if verdict in DIFFERENT}
        verdicts, alarms, runs = verdicts + len(of_run), alarms + len(named), runs + bool(named)
        print(f"run {number}: {len(of_run)} verdicts, {told(named)}", flush=True)
    share = f"{runs} of {arguments.times} runs with an alarm"
    print(f"{alarms} of {verdicts} verdicts, {share}; α is 5 % of runs")
    return 0 if runs <= max(1, arguments.times // 10) else 1


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["planted", "null"])
    parser.add_argument("times", nargs="?", type=int, default=1, help="of null: how many runs")
    parser.add_argument("--source", type=Path, help="of planted: PostgreSQL 13 to 17")
    parser.add_argument("--server", default="18", help="of null")
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=20_000, help="of the loop, for each row")
    parser.add_argument("--first", type=int, default=400_000, help="and as a scan begins")
    parser.add_argument("--compiler", default="gcc", help="for example: ccache gcc")
    parser.add_argument("--cflags", default="-O1")
    parser.add_argument("--profile", default="quick")
    parser.add_argument("--only", default="", help="some of the operations, by comma")
    parser.add_argument("--set", action="append", default=[], help="as of teiten run")
    arguments = parser.parse_args(words)
    if arguments.what == "planted" and arguments.source is None:
        parser.error("planted needs --source")
    return planted(arguments) if arguments.what == "planted" else null(arguments)


if __name__ == "__main__":
    sys.exit(main())
