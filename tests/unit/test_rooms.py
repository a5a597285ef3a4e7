"""One way through the house (architecture.md): each room imports only what stands before it, and
asks no question whose answer belongs to another room."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch
from functools import cache
from pathlib import Path, PurePath

import pytest

from teiten.datasets.registry import names as names_of_data
from teiten.factors.registry import folders as folders_of_factors
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as names_of_kinds
from teiten.model.metrics import MEASURED_SECONDS, OF_THE_MACHINE, TRANSACTIONS
from teiten.ways.registry import rules as names_of_ways

pytestmark = pytest.mark.same


class Question(StrEnum):
    """What is asked in the one room that knows; elsewhere it is a call."""

    KIND = "of which kind is a workload?"
    DATA = "of which kind are data?"
    PLACE = "where does a server run?"
    METRIC = "what is a kind's metric called?"
    FACTOR = "what is a factor called?"
    WAY = "in which way are the sides of a pair loaded?"


@dataclass(frozen=True)
class Room:
    """A folder or a file."""

    imports: Collection[str] | None = None
    """Which of Teiten's modules, with all below them; None: as the room around it."""
    asks: Collection[Question] = ()
    why: str = ""
    """Why it asks."""


KIND, DATA, PLACE, METRIC, FACTOR, WAY = Question
OF_A_FOLDER = (KIND, DATA, PLACE, METRIC, FACTOR)
ANYTHING = ("",)
FOUNDATION = (
    *("model", "errors", "suggest", "host.system.causes", "given_paths"),
    *("addresses", "connections", "secrets"),
)
KINDS = ("kinds.registry", "kinds.contract", "kinds.metrics")
"""How a stage reaches the kinds of workloads, without naming one."""
REGISTRIES = ("kinds.registry", "factors.registry")
FACTORS = ("factors.registry", "factors.contract")
WAYS = ("ways.registry",)
"""How a stage reaches the ways of loading two sides, without naming one."""
DATA_SETS = ("datasets.registry", "datasets.plan")
ENGINES = ("engines.registry", "engines.contract", "engines.counters")
FILLERS = ("datasets.contract", "datasets.registry", "datasets.sql")
OTHERS_FOLDERS = ("host.system.held_folder", "host.system.target_folder", "host.system.users")
"""How files are reached in folders that another user may change."""
OF_A_KIND = (*FOUNDATION, *WAYS, "kinds", "study", "claims", "analysis")
OF_A_LOAD = (*FOUNDATION, *WAYS, "kinds", "host", "execute")
OF_PRESENT = (*FOUNDATION, *KINDS, *WAYS, "kinds.contract_present", "analysis.model", "report")
HOLDS_IT = "the values that hold the answer"

