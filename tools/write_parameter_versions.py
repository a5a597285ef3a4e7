"""Write which server parameters came and went with which major version, from servers' own words.

python tools/write_parameter_versions.py FOLDER_WITH_POSTGRES…

Give one folder of programs of every major version from 9.6 on. What ``--describe-config`` hides
(developers' options) is not in the table; it only words hints, the servers themselves decide.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from teiten.model.installation import Version

TARGET = Path(__file__).resolve().parent.parent / "src/teiten/plan/parameter_versions.toml"
HIDDEN_LATER = {"force_parallel_mode"}
"""Moved among the developers' options before it went."""
VALUES = """
# Values of enumerations that came later than their parameter.
[values]
wal_compression = { pglz = "15", lz4 = "15", zstd = "15" }
"""


def parameters(postgres: Path) -> set[str]:
    done = subprocess.run([postgres, "--describe-config"], capture_output=True, check=True)
    return {line.split("\t")[0] for line in done.stdout.decode().splitlines() if "\t" in line}


def main(folders: list[str]) -> None:
    known: dict[str, set[str]] = {}
    versions: list[Version] = []
    for folder in folders:
        postgres = Path(folder) / "postgres"
        done = subprocess.run([postgres, "--version"], capture_output=True, check=True)
        version = Version.parse(done.stdout.decode())
        versions.append(version)
        known[version.major] = parameters(postgres)
    majors = [version.major for version in sorted(versions)]
    since: dict[str, list[str]] = defaultdict(list)
    until: dict[str, list[str]] = defaultdict(list)
    for name in sorted(set().union(*known.values()) - HIDDEN_LATER):
        have = [major for major in majors if name in known[major]]
        if have[0] != majors[0]:
            since[have[0]].append(name)
        if have[-1] != majors[-1]:
            until[have[-1]].append(name)
    lines = [
        "# Made by tools/write_parameter_versions.py from what servers say of themselves"
        f" ({majors[0]} to {majors[-1]})."
    ]
    for title, table in (("since", since), ("until", until)):
        lines += ["", f"[{title}]"]
        for major in majors:
            if table[major]:
                names = "".join(f'\n    "{name}",' for name in table[major])
                lines.append(f'"{major}" = [{names}\n]')
    TARGET.write_text("\n".join(lines) + "\n" + VALUES, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
