"""kill -9 at any moment of a campaign, again and again, until it is complete; then the next one."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from benchmarks.robustness.campaigns import NAME, PATIENCE, Small, made_in_the_kernel


@dataclass
class Breaks:
    """Counts of a long run."""

    about: str
    count: int = 0
    pids: set[int] = field(default_factory=set)
    """Of the Teitens that were killed."""
    campaigns: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    """What was said of it, to be read."""
    findings: list[str] = field(default_factory=list)

    def tell(self, output: str) -> None:
        """Keep the error, and its hint, without its numbers."""
        lines = [line for line in output.splitlines() if line.startswith(("error:", "hint:"))]
        if lines:
            self.remarks[re.sub(r"\d+", "N", " | ".join(lines))[:400]] += 1

    def end(self, small: Small) -> None:
        """Look at a campaign that says it is complete, and make room for the next one."""
        self.campaigns += 1
        self.findings += small.unfinished()
        code, output = small.call("rm", NAME, "--yes")
        if code != 0 or small.folder.exists():
            self.findings.append(f"rm: exit code {code}: {output[-300:]}")
            small.forget()

    def lines(self) -> list[str]:
        codes = ", ".join(f"{code}: {count}" for code, count in sorted(self.codes.items()))
        return [
            f"{self.about}: {self.count}; {self.campaigns} campaigns completed"
            f" (exit codes {codes}); {len(self.findings)} findings",
            *(f"    {finding}" for finding in self.findings),
            *(f"  {count} × {remark}" for remark, count in self.remarks.most_common()),
        ]


def kill_campaigns(count: int, seed: int, server: str | None, kind: str = "study") -> Breaks:
    """Kill ``count`` times. Each start continues the campaign; none may lose or double a trial."""
    result = Breaks(f"kills of {kind}")
    random = Random(seed)
    with Small.for_a_while(server, kind) as small:
        with suppress(KeyboardInterrupt):  # a long run that is cut short says what it found
            while result.count < count:
                _kill_once(small, random, result)
        small.kill_last()
        _complete(small, result)
        result.findings += small.leftovers()
        result.findings += made_in_the_kernel(result.pids)
    return result


def _kill_once(small: Small, random: Random, result: Breaks) -> None:
    before = small.kept()
    process = small.start(*small.next_words())
    output = small.reach(process, random.randrange(small.lines), random.uniform(0.0, 0.8))
    if output is None:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        result.pids.add(process.pid)
        result.count += 1
        result.codes[-9] += 1
        time.sleep(0.05)
    else:
        result.codes[process.returncode] += 1
        if process.returncode != 0:
            code = process.returncode
            result.findings.append(f"kill {result.count}: exit code {code}: {output[-500:]}")
        else:
            result.end(small)
            return
    result.findings += [f"kill {result.count}: {damage}" for damage in small.damages(before)]


def _complete(small: Small, result: Breaks) -> None:
    code, output = small.call(*small.next_words())
    result.codes[code] += 1
    if code != 0:
        result.findings.append(f"the last one: exit code {code}: {output[-500:]}")
        return
    result.end(small)