ROOMS = {
    "addresses": Room(("secrets",)),
    "connections": Room(("addresses",)),
    "errors": Room(()),
    "given_paths": Room(()),
    "secrets": Room(()),
    "suggest": Room(()),
    "__init__": Room(ANYTHING),
    "__main__": Room(("start",)),
    "start": Room(ANYTHING),
    "model": Room(("model",)),
    "model/hosts": Room(asks=(PLACE,), why=HOLDS_IT),
    "model/installation": Room(asks=(PLACE,), why=HOLDS_IT),
    "model/plan": Room(asks=(PLACE,), why=HOLDS_IT),
    "model/metrics": Room(asks=(METRIC,), why="the unit of throughput is called like one"),
    "host": Room((*FOUNDATION, *KINDS, *WAYS, "host")),
    "study": Room((*FOUNDATION, *KINDS, *FACTORS, *WAYS, *DATA_SETS, "study", "studies")),
    "study/build": Room(asks=(PLACE,), why="reads the table [hosts]"),
    "plan": Room((*FOUNDATION, *KINDS, *FACTORS, *WAYS, *DATA_SETS, *ENGINES, "plan")),
    "plan/sites": Room(asks=(PLACE,), why="the room that is asked"),
    "engines": Room((*FOUNDATION, "engines")),
    "factors/placement": Room(asks=(WAY,), why="a study as it was written, before it is planned"),
    "factors": Room(
        (*FOUNDATION, *WAYS, *DATA_SETS, *ENGINES, "factors", "study"), (FACTOR,), "a factor"
    ),
    "factors/*/fill": Room((*FOUNDATION, "datasets.contract", "factors"), (FACTOR,), "a factor"),
    "factors/*/run": Room((*FOUNDATION, "factors", "host", "execute"), (FACTOR,), "a factor"),
    "ledger": Room((*FOUNDATION, *KINDS, *DATA_SETS, *OTHERS_FOLDERS, "ledger")),
    "ledger/options": Room(asks=(KIND,), why="the forms of older ledgers"),
    "execute": Room((*FOUNDATION, *FILLERS, *DATA_SETS, *ENGINES, *REGISTRIES, "host", "execute")),
    "execute/sites": Room(asks=(PLACE,), why="the room that is asked"),
    "execute/postgres/sweep": Room(asks=(PLACE,), why="sweeps what local sites have left"),
    "execute/postgres/building/build": Room(asks=(KIND,), why="a program is called pgbench"),
    "analysis": Room(
        (*FOUNDATION, *KINDS, *WAYS, "kinds.contract_analyse", *DATA_SETS, "analysis")
    ),
    "export": Room((*FOUNDATION, *KINDS, *OTHERS_FOLDERS, "export", "ledger", "analysis.model")),
    "claims": Room((*FOUNDATION, *KINDS, *FACTORS, "claims", "study", "analysis")),
    "report": Room((*OF_PRESENT, "datasets.registry", "factors.registry")),
    "report/site/entry": Room(
        (*OF_PRESENT, "analysis.across.fingerprint", "analysis.across.history")
    ),
    "report/view/contrasts": Room((*OF_PRESENT, "kinds.contract_analyse")),
    "report/sites": Room(asks=(PLACE,), why="the room that is asked"),
    "report/history/view": Room(asks=(METRIC,), why="a column of the exported table"),
    "report/view/asked": Room(asks=(METRIC,), why="a key of a recorded event"),
    "report/view/variants": Room(asks=(KIND,), why="a key of a recorded pinning"),
    "datasets": Room((*FOUNDATION, "host", "datasets")),
    "datasets/plan": Room((*FOUNDATION, "datasets.registry", "study")),
    "datasets/*/*": Room(asks=OF_A_FOLDER, why="a kind of data"),
    "datasets/*/plan": Room(
        (*FOUNDATION, *DATA_SETS, "datasets", "study"), OF_A_FOLDER, "a kind of data"
    ),
    "kinds": Room((*FOUNDATION, *KINDS, *WAYS)),
    "kinds/contract": Room((*FOUNDATION, *KINDS, *WAYS, "factors.contract", "study")),
    "kinds/contract_analyse": Room((*FOUNDATION, "kinds.registry", "analysis.model")),
    "kinds/contract_present": Room((*OF_PRESENT, "kinds.registry")),
    "kinds/*/*": Room(OF_A_KIND, OF_A_FOLDER, "a kind"),
    "kinds/*/plan": Room(
        (*OF_A_KIND, *DATA_SETS, "factors.contract", "plan"), OF_A_FOLDER, "a kind"
    ),
    "kinds/*/run": Room(OF_A_LOAD, OF_A_FOLDER, "a kind"),
    "kinds/*/load": Room(OF_A_LOAD, OF_A_FOLDER, "a kind"),
    "kinds/*/present": Room((*OF_PRESENT, "kinds"), OF_A_FOLDER, "a kind"),
    "ways": Room(
        (*FOUNDATION, "ways.contract", "ways.registry", "kinds.contract"), (WAY,), "the room"
    ),
    "ways/*/*": Room((*FOUNDATION, "ways", "kinds.contract"), (WAY,), "a way"),
    "cli": Room(ANYTHING),
    "cli/campaign/attached": Room(asks=(PLACE,), why="asks servers, and people first"),
    "cli/clean": Room(asks=(PLACE,), why="the verb for other hosts"),
    "cli/data": Room(asks=(DATA,), why="the verbs for the Star Schema Benchmark alone"),
    "cli/plan/site": Room(asks=(PLACE,), why="here, or on hosts that are reached: chosen once"),
}
"""A row names a room by its path; what stands below it has the row of the longest path."""

