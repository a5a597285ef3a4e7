"""Attacks by the servers' user on root's Teiten, again and again, under every kind of workload.

A study's script replaces files of the data directory all the time (``tests.fixtures.storms``), and
a process exchanges for links what root makes in a folder of that user's.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.fixtures.storms import STUDIES, assert_secret_is_kept, raised
from tests.fixtures.stranger import Canary, Stranger
from tests.fixtures.swapping import WORKS, work_among_links

from benchmarks.robustness.campaigns import NAME, Small
from benchmarks.robustness.kills import Breaks
from benchmarks.servers import passable_folder
from teiten.host.system.users import server_user

EXPECTED = frozenset({0, 3, 4})
SECONDS = (20, 60)
"""Of a storm."""
AT = ("/", "{work}/campaigns/*/evidence/trial-*.1", "{work}/campaigns/*/evidence/trial-0002.1")
"""What is there when a storm begins: from the rehearsal on, from the first trial, the second."""
AMONG_LINKS = 10.0
"""Seconds of each of root's works."""
GIANT = 1 << 30
"""More than a campaign may keep of a log that a script has made larger than any disk."""


def attack_campaigns(count: int, seed: int, server: str | None) -> Breaks:
    """Raise ``count`` storms. Needs root."""
    if os.geteuid() != 0:
        sys.exit("only root has what another user may not have")
    result, random = Breaks("attacks"), Random(seed)
    with suppress(KeyboardInterrupt):
        while result.count < count:
            kind = list(STUDIES)[result.count % len(STUDIES)]
            with Small.for_a_while(server) as small:
                _storm(small, kind, random, result)
            _swap(result)
            result.count += 1
    return result


def _storm(small: Small, kind: str, random: Random, result: Breaks) -> None:
    awaited, seconds = random.choice(AT).format(work=small.root), random.randint(*SECONDS)
    shown = f"attack {result.count}, {kind}, {seconds} s from {Path(awaited).name or 'the start'}"
    try:
        with raised(small.root) as calm:
            storm = replace(calm, awaited=awaited, seconds=seconds)
            study = small.root / "stranger.toml"
            study.write_text(STUDIES[kind](storm, json.dumps(small.server)))
            code, output = small.call("run", str(study), "--name", NAME, "--yes")
            result.codes[code] += 1
            result.remarks["the storm raged" if storm.has_begun else "its moment never came"] += 1
            result.campaigns += code == 0
            if code not in EXPECTED or "Traceback" in output or "defect" in output:
                result.findings.append(f"{shown}: exit code {code}: {output[-500:]}")
            storm.assert_harmless()
            assert_secret_is_kept(small.workdir.campaigns, storm.canary)
            kept = sum(path.lstat().st_size for path in small.workdir.campaigns.rglob("*"))
            assert kept < GIANT, f"{kept} bytes were kept"
    except AssertionError as error:
        result.findings.append(f"{shown}: {error}")
    result.findings += (f"{shown}: {left}" for left in small.leftovers())


def _swap(result: Breaks) -> None:
    for work in WORKS:
        with passable_folder("teiten-robustness-") as folder:
            theirs, user = folder / "theirs", server_user()
            theirs.mkdir()
            os.chown(theirs, user.uid or 0, user.gid or 0)
            stranger = Stranger(user, Canary.put(folder / "canary"))
            try:
                work_among_links(work, theirs, stranger, AMONG_LINKS)
            except AssertionError as error:
                result.findings.append(
                    f"attack {result.count}, {work.__name__} among links: {error}"
                )
