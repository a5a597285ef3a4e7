"""postgresql.conf as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.execute.postgres.conf import Opening, host_rules, parse, render, required_settings
from teiten.model.study import Setting
from teiten.model.text import Bilingual


def setting(name: str, value: str | None, reason: str = "because") -> Setting:
    return Setting(name, value, Bilingual(reason, "理由"), "2021 §4.3")


def test_each_setting_has_its_reason_and_source() -> None:
    text = render([setting("autovacuum", "off", "no vacuum\nduring a trial")])
    assert "# no vacuum\n# during a trial [2021 §4.3]\nautovacuum = 'off'\n" in text


def test_safety_comes_first_and_initdbs_choices_stay_where_nobody_sets_them() -> None:
    text = render(
        [setting("Shared_Buffers", "1GB")],
        required_settings(Path("/run/x"), 6000),
        {"shared_buffers": "128MB", "timezone": "Etc/UTC", "port": "5432"},
    )
    values = parse(text)
    assert values["Shared_Buffers"] == "1GB"
    assert "shared_buffers" not in values
    assert values["timezone"] == "Etc/UTC"
    assert values["port"] == "6000"
    assert values["listen_addresses"] == ""
    assert values["unix_socket_directories"] == "/run/x"
    assert "# reached through a private Unix socket only\nlisten_addresses = ''" in text


@pytest.mark.parametrize("name", ["", "a b", "x\nfsync", "1a", "a.b.c", "include", "Include_Dir"])
def test_names_that_could_change_the_file_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not a name of a server parameter") as caught:
        render([setting(name, "1")])
    assert "shared_buffers" in caught.value.hint


@pytest.mark.parametrize("name", ["port", "listen_addresses", "Unix_Socket_Directories"])
def test_a_study_cannot_open_the_server(name: str) -> None:
    with pytest.raises(UsageError, match=f"setting {name} .*Teiten sets this parameter itself"):
        render([setting(name, "*")])


@pytest.mark.parametrize("value", ["a\nfsync = off", "a\rb", "a\0"])
def test_values_stay_on_one_line(value: str) -> None:
    with pytest.raises(UsageError, match=r"setting work_mem .*line break or a NUL"):
        render([setting("work_mem", value)])


def test_an_unsized_study_is_a_defect() -> None:
    with pytest.raises(ValueError, match="shared_buffers has no value"):
        render([setting("shared_buffers", None)])


def test_initdbs_file_is_read() -> None:
    text = "#port = 5432\nshared_buffers = 128MB\t# min 128kB\ntimezone = 'Etc/UTC'\nlc_x 'it''s'\n"
    assert parse(text) == {"shared_buffers": "128MB", "timezone": "Etc/UTC", "lc_x": "it's"}


@pytest.mark.parametrize("client", ["10.0.0.7", "198.18.0.0/16", "fd00::7"])
def test_an_open_server_lets_in_addresses(client: str) -> None:
    rules = host_rules(Opening("10.0.0.8", client, "teiten_load", "bench", "scram-sha-256"))
    length = "" if "/" in client else "/128" if ":" in client else "/32"
    assert rules.splitlines()[1] == f"host bench teiten_load {client}{length} scram-sha-256"


@pytest.mark.parametrize(
    ("address", "client"),
    [("10.0.0.8", "0.0.0.0/0 trust\nhost all all 0.0.0.0/0 trust\n#"), ("all", "10.0.0.7")],
)
def test_nothing_else_comes_into_the_rules(address: str, client: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        Opening(address, client, "teiten_load", "bench", "scram-sha-256")
