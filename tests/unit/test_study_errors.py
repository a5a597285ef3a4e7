"""Every mistake in a study file or a flag is named, with what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import StudyError, TeitenError, UsageError
from teiten.study.load import load_study

GOOD = """\
[study]
name = "mine"
title = "Mine"
question = "Which?"
[factors]
server = ["17", "18"]
clients = [1, 2]
[[workloads]]
name = "read"
title = "Read"
script = "select-only"
changes_data = false
[settings.work_mem]
value = "4MB"
[measure]
delta = "2%"
"""


def failure(file: Path, **flags: object) -> TeitenError:
    with pytest.raises(TeitenError) as caught:
        load_study(str(file), **flags)  # type: ignore[arg-type]
    assert caught.value.exit_code == 2
    assert caught.value.hint
    return caught.value


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(GOOD, encoding="utf-8")
    load_study(str(path))
    return path


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('delta = "2%"', 'detla = "2%"', "16: measure.detla: unknown key. Did you mean 'delta'?"),
        ('delta = "2%"', "zz = 1", "16: measure.zz: unknown key. Known: duration, target, warmup,"),
        ("[measure]", "[mesure]", "15: mesure: unknown key. Did you mean 'measure'?"),
        (
            'script = "select',
            'skript = "select',
            "11: workloads.1.skript: unknown key. Did you mean 'script'?",
        ),
        ('title = "Mine"', "title = 3", '3: study.title: must be a text, or a table { en = "…"'),
        ('name = "mine"', 'name = "my study"', "2: study.name: 'my study' is not a name; write"),
        ("clients = [1, 2]", "clinets = [1]", "7: factors.clinets: 'clinets' is not a factor. Did"),
        ("clients = [1, 2]", "clients = [1, 0]", "7: factors.clients: 0 is not a number of clien"),
        ("clients = [1, 2]", "clients = [2, 2]", "7: factors.clients: the level 2 stands there t"),
        ("clients = [1, 2]", "clients = []", "7: factors.clients: needs at least one level"),
        ("clients = [1, 2]", 'x = "y"', "7: factors.x: 'x' is not a factor. Known: server, clie"),
        ("clients = [1, 2]\n", "", "5: factors: has no clients"),
        ('server = ["17", "18"]', "", "5: factors: names no server"),
        ('server = ["17", "18"]', "server = [17.5]", "6: factors.server: write a version as a te"),
        ('server = ["17", "18"]', "server = [17]", "6: factors.server: server is contrasted and"),
        (
            "clients = [1, 2]",
            'clients = [1]\n"guc:work_mem" = ["1GB", "1024MB"]',
            "8: factors.guc:work_mem: the level 1024MB (the same as 1GB) stands there twice",
        ),
        (
            "clients = [1, 2]",
            'clients = [1]\nchecksums = ["of"]',
            "8: factors.checksums: must be one of off, on, not 'of'. Did you mean 'off'?",
        ),
        (
            'question = "Which?"',
            'question = "Which?"\ncontrast = "checksums"',
            "5: study.contrast: 'checksums' is not a factor of this study.",
        ),
        ('delta = "2%"', 'delta = "0%"', "16: measure.delta: must be above 0% and below 100%"),
        ('delta = "2%"', 'alpha = "50%"', "16: measure.alpha: must be above 0% and below 50%"),
        ('delta = "2%"', "duration = 20", '16: measure.duration: needs a unit: for example "20s"'),
        ('delta = "2%"', 'duration = "1.5s"', "16: measure.duration: '1.5s' is not a whole number"),
        ('delta = "2%"', 'duration = "0s"', "16: measure.duration: must be at least 1s, not '0s'"),
        ('delta = "2%"', 'target = "5s"', "16: measure.target: must be at least 1m, not '5s'"),
        ('delta = "2%"', "blocks = 1", "16: measure.blocks: one block gives one pair, and one"),
        ('delta = "2%"', "blocks = 1.5", "16: measure.blocks: must be a whole number"),
        ('delta = "2%"', 'prewarm = "yes"', "16: measure.prewarm: must be true or false"),
        ('delta = "2%"', 'caches = "dorp"', "16: measure.caches: must be one of keep, evict, dro"),
        ("[settings.work_mem]", "[settings.port]", "13: settings.port: port is set by Teiten itse"),
        ('value = "4MB"', "value = []", "14: settings.work_mem.value: must be a text, a number or"),
        ('value = "4MB"', 'value = "a\\nb"', "14: settings.work_mem.value: a server parameter's"),
        (
            '[settings.work_mem]\nvalue = "4MB"',
            '[settings.jit]\nvalue = "auto"',
            "14: settings.jit.value: jit cannot be derived from the machine",
        ),
        (
            '"select-only"',
            '"select-olny"',
            "11: workloads.1.script: there is no script 'select-oln",
        ),
        ('"select-only"', "'''\n-- no\n'''", "11: workloads.1.script: the script holds no command"),
        ("changes_data = false", "changes_data = 0", "12: workloads.1.changes_data: must be true"),
        (
            "changes_data = false",
            'changes_data = false\n[[workloads]]\nname = "read"\ntitle = "B"\n'
            'script = "tpcb-like"\nchanges_data = true',
            "14: workloads.2.name: there are two workloads 'read'",
        ),
        (
            "changes_data = false",
            "changes_data = false\noptional = true",
            "8: workloads: every wor",
        ),
        (
            "changes_data = false",
            "changes_data = false\nscale = 0",
            "13: workloads.1.scale: must b",
        ),
        ('delta = "2%"', "delta = 2%", "16: this is not TOML: Expected newline or end of document"),
    ],
)
def test_a_mistake_in_the_file(file: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    error = failure(file)
    assert isinstance(error, StudyError)
    assert error.message.startswith(f"{file}:{expected}")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"overrides": ["clinets=3"]}, "--set clinets: unknown key. Did you mean 'clients'?"),
        (
            {"overrides": ["measure.duraton=3s"]},
            "--set measure.duraton: unknown key. Did you mean 'duration'?",
        ),
        (
            {"overrides": ["workloads.read.scal=3"]},
            "--set workloads.read.scal: unknown key of a workload. Did you mean 'scale'?",
        ),
        (
            {"overrides": ["workloads.reed.scale=3"]},
            "--set workloads.reed.scale: the study has no workload 'reed'. Did you mean 'read'?",
        ),
        (
            {"overrides": ["workloads=reed"]},
            "--set workloads: the study has no workload 'reed'. Did you mean 'read'?",
        ),
        ({"overrides": ["clients"]}, "--set clients: needs the form KEY=VALUE"),
        ({"overrides": ["clients="]}, "--set clients=: needs the form KEY=VALUE"),
        (
            {"overrides": ["clients=x"]},
            "--set clients: 'x' is not a number of clients; write whole numbers from 1 on",
        ),
        ({"overrides": ["duration=20"]}, '--set duration: needs a unit: for example "20s"'),
        ({"overrides": ["scale=big"]}, "--set scale: must be a whole number, not 'big'"),
        ({"overrides": ["script=none.sql"]}, "--set script: there is no script '"),
        (
            {"overrides": ["clients=1", "factors.clients=2"]},
            "--set clients and --set factors.clients both set factors.clients",
        ),
        (
            {"delta": "3%", "overrides": ["delta=2%"]},
            "--set delta and --delta both set measure.delta (delta=2% and delta=3%)",
        ),
        (
            {"gucs": ["work_mem=1MB"], "overrides": ["guc:work_mem=1MB,2MB"]},
            "--guc work_mem: fixes work_mem to 1MB, but the factor guc:work_mem varies it"
            " (1MB, 2MB)",
        ),
        ({"gucs": ["port=5432"]}, "--guc port: port is set by Teiten itself"),
        ({"gucs": ["work mem=1"]}, "--guc work mem: 'work mem' is not the name of a server param"),
        ({"gucs": ["work_mem"]}, "--guc work_mem: needs the form KEY=VALUE"),
        ({"servers": ["17,17"]}, "--servers: the level 17 stands there twice"),
        (
            {"servers": ["17"]},
            "--servers: server is contrasted and needs at least two levels, the old one first; it"
            " has 17",
        ),
        ({"blocks": 0}, "--blocks: must be at least 1, not 0"),
        ({"blocks": 1}, "--blocks: one block gives one pair, and one pair gives no interval"),
        ({"delta": "0%"}, "--delta: must be above 0% and below 100%, not 0%"),
        ({"delta": "2"}, "--delta: '2' is not a share below 1; did you mean 2%?"),
        ({"alpha": "50%"}, "--alpha: must be above 0% and below 50%, not 50%"),
        ({"profile": "quick"}, "--profile quick: the study has no such profile."),
    ],
)
def test_a_mistake_in_a_flag(file: Path, flags: dict[str, object], expected: str) -> None:
    error = failure(file, **flags)
    assert isinstance(error, UsageError)
    assert error.message.startswith(expected)


def test_an_unknown_profile_has_a_suggestion() -> None:
    with pytest.raises(UsageError) as caught:
        load_study("observe", profile="quik")
    assert caught.value.message == (
        "--profile quik: the study has no such profile. Did you mean 'quick'?"
    )
    assert caught.value.hint == "it has quick, standard, published"


def test_a_mistake_in_a_profile_is_found_in_its_line(file: Path) -> None:
    file.write_text(GOOD + '[profiles.quick]\nduration = "x"\n', encoding="utf-8")
    error = failure(file)
    assert error.message.startswith(f"{file}:18: profiles.quick.duration: 'x' is not a time")
    file.write_text(GOOD + "[profiles.quick.workloads.wright]\nclients = [1]\n", encoding="utf-8")
    error = failure(file, profile="quick")
    assert "profiles.quick.workloads.wright.clients: the study has no workload 'wright'" in (
        error.message
    )


def test_an_unknown_study(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        load_study("obsrve")
    assert caught.value.message == "there is no study 'obsrve'. Did you mean 'observe'?"
    assert "teiten studies" in caught.value.hint
    (tmp_path / "mine.toml").write_text(GOOD, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_study(str(tmp_path / "mien.toml"))
    assert caught.value.message == (
        f"there is no study file {tmp_path / 'mien.toml'}. Did you mean 'mine.toml'?"
    )


def test_a_file_that_is_no_text(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    assert failure(file).message == f"{file} is not a text in UTF-8"


def test_a_script_that_is_no_text(file: Path) -> None:
    (file.parent / "a.sql").write_bytes(b"\xff")
    file.write_text(GOOD.replace("select-only", "a.sql"), encoding="utf-8")
    assert "is not a text in UTF-8" in failure(file).message
