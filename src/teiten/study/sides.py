"""The sides of a verb from its command line: servers, folders of SQL, and what else makes the sides
differ."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from teiten.errors import UsageError
from teiten.given_paths import expanded
from teiten.model.attached import named_address
from teiten.model.study import EXTENSION_PREFIX, GUC_PREFIX, Study
from teiten.study.changes import (
    LAYOUT_KEY,
    Change,
    StudyFlags,
    from_command_line,
    split_pair,
    typed_value,
    with_attached,
)
from teiten.study.document import Document, read_verb_document
from teiten.study.load import study_of
from teiten.study.schema import ServerAlias, server_alias
from teiten.study.scripts import SCHEMA, assumed_size, workload_name
from teiten.study.values import name as valid_name
from teiten.suggest import did_you_mean

OLD, NEW = "A", "B"
"""Aliases of the sides where their servers do not tell them apart."""
BASE, AGAIN, HEAD = "base", "base-again", "head"
"""Aliases of the sides of a gate: the second is the first once more, on a copy of its own."""
GATE_BUDGET = "5m"
BUDGETS = {"quick": "3m", "published": "24h"}
DEFAULT_BUDGET = "30m"
"""The budget of all profiles that ``BUDGETS`` does not name."""
SIDE_KEYS = (
    *("checksums", "query_mode", "cores", "directory", "layout", "statements"),
    *(f"{prefix}NAME" for prefix in (EXTENSION_PREFIX, GUC_PREFIX)),
)
_HINT = f"a side can differ in {', '.join(SIDE_KEYS)}; what both share goes to --set or --guc"


@dataclass(frozen=True)
class SideFlags:
    """Flags of the command line for one side: ``letter``, as in ``--guc-a``, is ``a`` or ``b``, or
    ``base`` or ``head``."""

    letter: str
    server: str
    overrides: tuple[str, ...] = ()
    """``KEY=VALUE`` of ``--set-a`` or ``--set-b``."""
    gucs: tuple[str, ...] = ()
    """``NAME=VALUE`` of ``--guc-a`` or ``--guc-b``."""


@dataclass(frozen=True)
class Shared(StudyFlags):
    """Settings that both sides share; values as written, None where the study's own holds."""

    script: str | tuple[str, ...] | None = None
    """Some of the study's workloads, or files."""
    clients: str | None = None
    duration: str | None = None
    slices: int | None = None
    way: str | None = None
    """How both are loaded; None for whatever can be had."""
    rounds: int | None = None
    """How many pairs there are at most, each with new copies of the data."""

    @property
    def scripts(self) -> tuple[str, ...]:
        """Those that are named; none where the study's own runs."""
        return (self.script,) if isinstance(self.script, str) else self.script or ()

    @property
    def keys(self) -> frozenset[str]:
        """Those of ``--set``, as they were written."""
        return frozenset(override.partition("=")[0].strip() for override in self.overrides)


def ab_study(old: SideFlags, new: SideFlags, shared: Shared) -> Study:
    """The study of two sides, run until it is decided.

    Sides that are two servers are levels of the factor server; others are two aliases, to which
    what makes them differ belongs. Raises UsageError for a flag that is wrong, and for sides that
    do not differ.
    """
    document = read_verb_document()
    sides = (_side(old), _side(new))
    if sides[0] == sides[1]:
        raise UsageError(
            f"both sides are server {old.server}, and nothing makes them differ",
            f"name another server, give --guc-b NAME=VALUE, or measure the noise: teiten null"
            f" {old.server}",
        )
    if sides[0].levels or sides[1].levels:
        changes = _aliases(dict(zip((OLD, NEW), sides, strict=True)))
    else:
        levels, attached = with_attached([old.server, new.server], "A B")
        changes = [*attached, Change("factors.server", levels, "A B", f"server={','.join(levels)}")]
    given = _shared(document, shared, sequential=True)
    return study_of(document, (*given, *changes), profile=shared.profile)


def null_study(server: str, shared: Shared) -> Study:
    """The study of a server against itself: two aliases, with a data directory each.

    The number of pairs is fixed before the run. Raises UsageError for a flag that is wrong.
    """
    document = read_verb_document()
    changes = _words_of(
        "null",
        title=("A server against itself", "同一サーバの比較"),
        question=(
            "How much do two sides differ here that are the same?",
            "同じものを比較したとき、このマシンではどれだけの差が出るか。",
        ),
        purpose=(
            "Whatever is found is noise: it tells how small a difference this machine can"
            " show, in how many pairs, and how often a verdict is a false alarm.",
            "ここで見える差はすべて揺らぎである。このマシンでどれだけ小さな差を何組で"
            "検出できるか、誤検出がどれだけ起こるかが分かる。",
        ),
    )
    both = {name: ServerAlias(_reference(server)) for name in (OLD, NEW)}
    given = _shared(document, shared, sequential=False)
    return study_of(document, (*given, *changes, *_aliases(both)), profile=shared.profile)


