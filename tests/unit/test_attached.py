"""Attached servers: what a plan makes of them, and passwords on the command line."""

from __future__ import annotations

import inspect
import re
import string
from dataclasses import replace
from pathlib import Path

import pytest

import teiten.plan.sites.attached
from teiten.cli.passwords import take_passwords
from teiten.cli.plan.text import loaded_text
from teiten.datasets.probes.model import ProbesTables
from teiten.errors import MachineError, ServerError, StudyError, UsageError, WayError, WorkloadError
from teiten.execute.client.address import Address
from teiten.execute.sites.attached.asking import check_version
from teiten.execute.sites.attached.campaign import session_options
from teiten.execute.sites.attached.site import without_secrets
from teiten.execute.sites.load_generator import encrypting_pgbench
from teiten.kinds.pgbench.load.paired_run import server_of
from teiten.model.attached import AttachedServer, ServerParameter, is_address, named_address
from teiten.model.installation import Installation, Version
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.model.text import Language
from teiten.model.units import MIB
from teiten.plan.expand import expand
from teiten.plan.sites.attached import attached_cautions, same_value, split_settings
from teiten.plan.sites.of import fitted, without_missing
from teiten.plan.sizing import size
from teiten.report.texts import caution_text, read_entries
from teiten.study.document import CATALOGUE
from teiten.study.load import load_study
from teiten.study.sides import Shared, SideFlags, ab_study, null_study
from tests.fixtures.pairs import names_of_ways
from tests.fixtures.planned import PGBENCH, fingerprint
from tests.fixtures.synthetic_plan import HOST, make_installation

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
    assert tuple(secrets["password"] for secrets in taken.secrets.values()) == passwords
    assert all(address in clean for address in taken.secrets)


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
    values |= {"levels", "why", "hint"}
    for key, text in entries.items():
        assert {name for _, name, _, _ in string.Formatter().parse(text) if name} <= values, key
    source = inspect.getsource(teiten.plan.sites.attached)
    codes = {key.split(".")[1] for key in entries}
    assert codes == set(re.findall(r'"(attached(?:-[a-z-]+)?)"', source))
    assert len(entries) == 2 * len(codes)


def attached(name: str, **changed: object) -> Installation:
    return replace(make_installation("18.4"), name=name, attached=server(address=name, **changed))


ABLE = {"superuser": True, "can_checkpoint": True, "can_prewarm": True, "sees_buffers": True}


def probing(*servers: tuple[str, Installation]) -> Plan:
    """The study buffers as the command plans it."""
    levels = ",".join(level for level, _ in servers)
    study = size(load_study("buffers", profile="quick", overrides=(f"server={levels}",)), HOST)
    study = fitted(without_missing(study, servers, {}), servers)
    return expand(study, servers, PGBENCH, seed=1, fingerprint=fingerprint)


def test_probes_that_a_server_cannot_carry_are_left_out_each_with_its_reason() -> None:
    plan = probing(("17", attached("17", **ABLE)), ("18", attached("18", **ABLE)))
    study = plan.study
    run = {(trial.cell.level("server"), trial.cell.level("probe")) for trial in plan.trials}
    probes = ("buffer-read", "clients-buffers", "update")
    assert run == {(level, probe) for level in ("17", "18") for probe in probes}
    assert study.contrast == "server" and study.factor("guc:shared_buffers") is None
    assert study.measure.memory is None
    assert "17 128MB, 18 128MB" in study.differences[-1].en
    (pages,) = study.workload("reads").data.options_as(ProbesTables).tables
    scale = study.workload("reads").data.scale
    assert scale is not None
    assert pages.name == "pages" and round(scale * pages.share * MIB / (128 * MIB), 2) == 0.9
    said = [caution_text(one, "en") for one in attached_cautions(plan)]
    left = {what.partition("Why")[0]: (what, hint) for what, hint in said if "Left out" in what}
    what, hint = left["Left out on the server 17: clock-sweep. "]
    assert what.endswith("just been started, and Teiten does not restart this one.")
    assert hint == "Run it on a server that Teiten starts: --servers 18."
    named = " ".join(left)
    assert all(one in named for one in ("working-set", "after-scan", "checkpoint", "os-cache-read"))
    assert not any(probe in named for probe in ("buffer-read", "update"))


def test_what_a_role_lacks_for_all_probes_is_said_with_what_gives_it() -> None:
    with pytest.raises(UsageError, match="pg_buffercache, which the role bob may not") as raised:
        probing(("18", attached("18", can_prewarm=True)))
    assert raised.value.hint.startswith("Name a superuser of 18")
    with pytest.raises(UsageError, match="pg_buffercache, which is not installed") as raised:
        probing(("18", attached("18", **(ABLE | {"sees_buffers": False}))))
    assert "postgresql-contrib" in raised.value.hint


