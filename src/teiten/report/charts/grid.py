"""The design as a grid: blocks down, trials across in the order in which they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from teiten.report.charts.base import (
    SIDE_COLOURS,
    Chart,
    Spec,
    coloured,
    coloured_by,
    columns_of,
    faceted,
    mark,
    of,
    rows_of_plots,
    text_width,
    tips,
)
from teiten.report.texts import Texts

TALLEST = 700
LABEL_SIZE = 11
WIDEST = 900


@dataclass(frozen=True)
class Square:
    """A planned trial. ``mark``: empty where it counted at once."""

    workload: str
    block: int
    position: int
    side: str
    label: str
    trial: int
    state: str
    mark: str


def design_grid(
    t: Texts,
    squares: Sequence[Square],
    workloads: Sequence[str],
    sides: tuple[str, ...],
    *,
    titles: tuple[str, str],
    marks: str,
) -> Chart:
    """Squares coloured by side, the level inside, a mark on those that did not count at once.
    ``titles``: of sides, and of what stands in a square; ``marks``: what each mark means."""
    blocks = max(square.block for square in squares)
    across = max(square.position for square in squares)
    height = max(4.0, min(24.0, TALLEST / (blocks * len(workloads))))
    width = max(5.0, min(34.0, WIDEST / across))
    longest = max(text_width(square.label, LABEL_SIZE) for square in squares)
    readable = longest <= width and height >= LABEL_SIZE + 3
    square, label = _channels(t, sides, titles)
    size = max(7, min(14, height - 3))
    layers = [
        mark("rect", square, cornerRadius=2),
        *([mark("text", label, fontSize=LABEL_SIZE, fill="#ffffff")] if readable else []),
        mark("text", {**_places(t), "text": of("mark:N")}, fontSize=size, fontWeight="bold"),
    ]
    header = {"labelOrient": "top", "labelAnchor": "start", "labelAlign": "left", "labelPadding": 2}
    facet = rows_of_plots("workload:N", workloads, **header)
    key = "chart.grid.note" if readable else "chart.grid.note-bare"
    return Chart(
        "design",
        t("chart.grid.title"),
        t(key, label=titles[1], marks=marks),
        faceted(layers, {"step": width}, {"step": height}, facet=facet),
        columns_of(Square, squares),
    )


def _places(t: Texts) -> Spec:
    bare = {"labelOverlap": True, "grid": False, "domain": False, "ticks": False}
    return {
        "x": of(
            "position:O",
            title=t("chart.grid.position"),
            axis={"labelAngle": 0, **bare},
            scale={"paddingInner": 0.08},
        ),
        "y": of(
            "block:O",
            title=t("table.block"),
            axis={"titleAngle": -90, **bare},
            scale={"paddingInner": 0.12},
        ),
    }


def _channels(t: Texts, sides: tuple[str, ...], titles: tuple[str, str]) -> tuple[Spec, Spec]:
    """The channels of a square, and of the label inside."""
    side, label = titles
    distinct = len(set(sides)) <= len(SIDE_COLOURS)  # else a colour tells nothing
    colours = coloured(sides) if distinct else dict.fromkeys(sides, SIDE_COLOURS[0])
    legend = {"symbolType": "square"} if distinct else None
    square = {
        **_places(t),
        **coloured_by("side:N", colours, legend=legend),
        "opacity": _unmarked(0.85, otherwise=0.35),
        **tips(
            ("trial:Q", t("table.trial")),
            ("side:N", side),
            ("label:N", label),
            ("block:O", t("table.block")),
            ("state:N", t("table.outcome")),
        ),
    }
    return square, {**_places(t), "text": of("label:N"), "opacity": _unmarked(1, otherwise=0)}


def _unmarked(value: float, *, otherwise: float) -> Spec:
    """``value``: of a trial that counted at once."""
    return {"value": otherwise, "condition": {"test": "datum.mark === ''", "value": value}}
