"""The table of the ways' agreement: what counts as agreeing."""

from __future__ import annotations

from benchmarks.pairs.agreement import CLASSIC, IN_STEP, PAIRS, table

TWO_CORES = 2


def rounds(clients: int, *, pairs: float, in_step: float) -> list[dict[str, object]]:
    """Three rounds in which the classic way tells 10 %, a thousandth up or down."""
    return [
        {
            "effect": "build (-Os, -O2)",
            "round": number,
            "clients": clients,
            "cores": TWO_CORES,
            CLASSIC: [0.1 + scatter, -0.1],
            PAIRS: [pairs + scatter, -0.1],
            IN_STEP: [in_step + scatter, -0.1],
            "load": 0.5,
        }
        for number, scatter in enumerate((-0.001, 0.0, 0.001))
    ]


def test_only_the_offered_way_has_to_agree() -> None:
    lines = [
        *rounds(2, pairs=0.1, in_step=0.2),
        *rounds(4, pairs=0.2, in_step=0.1),
        *rounds(8, pairs=0.1, in_step=0.2),
    ]
    _, _, *rows, _, summary = "\n".join(table(lines)).splitlines()
    assert [row.endswith("| yes |") for row in rows] == [True, True, False]
    assert "1.105 ± 0.003" in rows[0] and "1.221 ± 0.003" in rows[1]
    assert "in 2 of 3" in summary
