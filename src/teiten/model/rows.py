"""Rows of values for the variables of scripts and queries: each transaction, or each trial of a
query, draws one. Pure."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from teiten.model.sql import NOT_CODE
from teiten.model.study import Script

MOST_ROWS = 10_000
"""They stand in the plan of the ledger, and pgbench looks for one by halves."""
_PARTS = re.compile(rf"{NOT_CODE}|(?<![:\w]):([A-Za-z_]\w*)", re.DOTALL)
"""Texts, names, comments; and what is a variable outside of them."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17}|(?=[\d.]{3,16}$)(?:0|[1-9]\d*)\.\d+)", re.ASCII)
"""Numbers that pgbench reads and writes unchanged, but for zeros at the end."""
_SET = re.compile(r"\\set\s+(\w+)")
_STORES = re.compile(r"\\[ga]set\b")
_OWN = frozenset({"scale", "client_id", "default_seed", "random_seed"})
"""Variables that pgbench sets."""


@dataclass(frozen=True)
class VariableRows:
    """A list of rows, or the query that gives one."""

    source: str
    """The file's name, for people."""
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    sql: str = ""
    """The query; empty where the rows are known. Its rows are those of its only run."""

    def __str__(self) -> str:
        """In words, for plans: ``one of 1,000 rows of days.csv``."""
        return (
            f"one of {len(self.rows):,} rows of {self.source}"
            if self.rows
            else (f"one of the rows that {self.source} gives")
        )

    @cached_property
    def numbers(self) -> tuple[bool, ...]:
        """Whether all values of a column are numbers; else statements have them as texts."""
        return tuple(
            all(value is None or _NUMBER.fullmatch(value) for value in column)
            for column in zip(*self.rows, strict=True)
        )

    @cached_property
    def literals(self) -> tuple[tuple[str, ...], ...]:
        """The values as they stand in a statement."""
        return tuple(tuple(map(_literal, row, self.numbers)) for row in self.rows)

    @cached_property
    def digest(self) -> str:
        """By which two lists are known to be the same."""
        text = json.dumps([self.names, self.rows, self.sql])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def comment(self) -> str:
        """A comment of SQL for those who read a script."""
        return f"-- {', '.join(f':{name}' for name in self.names) or 'variables'}: {self}\n"

    def draw(self, seed: int) -> int:
        """The number of the row, from 0, that a seed draws."""
        drawn = random.Random(seed).random()  # noqa: S311 - can be repeated, and no secret
        return int(drawn * len(self.rows))

    def filled(self, text: str, row: int) -> str:
        """A statement with the values of a row in place of its variables."""
        values = dict(zip(self.names, self.literals[row], strict=True))
        return _PARTS.sub(lambda part: values.get(part[1] or "", part[0]), text)

    def uses(self, text: str) -> bool:
        """Whether a statement has any of the variables."""
        return not _mentioned(text).isdisjoint(self.names)

    def missing(self, text: str) -> str | None:
        """The first variable of a script or query that nothing sets; None where there is none."""
        if _STORES.search(text):
            return None
        unset = _mentioned(text) - set(self.names) - set(_SET.findall(text)) - _OWN
        return min(unset, default=None)


def checked(rows: VariableRows) -> VariableRows:
    """The rows, if they can be drawn from. Raises ValueError with a sentence for people."""
    bad = next((name for name in rows.names if not _NAME.fullmatch(name)), None)
    if bad is not None:
        raise ValueError(
            f"{rows.source}: {bad!r} is no name of a variable: the first line names the columns"
        )
    twice = next((name for name in rows.names if rows.names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{rows.source} names the column {twice} twice")
    if not rows.rows:
        raise ValueError(f"{rows.source} has no row")
    if len(rows.rows) > MOST_ROWS:
        raise ValueError(f"{rows.source} has more than {MOST_ROWS:,} rows")
    return rows


def require_fit(rows: VariableRows, texts: Sequence[Script]) -> None:
    """Raise ValueError where the texts have variables that no column sets, or use no column."""
    for script in texts:
        missing = rows.missing(script.text)
        if missing is not None:
            raise ValueError(
                f"{rows.source} has no column {missing}, which {script.name} has as :{missing}"
            )
    if not any(rows.uses(script.text) for script in texts):
        names = ", ".join(f":{name}" for name in rows.names)
        raise ValueError(f"nothing uses {names} of {rows.source}")


def as_expressions(rows: VariableRows) -> str:
    r"""Commands of pgbench that draw a row and set its variables.

    Raises ValueError for a column of texts, which ``\set`` cannot assign.
    """
    texts = [name for name, number in zip(rows.names, rows.numbers, strict=True) if not number]
    if texts:
        raise ValueError(f"{texts[0]} of {rows.source} is a text, and pgbench sets numbers only")
    columns = zip(rows.names, zip(*rows.literals, strict=True), strict=True)
    chosen = (f"\\set {name} {_chosen(values, 0)}\n" for name, values in columns)
    return f"\\set teiten_row random(0, {len(rows.rows) - 1})\n{''.join(chosen)}"


def _chosen(values: Sequence[str], first: int) -> str:
    """An expression that finds a row's value by halves: a list of any length costs little."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    low, high = _chosen(values[:half], first), _chosen(values[half:], first + half)
    return f"CASE WHEN :teiten_row < {first + half} THEN {low} ELSE {high} END"


def _mentioned(text: str) -> set[str]:
    return {part[1] for part in _PARTS.finditer(text) if part[1]}


def _literal(value: str | None, number: bool) -> str:
    if value is None:
        return "NULL"
    if number:
        return value
    quoted = value.replace("'", "''")
    return f" E'{quoted.replace(chr(92), chr(92) * 2)}'" if "\\" in value else f"'{quoted}'"