def gate_study(
    base: SideFlags, head: SideFlags, shared: Shared, folders: SqlFolders | None = None
) -> Study:
    """The study of a gate: three sides, of which two are the base, in rounds until the head is
    decided. ``folders``: where the sides differ in their SQL.

    Raises UsageError for a flag that is wrong.
    """
    document = read_verb_document()
    changes = _words_of(
        "gate",
        title=("A gate", "性能低下の検査"),
        question=(
            "Is the head slower than the base, and could this machine tell?",
            "変更後（head）は変更前（base）より遅いか。このマシンでそれを判定できるか。",
        ),
        purpose=(
            "The base runs twice in each start, beside the head: what its two copies differ"
            " by is noise, and shows whether this machine can be believed.",
            "起動ごとに、変更前（base）を2つ、変更後（head）と並べて測定する。"
            "同じものどうしの差は揺らぎであり、このマシンの結果を信用できるかどうかが分かる。",
        ),
    )
    if not shared.keys & {"rounds", "measure.rounds"}:
        changes.append(Change("measure.rounds", True, "teiten gate", "rounds=yes"))
    sides = {BASE: _side(base), AGAIN: _side(base), HEAD: _side(head)}
    timed = replace(shared, budget=shared.budget or GATE_BUDGET)
    given = list(_shared(document, timed, sequential=True))
    if folders is not None:
        given = [*folders.workloads(), *given, *folders.tables(shared.keys)]
    study = study_of(document, (*given, *changes, *_aliases(sides)), profile=shared.profile)
    sequential = study.measure.sequential
    assert sequential is not None
    controlled = replace(sequential, controls=(AGAIN,))
    return replace(study, measure=replace(study.measure, sequential=controlled))


def _words_of(verb: str, **texts: tuple[str, str]) -> list[Change]:
    """The changes that give a study a verb's name and, in English and Japanese, its words."""
    words = {key: dict(zip(("en", "ja"), both, strict=True)) for key, both in texts.items()}
    return [
        Change(f"study.{key}", value, f"teiten {verb}", "")
        for key, value in {"name": verb, **words}.items()
    ]


def _side(flags: SideFlags) -> ServerAlias:
    table: dict[str, Any] = {"server": _reference(flags.server)}
    _checked(table, flags.letter.upper())
    for text in flags.overrides:
        key, value = split_pair(text, f"--set-{flags.letter}", _HINT)
        key = key.replace("settings.", GUC_PREFIX, 1)
        _add(table, key, value, f"--set-{flags.letter} {key}")
    for text in flags.gucs:
        key, value = split_pair(text, f"--guc-{flags.letter}", _HINT)
        _add(table, f"{GUC_PREFIX}{key}", value, f"--guc-{flags.letter} {key}")
    return _checked(table, flags.letter.upper())


def _reference(server: str) -> str:
    """Find the server on which a side runs: of ``NAME=postgresql://…`` the address."""
    named = named_address(server)
    return named[1] if named is not None else server


def _add(table: dict[str, Any], key: str, value: str, origin: str) -> None:
    if not key.startswith((EXTENSION_PREFIX, GUC_PREFIX)) and key not in SIDE_KEYS:
        raise UsageError(f"{origin}: a side has no such key.{did_you_mean(key, SIDE_KEYS)}", _HINT)
    name = key if key.startswith(EXTENSION_PREFIX) else key.lower()
    if name in table:
        raise UsageError(f"{origin} is given twice", "give it once for each side")
    _checked({"server": "18", name: value}, origin)
    table[name] = value


def _checked(table: dict[str, Any], origin: str) -> ServerAlias:
    try:
        return server_alias(table)
    except ValueError as error:
        raise UsageError(f"{origin}: {error}", _HINT) from error


def _aliases(sides: Mapping[str, ServerAlias]) -> list[Change]:
    changes = [
        Change(f"servers.{name}", {"server": side.server, **dict(side.levels)}, f"side {name}", "")
        for name, side in sides.items()
    ]
    text = f"server={','.join(sides)}"
    return [*changes, Change("factors.server", list(sides), " ".join(sides), text)]


def _shared(document: Document, shared: Shared, *, sequential: bool) -> Iterator[Change]:
    if shared.scripts:
        yield _scripts(document, shared.scripts)
    # of two sides, budget and blocks are said below
    yield from from_command_line(replace(shared, budget=None, blocks=None))
    if sequential:
        yield Change("measure.until_decided", True, "teiten ab", "until_decided=yes")
    if shared.rounds is not None:
        if shared.blocks is not None:
            raise UsageError(
                "--blocks and --rounds both say how many pairs there are",
                "leave --blocks out: every round is a pair",
            )
        yield Change("measure.rounds", True, "--rounds", "rounds=yes")
    pairs = shared.blocks or shared.rounds
    usual = BUDGETS.get(shared.profile or "", DEFAULT_BUDGET)
    budget = shared.budget or (usual if sequential else None)
    single = (
        ("factors.clients", shared.clients, "--clients"),
        ("measure.duration", shared.duration, "--duration"),
        ("measure.slices", shared.slices, "--slices"),
        ("measure.way", shared.way, "--way"),
        ("measure.budget" if sequential else "measure.target", budget, "--budget"),
        ("measure.most_blocks" if sequential else "measure.blocks", pairs, "--blocks"),
    )
    for key, value, flag in single:
        if value is not None:
            yield Change(key, typed_value(key, str(value)), flag, f"{key}={value}")


