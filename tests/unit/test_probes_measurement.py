"""What a trial of a probe measured, into the ledger's form and back."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode

from teiten.kinds.probes.measurement import (
    MEASUREMENT,
    Buffers,
    Checkpointed,
    ExecutedOnce,
    MeasuredStep,
    PageOrigin,
    ProbeMeasurement,
    Seen,
    Timed,
    Where,
    WithClients,
    around,
    measurement_of,
    packed,
    share_of,
)
from teiten.model.units import GIB, MIB, Bytes, Seconds


def timed(page: int, read: int = 0, disk: int | None = 0, swept: int | None = None) -> Timed:
    return Timed(
        page=page,
        seconds=Seconds(1e-5 * (page + 1)),
        hit=1 - read,
        read=read,
        dirtied=0,
        written=0,
        disk_bytes=disk,
        swept=swept,
    )


WHOLE = ProbeMeasurement(
    probe="working-set",
    memory=Bytes(GIB),
    shared_buffers=Bytes(256 * MIB),
    measured=(
        MeasuredStep("read", "10% of table", 100, (timed(3), timed(9, 1), timed(4, 1, 8192))),
        MeasuredStep("read", "20% of table", 200, ()),
    ),
    seen=(
        Seen(
            "before",
            "read",
            "10% of table",
            Buffers((1, 2, 3, 4, 5, 6), 7, 8),
            Where("pages", 100, 60, None),
            held=False,
        ),
    ),
    executed=(ExecutedOnce("scan", "", Seconds(1.5)),),
    with_clients=(WithClients("clients", "", 4, 1000, 100.5, Seconds(0.04), 10, 20),),
    checkpoints=(Checkpointed("checkpoint", "", Seconds(0.01), 5, 5),),
)


def test_it_comes_back_as_it_was() -> None:
    assert measurement_of({MEASUREMENT: packed(WHOLE)}) == WHOLE


def test_statements_are_columns() -> None:
    table = json.loads(zlib.decompress(b64decode(packed(WHOLE))))
    columns = table["measured"][0]["statements"]
    assert columns["page"] == [3, 9, 4] and columns["dirtied"] == 0 and columns["rows"] == 3


def test_a_thousand_statements_take_little_room() -> None:
    many = MeasuredStep("read", "", 5000, tuple(timed(at % 97, at % 2) for at in range(1000)))
    text = packed(ProbeMeasurement("read", Bytes(GIB), Bytes(GIB), (many,)))
    assert len(text) < 8_000


def test_what_cannot_be_read_is_nothing() -> None:
    assert measurement_of({}) is None
    assert measurement_of({MEASUREMENT: "!"}) is None
    assert measurement_of({MEASUREMENT: packed(WHOLE)[:40]}) is None


def test_where_a_page_came_from() -> None:
    found = [statement.origin for statement in WHOLE.measured[0].statements]
    assert found == [PageOrigin.BUFFERS, PageOrigin.OS_CACHE, PageOrigin.DISK]
    assert timed(1, 1, None).origin is PageOrigin.OUTSIDE
    assert share_of(WHOLE.measured[0].statements, PageOrigin.DISK) == 1 / 3
    assert share_of((), PageOrigin.DISK) is None


def test_shares_of_a_part() -> None:
    where = Where("pages", 200, 50, 100)
    assert (where.buffers_share, where.os_cache_share) == (0.25, 0.5)
    assert WHOLE.seen[0].where.os_cache_share is None
    assert WHOLE.buffers == 32768


def test_how_often_a_sweep_went_around() -> None:
    assert around(timed(1, swept=65536), 32768) == 2
    assert around(timed(1), 32768) == 0
