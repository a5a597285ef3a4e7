"""The agent: nothing but the standard library, an old Python's syntax, and messages."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.script.model import script_data
from teiten.datasets.ssb.model import ssb_data
from teiten.errors import MachineError, UsageError
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.postgres import conf
from teiten.execute.sites.remote.agent.forms import (
    Message,
    WireError,
    read_message,
    template_form,
    template_of,
    write_message,
)
from teiten.execute.sites.remote.agent.machine import HostReader
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.execute.sites.remote.bundle import AGENT, LOADER, first_words, sources
from teiten.execute.sites.remote.ssh import check_host
from teiten.model.hosts import OLDEST_PYTHON
from teiten.model.plan import TemplateSpec
from teiten.model.ssb import SsbVariant
from teiten.model.study import DataSet, Layout, Script
from teiten.model.units import Bytes, Share
from tests.fixtures.synthetic_plan import make_installation

STAND_INS = frozenset({"psutil", "filelock", "platformdirs", "psycopg", "numpy"})


def outside_imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_what_is_sent_needs_no_package_and_an_old_python_reads_it() -> None:
    for name, (_, text) in sorted(sources().items()):
        ast.parse(text, filename=name, feature_version=OLDEST_PYTHON)
        found = set(outside_imports(text)) - sys.stdlib_module_names - {"teiten"}
        assert found <= STAND_INS, name


def test_the_bundle_is_small_and_whole() -> None:
    found = sources()
    assert AGENT in found and found["teiten.execute"][0]
    assert len(first_words()) < 1_000_000
    assert not any(name.startswith(("teiten.cli", "teiten.report")) for name in found)


def interpreters() -> Iterator[str]:
    """This Python, and one of each other minor version that is here and may be a host's."""
    yield sys.executable
    known = {sys.version_info[:2]}
    for place in ("/usr/bin", *map(str, Path("~/.pyenv/versions").expanduser().glob("*/bin"))):
        for path in sorted(Path(place).glob("python3.*")):
            version = re.fullmatch(r"python3\.(\d+)", path.name)
            minor = (3, int(version[1])) if version else (0, 0)
            if minor >= OLDEST_PYTHON and minor not in known:
                known.add(minor)
                yield str(path)


def talk(*requests: dict[str, object], python: str = sys.executable) -> list[Message]:
    """Ask an agent that has no package at all; it ends with its input."""
    agent = subprocess.Popen(
        [python, "-I", "-S", "-c", LOADER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert agent.stdin is not None and agent.stdout is not None
    with agent.stdin as said, agent.stdout as heard:
        said.write(first_words())
        said.flush()
        assert heard.readline() == b"teiten-agent ready\n"
        answers = []
        for number, request in enumerate(requests):
            write_message(said, Message({"id": number, **request}))
            answer = read_message(heard)
            assert answer is not None and answer.values["id"] == number
            answers.append(answer)
        said.close()
        assert read_message(heard) is None
    assert agent.wait(timeout=300) == 0
    return answers


@pytest.mark.parametrize("python", tuple(interpreters()), ids=lambda path: Path(path).name)
def test_an_agent_answers_without_any_package_and_ends_with_its_input(
    tmp_path: Path, python: str
) -> None:
    answers = talk(
        {"do": "machine.who"},
        {"do": "room.choose", "with": {"folder": str(tmp_path / "work")}},
        {"do": "machine.facts", "with": {"serving": False}},
        {"do": "machine.read", "with": {"reader": 7, "pgbench": None}},
        {"do": "packages.server_in", "with": {"folder": str(tmp_path)}},
        python=python,
    )
    who, chosen, facts, defect, refused = (answer.values for answer in answers)
    assert who["gives"]["system"] == "Linux"
    assert chosen["gives"] == str(tmp_path / "work")
    assert facts["gives"]["facts"]["cpu"]["logical"] >= 1
    assert defect["error"][0] == "defect" and "KeyError" in defect["error"][1]
    assert refused["error"][0] == "MachineError" and "no PostgreSQL server" in refused["error"][1]
    assert not (tmp_path / "work").exists()


def test_an_agent_waits_at_a_door_for_another_and_shuts_it() -> None:
    here, room = "127.0.0.1", AgentFolder()
    one, other = HostReader(room), HostReader(room)
    port = one.listen(here, None)
    other.reach(here, port, 5.0, "a")
    one.close_door()
    with pytest.raises(MachineError, match=f"^a does not reach the server at {here} port {port}"):
        other.reach(here, port, 5.0, "a")
    with pytest.raises(MachineError, match=r"a server cannot listen on 192\.0\.2\.1 port any"):
        one.listen("192.0.2.1", None)
    one.end()


CUT_OFF = """
import sys
from teiten.execute.sites.remote.agent.loads import Loads
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.execute.client.log_folder import new_log_folder
room = AgentFolder()
room.choose(sys.argv[1])
room.prepare(lock=True)
made = Loads(room)._new_folder(), new_log_folder()
assert all(one is not None and one.exists() for one in made)
room.end()
assert not any(one.exists() for one in made), made
"""


def test_what_a_request_cut_off_in_its_middle_made_goes_with_the_agent(tmp_path: Path) -> None:
    foreign = tmp_path / "clusters" / "foreign"
    foreign.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", CUT_OFF, str(tmp_path)], check=True)
    assert foreign.exists(), "it has no marker"


def test_a_python_that_is_too_old_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LOADER],
        input=first_words((99, 0)),
        capture_output=True,
        timeout=300,
        check=True,
    )
    version = ".".join(map(str, sys.version_info[:2]))
    assert done.stdout.decode() == f"teiten-agent python {version}\n"


