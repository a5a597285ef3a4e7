"""From the text that somebody has of an EXPLAIN to its JSON, or to a sentence why that cannot be.

Read are: the output of EXPLAIN (FORMAT JSON) from any client, psql's frames and line marks
included, and what auto_explain writes to the server's log with ``auto_explain.log_format = json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

HOW = "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON) SELECT …"
HINT = f"get it as JSON: {HOW}"
_TEXT = re.compile(r"\(cost=[\d.]+\.\.[\d.]+ rows=|\(actual (?:time|rows)=|^ *->  \w", re.MULTILINE)
_YAML = re.compile(r"^\s*(?:- )?Plan: *$", re.MULTILINE)
_STATEMENT = re.compile(r"^\s*(?:explain|select|with|insert|update|delete)\b", re.IGNORECASE)
_FRAME = re.compile(r"^\s*QUERY PLAN\s*$|^\s*[-─+]{3,}\s*$|^\s*\(\d+ rows?\)\s*$")
_MARK = re.compile(r"\s*\+?\s*\|?\s*$")


class PlanTextError(ValueError):
    """A text that holds no plan in JSON. ``hint``: what to do."""

    def __init__(self, message: str, hint: str = HINT) -> None:
        super().__init__(message)
        self.hint = hint


def plan_document(text: str) -> dict[str, Any]:
    """The object that holds ``Plan``. Raises PlanTextError."""
    text = text.lstrip("\ufeff").strip()
    if not text:
        raise PlanTextError("is empty")
    try:
        found = list(_documents(text))
    except RecursionError:
        raise PlanTextError("is nested too deeply to be a plan") from None
    if not found:
        raise PlanTextError(_what(text))
    if len(found) > 1:
        raise PlanTextError(
            f"holds {len(found)} plans", "give one plan at a time; cut the others out of the file"
        )
    return found[0]


def merged(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which a key may stand twice.

    Before PostgreSQL 13 a Sort below a Gather has its ``Workers`` twice: once for the sort, once
    for the times. Lists are joined; of other values the last one holds.
    """
    result: dict[str, Any] = {}
    for key, value in pairs:
        known = result.get(key)
        joined = isinstance(known, list) and isinstance(value, list)
        result[key] = known + value if joined else value
    return result


def _documents(text: str) -> Iterator[dict[str, Any]]:
    whole = _loaded(text)
    if whole is None:
        whole = _loaded(_without_frame(text))
    if whole is not None:
        yield from _plans_of(whole)
        return
    yield from _logged(text)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=merged)
    except json.JSONDecodeError:
        return None


def _plans_of(value: Any) -> Iterator[dict[str, Any]]:
    """Of EXPLAIN's list, of one object, of a row of a client, or of a line of a JSON log."""
    if isinstance(value, list):
        for one in value:
            yield from _plans_of(one)
    elif isinstance(value, dict):
        if "Plan" in value:
            yield value
        elif isinstance(value.get("QUERY PLAN"), list | dict | str):
            inner = value["QUERY PLAN"]
            yield from _plans_of(_loaded(inner) if isinstance(inner, str) else inner)
        elif isinstance(value.get("message"), str):
            yield from _logged(value["message"])


def _without_frame(text: str) -> str:
    """What psql prints around and behind the lines of a JSON text."""
    lines = [line for line in text.splitlines() if not _FRAME.match(line)]
    return "\n".join(_MARK.sub("", line.strip().removeprefix("|")) for line in lines)


def _logged(text: str) -> Iterator[dict[str, Any]]:
    """Every object with a plan in a log; what stands around it is not read."""
    decoder = json.JSONDecoder(object_pairs_hook=merged)
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            end = position + 1
        else:
            yield from _plans_of(value)
        position = text.find("{", end)


def _what(text: str) -> str:
    """What a text without a plan in JSON is."""
    if text[0] in "[{":
        return _broken(text)
    kinds = (
        ("<explain" in text[:2000], "is XML"),
        (text.startswith("<"), "holds no plan: it looks like XML or HTML"),
        (_TEXT.search(text), "is a plan in EXPLAIN's text format, which does not tell all"),
        (_YAML.search(text), "is a plan in YAML"),
        (_STATEMENT.match(text), "is a statement, not a plan"),
    )
    return next((words for fits, words in kinds if fits), "holds no plan in JSON")


def _broken(text: str) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"is broken JSON: {error.msg} in line {error.lineno}, column {error.colno}"
    return "is JSON, but holds no key Plan"
