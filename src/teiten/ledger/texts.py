"""Statements and values that a ledger is not to hold.

Fingerprints stand in their place; whoever runs the campaign takes them from the study's files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

FINGERPRINT = "sha256:"
SCRIPT, ROWS = {"name", "builtin", "text"}, {"source", "names", "rows", "sql"}
"""The keys of a script, and of a list of values, in the JSON of a plan."""
Form = dict[str, Any]


class UnknownTextError(LookupError):
    """The study's files do not have a text any more; its name is the argument."""


def without_texts(table: Form) -> Form:
    """A plan's table without what scripts and lists of values say."""
    hidden: Form = _each(table, lambda form: {**form, **_hidden(_secret(form))})
    if hidden["study"]["file"] is not None:
        written = {"text": table["study"]["source_text"]}
        hidden["study"]["source_text"] = f"# {_fingerprint(written)}\n"
    return hidden


def texts_of(table: Form) -> Mapping[str, Form]:
    """The texts in a table, by their fingerprints."""
    texts: dict[str, Form] = {}

    def note(form: Form) -> Form:
        texts[_fingerprint(_secret(form))] = _secret(form)
        return form

    _each(table, note)
    return texts


def with_texts(table: Form, known: Mapping[str, Form]) -> Form:
    """The table with the texts again. Raises UnknownTextError where one is not known."""

    def shown(form: Form) -> Form:
        fingerprint = next((text for text in _secret(form).values() if _is_hidden(text)), None)
        if fingerprint is None:
            return form
        if fingerprint not in known:
            raise UnknownTextError(form.get("name") or form.get("source"))
        return {**form, **known[fingerprint]}

    whole: Form = _each(table, shown)
    return whole


def _each(value: Any, change: Callable[[Form], Form]) -> Any:
    """A value of JSON in which each script and each list of values is changed."""
    if isinstance(value, list):
        return [_each(part, change) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() >= SCRIPT or value.keys() >= ROWS:
        return change(value)
    return {key: _each(part, change) for key, part in value.items()}


def _secret(form: Form) -> Form:
    """The part of a script, or of a list, that is hidden."""
    return {key: form[key] for key in ("rows", "sql", "text") if key in form}


def _hidden(secret: Form) -> Form:
    """A fingerprint in place of what there is; a script of pgbench's own says nothing."""
    if not any(secret.values()) or any(map(_is_hidden, secret.values())):
        return secret
    fingerprint = _fingerprint(secret)
    return {key: [] if key == "rows" else fingerprint for key in secret}


def _is_hidden(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(FINGERPRINT)


def _fingerprint(secret: Form) -> str:
    return FINGERPRINT + _digest(secret["text"] if "text" in secret else json.dumps(secret))


@lru_cache(maxsize=64)
def _digest(text: str) -> str:
    """Each text once: a dump of any size stands in the template of every trial."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
