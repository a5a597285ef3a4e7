"""Studies of the catalogue, spoiled: each is shown, and some are planned."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from benchmarks.robustness.mutation import spoiled
from benchmarks.robustness.outcome import Tally, called
from teiten.study.document import catalogue_names
from teiten.study.load import commented_copy

PLANNED_EVERY = 10


def spoil_studies(count: int, seed: int) -> Tally:
    """Show ``count`` spoiled studies, and plan every tenth."""
    tally = Tally("studies")
    texts = [commented_copy(name).encode() for name in catalogue_names()]
    with TemporaryDirectory(prefix="teiten-robustness-") as folder:
        path = Path(folder) / "spoiled.toml"
        for number in range(count):
            random = Random(seed * 1_000_003 + number)
            path.write_bytes(spoiled(random.choice(texts), random))
            verb = "plan" if number % PLANNED_EVERY == 0 else "show"
            outcome = called(["--workdir", f"{folder}/work", verb, str(path)])
            tally.add(f"study {number} of seed {seed}, {verb}", outcome, ("planted",))
    return tally
