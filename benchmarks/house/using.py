"""What is added to a copy of the source, put to use there: ``python -m benchmarks.house.using
ADDITION FOLDER`` prints what Teiten then says.

Each addition has a campaign in a real ledger, whose trials are invented, and Teiten's own verbs
read it. ``benchmarks.house.additions`` runs this with the copy before all else on its path.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from click.testing import CliRunner
from tests.fixtures.more_rooms import VACUUM_STUDY
from tests.fixtures.planned import expanded, planned
from tests.fixtures.synthetic import START
from tests.fixtures.synthetic_plan import HOST
from tests.fixtures.undrawn import leave_undrawn

from teiten.claims.catalogue import CLAIMS
from teiten.cli.main import teiten
from teiten.kinds.metrics import judged_in
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.model.trial import Outcome, Trial
from teiten.study.load import load_study

GROWS = """
study = "observe"
report = "Nobody 2026"

[[claims]]
id = "grows"
section = "1"
statement = { en = "It grows.", ja = "増加する。" }
workload = "read"
metric = "tps"
predicate = { kind = "at-least-times", times = 8.0 }
"""
"""A claims file of a predicate that is added."""


def main(addition: str, folder: Path) -> None:
    leave_undrawn()
    record(folder, _plan(addition, folder))
    if addition == "verb":
        print(run(folder, "--help"), run(folder, "uptime", "last"))
    for language in ("en", "ja"):
        path = run(folder, "report", "last", "--lang", language, "--format", "markdown").strip()
        print(Path(path).read_text(encoding="utf-8"))


def _plan(addition: str, folder: Path) -> Plan:
    """A campaign that has what is added."""
    match addition:
        case "kind":
            study = folder / "vacuum.toml"
            study.write_text(VACUUM_STUDY, encoding="utf-8")
            return expanded(load_study(str(study)))
        case "way":
            return planned("way=rotation", "server=17,18", "script=select-only", "clients=1,2")
        case "factor":
            levels = ("contrast=niceness", "factors.niceness=0,5")
            return planned(*levels, "factors.server=18", "clients=1")
        case "predicate":
            (CLAIMS / "nobody-2026.toml").write_text(GROWS, encoding="utf-8")
            return planned("workloads=read", "server=17,18", profile="standard")
        case _:
            return planned("workloads=read", "server=17,18")


def record(folder: Path, plan: Plan) -> None:
    """Write a campaign whose trials all count; their numbers are invented, and grow with load."""
    with Ledger.create(
        folder / "campaigns" / "added",
        plan=plan,
        name="added",
        facts=HOST,
        cautions=(),
        command="teiten run",
    ) as ledger:
        for trial in _trials(plan):
            ledger.record_trials([trial])
        ledger.record_event("campaign-finished")


def _trials(plan: Plan) -> Iterator[Trial]:
    noise = random.Random(1)
    for number, planned_trial in enumerate(plan.trials):
        judged = judged_in(plan, planned_trial.cell.workload).name
        value = 1000.0 * planned_trial.load.connections * noise.uniform(0.99, 1.01)
        yield Trial(
            number=planned_trial.number,
            attempt=1,
            outcome=Outcome.COUNTED,
            problems=(),
            started_at=START + number,
            finished_at=START + number + 1,
            metrics={judged: value, "latency_mean": 0.001, "measured_seconds": 60.0},
        )


def run(folder: Path, *words: str) -> str:
    """Print what a verb says of the working folder."""
    arguments: Sequence[str] = ["--workdir", str(folder), *words]
    return CliRunner().invoke(teiten, arguments, catch_exceptions=False).stdout


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
