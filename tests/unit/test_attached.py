"""Attached servers: what a plan makes of them, and passwords on the command line."""

from __future__ import annotations

import inspect
import re
import string
from pathlib import Path

import pytest

import teiten.plan.sites.attached
from teiten.cli.passwords import take_passwords
from teiten.errors import ServerError, StudyError, UsageError
from teiten.execute.sites.attached.asking import check_version
from teiten.execute.sites.attached.keeper import session_options
from teiten.execute.sites.attached.node import without_secrets
from teiten.model.attached import AttachedServer, ServerParameter, is_address, named_address
from teiten.model.installation import Version
from teiten.model.text import Language
from teiten.plan.sites.attached import same_value, split_settings
from teiten.report.texts import read_entries
from teiten.study.document import CATALOGUE
from teiten.study.load import load_study
from teiten.study.sides import Shared, SideFlags, ab_study, null_study

URI = "postgresql://bob@db.example/x?sslmode=require"
PARAMETERS = (
    ServerParameter("shared_buffers", "16384", "8kB", "integer", by_session=False),
    ServerParameter("checkpoint_timeout", "300", "s", "integer", by_session=False),
    ServerParameter("autovacuum", "on", None, "bool", by_session=False),
    ServerParameter("wal_compression", "off", None, "enum", by_session=False),
    ServerParameter("work_mem", "4096", "kB", "integer", by_session=True),
)


def server(**changed: object) -> AttachedServer:
    values: dict[str, object] = {
        "address": URI,
        "role": "bob",
        "superuser": False,
        "can_checkpoint": False,
        "can_prewarm": False,
        "data_checksums": True,
        "free_connections": 90,
        "other_sessions": 3,
        "encrypted": True,
        "local": False,
        "loopback": False,
        "parameters": PARAMETERS,
    }
    return AttachedServer(**(values | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "clean", "passwords"),
    [
        ("prod=postgresql://bob:pw@h/x", "prod=postgresql://bob@h/x", ("pw",)),
        ("postgres://bob:p%40w@h", "postgres://bob@h", ("p@w",)),
        ("postgresql://bob:p@w:1/2?3@h/x", "postgresql://bob@h/x", ("p@w:1/2?3",)),
        (
            "17,a=postgresql://u:one@h/x,b=postgresql://u:two,too@h/y,18",
            "17,a=postgresql://u@h/x,b=postgresql://u@h/y,18",
            ("one", "two,too"),
        ),
        ("postgresql://h/x?password=s%26t&a=1", "postgresql://h/x?a=1", ("s&t",)),
        ("postgresql://h/x?user=u&password=st", "postgresql://h/x?user=u", ("st",)),
        ("postgresql://bob@h:5432/x", "postgresql://bob@h:5432/x", ()),
        ("--guc", "--guc", ()),
    ],
)
def test_passwords_leave_the_command_line(
    argument: str, clean: str, passwords: tuple[str, ...]
) -> None:
    taken = take_passwords(["run", argument])
    assert taken.arguments == ["run", clean]
    assert tuple(taken.passwords.values()) == passwords
    assert all(address in clean for address in taken.passwords)


def test_addresses_are_told_from_other_references() -> None:
    assert is_address(URI) and is_address("postgres://h") and not is_address("/opt/postgresql")
    assert named_address(f"prod={URI}") == ("prod", URI)
    assert named_address(URI) is None and named_address("18") is None


@pytest.mark.parametrize(
    ("wanted", "parameter", "same"),
    [
        ("128MB", PARAMETERS[0], True),
        ("16384", PARAMETERS[0], True),
        ("0.125GB", PARAMETERS[0], True),
        ("64MB", PARAMETERS[0], False),
        ("5min", PARAMETERS[1], True),
        ("1h", PARAMETERS[1], False),
        ("true", PARAMETERS[2], True),
        ("off", PARAMETERS[2], False),
        ("OFF", PARAMETERS[3], True),
        ("lz4", PARAMETERS[3], False),
    ],
)
def test_values_are_compared_by_what_they_mean(
    wanted: str, parameter: ServerParameter, same: bool
) -> None:
    assert same_value(wanted, parameter) is same


