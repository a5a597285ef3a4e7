"""Values of the model to what SQLite stores, and back: JSON texts and Arrow blobs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from teiten.ledger.options import adapter, in_new_form, with_own_forms, write_own_forms
from teiten.ledger.texts import texts_of, with_texts, without_texts
from teiten.model.facts import Caution
from teiten.model.plan import Plan
from teiten.model.stacks import StackSamples
from teiten.model.study import Study
from teiten.model.trial import FloatArray, Series

SECONDS = "seconds"
COMPRESSION = "zstd"
Value = TypeVar("Value")


def encode_plan(plan: Plan) -> str:
    table = _table(plan)
    return encode_json(table if plan.study.keep_texts else without_texts(table))


def decode_plan(text: str) -> Plan:
    """A plan of this or any earlier version of Teiten. Raises LedgerError for a kind of workload
    that this one does not have."""
    return _plan(in_new_form(json.loads(text)))


def with_texts_of(plan: Plan, study: Study) -> Plan:
    """A plan with the texts of a study in place of their fingerprints. Raises UnknownTextError
    where the study does not have one."""
    known = texts_of(_table(replace(plan, study=study, trials=(), templates=())))
    return _plan(with_texts(_table(plan), known))


def _table(plan: Plan) -> dict[str, Any]:
    table: dict[str, Any] = adapter(Plan).dump_python(plan, mode="json")
    write_own_forms(plan, table)
    return table


def _plan(table: Any) -> Plan:
    return with_own_forms(adapter(Plan).validate_python(table), table)


def encode(form: type[Value], value: Value) -> str:
    """A value of one of the model's classes, or a tuple of such, as JSON."""
    return encode_json(adapter(form).dump_python(value, mode="json"))


def decode(form: type[Value], text: str) -> Value:
    """Read the text of ``encode``. Raises ValueError where it is damaged."""
    value: Value = adapter(form).validate_python(json.loads(text))
    return value


def caution_object(caution: Caution) -> dict[str, Any]:
    """A caution as a JSON object, for an event's detail."""
    return dict(adapter(Caution).dump_python(caution, mode="json"))


def encode_json(value: Any) -> str:
    """Any value as JSON in ASCII: a log's bytes that were no UTF-8 (surrogates) survive too.

    What JSON does not know (a path) becomes its text: no trial is lost for the form of a fact.
    """
    return json.dumps(value, ensure_ascii=True, default=str)


def decode_object(text: str) -> dict[str, Any]:
    """Raises ValueError where it is no object."""
    result = json.loads(text)
    if not isinstance(result, dict):
        raise ValueError("this is no object of JSON")
    return result


def encode_metrics(metrics: Mapping[str, float]) -> list[tuple[str, float | None]]:
    """Name and value; SQLite knows no NaN, so that is NULL."""
    return [(name, None if math.isnan(value) else float(value)) for name, value in metrics.items()]


OF_BEFORE = "_untrimmed"
"""Until 0.2 the plain mean of slices was named so; the trimmed one had the metric's own name."""


def decode_metrics(rows: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    """A trial's metrics, in today's names."""
    metrics = {name: math.nan if value is None else float(value) for name, value in rows}
    for old in [name for name in metrics if name.endswith(OF_BEFORE)]:
        name = old.removesuffix(OF_BEFORE)
        metrics[name], metrics[f"{name}_trimmed"] = metrics.pop(old), metrics.get(name, math.nan)
    return metrics


def encode_series(series: Series) -> bytes:
    """An Arrow IPC stream of ``seconds`` and the series' columns, each float64, in one zstd frame.

    One frame for all: Arrow's own compression, one frame per column, is read four times slower.
    Raises ValueError where the columns differ in length.
    """
    names = [SECONDS, *series.columns]
    arrays = [
        pa.array(np.ascontiguousarray(values, dtype=np.float64))
        for values in (series.seconds, *series.columns.values())
    ]
    if len({len(array) for array in arrays}) > 1:
        raise ValueError(f"the columns of the series {series.source} differ in length")
    batch = pa.record_batch(arrays, names=names)
    sink = pa.BufferOutputStream()
    with (
        pa.CompressedOutputStream(sink, COMPRESSION) as frame,
        pa.ipc.new_stream(frame, batch.schema) as writer,
    ):
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_series(source: str, data: bytes) -> Series:
    """The series of ``encode_series``; its arrays are read-only.

    Raises pyarrow.ArrowInvalid where the blob is damaged.
    """
    options = pa.ipc.IpcReadOptions(use_threads=False)
    try:
        with (
            pa.CompressedInputStream(pa.BufferReader(data), COMPRESSION) as frame,
            pa.ipc.open_stream(frame, options=options) as reader,
        ):
            batch = reader.read_next_batch()
    except OSError as error:  # what Arrow says of a broken zstd frame
        raise pa.ArrowInvalid(f"the series {source}: {error}") from error
    arrays: list[FloatArray] = [column.to_numpy(zero_copy_only=True) for column in batch.columns]
    return Series(source, arrays[0], dict(zip(batch.schema.names[1:], arrays[1:], strict=True)))


def encode_stack_samples(samples: StackSamples) -> bytes:
    """JSON in one zstd frame: folded stacks repeat themselves."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, COMPRESSION) as frame:
        frame.write(encode(StackSamples, samples).encode("ascii"))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_stack_samples(data: bytes) -> StackSamples:
    """Raises pyarrow.ArrowInvalid where the blob is damaged."""
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), COMPRESSION) as frame:
            text = frame.read()
    except OSError as error:
        raise pa.ArrowInvalid(f"a profile: {error}") from error
    return decode(StackSamples, text.decode("ascii"))
