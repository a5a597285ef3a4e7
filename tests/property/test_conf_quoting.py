"""Any value survives postgresql.conf's quotes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from teiten.execute.postgres.conf import parse, render
from teiten.model.study import Setting
from teiten.model.text import Bilingual

LINE_BREAKS = "\n\r\0"
"""What conf.check refuses; postgresql.conf knows no other line break."""


@given(
    st.text(st.characters(exclude_characters=LINE_BREAKS, exclude_categories=["Cs"])),
    st.text(),
)
def test_a_value_survives_and_a_reason_stays_a_comment(value: str, reason: str) -> None:
    text = render([Setting("app.name", value, Bilingual(reason, ""), "file")])
    assert parse(text) == {"app.name": value}
    outside = [line for line in text.split("\n") if line and not line.startswith("#")]
    assert len(outside) == 1
