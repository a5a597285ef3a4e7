"""Messages between Teiten and its agent: a line of JSON, perhaps with bytes behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO, Any

PAYLOAD = "payload"
LONGEST_LINE = 64 << 20


class WireError(Exception):
    """Input that is no message, or only a part of one."""


@dataclass(frozen=True)
class Message:
    """``values``: JSON; ``payload``: bytes that are no text."""

    values: dict[str, Any]
    payload: bytes = field(default=b"", repr=False)


def write_message(stream: IO[bytes], message: Message) -> None:
    """Raises OSError where the other side is gone."""
    values = message.values
    if message.payload:
        values = {**values, PAYLOAD: len(message.payload)}
    stream.write(json.dumps(values).encode("ascii") + b"\n")
    if message.payload:
        stream.write(message.payload)
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """The next message; None at the end. Raises WireError for anything else, OSError."""
    line = stream.readline(LONGEST_LINE)
    if not line:
        return None
    if not line.endswith(b"\n"):
        raise WireError("a message was cut off")
    try:
        values = json.loads(line)
        size = int(values.pop(PAYLOAD, 0))
    except (ValueError, AttributeError, TypeError) as error:
        raise WireError(f"not a message: {line[:80]!r}") from error
    payload = _exactly(stream, size) if size else b""
    return Message(values, payload)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        part = stream.read(left)
        if not part:
            raise WireError("a message was cut off")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
