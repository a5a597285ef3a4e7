"""Plans changed at random, one seed each, until a number of them has been tried."""

from __future__ import annotations

import sys
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

from tests.fixtures.plan_corpus import all_plans, corpus

from benchmarks.plans.checks import check, read
from benchmarks.plans.mutations import mutated

BATCH = 500


def texts_of(seed: int) -> tuple[str, str]:
    """The old and the new text of a seed: a real plan that was changed, and another or itself."""
    random = Random(seed)
    everything = all_plans()
    (server, query), (other_server, other_query) = (
        random.choice(everything),
        random.choice(everything),
    )
    text, counterpart = corpus(server)[query]["plan"], corpus(other_server)[other_query]["plan"]
    if random.random() < 0.5:  # the same question, as it is asked in life
        counterpart = text
    changed = mutated(text, counterpart, random)
    return (counterpart, changed) if seed % 2 else (changed, counterpart)


def outcome_of(seed: int) -> str:
    """Try a plan: ``refused``, ``compared``, or what went wrong."""
    try:
        old, new = map(read, texts_of(seed))
        if old is None or new is None:
            return "refused"
        check(old, new, "ja" if seed % 4 < 2 else "en")
    except Exception:
        return f"failed: seed {seed}\n{traceback.format_exc()}"
    return "compared"


def batch(first: int) -> Counter[str]:
    return Counter(outcome_of(seed) for seed in range(first, first + BATCH))


def fuzz(count: int, seed: int, processes: int) -> int:
    """Try ``count`` plans from a seed on; returns how many failed."""
    outcomes: Counter[str] = Counter()
    with ProcessPoolExecutor(processes) as pool:
        for done in pool.map(batch, range(seed, seed + count, BATCH)):
            outcomes += done
            sys.stderr.write(f"\r{sum(outcomes.values()):,} plans")
            sys.stderr.flush()
    failures = [text for text in outcomes if text.startswith("failed")]
    sys.stderr.write("\n")
    for text in failures[:10]:
        sys.stdout.write(f"{text}\n")
    sys.stdout.write(
        f"{sum(outcomes.values()):,} plans from seed {seed}: {outcomes['compared']:,} compared,"
        f" {outcomes['refused']:,} refused in words, {len(failures)} failed\n"
    )
    return len(failures)


def save(seed: int, folder: Path) -> None:
    """The two texts of a seed, as files for ``teiten explain-diff``."""
    for name, text in zip(("old", "new"), texts_of(seed), strict=True):
        (folder / f"{seed}-{name}.json").write_bytes(text.encode("utf-8", "surrogatepass"))