PLACES = {"attached", "hosts", "together", "on_db_host"}
WAY_KEYS = {"way", "slices", "restart_every"}
"""Keys of ``[measure]`` that say in which way sides are loaded: comparing one asks for it."""
NAMES = {
    "DataKind": DATA,
    "AttachedServer": PLACE,
    **dict.fromkeys(("PgbenchOptions", "QueriesOptions", "pgbench_of", "queries_of"), KIND),
}
SHARED = {MEASURED_SECONDS.name, TRANSACTIONS.name, *(one.name for one in OF_THE_MACHINE)}
METRICS = {metric.name for kind in names_of_kinds() for metric in plan_of(kind).metrics} - SHARED
FACTOR_NAMES = set(folders_of_factors()) - {"guc"}
ASKED_OF_STUDIES = {
    *("level", "levels", "factor", "level_of", "levels_of", "every_level", "own_levels", "rule")
}
"""Functions that are given the name of a factor."""
SAYS_A_FACTOR = {"contrast", "factor", "name"}
"""What is compared with the name of a factor: ``study.contrast``, ``factor.name``."""
FACTORS_ASKED = {
    "analysis/across/fingerprint.py": (2, "the clients of a scenario, by which history knows it"),
    "claims/curves.py": (2, "the axes of published curves"),
    "cli/plan/site.py": (1, "the folders that a study names"),
    "cli/text/study.py": (1, "the heading of a list"),
    "execute/sites/cluster_node.py": (1, "a process's role is called server"),
    "execute/sites/local/cluster.py": (1, "a process's role is called server"),
    "export/tables.py": (1, "a column of numbers"),
    "model/memory.py": (1, "a set of parameters may hold shared_buffers"),
    "model/study.py": (1, "the factor that every study has"),
    "plan/durations.py": (1, "servers and checksums make templates"),
    "plan/cells.py": (1, "the most connections of a study"),
    "plan/checks.py": (1, "the limits of memory in a study"),
    "plan/saturation.py": (1, "the search for saturation doubles the clients"),
    "plan/sites/remote.py": (2, "nodes are on hosts of their own"),
    "report/names.py": (1, "a chart's axis"),
    "report/view/variants.py": (1, "the section on checksums"),
    "study/build.py": (1, "which sets of parameters a study uses"),
    "study/schema.py": (1, "clients are limited in a place of their own"),
    "ways/statements/__init__.py": (1, "a limit of memory is for one side"),
}
"""How often a file outside of ``factors`` and ``kinds`` asks for a factor by its name, and why:
counted down, never up."""
ROOMS_OF_ONE = (
    (KIND, r"kinds\.(?!registry\b|contract\b|contract_analyse\b|contract_present\b|metrics\b)\w+"),
    (DATA, r"datasets\.(?!registry\b|contract\b|plan\b|sql\b)\w+"),
    (PLACE, r"(?:execute|plan)\.sites\.(local|attached|remote)\b"),
    (FACTOR, r"factors\.(?!registry\b|contract\b)\w+"),
    (WAY, r"ways\.(?!registry\b|contract\b)\w+"),
)
"""Modules that belong to one kind, to one kind of data, to one kind of site."""


def package_folder() -> Path:
    spec = importlib.util.find_spec("teiten")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


