from __future__ import annotations

import ast
import inspect
import re
import string
from typing import Any

import pytest

from teiten.host.cautions import machine as module
from teiten.host.cautions import variants as variant_cautions
from teiten.host.cautions.machine import (
    cautions,
    compiler_of,
    telemetry_missing,
    warnings_first,
)
from teiten.model.facts import Caution, Severity
from teiten.model.text import Language
from teiten.model.units import GIB, MIB
from teiten.report.texts import caution_text, read_entries
from tests.fixtures.invented_machine import GOOD_MACHINE, machine

ALWAYS = {"shared-cores"}


def codes(**changes: Any) -> set[str]:
    return {caution.code for caution in cautions(machine(**changes))} - ALWAYS


def test_a_good_machine_has_only_the_note_that_client_and_server_share_it() -> None:
    assert [caution.code for caution in cautions(GOOD_MACHINE)] == ["shared-cores"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"load_average": 3.0}, "other-load"),
        ({"memory": {"swap_total": GIB, "swap_used": MIB}}, "swap-in-use"),
        ({"memory": {"swap_total": GIB}}, "swap-present"),
        ({"memory": {"available": 10 * GIB}}, "memory-low"),
        ({"memory": {"transparent_huge_pages": "always"}}, "transparent-huge-pages"),
        ({"cpu": {"governor": "powersave"}}, "frequency-governor"),
        ({"cpu": {"turbo": True}}, "turbo-on"),
        ({"cpu": {"turbo": None}}, "turbo-unknown"),
        ({"cpu": {"logical": 2}}, "few-cores"),
        ({"cpu": {"quota_cores": 4.5}}, "cgroup-quota"),
        ({"cpu": {"threads_per_core": 2, "physical_cores": 8}}, "hardware-threads"),
        ({"cpu": {"numa_nodes": 2}}, "numa-nodes"),
        ({"virtualisation": "kvm"}, "virtual-machine"),
        ({"container": "docker"}, "container"),
        ({"disk": {"file_system": "btrfs"}}, "copy-on-write"),
        ({"disk": {"file_system": "zfs"}}, "copy-on-write"),
        ({"disk": {"file_system": "tmpfs"}}, "memory-file-system"),
        ({"disk": {"file_system": "nfs4"}}, "network-file-system"),
        ({"disk": {"kind": "network"}}, "network-file-system"),
        ({"disk": {"file_system": "overlay"}}, "overlay-file-system"),
        ({"disk": {"kind": "hdd"}}, "rotational-disk"),
        ({"disk": {"free": 50 * GIB}}, "disk-nearly-full"),
        ({"clock_source": "acpi_pm"}, "clock-source"),
        ({"is_root": False}, "perf-not-allowed"),
        ({"pressure_stall": False}, "pressure-stall-missing"),
        ({"system": "Darwin", "pressure_stall": False}, "other-system"),
    ],
)
def test_each_fault_of_an_invented_machine_has_its_caution(
    changes: dict[str, Any], code: str
) -> None:
    assert codes(**changes) == {code}


@pytest.mark.parametrize(
    "changes",
    [
        {"load_average": None},
        {"load_average": 0.29, "cpu": {"logical": 16}},
        {"load_average": 2.0, "cpu": {"logical": 16}},
        {"cpu": {"governor": None}},
        {"is_root": False, "perf_event_paranoid": 1},
        {"clock_source": None},
        {"clock_source": "arch_sys_counter"},
    ],
)
def test_what_is_unknown_or_harmless_has_none(changes: dict[str, Any]) -> None:
    assert codes(**changes) == set()


def test_a_virtual_machine_is_not_told_that_its_turbo_is_unknown() -> None:
    assert codes(virtualisation="kvm", cpu={"turbo": None}) == {"virtual-machine"}


def test_powersave_is_a_warning_and_another_governor_a_note() -> None:
    def severity(governor: str) -> Severity:
        found = cautions(machine(cpu={"governor": governor}))
        return next(one.severity for one in found if one.code == "frequency-governor")

    assert severity("powersave") is Severity.WARNING
    assert severity("performance,powersave") is Severity.WARNING
    assert severity("schedutil") is Severity.NOTE


def test_more_clients_than_cores_is_a_note() -> None:
    found = {one.code: one for one in cautions(GOOD_MACHINE, clients=32)}
    assert dict(found["more-clients-than-cores"].values) == {"clients": "32", "cores": "16"}
    assert "more-clients-than-cores" not in {one.code for one in cautions(GOOD_MACHINE, clients=16)}


def test_warnings_come_first_and_nothing_twice() -> None:
    note, warning = Caution("a", Severity.NOTE), Caution("b", Severity.WARNING)
    assert warnings_first([note, warning, note]) == (warning, note)


@pytest.mark.parametrize(
    ("text", "compiler"),
    [
        (
            "PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc (Ubuntu 7.5.0-3ubuntu1) "
            "7.5.0, 64-bit",
            "gcc (Ubuntu 7.5.0-3ubuntu1) 7.5.0",
        ),
        ("PostgreSQL 17.0 on x86_64-linux, compiled by gcc-12.2.0, 64-bit", "gcc-12.2.0"),
        ("PostgreSQL 16.1, compiled by Visual C++ build 1937, 64-bit", "Visual C++ build 1937"),
        ("PostgreSQL 10.23", None),
    ],
)
def test_the_compiler_is_read_from_the_version(text: str, compiler: str | None) -> None:
    assert compiler_of(text) == compiler


def test_telemetry_that_is_missing_names_source_and_reason() -> None:
    caution = telemetry_missing("pg_stat_io", "permission denied")
    assert caution_text(caution, "en")[0] == "Not recorded: pg_stat_io (permission denied)."
    assert caution.severity is Severity.NOTE


def made_in_the_module() -> dict[str, set[str]]:
    """Each code of the module's source, and the names of the values that it is given."""
    found: dict[str, set[str]] = {}
    sources = (inspect.getsource(one) for one in (module, variant_cautions))
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if not isinstance(node, ast.Call):
            continue
        if ast.unparse(node.func) not in {"Caution.warning", "Caution.note"}:
            continue
        literals = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        for code in literals:
            if isinstance(code, str):
                names = {keyword.arg or "" for keyword in node.keywords}
                if "" in names:  # **where
                    names = names - {""} | {"mount_point", "file_system"}
                found[code] = names
    return found


def test_the_codes_are_found_in_the_source() -> None:
    assert len(made_in_the_module()) >= 25


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_code_has_its_texts_and_they_use_only_its_values(language: Language) -> None:
    entries = read_entries(f"cautions.{language}.toml")
    made = made_in_the_module()
    assert {key.split(".")[1] for key in entries} == set(made)
    for code, values in made.items():
        for part in ("what", "advice"):
            text = entries[f"caution.{code}.{part}"]
            used = {name for _, name, _, _ in string.Formatter().parse(text) if name}
            assert used <= values, f"{code}.{part} uses {used - values}"


def test_japanese_texts_are_japanese() -> None:
    for key, text in read_entries("cautions.ja.toml").items():
        assert re.search(r"[ぁ-んァ-ン一-龥]", text), key