def test_messages_come_back_with_their_bytes() -> None:
    stream = io.BytesIO()
    write_message(stream, Message({"id": 1, "text": "一"}, b"\0\n\xff"))
    write_message(stream, Message({}))
    stream.seek(0)
    first, second = read_message(stream), read_message(stream)
    assert first == Message({"id": 1, "text": "一"}, b"\0\n\xff")
    assert second == Message({})
    assert read_message(stream) is None


@pytest.mark.parametrize("text", [b"hello\n", b'{"id": 1', b'{"payload": 9}\nabc', b"[]\n"])
def test_what_is_no_message_is_refused(text: bytes) -> None:
    with pytest.raises(WireError):
        read_message(io.BytesIO(text))


@pytest.mark.parametrize("name", ["", "-oProxyCommand=x", "a b", "a\nb"])
def test_no_host_is_taken_for_an_option(name: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        check_host(name, "hosts.db")


def test_an_open_server_lets_one_role_in_from_one_address() -> None:
    opening = conf.Opening("10.0.0.2", "10.0.0.3", "load", "bench", "scram-sha-256")
    rules = conf.host_rules(opening).splitlines()
    assert rules == ["local all all trust", "host bench load 10.0.0.3/32 scram-sha-256"]
    settings = {one.name: one.value for one in conf.required_settings(Path("/s"), 5, opening)}
    assert settings["listen_addresses"] == "10.0.0.2"
    alone = {one.name: one.value for one in conf.required_settings(Path("/s"), 5)}
    assert not alone["listen_addresses"]


def test_counted_latencies_are_those_recorded_one_by_one() -> None:
    import numpy as np  # noqa: PLC0415

    values = np.array([5, 5, 7_000, 123_456, 5], dtype=np.int64)
    once, counted = LatencyHistogram(), LatencyHistogram()
    once.record(values)
    different, counts = np.unique(values, return_counts=True)
    counted.record(different, counts.astype(np.int64))
    assert counted.encode() == once.encode()
    assert (counted.maximum, counted.mean) == (once.maximum, once.mean)
    assert counted.standard_deviation == pytest.approx(once.standard_deviation)


def test_json_of_the_bundle_is_one_line() -> None:
    words = first_words()
    assert words.count(b"\n") == 2
    assert isinstance(json.loads(words.splitlines()[1]), dict)


@pytest.mark.parametrize(
    "data",
    [
        pgbench_data(2, 80),
        script_data(Script("mine.sql", False, "SELECT 1"), Bytes(5)),
        ssb_data(0.1, variant=SsbVariant.REPORTS),
        pgbench_data(
            1, layout=Layout("keyed", (Script("a.sql", False, "SELECT 2"),), Share(1.5), 12, False)
        ),
    ],
)
def test_a_template_is_the_same_on_its_host(data: DataSet) -> None:
    spec = TemplateSpec(make_installation("18.4"), True, data, "f" * 64, Bytes(7))
    form = json.loads(json.dumps(template_form(spec, spec.installation)))
    there = template_of(form)
    assert (there.data.scale, there.data.kind) == (data.scale, data.kind)
    assert (str(there.data), there.data.layout) == (str(data), data.layout)
    assert there.data.options.told == data.options.told
    assert (there.fingerprint, there.expected_bytes) == (spec.fingerprint, spec.expected_bytes)
