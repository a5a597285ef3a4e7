"""The design as a grid: blocks down, trials across in the order in which they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from teiten.report.charts.base import (
    Chart,
    Plot,
    Spec,
    coloured,
    columns_of,
    configured,
    rows_data,
    side_scale,
    text_width,
)

TALLEST = 700
LABEL_SIZE = 11
WIDEST = 900
UNMARKED = "datum.mark === ''"


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


@dataclass(frozen=True)
class GridWords:
    title: str
    note: str
    bare: str
    """Text in place of ``note`` where the squares are too small for labels."""
    block: str
    position: str
    side: str
    label: str
    trial: str
    state: str


def design_grid(
    name: str,
    squares: Sequence[Square],
    workloads: Sequence[str],
    sides: tuple[str, ...],
    words: GridWords,
) -> Chart:
    """Squares coloured by side, the level inside, a mark on those that did not count at once."""
    blocks = max(square.block for square in squares)
    across = max(square.position for square in squares)
    height = max(4.0, min(24.0, TALLEST / (blocks * len(workloads))))
    width = max(5.0, min(34.0, WIDEST / across))
    longest = max(text_width(square.label, LABEL_SIZE) for square in squares)
    readable = longest <= width and height >= LABEL_SIZE + 3
    spec = _spec(list(workloads), sides, words, (width, height), readable)
    note = words.note if readable else words.bare
    return Chart(name, words.title, note, spec, columns_of(Square, squares))


def _spec(
    workloads: list[str],
    sides: tuple[str, ...],
    words: GridWords,
    step: tuple[float, float],
    labels: bool,
) -> Spec:
    width, height = step
    tooltips = [
        alt.Tooltip("trial:Q", title=words.trial),
        alt.Tooltip("side:N", title=words.side),
        alt.Tooltip("label:N", title=words.label),
        alt.Tooltip("block:O", title=words.block),
        alt.Tooltip("state:N", title=words.state),
    ]
    base = Plot().encode(
        x=alt.X(
            "position:O",
            title=words.position,
            axis=alt.Axis(labelAngle=0, labelOverlap=True, grid=False, domain=False, ticks=False),
            scale=alt.Scale(paddingInner=0.08),
        ),
        y=alt.Y(
            "block:O",
            title=words.block,
            axis=alt.Axis(labelOverlap=True, grid=False, domain=False, ticks=False, titleAngle=-90),
            scale=alt.Scale(paddingInner=0.12),
        ),
    )
    squares = base.mark_rect(cornerRadius=2).encode(
        color=alt.Color(
            "side:N",
            title=None,
            scale=side_scale(coloured(sides)),
            legend=alt.Legend(symbolType="square"),
        ),
        opacity=alt.OpacityValue(0.35, condition={"test": UNMARKED, "value": 0.85}),
        tooltip=tooltips,
    )
    layers = [squares]
    if labels:
        layers.append(
            base.mark_text(fontSize=LABEL_SIZE, fill="#ffffff").encode(
                text=alt.Text("label:N"),
                opacity=alt.OpacityValue(0, condition={"test": UNMARKED, "value": 1}),
            )
        )
    layers.append(
        base.mark_text(fontSize=max(7, min(14, height - 3)), fontWeight="bold").encode(
            text=alt.Text("mark:N")
        )
    )
    layered = alt.layer(*layers).properties(width=alt.Step(width), height=alt.Step(height))
    return configured(
        layered.facet(
            data=rows_data(),
            row=alt.Row(
                "workload:N",
                title=None,
                sort=workloads,
                header=alt.Header(
                    labelAngle=0,
                    labelOrient="top",
                    labelAnchor="start",
                    labelAlign="left",
                    labelPadding=2,
                ),
            ),
        )
    )
