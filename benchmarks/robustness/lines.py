"""Command lines of every verb, with words that nobody expects, in a folder without PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import click

from benchmarks.robustness.outcome import Tally, called
from teiten.cli.main import VERBS, teiten

WORDS = (
    "", " ", "-", "--", "---", "-h", "--help", "--json", "--yes", "last", "LAST", ".", "..", "/",
    "/dev/null", "/dev/full", "/dev/stdin", "/proc/self/mem", "observe", "obsreve", "17", "17,18",
    "17,,18", "18.99", "9.6", "system:15", "path:", "npm:99", "a=b", "=", "a=", "=b", "run:1",
    "x" * 300, "ü" * 150, "/x" * 3000, "\x1b[31mred", "\u202edlrow", "\udcff", "日本語",
    "nan", "inf", "-1", "0", "1e400", "9" * 5000, "1_000", "0x10", "١", "2%", "-2%", "200%", "1/0",
    "3/8", "9/8", "0/0", "1s", "1h", "-5m", "99999999h", "1GiB", "read", "standard", "quick",
    "clients=1", "clients=", "clients=0", "clients=a,b", "clients=1,1", "duration=0s",
    "workloads=none", "factors.server=", "measure.delta=nan", "study.name=", "hosts.db=-oProxy",
    "shared_buffers=1GB", "shared_buffers=", "port=1", "x.y=z", "a b=c", "en", "ja", "de", "csv",
    "html", "markdown", "postgresql://", "postgresql://u:planted-secret@127.0.0.1:1/d",
    "a=postgresql://u:planted-secret@127.0.0.1:1/d,17",
    "postgresql://127.0.0.1:1/d?pass%77ord=planted-secret", "postgresql://[::1", "postgres://%zz",
    "host=/nonexistent password=planted-secret", "host=/nonexistent password='planted-secret",
    "password = planted-secret", "host", "service=none", "\n", "a\nb", "a\tb", "\\", "'", '"',
    "$(x)", "{}", "[]", "*", "?", "~", "~nobody", "~~", "tbl", "parquet", "lineorder",
    "30d", "never",
)  # fmt: skip
"""A NUL cannot stand in a command line."""
FLAGS_OF_ALL = ("-q", "-v", "--color", "--version", "--workdir", "--no-such-flag", "--nam")
LEFT_OUT = frozenset({"--ceilings", "--help"})
"""Flags that measure for long."""
SECRETS = ("planted-secret",)


def spoil_lines(count: int, seed: int) -> Tally:
    """Call ``count`` command lines in a folder of their own, without programs to find."""
    tally = Tally("command lines")
    shapes = dict(_shapes())
    with TemporaryDirectory(prefix="teiten-robustness-") as folder, _alone(Path(folder)):
        for number in range(count):
            random = Random(seed * 1_000_003 + number)
            line = _line(random, shapes)
            outcome = called(["--workdir", f"{folder}/work", *line])
            tally.add(f"line {number} of seed {seed}: {ascii(line)[:300]}", outcome, SECRETS)
    return tally


def _shapes() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Each verb, with the words of a group, and its flags."""
    context = click.Context(teiten)
    for name in VERBS:
        command = teiten.get_command(context, name)
        if isinstance(command, click.Group):
            for inner, child in command.commands.items():
                yield (name, inner), _flags(child)
        elif command is not None:
            yield (name,), _flags(command)


def _flags(command: click.Command) -> list[str]:
    known = [name for param in command.params for name in (*param.opts, *param.secondary_opts)]
    return [flag for flag in known if flag.startswith("-") and flag not in LEFT_OUT]


def _line(random: Random, shapes: dict[tuple[str, ...], list[str]]) -> list[str]:
    verb = random.choice(list(shapes))
    flags = shapes[verb]
    words = [] if random.random() < 0.1 else [random.choice(WORDS)]
    for _ in range(random.randrange(6)):
        pick = random.random()
        if pick < 0.5 and flags:
            words += [random.choice(flags), random.choice(WORDS)]
        elif pick < 0.6 and flags:
            words.append(f"{random.choice(flags)}={random.choice(WORDS)}")
        elif pick < 0.7:
            words.append(random.choice(FLAGS_OF_ALL))
        else:
            words.append(random.choice(WORDS))
    if verb == ("data", "ssb"):  # a server or a stream of any size is no matter of this test
        words += ["--scale", random.choice(("0.0001", "0", "-1", "nan", "1e12", "x"))]
    whole = [*verb, *words]
    if random.random() < 0.05:
        random.shuffle(whole)
    return whole


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """In an empty folder, with no programs, no network and no address of a server."""
    (folder / "here").mkdir()
    places = {"PATH": str(folder / "nothing"), "HOME": str(folder), "PGHOST": "/nonexistent"}
    with chdir(folder / "here"), patch.dict(os.environ, places, PIP_NO_INDEX="1"):
        yield
