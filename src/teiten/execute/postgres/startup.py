"""Waiting until a server takes connections, and saying why it does not."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from teiten.errors import ServerError
from teiten.execute.postgres.server_log import last_lines

INTERVAL = 0.02
"""Seconds between two attempts to connect."""
TAIL = 65536
"""Bytes of a log that tell why."""
UNKNOWN = re.compile(r'unrecognized configuration parameter "([^"]+)"')
INVALID = re.compile(r'(?:invalid value for parameter|parameter) "([^"]+)".*')


def wait_until_ready(
    process: subprocess.Popen[bytes], connect: Callable[[], psycopg.Connection], *, timeout: float
) -> str | None:
    """Connect until the server answers; None then, else what kept it (``ended``, or why not).

    ``timeout``: seconds.
    """
    end = time.monotonic() + timeout
    reason = "no attempt was made"
    while time.monotonic() < end:
        if process.poll() is not None:
            return "ended"
        try:
            connect().close()
        except psycopg.OperationalError as error:
            reason = str(error).strip()
        else:
            return None
        time.sleep(INTERVAL)
    return f"no connection within {timeout:g} s: {reason}"


def start_failure(name: str, reason: str, log: Path, text: str) -> ServerError:
    """The error of a server that did not become ready, from its own log's last part."""
    unknown = UNKNOWN.search(text)
    if unknown is not None:
        parameter = unknown.group(1)
        return ServerError(
            f"{name} does not know the setting {parameter}",
            f"leave {parameter} out of the study for this version, or choose other servers",
        )
    invalid = INVALID.search(text)
    if invalid is not None and reason == "ended":
        return ServerError(
            f"{name} refuses the setting {invalid.group(1)}: {invalid.group(0)}",
            f"correct the value of {invalid.group(1)} in the study",
        )
    what = "ended while starting" if reason == "ended" else reason
    return ServerError(f"{name} did not start: {what}\n{last_lines(text)}", _hint(text, log))


def _hint(text: str, log: Path) -> str:
    if "could not map anonymous shared memory" in text or "Cannot allocate memory" in text:
        return "the machine has too little memory for this shared_buffers: lower it in the study"
    if "No space left on device" in text:
        return "give disk back with teiten clean, or use another disk with --workdir"
    return f"read the server's log: {log}"
