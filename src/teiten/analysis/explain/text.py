"""From the text that somebody has of an EXPLAIN to its JSON, or to a sentence why that cannot be.

Read are: the output of EXPLAIN (FORMAT JSON) from any client, in psql's frames with every border
and line style, expanded, wrapped, unaligned, as CSV, HTML or AsciiDoc, and what auto_explain writes
to the server's log with ``auto_explain.log_format = json``.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

HOW = "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON) SELECT …"
HINT = f"get it as JSON: {HOW}"
DEEPEST = 800
"""Levels of lists and objects; a node takes two. Python's own limit is near 1000."""
_TEXT = re.compile(r"\(cost=[\d.]+\.\.[\d.]+ rows=|\(actual (?:time|rows)=|^ *->  \w", re.MULTILINE)
_YAML = re.compile(r"^\s*(?:- )?Plan: *$", re.MULTILINE)
_STATEMENT = re.compile(r"^\s*(?:explain|select|with|insert|update|delete)\b", re.IGNORECASE)
_LEFT = re.compile(r"^\s*[|│║]?\s*(?:QUERY PLAN\b\s*)?[|│║:]?")
"""The left frame; no line of JSON begins with one of these."""
_RIGHT = re.compile(r"\s*[+↵]?\s*[|│║]?\s*$")
_WRAPPED = re.compile(r"^(?P<text>.*)[.…](?: ?[|│║])?$")
"""A line that goes on in the next one (format = wrapped); no line of JSON ends so."""
_FIRST = re.compile(r"^(?P<left>[\s|│║]*(?:QUERY PLAN\b\s*[|│║]?\s*)?)\[")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_MERGE_COUNTS = re.compile(
    r'"Target Tables": \[[^\]]*\},?\s*"Tuples (?:Inserted|Updated|Deleted|Skipped)"'
)


class PlanTextError(ValueError):
    """A text that holds no plan in JSON. ``hint``: what to do."""

    def __init__(self, message: str, hint: str = HINT) -> None:
        super().__init__(message)
        self.hint = hint


def plan_document(text: str) -> dict[str, Any]:
    """The object that holds ``Plan``. Raises PlanTextError."""
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise PlanTextError("is empty")
    try:
        documents = list(_documents(text))
    except RecursionError:
        raise _too_deep() from None
    if not documents and _MERGE_COUNTS.search(text):
        raise PlanTextError(
            "is JSON that PostgreSQL itself printed broken: of a MERGE into a table with partitions"
            " EXPLAIN ANALYZE of 15 to 18 puts the counts of tuples into the list of target tables",
            "take the plan without ANALYZE, or of a MERGE into one partition",
        )
    if not documents:
        raise PlanTextError(_what(text.strip()))
    if len(documents) > 1:
        raise PlanTextError(
            f"holds {len(documents)} plans",
            "give one plan at a time; cut the others out of the file",
        )
    return documents[0]


def well_formed(text: str) -> str:
    """Without halves of characters (lone surrogates), which no encoding can write."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def require_plain(document: Any) -> None:
    """Raises PlanTextError where a value is nested more deeply than what is done with plans allows,
    or holds a number that is none."""
    level = [document]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner += value.values()
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, float) and not math.isfinite(value):
                raise _no_number(str(value))
        if not inner:
            return
        level = inner
    raise _too_deep()


def _too_deep() -> PlanTextError:
    return PlanTextError("is nested too deeply to be a plan")


def _no_number(text: str) -> PlanTextError:
    return PlanTextError(f"holds {text[:20]}, which is no number of JSON")


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
    try:
        yield from _plans_of(_loaded(text))
        return
    except json.JSONDecodeError:
        pass
    ways: tuple[Callable[[str], str], ...] = (
        str,
        _without_frame,
        lambda csv: csv.replace('""', '"'),
        lambda page: html.unescape(re.sub(r"<[^<>]*>", "", page)),
        lambda asciidoc: asciidoc.replace("\\|", "|"),
    )
    for way in ways:
        logged = list(_logged(way(text)))
        if logged:
            yield from logged
            return


def _loaded(text: str) -> Any:
    """Raises json.JSONDecodeError, and PlanTextError where a number is none."""
    return _decoder(text).decode(text.strip())


def _decoder(text: str) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_cleaned if _ESCAPED_SURROGATE.search(text) else merged,
        parse_constant=_constant,
        parse_float=_float,
        parse_int=_int,
    )


def _constant(text: str) -> float:
    raise _no_number(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _no_number(text)
    return value


def _int(text: str) -> int:
    if len(text) > 300:
        raise _no_number(text)
    return int(text)


def _cleaned(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return merged([(well_formed(key), _clean(value)) for key, value in pairs])


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return well_formed(value)
    return [_clean(entry) for entry in value] if isinstance(value, list) else value


def _plans_of(value: Any) -> Iterator[dict[str, Any]]:
    """Find the plans of EXPLAIN's list, one object, a client's row, or a line of a JSON log."""
    if isinstance(value, list):
        for entry in value:
            yield from _plans_of(entry)
    elif isinstance(value, dict):
        if "Plan" in value:
            yield value
        elif isinstance(value.get("QUERY PLAN"), list | dict | str):
            inner = value["QUERY PLAN"]
            yield from _documents(inner) if isinstance(inner, str) else _plans_of(inner)
        elif isinstance(value.get("message"), str):
            yield from _logged(value["message"])


def _without_frame(text: str) -> str:
    """Remove what psql prints around the lines of a JSON text."""
    lines: list[str] = []
    column = 0
    wrapped = False
    for line in text.splitlines():
        first = _FIRST.match(line)
        if first:
            column = len(first["left"])
        # Only where a line goes on in the next one each blank may belong to a text.
        rest = line[column:] if wrapped else line[_LEFT.match(line).end() :]  # type: ignore[union-attr]
        goes_on = _WRAPPED.match(rest)
        rest = goes_on["text"] if goes_on else _RIGHT.sub("", rest)
        if wrapped:
            lines[-1] += rest
        else:
            lines.append(rest)
        wrapped = goes_on is not None
    return "\n".join(lines)


def _logged(text: str) -> Iterator[dict[str, Any]]:
    """Every object with a plan in a log; what stands around it is not read."""
    decoder = _decoder(text)
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
    """Say what a text without a plan in JSON is."""
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
        _loaded(text)
    except json.JSONDecodeError as error:
        return f"is broken JSON: {error.msg} in line {error.lineno}, column {error.colno}"
    return "is JSON, but holds no key Plan"
