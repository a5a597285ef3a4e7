"""Does Teiten name the resource that is scarce, and no other? One resource throttled at a time.

    sudo python -m benchmarks.throttle [--servers 17,18] [--only WORD,WORD] [--blocks 2]
                                       [--seconds 4]

Each scenario measures its ceilings and runs a short campaign inside control groups of its own
(or with fewer processors), so that ceilings and campaign meet the same limit. Printed: a confusion
table in Markdown, what was done against what was said, and what each statement rests on. Needs
Linux with control groups and root, an idle machine, and takes about two minutes a scenario.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import row
from benchmarks.running import command_line, teiten
from benchmarks.throttle.control_groups import control_groups
from benchmarks.throttle.scenarios import SCENARIOS, Scenario
from teiten.cli.campaign.read import analyse_campaign
from teiten.host.ceilings.measure import measure_ceilings
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.results import pgbench_found
from teiten.ledger.store import Ledger
from teiten.model.bottleneck import BottleneckResult, Consistent, Resource
from teiten.model.units import Bytes, Seconds

GROUP = "teiten-benchmark-throttle"
FILE = Bytes(64 << 20)
"""Of the ceilings: small, since it is laid out under the limit too."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--servers", default="17,18", help="two; each gets a statement of its own")
    parser.add_argument("--only", default="", help="words of scenarios, by comma")
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--workdir", type=Path, default=default_workdir())
    arguments = parser.parse_args()
    workdir = Workdir(arguments.workdir)
    workdir.prepare()
    measure = ("--set", f"blocks={arguments.blocks}", "--set", f"duration={arguments.seconds}s")
    common = ("--servers", arguments.servers, *measure, "--set", "settle=0s")
    by_scenario: dict[Scenario, tuple[BottleneckResult, ...]] = {}
    for scenario in SCENARIOS:
        if any(word in scenario.name for word in arguments.only.split(",")):
            by_scenario[scenario] = run(scenario, workdir, common)
            for result in by_scenario[scenario]:
                print(f"{scenario.name}: {said(result)}", flush=True)
    print("\n".join(("", *table(by_scenario))))


def run(
    scenario: Scenario, workdir: Workdir, common: Sequence[str]
) -> tuple[BottleneckResult, ...]:
    """What is said of each server in the scenario's campaign, which is deleted."""
    words = ["run", "observe", "--profile", "quick", *common, *scenario.arguments]
    words += ["--set", f"warmup={scenario.warmup}s", "--json"]
    with control_groups(GROUP, scenario.limits, workdir.clusters) as groups:
        child = os.fork()
        if child == 0:
            os._exit(_inside(scenario, groups, workdir, command_line(workdir.root, *words)))
        _, status = os.waitpid(child, 0)
    outcome = workdir.caches / "throttle.json"
    if status:
        print(f"{scenario.name}: failed, see above", file=sys.stderr)
        return ()
    name = json.loads(outcome.read_text())["campaign"]
    outcome.unlink()
    with Ledger.open(workdir.campaigns / name, read_only=True) as ledger:
        results = pgbench_found(analyse_campaign(ledger)).bottlenecks
    teiten(workdir.root, "--quiet", "rm", name, "--yes", check=False)
    return results


def _inside(
    scenario: Scenario, groups: Sequence[Path], workdir: Workdir, line: Sequence[str]
) -> int:
    """Join the groups, measure the ceilings, run the campaign; its exit code."""
    for group in groups:
        group.write_text(str(os.getpid()))
    usable = sorted(os.sched_getaffinity(0))[: scenario.cpus]
    os.sched_setaffinity(0, usable)
    try:
        measure_ceilings(workdir, logical=len(usable), seconds=Seconds(3.0), size=FILE)
        with (workdir.caches / "throttle.json").open("w") as output:
            return subprocess.run(line, stdout=output, check=False).returncode
    except Exception as error:
        print(error, file=sys.stderr)
        return 1


def said(result: BottleneckResult) -> str:
    evidence = ", ".join(f"{name} {value:.3g}" for name, value in result.finding.evidence)
    word = (
        result.finding.resource
        if isinstance(result.finding, Consistent)
        else f"nothing ({result.finding.reason})"
    )
    return f"{result.side}: {word} at {result.load:g} clients: {evidence}"


def table(by_scenario: dict[Scenario, tuple[BottleneckResult, ...]]) -> list[str]:
    """What was made scarce, against what was said: of how many servers."""
    head = [*(resource.value for resource in Resource), "nothing"]
    lines = [row("made scarce", "expected", *head), f"| --- | --- |{' :-: |' * len(head)}"]
    for scenario, results in by_scenario.items():
        counts = Counter(
            result.finding.resource.value if isinstance(result.finding, Consistent) else "nothing"
            for result in results
        )
        expected = scenario.expected.value if scenario.expected else "nothing"
        lines.append(row(scenario.name, expected, *(counts[word] or "" for word in head)))
    return lines


if __name__ == "__main__":
    main()