def test_settings_are_split_into_those_of_a_session_and_differences() -> None:
    settings = (
        ("shared_buffers", "1GB"),
        ("checkpoint_timeout", "300s"),
        ("work_mem", "64MB"),
        ("my.own", "x"),
        ("io_method", "worker"),
    )
    split = split_settings(server(), settings)
    assert split.by_session == (("work_mem", "64MB"), ("my.own", "x"))
    assert split.different == (("shared_buffers", "1GB", "16384 × 8kB"),)
    assert split.unknown == (("io_method", "worker"),)


def test_options_of_sessions_are_escaped() -> None:
    settings = (("search_path", r"a, b\c"), ("work_mem", "1MB"))
    assert session_options(settings) == r"-c search_path=a,\ b\\c -c work_mem=1MB"


def test_a_server_before_9_6_is_refused() -> None:
    check_version(Version(90600), "prod")
    with pytest.raises(ServerError) as raised:
        check_version(Version(90526), "prod")
    assert raised.value.message.startswith("the server prod is PostgreSQL 9.5; Teiten knows 9.6")


def test_a_named_address_becomes_an_alias() -> None:
    study = load_study("observe", servers=("18", f"prod={URI}"))
    factor = study.factor("server")
    assert factor is not None and factor.levels == ("18", "prod")
    assert dict(study.server_aliases)["prod"] == URI
    assert f"servers.prod={URI}" in study.overrides


@pytest.mark.parametrize("bad", [URI, "a b=postgresql://h", "=postgresql://h"])
def test_an_address_needs_a_name(bad: str) -> None:
    with pytest.raises(UsageError):
        load_study("observe", servers=("18", bad))


def test_both_verbs_of_two_sides_take_addresses() -> None:
    study = ab_study(SideFlags("a", "18"), SideFlags("b", f"prod={URI}"), Shared())
    assert study.factor("server").levels == ("18", "prod")  # type: ignore[union-attr]
    assert dict(study.server_aliases)["prod"] == URI
    study = null_study(f"prod={URI}", Shared())
    assert set(dict(study.server_aliases).values()) == {URI}
    same = SideFlags("b", f"prod={URI}", gucs=("work_mem=1MB",))
    study = ab_study(SideFlags("a", f"prod={URI}"), same, Shared())
    assert dict(study.server_levels) == {"B": (("guc:work_mem", "1MB"),)}


def test_a_study_file_with_a_password_is_refused_without_repeating_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = '[servers]\nprod = "postgresql://bob:hunter2@h/x"\n'
    observe = (CATALOGUE / "observe.toml").read_text(encoding="utf-8")
    path.write_text(observe.replace("[servers]\n", text), encoding="utf-8")
    with pytest.raises(StudyError) as raised:
        load_study(str(path))
    assert "servers.prod: the address holds a password" in raised.value.message
    assert "hunter2" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_caution_of_attached_servers_has_its_texts(language: Language) -> None:
    entries = read_entries(f"attached.{language}.toml")
    values = {"server", "role", "address", "sessions", "settings", "servers", "own"}
    for key, text in entries.items():
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= values, key
    source = inspect.getsource(teiten.plan.sites.attached)
    codes = {key.split(".")[1] for key in entries}
    assert codes == set(re.findall(r'"(attached(?:-[a-z-]+)?)"', source))
    assert len(entries) == 2 * len(codes)


def test_parameters_that_may_hold_a_password_are_left_out() -> None:
    settings = {
        "work_mem": "4096 kB",
        "primary_conninfo": "host=h password=pw",
        "archive_command": "push --token=x",
        "ssl_passphrase_command": "echo pw",
        "my.secret": "x",
        "ssl_key_file": "/k",
    }
    assert without_secrets(settings) == {"work_mem": "4096 kB"}
