"""Does ``teiten bisect`` find a slowdown that was planted in a real source of PostgreSQL?

    python -m benchmarks.bisect_proof --source postgresql-15.18.tar.bz2 --workdir DIR

makes a git repository of the source with ten commits. One of them slows the index scan down, one
does not build, all others change a comment. It then runs the search as a user would, and says
whether it named the right commit. It takes about seven builds and as many campaigns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.running import command_line
from teiten.execute.postgres.building.sources import find_source, unpack

SCAN = "src/backend/executor/nodeIndexscan.c"
ANCHOR = "\twhile (index_getnext_slot(scandesc, direction, slot))\n\t{\n"
SLOW = "\t\tfor (volatile int planted = 0; planted < {turns}; planted++)\n\t\t\t;\n"
COMMENTED = (
    "src/backend/commands/vacuum.c",
    "src/backend/access/transam/xlog.c",
    "src/backend/utils/adt/numeric.c",
    "src/backend/parser/analyze.c",
    "src/backend/storage/lmgr/lock.c",
    "src/backend/optimizer/plan/planner.c",
    "src/backend/tcop/postgres.c",
)
BROKEN = "src/backend/utils/adt/arrayfuncs.c"
PLANTED = 7
"""Which of the ten commits is slow."""


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=Proof", "-c", "user.email=proof@example.org")
    done = subprocess.run(
        ["git", *name, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as stream:
        stream.write(text)


def plant(file: Path, turns: int) -> None:
    text = file.read_text(encoding="utf-8")
    if ANCHOR not in text:
        raise SystemExit(f"{file} has another form than PostgreSQL 13 to 17: nothing planted")
    file.write_text(text.replace(ANCHOR, ANCHOR + SLOW.format(turns=turns)), encoding="utf-8")


def make_repository(source: Path, folder: Path, turns: int) -> list[str]:
    """The repository; its commits, the base first."""
    folder.mkdir()
    unpack(find_source(str(source)), folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "The base")
    commits = [git(folder, "rev-parse", "HEAD")]
    comments = iter(COMMENTED)
    for number in range(1, 11):
        if number == PLANTED:
            plant(folder / SCAN, turns)
            message = f"{number}: Slow the index scan down"
        elif number == 5:
            append(folder / BROKEN, "this does not compile\n")
            message = f"{number}: Break the build"
        elif number == 6:
            git(folder, "checkout", "--quiet", "HEAD~1", "--", BROKEN)
            message = f"{number}: Mend the build"
        else:
            file = next(comments)
            append(folder / file, f"/* commit {number} */\n")
            message = f"{number}: A comment in {Path(file).name}"
        git(folder, "commit", "--quiet", "--all", "--message", message)
        commits.append(git(folder, "rev-parse", "HEAD"))
    return commits


def kept(arguments: argparse.Namespace) -> list[str]:
    """The commits of a repository that stays, made where it is not there yet."""
    if not arguments.keep.exists():
        return make_repository(arguments.source, arguments.keep, arguments.turns)
    return list(reversed(git(arguments.keep, "rev-list", "HEAD").split()))


def search(arguments: argparse.Namespace, repository: Path, commits: Sequence[str]) -> int:
    head, status = git(repository, "rev-parse", "HEAD"), git(repository, "status", "--porcelain")
    begin = time.monotonic()
    line = command_line(
        arguments.workdir,
        "bisect",
        *("--good", commits[0], "--bad", commits[-1], "--source", str(repository)),
        *("--script", "read", "--clients", "1", "--duration", arguments.duration),
        *("--set", f"scale={arguments.scale}", "--budget", arguments.budget),
        *("--configure", f"--without-readline --without-zlib CC='{arguments.compiler}'"),
        *("--cflags", "-O1", "--jobs", str(arguments.jobs)),
        *("--set", f"disturbed_share={arguments.disturbed}", "--name", "proof", "--json"),
    )
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print(f"bisect ended with {done.returncode}")
        return 1
    outcome = json.loads(done.stdout)
    unchanged = (head, status) == (
        git(repository, "rev-parse", "HEAD"),
        git(repository, "status", "--porcelain"),
    )
    right = outcome["first_bad"] == commits[PLANTED]
    print(json.dumps({key: outcome[key] for key in ("ending", "subject", "effect")}, indent=1))
    for step in outcome["steps"]:
        print(
            commits.index(step["commit"]), step["mark"], step["why"] or step["comparison"]["pairs"]
        )
    print(f"the right commit: {right}; the checkout unchanged: {unchanged}")
    print(f"{time.monotonic() - begin:.0f} s, of which {outcome['seconds']:.0f} s of comparisons")
    return 0 if right and unchanged else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--workdir", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=300, help="of the planted loop, for each row")
    parser.add_argument("--scale", type=int, default=5)
    parser.add_argument("--duration", default="5s")
    parser.add_argument("--budget", default="2h")
    parser.add_argument("--compiler", default="gcc", help="for example: ccache gcc")
    parser.add_argument("--disturbed", default="25%", help="100%% where others use the machine")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="folder of the repository, to go on with")
    arguments = parser.parse_args()
    if arguments.keep is not None:
        return search(arguments, arguments.keep, kept(arguments))
    with tempfile.TemporaryDirectory(prefix="teiten-proof-") as folder:
        Path(folder).chmod(0o755)
        repository = Path(folder) / "postgresql"
        commits = make_repository(arguments.source, repository, arguments.turns)
        return search(arguments, repository, commits)


if __name__ == "__main__":
    sys.exit(main())
