"""Addresses of servers: read by libpq's own parser, and parted from what is secret in them.

What is left of an address goes to ledgers, reports, logs and messages. What is taken out is kept by
``teiten.secrets`` and given back to the connection alone.
"""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import unquote

from teiten.secrets import keep

SECRET = frozenset({
    "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
})  # fmt: skip
"""Parameters that hold a secret, whichever libpq is here; it adds those that it knows."""
_SCHEME = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
_PORT = re.compile(r"\d*(?=[,/?]|$)")
_KEYED = re.compile(
    rf"(?<!\w)({'|'.join(sorted(SECRET))})\s*=\s*('(?:\\.|[^'\\])*'?|(?:\\.|[^\s\\])*)",
    re.IGNORECASE | re.DOTALL,
)
"""A secret in ``keyword = value``, as libpq quotes values; it has no escapes in keywords."""

Secrets = dict[str, str]
"""By the parameter's name."""


class AddressError(ValueError):
    """libpq cannot read an address; the message holds no secret."""


def read_address(address: str) -> dict[str, str]:
    """The parameters of a URI or of ``keyword=value``, by libpq. Raises AddressError.

    libpq's message quotes the address; so it is asked again for one without the secret.
    """
    import psycopg  # noqa: PLC0415 - takes a moment, which most verbs need not wait
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        parameters = conninfo_to_dict(address)
    except (psycopg.ProgrammingError, UnicodeError, ValueError) as error:
        clean, secrets = without_secrets(address)
        if secrets and clean != address:
            read_address(clean)
            raise AddressError(
                "its password holds characters that have to be escaped (@ as %40, a space as %20,"
                " ' as \\')"
            ) from None
        raise AddressError(_without_values(str(error).strip())) from None
    return {key: str(value) for key, value in parameters.items() if value is not None}


def without_secrets(address: str) -> tuple[str, Secrets]:
    """An address without what is secret in it, and that; the secrets are kept.

    Of a URI nothing else changes. Everything between the role's colon and the last @ is taken for
    the password, so that one with characters that should have been escaped does not stay behind in
    part. An address that cannot be read loses what looks like a secret.
    """
    clean, secrets = (_of_uri if _SCHEME.match(address.strip()) else _of_keywords)(address)
    for secret in secrets.values():
        keep(secret)
    return clean, secrets


def holds_secret(address: str) -> bool:
    """Whether there is a secret in an address, in whatever spelling."""
    return bool(without_secrets(address)[1])


def names_secret(text: str) -> bool:
    """Whether ``password=`` or the like stands anywhere in a text."""
    return _KEYED.search(text) is not None


@cache
def secret_parameters() -> frozenset[str]:
    """Those of this libpq (it marks them for dialogs) and those that we know."""
    return SECRET | {name for name, mark in _known_parameters() if mark == b"*"}


@cache
def _parameters() -> frozenset[str]:
    """All parameters of an address; a URI knows ``ssl`` too."""
    return SECRET | {"", "ssl"} | {name for name, _ in _known_parameters()}


def _known_parameters() -> list[tuple[str, bytes | None]]:
    from psycopg import pq  # noqa: PLC0415

    return [(option.keyword.decode(), option.dispchar) for option in pq.Conninfo.get_defaults()]


def _of_uri(address: str) -> tuple[str, Secrets]:
    scheme = _SCHEME.match(address.strip())
    assert scheme is not None
    start, body = scheme[0], address.strip()[scheme.end() :]
    secrets: Secrets = {}
    colon, end = _password_in(body)
    if end:
        secrets["password"] = unquote(body[colon + 1 : end])
        body = body[:colon] + body[end:]
    front, question, query = body.partition("?")
    kept = []
    for parameter in query.split("&") if question else ():
        name, _, value = parameter.partition("=")
        known = unquote(name).strip().lower()
        if known in secret_parameters():
            secrets[known] = unquote(value)
        else:
            kept.append(parameter)
    return start + front + (f"?{'&'.join(kept)}" if any(kept) else ""), secrets


def _password_in(body: str) -> tuple[int, int]:
    """From the role's colon to the @ after it; 0, 0 where there is no password.

    A host's port follows a colon too: what begins like a port and has no @ behind it is one.
    """
    first = re.search(r"[:/@?]", body)
    if first is None or first[0] != ":" or body.startswith("["):
        return 0, 0
    colon = first.start()
    front, _, query = body.partition("?")
    end = (front if _are_parameters(query) else body).rfind("@")
    if end < 0 and not _PORT.match(body, colon + 1):
        end = body.rfind("@")
    return (colon, end) if end > colon else (0, 0)


def _are_parameters(query: str) -> bool:
    """Whether what follows a question mark is libpq's parameters, and not part of a password."""
    names = [unquote(parameter.partition("=")[0]).strip().lower() for parameter in query.split("&")]
    return all(name in _parameters() for name in names if name or len(names) == 1)


def _of_keywords(address: str) -> tuple[str, Secrets]:
    if not names_secret(address):
        return address, {}
    import psycopg  # noqa: PLC0415
    from psycopg.conninfo import conninfo_to_dict, make_conninfo  # noqa: PLC0415

    try:
        known = conninfo_to_dict(address)
    except (psycopg.ProgrammingError, UnicodeError, ValueError):
        return _without_values(address), {
            match[1].lower(): _unquoted(match[2]) for match in _KEYED.finditer(address)
        }
    secrets = {key: str(value) for key, value in known.items() if key in secret_parameters()}
    if not secrets:
        return address, {}
    kept = {key: str(value) for key, value in known.items() if key not in secrets}
    return make_conninfo(**kept), secrets


def _without_values(text: str) -> str:
    """A text in which what follows a secret's keyword is left out."""
    for match in _KEYED.finditer(text):
        keep(_unquoted(match[2]))
    return _KEYED.sub("", text).strip()


def _unquoted(value: str) -> str:
    inner = value[1:].removesuffix("'") if value.startswith("'") else value
    return re.sub(r"\\(.)", r"\1", inner, flags=re.DOTALL)
