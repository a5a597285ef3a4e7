"""By which numbers the states of the tables are known, beside what the campaign says of them."""

from __future__ import annotations

from statistics import median

from teiten.model.metrics import STATE_OF_TABLES
from teiten.model.trial import Outcome
from teiten.report.effects import percent
from teiten.report.numbers import fixed
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.view.kit import Kit

COUNTED = "oldest_transaction_age"
"""A number of transactions; the others are shares."""


def states_table(kit: Kit) -> Table | None:
    """Medians over the counted trials, by state and side; None where no state was made."""
    states = {trial.number: trial.template.data.state for trial in kit.analysis.plan.trials}
    by_state: dict[tuple[str, str], list[dict[str, float]]] = {}
    for trial in kit.analysis.trials:
        state = states.get(trial.number)
        if state is not None and trial.outcome is Outcome.COUNTED:
            state_name = kit.names.context(((state.factor, state.level),))
            key = (state_name, kit.short(kit.side_of(trial)))
            by_state.setdefault(key, []).append(dict(trial.metrics))
    if not by_state:
        return None
    t = kit.t
    columns = (
        Column(t("table.states.state")),
        Column(kit.names.factor(kit.study.contrast)),
        *(Column(t(f"metric.{metric.name}"), numeric=True) for metric in STATE_OF_TABLES),
    )
    rows: tuple[Row, ...] = tuple(
        (
            *cells(state_name, side),
            *(_number(kit, metric.name, trials) for metric in STATE_OF_TABLES),
        )
        for (state_name, side), trials in sorted(by_state.items())
    )
    return Table("states", t("table.states.caption"), columns, rows, note=t("table.states.note"))


def _number(kit: Kit, name: str, trials: list[dict[str, float]]) -> TableCell:
    """Empty where it was not counted."""
    values = [metrics[name] for metrics in trials if name in metrics]
    if not values:
        return TableCell("")
    middle = median(values)
    return TableCell(fixed(middle, 0) if name == COUNTED else percent(kit.t, middle, 1), middle)