@cache
def sources() -> dict[PurePath, str]:
    """Every file of Teiten, by its path."""
    root = package_folder()
    files = sorted(root.rglob("*.py"))
    return {file.relative_to(root): file.read_text(encoding="utf-8") for file in files}


def row_of(file: PurePath) -> tuple[str, Room]:
    """The row of a file, and with it those of the rooms around it, as far as it leaves them out."""
    parts = file.with_suffix("").parts
    found = [
        (path, room)
        for path, room in ROOMS.items()
        if len(path.split("/")) <= len(parts)
        and all(fnmatch(*pair) for pair in zip(parts, path.split("/"), strict=False))
    ]
    assert found, f"{file} stands in no room of the table"
    found.sort(key=lambda one: (one[0].count("/"), -one[0].count("*")))
    imports = next(room.imports for _, room in reversed(found) if room.imports is not None)
    path, room = found[-1]
    asked = next((one for _, one in reversed(found) if one.asks), room)
    return path, Room(imports, asked.asks, asked.why)


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Of Teiten, without its name."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a thing comes from"
            names = [node.module or ""]
        for name in names:
            program, _, module = name.partition(".")
            if program == "teiten":
                yield module


def is_one_of(module: str, rooms: Collection[str]) -> bool:
    return any(not room or module == room or module.startswith(f"{room}.") for room in rooms)


