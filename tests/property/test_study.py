"""Whatever stands in a study file or a flag: a study, or an error in words."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from teiten.errors import MachineError, TeitenError, UsageError
from teiten.plan.sizing import size
from teiten.study.changes import KEYS as KEYS_OF_TABLES
from teiten.study.changes import short_keys
from teiten.study.document import CATALOGUE
from teiten.study.load import load_study
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST

LINES = (CATALOGUE / "observe.toml").read_text(encoding="utf-8").splitlines()
ASSIGNMENTS = [
    index
    for index, line in enumerate(LINES)
    if " = " in line and not line.startswith(("#", " ", "script"))
]
VALUES = st.sampled_from(
    """3|-1|0|1.5|true|"x"|""|"auto"|[]|{}|[1, "a"]|1979-05-27|nan|inf|{ en = 1 }|{ en = "a" }|[[1]]
|"\\u0000"|"a\\nb"|"5s"|[2, 4]|99999999999999999999|"1e9"|"50%"|0.5|["17", "18"]|[{ en = "x" }]
""".replace("\n", "").split("|")
)
MORE_KEYS = [
    "guc:work_mem",
    "workloads.read.scale",
    "workloads.update.clients",
    "settings.shared_buffers",
    "factors.query_mode",
    "servers.a",
    "workloads.read.script",
    "study.differences",
    "study.",
    "settings.",
    "x",
    "workloads.",
    "guc:",
]
KEYS = st.sampled_from(
    [*short_keys(), *(f"measure.{key}" for key in KEYS_OF_TABLES["measure"]), *MORE_KEYS]
)
TEXTS = st.one_of(
    st.sampled_from(["1", "1,4", "auto", "on", "off,on", "5s", "2%", "all", "read", "simple", '"'])
    | st.sampled_from(["guc:jit", "checksums", "17,18", "a,b", ",", "-3", "1.5", "tpcb-like"]),
    st.text(max_size=8),
)


@given(st.lists(st.tuples(st.sampled_from(ASSIGNMENTS), VALUES), min_size=1, max_size=2))
@settings(max_examples=150, deadline=None)
def test_any_value_anywhere_is_accepted_or_refused_in_words(
    replacements: list[tuple[int, str]],
) -> None:
    lines = list(LINES)
    for index, value in replacements:
        lines[index] = f"{lines[index].partition(' = ')[0]} = {value}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mine.toml"
        file.write_text("\n".join(lines), encoding="utf-8")
        for script in (CATALOGUE / "sql").glob("*.sql"):
            (Path(folder) / script.name).write_bytes(script.read_bytes())
        load_or_refuse(str(file))


@given(st.lists(st.tuples(KEYS, TEXTS), min_size=1, max_size=3))
@example([("cores", "auto")])
@settings(max_examples=200, deadline=None)
def test_any_flag_is_accepted_or_refused_in_words(pairs: list[tuple[str, str]]) -> None:
    load_or_refuse("observe", *(f"{key}={value}" for key, value in pairs))


def load_or_refuse(reference: str, *overrides: str) -> None:
    """Read, size and plan; only an error with a message and a hint may be raised.

    The machine's limits count as well: the processors of this one are not known one by one.
    """
    try:
        study = size(load_study(reference, overrides=overrides), HOST)
        server = study.factor("server")
        assert server is not None
        versions = [f"{number}.1" for number, _ in enumerate(server.levels, start=10)]
        if study.measure.blocks <= 20:
            assert expanded(study, versions).trials
    except TeitenError as error:
        assert error.message and error.hint
        assert error.exit_code in (UsageError.exit_code, MachineError.exit_code)