def _scripts(document: Document, scripts: Sequence[str]) -> Change:
    """Workloads of the verb's study, or files in their place."""
    names = [table["name"] for table in document.data["workloads"]]
    known = [script for script in scripts if script in names and not Path(script).is_file()]
    if known and len(known) < len(scripts):
        raise UsageError(
            f"--script {known[0]} is a workload of Teiten's, and another --script is a file",
            "give files alone, or workloads alone",
        )
    key = "workloads" if known else "script"
    value = scripts[0] if len(scripts) == 1 else list(scripts)
    return Change(key, value, "--script", f"{key}={','.join(scripts)}")


STATEMENTS, LAYOUT = "statements", "layout"
ORIGIN = "BASE HEAD"
EMPTY = "SELECT 1;\n"
"""Tables of both sides where each folder makes its own: none."""


@dataclass(frozen=True)
class SqlFolder:
    """The SQL of one side."""

    level: str
    """Its name as a level of the factors statements and layout."""
    path: Path

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files that are workloads."""
        names = (path.name for path in self.path.glob("*.sql") if path.is_file())
        return tuple(sorted(name for name in names if name != SCHEMA))

    @property
    def schema(self) -> Path | None:
        path = self.path / SCHEMA
        return path if path.is_file() else None


@dataclass(frozen=True)
class SqlFolders:
    """The SQL of both sides, the old statements or schema and the new. Files of one name are a
    workload, whose statements are those of either folder. The file ``schema.sql`` makes tables, or
    changes those that both sides have: it is a layout."""

    base: SqlFolder
    head: SqlFolder

    @property
    def both(self) -> tuple[SqlFolder, SqlFolder]:
        return self.base, self.head

    @property
    def files(self) -> tuple[str, ...]:
        """The files that both folders have."""
        return tuple(name for name in self.base.files if name in self.head.files)

    @property
    def unpaired(self) -> tuple[str, ...]:
        """The files that one folder alone has, which nothing can be compared with."""
        return tuple(sorted({*self.base.files} ^ {*self.head.files}))

    @property
    def has_schema(self) -> bool:
        return any(folder.schema is not None for folder in self.both)

    @property
    def _assumed_bytes(self) -> int:
        """The size of tables that a schema makes, where nobody says it."""
        texts = [folder.schema.stat().st_size for folder in self.both if folder.schema is not None]
        return assumed_size(max(texts))

    def overrides(self, folder: SqlFolder) -> tuple[str, ...]:
        """The levels of one side, as ``KEY=VALUE``."""
        keys = (STATEMENTS, LAYOUT) if self.has_schema else (STATEMENTS,)
        return tuple(f"{key}={folder.level}" for key in keys)

    def workloads(self) -> Iterator[Change]:
        """The workloads in place of the study's own."""
        yield Change("script", str(self.base.path), ORIGIN, f"script={self.base.path}")
        if self.unpaired:
            names = [workload_name(Path(file).stem) for file in self.files]
            yield Change("workloads", names, ORIGIN, f"workloads={','.join(names)}")
        sources = {folder.level: str(folder.path) for folder in self.both}
        yield Change(STATEMENTS, sources, ORIGIN, "")

    def tables(self, given: Collection[str]) -> Iterator[Change]:
        """The tables of each side. ``given``: keys of the command line, which may say what both
        sides have."""
        if not self.has_schema:
            return
        if not any(key == "scale" or key in ("data.script", "data.kind") for key in given):
            yield Change("data.script", EMPTY, ORIGIN, "", by_flag=False)
            if "data.size" not in given:
                yield Change("data.size", f"{self._assumed_bytes}B", ORIGIN, "", by_flag=False)
        for folder in self.both:
            scripts = [] if folder.schema is None else [str(folder.schema)]
            yield Change(f"{LAYOUT_KEY}{folder.level}", scripts, ORIGIN, "")


def sql_folders(base: str, head: str, names: tuple[str, str]) -> SqlFolders:
    """The folders of both sides; their levels are called as the folders, or else by ``names``.

    Raises UsageError where one is no folder, or where no file has the same name in both.
    """
    paths = [expanded(given).absolute() for given in (base, head)]
    for given, path in zip((base, head), paths, strict=True):
        if not path.is_dir():
            raise UsageError(
                f"{given} is no folder of SQL",
                "with --server, BASE and HEAD are folders, each with a file *.sql for a workload;"
                " commits of an extension need --extension too",
            )
    levels = names if paths[0].name == paths[1].name else tuple(map(_level, paths, names))
    folders = SqlFolders(*(SqlFolder(*side) for side in zip(levels, paths, strict=True)))
    if not folders.files:
        raise UsageError(
            f"{base} and {head} have no file *.sql of the same name beside {SCHEMA}",
            "the statements of a workload stand in files of one name, say q.sql in both",
        )
    return folders


def _level(path: Path, usual: str) -> str:
    try:
        return valid_name(path.name)
    except ValueError:
        return usual