def questions(tree: ast.Module) -> Iterator[tuple[Question, str]]:
    """What code asks, and the words in which it does."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PLACES:
            yield PLACE, ast.unparse(node)
        elif isinstance(node, ast.Constant) and node.value in METRICS and id(node) not in said:
            yield METRIC, repr(node.value)
        yield from (*_by_name(node), *_by_key(node))
        yield from ((FACTOR, words) for words in _factors_named(node))
        for text in _compared(node):
            if text in names_of_kinds():
                yield KIND, repr(text)
            elif text in names_of_data():
                yield DATA, repr(text)
    for module in imported_modules(tree):
        for question, pattern in ROOMS_OF_ONE:
            if re.match(pattern, module):
                yield question, f"import {module}"


def _by_key(node: ast.AST) -> Iterator[tuple[Question, str]]:
    """Comparisons of a study's measure, or of anything with a way's name, for which way it is."""
    for text in _compared(node):
        if text in names_of_ways():
            yield WAY, repr(text)
    for each in ast.walk(node) if isinstance(node, ast.Compare) else ():
        if isinstance(each, ast.Attribute) and each.attr in WAY_KEYS:
            key = ast.unparse(each)
            if key.rpartition(".")[0].endswith("measure"):
                yield WAY, key


def _by_name(node: ast.AST) -> Iterator[tuple[Question, str]]:
    name = node.id if isinstance(node, ast.Name) else ""
    name = node.name if isinstance(node, ast.alias) else name
    if name in NAMES:
        yield NAMES[name], name


def _factors_named(node: ast.AST) -> Iterator[str]:
    """Where a factor is asked for by its name: ``study.factor("cores")``, ``contrast == "cores"``,
    ``dict(levels).get("cores")``, ``CORES = "cores"``."""
    if isinstance(node, ast.Call) and node.args:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        of_levels = name == "get" and "dict(" in ast.unparse(called)
        if name in ASKED_OF_STUDIES or of_levels:
            yield from (ast.unparse(node) for each in node.args if _is_factor(each))
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        names = {getattr(side, "attr", getattr(side, "id", "")) for side in sides}
        texts = {text for side in sides for text in _texts(side)}
        if names & SAYS_A_FACTOR and texts & FACTOR_NAMES:
            yield ast.unparse(node)
    elif isinstance(node, ast.Module):
        assigned = (part for part in node.body if isinstance(part, ast.Assign))
        yield from (
            ast.unparse(part)
            for part in assigned
            if _is_factor(part.value) and _named_alike(part.targets[0], part.value)
        )


def _named_alike(target: ast.AST, value: ast.AST) -> bool:
    """``CORES = "cores"``"""
    return ast.unparse(target).lower() == getattr(value, "value", None)


def _is_factor(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in FACTOR_NAMES


def _compared(node: ast.AST) -> Iterator[object]:
    """The constants with which a node compares."""
    if isinstance(node, ast.Compare):
        among = any(isinstance(one, ast.In | ast.NotIn) for one in node.ops)
        sides = node.comparators if among else [node.left, *node.comparators]
        yield from (text for side in sides for text in _texts(side))
    elif isinstance(node, ast.match_case):
        patterns = (one for one in ast.walk(node.pattern) if isinstance(one, ast.MatchValue))
        yield from (text for pattern in patterns for text in _texts(pattern.value))


def _texts(node: ast.AST) -> Iterator[object]:
    """A constant; those in a tuple, list or set."""
    if isinstance(node, ast.Constant):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        yield from (found for elt in node.elts for found in _texts(elt))


@cache
def seen_in(source: str) -> tuple[tuple[str, ...], tuple[tuple[Question, str], ...]]:
    """What a source imports and asks; several tests look at each."""
    tree = ast.parse(source)
    return tuple(imported_modules(tree)), tuple(questions(tree))


def faults(file: PurePath, source: str) -> list[str]:
    """What a file imports or asks though its room does not."""
    path, room = row_of(file)
    imported, asked = seen_in(source)
    imports = room.imports or ()
    found = [
        f"{file} imports {module}: not for {path}"
        for module in imported
        if module and not is_one_of(module, imports)
    ]
    found += [
        f"{file} asks {question.value} ({words})"
        for question, words in asked
        if question not in room.asks and question is not FACTOR
    ]
    if FACTOR not in room.asks:
        names = [words for question, words in asked if question is FACTOR]
        if len(names) > FACTORS_ASKED.get(str(file), (0, ""))[0]:
            found.append(f"{file} asks {FACTOR.value} ({', '.join(names)})")
    if file.parts[0] in ("kinds", "datasets") and len(file.parts) > 2:
        room_of_own, own = file.parts[:2]
        other = (re.match(rf"{room_of_own}\.(\w+)\.", f"{module}.") for module in imported)
        known = names_of_kinds() if room_of_own == "kinds" else names_of_data()
        found += [
            f"{file} imports {one[1]}, which is another"
            for one in other
            if one is not None and one[1] in known and one[1] != own
        ]
    return found


@pytest.mark.parametrize("top", sorted({path.split("/")[0] for path in ROOMS}))
def test_a_room_imports_what_stands_before_it_and_asks_what_is_its_own(top: str) -> None:
    mine = {file: text for file, text in sources().items() if file.with_suffix("").parts[0] == top}
    assert mine, f"{top} is gone, and its row is left"
    assert [fault for file, text in mine.items() for fault in faults(file, text)] == []


def test_every_file_stands_in_a_room_of_the_table() -> None:
    assert all(row_of(file) for file in sources())


def test_every_row_is_needed() -> None:
    """Who may ask a question does; where nobody does any more, the row goes."""
    asked: dict[str, set[Question]] = {path: set() for path in ROOMS}
    for file, text in sources().items():
        asked[row_of(file)[0]] |= {question for question, _ in seen_in(text)[1]}
    idle = [
        (path, question)
        for path, room in ROOMS.items()
        for question in room.asks
        if "*" not in path and question not in asked[path]
    ]
    assert idle == []
    assert all(room.why for room in ROOMS.values() if room.asks)


def test_exceptions_for_names_of_factors_are_counted_down() -> None:
    """Where a file asks less than its row says, the row says so from then on."""
    asked = {
        str(file): sum(question is FACTOR for question, _ in seen_in(text)[1])
        for file, text in sources().items()
        if FACTOR not in row_of(file)[1].asks
    }
    asked = {file: times for file, times in asked.items() if times}
    assert asked == {file: times for file, (times, _) in FACTORS_ASKED.items()}


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("execute/trial.py", "from teiten.kinds.queries.model import NAME"),
        ("host/facts/kept.py", "from teiten.kinds.pgbench.metrics import TPS"),
        ("cli/campaign/pilot.py", "from teiten.kinds.pgbench.metrics import LATENCY_MEAN"),
        ("cli/plan/make.py", "from teiten.datasets.ssb.rows.native import native"),
        ("cli/plan/make.py", "from teiten.plan.sites.attached import attached_cautions"),
        ("execute/real.py", "from teiten.execute.sites.local.clusters import LocalClusters"),
        ("kinds/queries/results.py", "from teiten.kinds.pgbench.metrics import TPS"),
        ("kinds/pgbench/load/process.py", "from teiten.kinds.queries.model import NAME"),
        ("datasets/script/fill.py", "from teiten.datasets.ssb.rows.load import load"),
        ("model/trial.py", "from teiten.plan.dry import DryTrial"),
        ("plan/expand.py", "from teiten.execute.trial import run_trial"),
        ("kinds/pgbench/results.py", "from teiten.report.blocks import Text"),
        ("report/names.py", "from teiten.ledger.store import Ledger"),
        ("cli/text/study.py", 'x = one.kind == "queries"'),
        ("study/load.py", 'x = "pgbench" != one.kind'),
        ("report/view/why.py", 'x = one.kind in ("pgbench", "queries")'),
        ("plan/expand.py", 'match kind:\n    case "queries":\n        pass'),
        ("cli/plan/make.py", 'x = any(one.data.kind == "ssb" for one in templates)'),
        ("execute/postgres/templates/identity.py", "x = data.kind is DataKind.SSB"),
        ("cli/plan/text.py", "x = server.attached is not None"),
        ("cli/campaign/saturation.py", "x = loaded.hosts is None"),
        ("host/facts/kept.py", "x = plan.hosts.together"),
        ("cli/plan/text.py", "x = not one.on_db_host"),
        ("report/view/series.py", 'x = trial.metrics["tps"]'),
        ("cli/campaign/pilot.py", 'x = trial.metrics.get("latency_mean", 0.0)'),
        ("analysis/verdict/pairs.py", "x = queries_of(workload).runs"),
        ("plan/expand.py", 'x = study.factor("cores")'),
        ("plan/checks.py", 'x = every_level(study, "memory")'),
        ("report/view/why.py", 'x = kit.study.contrast == "placement"'),
        ("report/view/series.py", 'x = dict(trial.levels).get("clients")'),
        ("analysis/verdict/pairs.py", 'CORES = "cores"'),
        ("cli/plan/make.py", "from teiten.factors.cores import Pinning"),
        ("plan/estimate.py", "from teiten.ways.pairs import WAY"),
        ("report/scope.py", 'x = measure.way == "pairs"'),
        ("cli/campaign/pilot.py", "x = plan.study.measure.slices > 1"),
        ("analysis/verdict/stopping.py", "x = 1 < measure.restart_every"),
        ("kinds/queries/run.py", 'match way.name:\n    case "statements":\n        pass'),
    ],
)
def test_a_planted_line_is_found(file: str, line: str) -> None:
    source = sources()[PurePath(file)]
    assert faults(PurePath(file), source) == []
    assert faults(PurePath(file), f"{source}\n{line}\n") != []


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("report/sites.py", "x = plan.hosts is None"),
        ("kinds/queries/results.py", 'x = workload.kind == "queries"'),
        ("report/names.py", '"""Also of ``tps``, where ``plan.hosts`` is None."""'),
        ("report/names.py", '"tps"'),
    ],
)
def test_what_a_room_may_ask_and_what_is_only_said_is_no_fault(file: str, line: str) -> None:
    assert faults(PurePath(file), f"{line}\n") == []


def test_no_template_asks_for_a_kind_or_a_place() -> None:
    asks = re.compile(
        rf"\.kind\b.*[\"']({'|'.join(names_of_kinds())})[\"']|\.({'|'.join(PLACES)})\b"
    )
    assert asks.search("{% if one.kind == 'queries' %}") and asks.search("{% if plan.hosts %}")
    templates = list((package_folder() / "report").rglob("*.j2"))
    assert templates
    for file in templates:
        found = asks.search(file.read_text(encoding="utf-8"))
        assert found is None, f"{file.name} asks {found}"


def test_only_the_command_line_uses_rich_and_prints() -> None:
    may = re.compile(r"\b(?:rich|click|print)\b")
    for file, text in sources().items():
        if file.parts[0] == "cli" or not may.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert not (module or "").startswith(("rich", "click")), file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", file


CONNECTING = re.compile(
    r"\b(?:psycopg\.connect|(?:Async)?Connection\.connect|make_conninfo|conninfo_to_dict"
    r"|PGconn\.connect\w*|Conninfo)\("
)
"""What makes a connection string, or connects."""
MAY_CONNECT = {
    "connections.py": "the room",
    "addresses.py": "reads what people write, and takes passwords out of it",
    "execute/sites/remote/agent/standins.py": "what the room finds on a host without psycopg",
}


def test_connections_are_made_in_one_room() -> None:
    """Elsewhere a connection string might leave something to the environment."""
    found = {
        file.as_posix()
        for file, text in sources().items()
        if CONNECTING.search(text) or "from psycopg import connect" in text
    }
    assert found == set(MAY_CONNECT)
    for planted in ("psycopg.connect(x)", "make_conninfo(host=x)", 'Conninfo("host=x")'):
        assert CONNECTING.search(planted)


STARTS = {
    *("subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call"),
    *("subprocess.check_output", "subprocess.getoutput", "os.system", "os.popen", "os.execv"),
    *("os.execvp", "os.execl", "os.execlp", "os.spawnv", "os.spawnl", "os.posix_spawn"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
}
"""What starts a program in the environment that it is given, or else in ours."""
MAY_START = {"cli/passwords.py": "begins itself anew"}
MAY_READ_VARIABLES = {
    "cli/passwords.py": "takes PGPASSWORD for a secret, and finds what its predecessor left",
    "cli/verbs/gate.py": "what GitHub Actions tells its steps",
    "connections.py": "libpq's variables",
    "execute/postgres/inspection.py": "PATH, and a disk of Windows",
    "execute/postgres/sockets.py": "where sockets may be",
    "execute/sites/remote/agent/machine.py": "where ssh came from",
    "execute/sites/remote/agent/standins.py": "where a person's data are",
    "execute/sites/remote/ssh.py": "which ssh",
    "host/facts/machine.py": "whether this is a container",
    "host/system/environment.py": "the room",
    "host/system/own_folders.py": "where temporary files would be",
}


def starts_with_our_environment(source: str) -> list[str]:
    """Calls that start a program without an environment of the one room that makes them."""
    if not any(call in source for call in STARTS):
        return []
    return [
        ast.unparse(node.func)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in STARTS
        if not any(
            given.arg == "env" and ast.unparse(given.value).startswith("child_environment(")
            for given in node.keywords
        )
    ]


def test_environments_of_programs_are_made_in_one_room() -> None:
    found = {
        file.as_posix() for file, text in sources().items() if starts_with_our_environment(text)
    }
    assert found == set(MAY_START)
    for planted in ("subprocess.run(x)", "subprocess.Popen(x, env=os.environ)", "os.system(x)"):
        assert starts_with_our_environment(planted)


def test_variables_are_read_where_it_is_known_what_for() -> None:
    reads = re.compile(r"\bos\.(environb?|getenvb?)\b")
    found = {file.as_posix() for file, text in sources().items() if reads.search(text)}
    assert found == set(MAY_READ_VARIABLES)
