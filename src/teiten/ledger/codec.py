"""Values of the model to what SQLite stores, and back: JSON texts and Arrow blobs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from pydantic import TypeAdapter

from teiten.ledger.options import (
    encode_data,
    encode_loads,
    encode_options,
    in_new_form,
    with_data,
    with_options,
    with_trials,
)
from teiten.ledger.texts import texts_of, with_texts, without_texts
from teiten.model.facts import Caution, HostFacts
from teiten.model.plan import Plan
from teiten.model.stacks import StackSamples
from teiten.model.study import Study
from teiten.model.trial import FloatArray, Problem, Series

SECONDS = "seconds"
COMPRESSION = "zstd"


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


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
    table: dict[str, Any] = _adapter(Plan).dump_python(plan, mode="json")
    for one, options in zip(table["study"]["workloads"], encode_options(plan), strict=True):
        one["options"] = options
    for one, load in zip(table["trials"], encode_loads(plan), strict=True):
        one["load"] = load
    encode_data(plan, table)
    return table


def _plan(table: Any) -> Plan:
    plan: Plan = _adapter(Plan).validate_python(table)
    plan = with_data(plan, table)
    plan = with_options(plan, [one["options"] for one in table["study"]["workloads"]])
    return with_trials(plan, table["trials"])


def encode_facts(facts: HostFacts) -> str:
    return _encode(HostFacts, facts)


def decode_facts(text: str) -> HostFacts:
    facts: HostFacts = _decode(HostFacts, text)
    return facts


def encode_cautions(cautions: Sequence[Caution]) -> str:
    return _encode(tuple[Caution, ...], tuple(cautions))


def decode_cautions(text: str) -> tuple[Caution, ...]:
    cautions: tuple[Caution, ...] = _decode(tuple[Caution, ...], text)
    return cautions


def caution_object(caution: Caution) -> dict[str, Any]:
    """A caution as a JSON object, for an event's detail."""
    found: dict[str, Any] = _adapter(Caution).dump_python(caution, mode="json")
    return found


def encode_problems(problems: Sequence[Problem]) -> str:
    return _encode(tuple[Problem, ...], tuple(problems))


def decode_problems(text: str) -> tuple[Problem, ...]:
    problems: tuple[Problem, ...] = _decode(tuple[Problem, ...], text)
    return problems


def encode_evidence(evidence: Sequence[tuple[str, str]]) -> str:
    return encode_json(evidence)


def decode_evidence(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((str(kind), str(path)) for kind, path in json.loads(text))


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
    found = {name: math.nan if value is None else float(value) for name, value in rows}
    for name in [one for one in found if one.endswith(OF_BEFORE)]:
        of = name.removesuffix(OF_BEFORE)
        found[of], found[f"{of}_trimmed"] = found.pop(name), found.get(of, math.nan)
    return found


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
        frame.write(_encode(StackSamples, samples).encode("ascii"))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def decode_stack_samples(data: bytes) -> StackSamples:
    """Raises pyarrow.ArrowInvalid where the blob is damaged."""
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), COMPRESSION) as frame:
            text = frame.read()
    except OSError as error:
        raise pa.ArrowInvalid(f"a profile: {error}") from error
    samples: StackSamples = _decode(StackSamples, text.decode("ascii"))
    return samples


def _encode(kind: Any, value: Any) -> str:
    return encode_json(_adapter(kind).dump_python(value, mode="json"))


def _decode(kind: Any, text: str) -> Any:
    return _adapter(kind).validate_python(json.loads(text))
