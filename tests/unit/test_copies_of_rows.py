"""Rows several times over: which integers are shifted, by how much, and what is refused."""

from __future__ import annotations

import pytest

from teiten.datasets.script.copies import (
    ForeignKey,
    TableColumns,
    TableRelations,
    UncopiedError,
    UniqueKey,
    copying,
    shifted_groups,
    spans,
)
from teiten.errors import TeitenError
from teiten.study.load import load_study

CUSTOMERS = TableColumns(1, "customers", False, {1: ("id", "integer"), 2: ("email", "text")})
ORDERS = TableColumns(
    2, "orders", False, {1: ("id", "bigint"), 2: ("customer", "integer"), 3: ("state", "smallint")}
)
LINES = TableColumns(3, "lines", True, {1: ("ordered", "bigint"), 2: ("line", "smallint")})
TABLES = {table.oid: table for table in (CUSTOMERS, ORDERS, LINES)}
KEYS = (
    UniqueKey("customers_pkey", 1, (1,)),
    UniqueKey("orders_pkey", 2, (1,)),
    UniqueKey("lines_pkey", 3, (1, 2)),
)
JOINS = (ForeignKey(2, (2,), 1, (1,)), ForeignKey(3, (1,), 2, (1,)))
SHOP = TableRelations(TABLES, KEYS, JOINS)
EXTREMES = {(1, 1): (1, 100), (2, 2): (5, 90), (2, 1): (1000, 1999), (3, 1): (1000, 1500)}


def test_what_foreign_keys_join_is_shifted_alike_and_nothing_else() -> None:
    groups = shifted_groups(SHOP)
    assert set(groups) == {frozenset({(1, 1), (2, 2)}), frozenset({(2, 1), (3, 1)})}
    assert spans(SHOP, groups, EXTREMES, 3) == {
        (1, 1): 100,
        (2, 2): 100,
        (2, 1): 1000,
        (3, 1): 1000,
    }


def test_a_key_without_a_joined_column_has_its_first_integer_shifted() -> None:
    alone = TableRelations(TABLES, KEYS, ())
    assert set(shifted_groups(alone)) == {frozenset({(oid, 1)}) for oid in TABLES}


def test_each_table_has_one_statement() -> None:
    by_column = spans(SHOP, shifted_groups(SHOP), EXTREMES, 3)
    of_customers, _, of_lines = copying(SHOP, by_column, 3, identities=True)
    assert of_customers == (
        "customers",
        "INSERT INTO customers (id, email) OVERRIDING SYSTEM VALUE SELECT"
        " (t.id + copies.number * 100::bigint)::integer, t.email FROM ONLY customers AS t,"
        " generate_series(1, 2) AS copies (number)",
    )
    assert " FROM lines AS t," in of_lines[1], "a partitioned table has no rows of its own"
    old = dict(copying(SHOP, by_column, 3, identities=False))
    assert "OVERRIDING" not in old["orders"]


def test_a_key_without_an_integer_is_refused() -> None:
    keys = (*KEYS, UniqueKey("customers_email", 1, (2,)))
    with pytest.raises(UncopiedError, match="index customers_email of customers has no integer"):
        shifted_groups(TableRelations(TABLES, keys, JOINS))
    expression = (*KEYS, UniqueKey("customers_lower", 1, (0,)))
    with pytest.raises(UncopiedError, match="customers_lower of customers has no integer"):
        shifted_groups(TableRelations(TABLES, expression, JOINS))


def test_a_type_that_is_too_small_is_refused() -> None:
    with pytest.raises(UncopiedError, match=r"customers\.id is integer, and cannot hold 3 times"):
        spans(SHOP, shifted_groups(SHOP), {**EXTREMES, (1, 1): (1, 2**30)}, 3)


def test_an_empty_table_has_nothing_to_shift() -> None:
    nothing = dict.fromkeys(EXTREMES)
    assert set(spans(SHOP, shifted_groups(SHOP), nothing, 10).values()) == {0}


@pytest.mark.parametrize("written", ["0x", "x", "1001x", "-2", "ten"])
def test_a_number_of_times_that_is_none_is_refused(written: str) -> None:
    with pytest.raises(TeitenError, match="a number of times from 1x to 1000x"):
        load_study("operations", overrides=(f"data.rows={written}",))


def test_rows_are_of_a_dump() -> None:
    with pytest.raises(TeitenError, match="--rows is for --schema"):
        load_study("operations", rows="10x")
