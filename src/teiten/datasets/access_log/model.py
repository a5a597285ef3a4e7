"""Options of an access log, and the SQL that makes its rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from teiten.model.study import DataOptions, DataSet

NAME = "access_log"

FIRST_DAY = "2014-01-01"
"""The log's first day, as in the queries of the report (2013 §3.4.2)."""
ROWS_OF_SCALE = 1000
"""Rows of each day for each unit of scale."""
MICROSECONDS_OF_DAY = 86_400_000_000

TABLES = """
CREATE TABLE product_master (product_id integer PRIMARY KEY, product_name text NOT NULL);
CREATE TABLE access_log (
    log_id bigint NOT NULL,
    "date" date NOT NULL,
    "time" time NOT NULL,
    product_id integer NOT NULL,
    place_id integer NOT NULL,
    machine_id integer NOT NULL,
    app_id integer NOT NULL,
    access_time_second integer NOT NULL,
    access_count integer NOT NULL,
    err_code integer NOT NULL
) WITH (autovacuum_enabled = false);
"""
PRODUCTS = """
INSERT INTO product_master SELECT i, 'product ' || i FROM generate_series(1, {products}) AS i
"""
DAY = """
INSERT INTO access_log
SELECT i,
       date '{first_day}' + {day},
       time '00:00' + ((i - {first}) * {apart}) * interval '1 microsecond',
       1 + (h >> 8) % {products},
       (h >> 4) % 100,
       (h >> 12) % 1000,
       (h >> 16) % 20,
       (h >> 20) % 3600,
       1 + (h >> 7) % 50,
       CASE WHEN (h >> 9) % 100 < 95 THEN 0 ELSE 1 + (h >> 17) % 9 END
FROM (SELECT i, (i * 2654435761 + {seed}) & 4294967295 AS h
      FROM generate_series({first}::bigint, {last}::bigint) AS i) AS made
"""
INDEX = 'CREATE INDEX access_log_date_time ON access_log ("date", "time")'


@dataclass(frozen=True)
class AccessLogTables(DataOptions):
    """The scale is the thousands of rows of each day."""

    days: int
    seed: int
    """Seed of the numbers in the rows: the same seed makes the same rows, on every server."""
    products: int
    """Rows of product_master."""

    @property
    def told(self) -> Mapping[str, Any]:
        return {"days": self.days, "seed": self.seed, "products": self.products}

    def described(self, scale: float | None) -> str:
        return f"an access log of {self.days} days with {scale} thousand rows each"


def rows_of_day(data: DataSet) -> int:
    """Raises ValueError where the study was not sized."""
    if data.scale is None:
        raise ValueError("the data set has no scale: the study was not sized")
    return int(data.scale) * ROWS_OF_SCALE


def statements(data: DataSet) -> Iterator[str]:
    """The rows of all tables, each day by itself, in the order of time; then the index."""
    options, rows = data.options_as(AccessLogTables), rows_of_day(data)
    yield PRODUCTS.format(products=options.products)
    for day in range(options.days):
        yield day_of_log(options, day, rows)
    yield INDEX


def day_of_log(options: AccessLogTables, day: int, rows: int) -> str:
    """One day's rows. Their numbers are bits of a product with a large odd number (Knuth's
    multiplicative hashing), which every version computes alike and fast; a server's own random
    numbers differ between versions."""
    return DAY.format(
        first_day=FIRST_DAY,
        day=day,
        first=day * rows,
        last=(day + 1) * rows - 1,
        apart=MICROSECONDS_OF_DAY // rows,
        products=options.products,
        seed=options.seed,
    )
