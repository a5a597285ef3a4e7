"""States of tables, which a factor makes (``factors/FACTOR/fill.py``) and recognises."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import psycopg

from teiten.datasets.contract import Fillable, Say
from teiten.model.study import DataSet, Setting, TableState
from teiten.model.text import Bilingual

REASON = Bilingual("the state of the tables needs it", "テーブルの状態を保つために設定")


def settings(data: DataSet) -> tuple[Setting, ...]:
    """The parameters that a server needs while the state is made."""
    if data.state is None:
        return ()
    needed = _filler(data.state).settings(data.state.level)
    return tuple(Setting(name, value, REASON, "template") for name, value in needed)


def make(server: Fillable, state: TableState, say: Say) -> None:
    """Bring tables that are vacuumed and analysed into a state. Raises ServerError where it cannot
    be made."""
    _filler(state).make(server, state.level, say)


def confirm(connection: psycopg.Connection[Any], state: TableState) -> dict[str, float]:
    """The numbers by which a state is known. Raises ServerError where the tables are in another."""
    numbers = _filler(state).confirm(connection, state.level, "the trial's server")
    return dict(numbers)


def _filler(state: TableState) -> Any:
    """Find the factor's file by name: what is sent to other hosts holds all that this file imports,
    and must not need what reads studies. States are of servers on this machine."""
    registry = import_module("teiten.factors.registry")
    return registry.stage_of(state.factor, registry.FactorStage.FILL)
