"""Samples of every trial over its seconds: a panel per block or level, old and new in each."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from teiten.report.charts.base import Plot, Spec, configured, rows_data, side_scale

SERIES_PANEL = 250


def series_spec(
    x: str, y: str, sides: Mapping[str, str], outcomes: tuple[str, ...], words: dict[str, str]
) -> Spec:
    """Lines of ``value`` over ``second``; one line per ``trial``, one panel per ``panel``;
    dashed where the outcome is not the first one. ``sides``: the colour of each."""
    chart = (
        Plot()
        .mark_line(strokeWidth=1.3, opacity=0.85, interpolate="linear")
        .encode(
            x=alt.X(
                "second:Q",
                title=x,
                scale=alt.Scale(zero=True, nice=False),
                axis=alt.Axis(tickCount=5, grid=False),
            ),
            y=alt.Y(
                "value:Q",
                title=y,
                scale=alt.Scale(zero=True),
                axis=alt.Axis(tickCount=4, format=",~f"),
            ),
            color=alt.Color(
                "side:N",
                title=None,
                scale=side_scale(sides),
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3),
            ),
            detail=alt.Detail("trial:N"),
            strokeDash=alt.StrokeDash(
                "counted:N",
                legend=None,
                scale=alt.Scale(
                    domain=list(outcomes), range=[[1, 0], *([4, 3] for _ in outcomes[1:])]
                ),
            ),
            tooltip=[
                alt.Tooltip("side:N", title=words["side"]),
                alt.Tooltip("trial:N", title=words["trial"]),
                alt.Tooltip("counted:N", title=words["counted"]),
                alt.Tooltip("second:Q", title=x, format=",.4~g"),
                alt.Tooltip("value:Q", title=y, format=",.4~g"),
            ],
        )
        .properties(width=SERIES_PANEL, height=120)
    )
    return configured(
        chart.facet(data=rows_data(), columns=3, facet=alt.Facet("panel:N", title=None, sort=None))
    )
