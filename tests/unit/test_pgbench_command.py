"""pgbench's command line, by version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.execute.client.address import Address
from teiten.kinds.pgbench.load.command import (
    PgbenchRun,
    benchmark_arguments,
    check_options,
    script_file_name,
    shown,
    transaction_log,
    trial_arguments,
)
from teiten.model.installation import Pgbench, Source, Version
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds
from teiten.study.load import load_study

RUN = PgbenchRun(
    pgbench=Pgbench(Path("/opt/pg/bin/pgbench"), Version.parse("18.4"), Source.PATH),
    address=Address.by_socket(Path("/tmp/s"), 5433, "postgres", "bench"),
    script=Script("range-read.sql", False, "SELECT 1;\n"),
    scale=10,
    clients=8,
    threads=4,
    duration=Seconds(2.5),
    seed=2**63 + 5,
    query_mode=QueryMode.PREPARED,
    options=("-C",),
    log_sampling_rate=1.0,
    folder=Path("/tmp/f"),
)


def with_version(run: PgbenchRun, version: str) -> PgbenchRun:
    return replace(run, pgbench=replace(run.pgbench, version=Version.parse(version)))


def test_the_command_of_pgbench_18() -> None:
    assert shown(RUN.pgbench, benchmark_arguments(RUN)) == (
        "/opt/pg/bin/pgbench -n -h /tmp/s -p 5433 -U postgres -M prepared -s 10 -f range-read.sql"
        " -c 8 -j 4 -T 3 -P 1 -r --random-seed=9223372036854775813"
        " -l --log-prefix=transactions -C bench"
    )


def test_a_connection_of_its_own_for_each_transaction_is_an_option_of_pgbench() -> None:
    anew = replace(RUN, options=(), reconnect=True)
    assert "-C" in benchmark_arguments(anew) and "-C" in trial_arguments(anew)
    assert "-C" not in benchmark_arguments(replace(anew, reconnect=False))


def prefix(run: PgbenchRun) -> str:
    log = transaction_log(run)
    assert log is not None
    return log.prefix


def test_the_command_of_pgbench_9_6_has_neither_seed_nor_prefix() -> None:
    arguments = benchmark_arguments(with_version(RUN, "9.6.24"))
    assert not [text for text in arguments if text.startswith("--")]
    assert "-l" in arguments
    assert prefix(with_version(RUN, "9.6.24")) == "pgbench_log"
    assert prefix(with_version(RUN, "10.0")) == "transactions"


def test_pgbench_11_takes_seeds_of_32_bits() -> None:
    assert "--random-seed=5" in benchmark_arguments(with_version(RUN, "11.22"))
    assert "--random-seed=9223372036854775813" in benchmark_arguments(with_version(RUN, "12.1"))


def test_a_builtin_script_has_no_scale() -> None:
    arguments = benchmark_arguments(replace(RUN, script=Script("tpcb-like", True, "")))
    assert arguments[arguments.index("-b") + 1] == "tpcb-like"
    assert "-s" not in arguments
    assert "-f" not in arguments


def test_a_share_of_the_log() -> None:
    arguments = benchmark_arguments(replace(RUN, log_sampling_rate=0.05))
    assert "--sampling-rate=0.050000000" in arguments


def test_no_log() -> None:
    arguments = benchmark_arguments(replace(RUN, log_sampling_rate=None))
    assert "-l" not in arguments
    assert not [text for text in arguments if "log" in text or "sampling" in text]


def test_one_transaction() -> None:
    assert trial_arguments(RUN)[-8:] == ("-c", "1", "-j", "1", "-t", "1", "-C", "bench")


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("range-read.sql", "range-read.sql"),
        ("range-read", "range-read.sql"),
        ("a@2.sql", "a_2.sql"),
        ("../../etc/passwd", "passwd.sql"),
        ("読み取り.sql", "_.sql"),
        ("-rf.sql", "rf.sql"),
        ("..", "script.sql"),
        ("pgbench-output.txt", "pgbench-output.txt.sql"),
    ],
)
def test_the_scripts_file_name(name: str, file_name: str) -> None:
    assert script_file_name(Script(name, False, "")) == file_name


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-r",),
        ("-C", "-r"),
        ("-R", "1000", "-L", "5"),
        ("-Dx=1",),
        ("-D", "name=cjT"),
        ("--max-tries=3", "--failures-detailed", "--verbose-errors"),
        ("--define=x=1", "--rate=5", "--latency-limit=5", "--connect"),
    ],
)
def test_free_options(options: tuple[str, ...]) -> None:
    check_options(options)


@pytest.mark.parametrize(
    ("option", "taken"),
    [
        ("-c", "-c"),
        ("-c8", "-c"),
        ("-rl", "-l"),
        ("-CT10", "-T"),
        ("-i", "-i"),
        ("-S", "-S"),
        ("--client=4", "--client"),
        ("--cli=4", "--client"),
        ("--log", "--log"),
        ("--aggregate-interval=5", "--aggregate-interval"),
        ("--progress-timestamp", "--progress-timestamp"),
        ("--sampling-rate=0.1", "--sampling-rate"),
        ("--file=x.sql", "--file"),
    ],
)
def test_an_option_of_teitens_own_is_refused(option: str, taken: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_options(("-C", option))
    assert caught.value.message == (
        f"pgbench_options: {option}: pgbench's option {taken} is set by Teiten"
    )
    assert "study's own keys" in caught.value.hint
    with pytest.raises(UsageError):
        benchmark_arguments(replace(RUN, options=(option,)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("postgresql://u@evil/db", "-D"), "postgresql://u@evil/db is no option"),
        (("-C", "host=evil dbname=x"), "host=evil dbname=x is no option"),
        (("-C", ""), "an empty word is no option"),
        (("--", "evil"), "-- is no option"),
        (("-R", "10", "evil"), "evil is no option"),
        (("-", "evil"), "- is no option"),
        (("-D",), "-D lacks its value"),
        (("-CD",), "-CD lacks its value"),
        (("--connect", "--define"), "--define lacks its value"),
        (("-z", "evil"), "-z: pgbench 9.6 to 18 has no such option"),
        (("-Cz",), "-Cz: pgbench 9.6 to 18 has no such option"),
        (("--news", "evil"), "--news: pgbench 9.6 to 18 has no such option"),
        (("--defi", "x=1"), "--defi: pgbench 9.6 to 18 has no such option"),
    ],
)
def test_what_could_take_the_place_of_the_server_is_refused(
    options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_options(options)
    assert caught.value.message.startswith(f"pgbench_options: {message}")
    with pytest.raises(UsageError):
        benchmark_arguments(replace(RUN, options=options))


def test_options_of_a_later_pgbench_stand_with_their_values() -> None:
    check_options(("--news=1", "-CR", "5", "-D", "-x", "--rate", "7", "-qv", "--exit-on-abort"))
    with pytest.raises(UsageError) as caught:
        check_options(("--news", "1"))
    assert "--name=value" in caught.value.hint


def test_a_study_is_refused_when_it_is_read() -> None:
    with pytest.raises(UsageError, match=r"--set pgbench_options: evil is no option"):
        load_study("observe", overrides=["pgbench_options=-C evil"])
