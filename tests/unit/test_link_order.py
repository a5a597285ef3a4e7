"""The command that links a server, and its objects in another order."""

from __future__ import annotations

from teiten.execute.postgres.building.relinking import LinkCommand, find_link, link_seed

LINE = (
    "gcc -O2 -L../../src/port -Wl,-rpath,'/opt/a b/lib',--enable-new-dtags -Wl,-E access/a.o"
    " tcop/b.o ../timezone/c.o utils/d.o ../../src/port/libpgport_srv.a -lz -lm -o postgres"
)


def found(line: str = LINE) -> LinkCommand:
    command = find_link(["make[2]: Entering directory", line, "make[2]: Leaving directory"])
    assert command is not None
    return command


def test_the_command_and_its_files_are_read_from_what_make_wrote() -> None:
    command = found()
    assert command.objects == 4
    assert command.files == (
        "src/backend/access/a.o",
        "src/backend/tcop/b.o",
        "src/timezone/c.o",
        "src/backend/utils/d.o",
        "src/port/libpgport_srv.a",
    )
    assert "-Wl,-rpath,/opt/a b/lib,--enable-new-dtags" in command.arguments


def test_only_objects_change_their_places() -> None:
    command = found()
    orders = {command.ordered(seed) for seed in range(40)}
    assert len(orders) > 15, "of 24"
    places = [one for one, word in enumerate(command.arguments) if word.endswith(".o")]
    for order in orders:
        assert sorted(order) == sorted(command.arguments)
        assert [one for one, word in enumerate(order) if word.endswith(".o")] == places
    assert command.ordered(7) == command.ordered(7)


def test_what_is_no_link_of_the_server_is_none() -> None:
    assert find_link([]) is None
    assert find_link(["gcc -c main.c -o postgres.o"]) is None
    assert find_link(["gcc a.o b.o -o postgres_fdw.so"]) is None
    assert find_link(["gcc a.o -o postgres"]) is None, "one object has no order"
    assert find_link(["gcc ../../../outside.o b.o -o postgres"]) is None
    assert find_link(["[1534/1700] Linking target src/backend/postgres"]) is None, "meson"
    assert find_link(["echo 'a.o b.o -o postgres"]) is None, "a quote that is not closed"


def test_every_trial_has_an_order_of_its_own() -> None:
    assert len({link_seed(campaign, trial) for campaign in range(9) for trial in range(99)}) == 891
    assert link_seed(3, 4) == link_seed(3, 4)
