"""Further options of pgbench that a study gives (``pgbench_options``): which of them are permitted.

They stand before Teiten's own connection string on pgbench's command line. A word of theirs that
pgbench took for its database, or an option that took the connection string for its value, would
have it connect to another server, with the password of ours. Options: the manuals of pgbench 9.6 to
18, "Initialization Options" and "Benchmarking Options".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

RESERVED_SHORT = frozenset("?bcdfhijlMnNpPSstTUV")
SHORT_WITH_VALUE = frozenset("DFILR")
SHORT_SWITCHES = frozenset("Cqrv")
RESERVED_LONG = (
    "aggregate-interval",
    "builtin",
    "client",
    "dbname",
    "debug",
    "file",
    "help",
    "host",
    "initialize",
    "jobs",
    "log",
    "log-prefix",
    "no-vacuum",
    "port",
    "progress",
    "progress-timestamp",
    "protocol",
    "random-seed",
    "sampling-rate",
    "scale",
    "select-only",
    "show-script",
    "skip-some-updates",
    "time",
    "transactions",
    "username",
    "version",
)
LONG_WITH_VALUE = frozenset(
    {
        "define",
        "fillfactor",
        "index-tablespace",
        "init-steps",
        "latency-limit",
        "max-tries",
        "partition-method",
        "partitions",
        "rate",
        "tablespace",
    }
)
LONG_SWITCHES = frozenset(
    {
        "connect",
        "exit-on-abort",
        "failures-detailed",
        "foreign-keys",
        "quiet",
        "report-latencies",
        "report-per-command",
        "unlogged-tables",
        "vacuum-all",
        "verbose-errors",
    }
)


class Objection(NamedTuple):
    """A reason why options are refused, and what to write instead."""

    message: str
    hint: str


def objection(options: Sequence[str]) -> Objection | None:
    """Find the first of the options that is refused; None where all are permitted."""
    words = iter(options)
    return next((why for word in words if (why := _objection(word, words)) is not None), None)


def _objection(word: str, further: Iterator[str]) -> Objection | None:
    """Judge an option, and take its value from the words that follow it."""
    taken = _reserved(word)
    if taken is not None:
        return Objection(
            f"{word}: pgbench's option {taken} is set by Teiten",
            "give it through the study's own keys (clients, duration, script, query_mode …)"
            " or leave it out; options such as -C, -R, -L, -D and --max-tries are free",
        )
    if word in ("", "-", "--") or not word.startswith("-"):
        return Objection(
            f"{word or 'an empty word'} is no option, and pgbench would take it for its database",
            "leave it out; a value stands after its option, as in --rate=100 or -R 100",
        )
    takes_value = _long_takes_value(word[2:]) if word.startswith("--") else _takes_value(word[1:])
    if takes_value is None:
        return Objection(
            f"{word}: pgbench 9.6 to 18 has no such option, and one with a value would take what"
            " follows",
            "write the option in full, and a value with it: --name=value",
        )
    if takes_value and next(further, None) is None:
        return Objection(
            f"{word} lacks its value, and pgbench would take the address of the server for it",
            f"write the value after it, or leave {word} out",
        )
    return None


def _long_takes_value(option: str) -> bool | None:
    """Whether the next word is the value of a long option; None for one that is not known.

    Of ``NAME=VALUE`` it never is, whatever the name.
    """
    if "=" in option or option in LONG_SWITCHES:
        return False
    return True if option in LONG_WITH_VALUE else None


def _takes_value(letters: str) -> bool | None:
    """Whether the next word is the value of the last of some short options; None where one of them
    is not known."""
    for at, letter in enumerate(letters, start=1):
        if letter in SHORT_WITH_VALUE:
            return at == len(letters)
        if letter not in SHORT_SWITCHES:
            return None
    return False


def _reserved(option: str) -> str | None:
    """The reserved option that this argument sets; getopt takes clusters and short forms too."""
    if option.startswith("--"):
        name = option[2:].partition("=")[0]
        candidates = [long for long in RESERVED_LONG if name and long.startswith(name)]
        return f"--{name if name in candidates else candidates[0]}" if candidates else None
    if not option.startswith("-"):
        return None
    for letter in option[1:]:
        if letter in RESERVED_SHORT:
            return f"-{letter}"
        if letter in SHORT_WITH_VALUE:
            break
    return None