def test_a_server_of_this_machine_without_modules_is_refused_with_what_brings_them() -> None:
    bare = replace(make_installation("18.4"), contrib=frozenset({"plpgsql", "pg_prewarm"}))
    with pytest.raises(UsageError, match="pg_buffercache, which is not among the files") as raised:
        probing(("18", bare))
    assert "pg_prewarm" not in raised.value.message
    assert "postgresql-contrib" in raised.value.hint and "teiten pg install" in raised.value.hint


def test_probes_put_no_attached_server_beside_one_of_another_memory() -> None:
    with pytest.raises(UsageError, match="18 is started by Teiten"):
        probing(("17", attached("17", **ABLE)), ("18", make_installation("18.4")))


def pairs(*servers: tuple[str, Installation], way: str = "pairs") -> Plan:
    levels = ",".join(level for level, _ in servers)
    loaded = load_study(
        "observe",
        profile="quick",
        overrides=(f"server={levels}", "clients=2", "scale=1"),
        gucs=("max_connections=100",),
    )
    study: Study = replace(loaded, measure=replace(loaded.measure, way=way))
    return expand(size(study, HOST), servers, PGBENCH, seed=1, fingerprint=fingerprint)


def test_a_pgbench_has_to_know_what_an_encrypted_address_asks_for() -> None:
    """Debian 12's libpq does not know require_auth, which would be told by pgbench in the midst."""
    address = "postgresql://h/d?sslmode=verify-full&require_auth=scram-sha-256"
    with pytest.raises(MachineError, match="speaks SSL and knows require_auth=scram-sha-256"):
        encrypting_pgbench([], [address])
    with pytest.raises(MachineError, match=r"speaks SSL$"):
        encrypting_pgbench([], ["postgresql://h/d?sslmode=require"])


def test_pairs_of_attached_servers_need_what_the_generator_can_reach() -> None:
    plain = {"encrypted": False}
    both = ("17", attached("17", **plain)), ("18", attached("18", **plain))
    assert all(trial.turns for trial in pairs(*both).trials)
    assert all(trial.turns for trial in pairs(both[0], ("18", attached("18"))).trials)
    with pytest.raises(WayError, match="17 is attached, and another side is a server that"):
        pairs(both[0], ("18", make_installation("18.4")))
    with pytest.raises(UsageError):
        pairs(*both, way="statements")


def test_of_servers_on_a_machine_that_is_not_known_clients_are_on_one_side_at_a_time() -> None:
    plain = {"encrypted": False}
    elsewhere = pairs(("17", attached("17", **plain)), ("18", attached("18", **plain)))
    assert names_of_ways(elsewhere) == {2: "in-step"}
    assert "nobody knows the processors there" in loaded_text(elsewhere)
    plain["local"] = True
    here = pairs(("17", attached("17", **plain)), ("18", attached("18", **plain)))
    assert names_of_ways(here) == {2: "pairs"}


def test_the_generator_of_pairs_reaches_servers_as_pgbench_does(tmp_path: Path) -> None:
    by_name = Address(
        "host=db.example port=5433 user=bob dbname=x",
        environment={"PGPASSWORD": "pw", "PGOPTIONS": "-c work_mem=7MB"},
    )
    found = server_of(by_name)
    assert (found.host, found.port, found.user, found.database) == ("db.example", 5433, "bob", "x")
    assert found.password == "pw" and found.parameters == {"options": "-c work_mem=7MB"}
    by_line = Address("host=10.0.0.1 port=1 user=l dbname=x", password_line=r"10.0.0.1:1:x:l:a\:b")
    assert server_of(by_line).password == "a:b"
    words = "host=db.example port=5433 user=bob dbname=x hostaddr=10.0.0.1 sslmode=verify-full"
    files = "sslrootcert=/r.crt sslcert=/c.crt sslkey=/c.key channel_binding=require"
    encrypted = server_of(Address(f"{words} {files} require_auth=scram-sha-256"))
    assert (encrypted.host, encrypted.address) == ("db.example", "10.0.0.1")
    assert encrypted.encryption == {
        "mode": "verify-full", "roots": "/r.crt", "certificate": "/c.crt", "key": "/c.key"
    }  # fmt: skip
    assert (encrypted.channel_binding, encrypted.require_auth) == ("require", "scram-sha-256")
    assert server_of(Address(words.replace("verify-full", "disable"))).encryption is None
    for more in ("sslcrl=/x", "sslnegotiation=direct", "gssencmode=require"):
        with pytest.raises(WorkloadError, match=more.partition("=")[0]) as raised:
            server_of(Address(f"{words} {more}"))
        assert "--way classic" in raised.value.hint
    by_socket = server_of(Address.by_socket(tmp_path, 5432, "postgres", "bench"))
    assert by_socket.host == str(tmp_path) and by_socket.password is None


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
