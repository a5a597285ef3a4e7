from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from teiten.cli.text.layout import wrap
from teiten.execute.probes.os import cpu_shares
from teiten.execute.probes.process_cpu import CpuAccount, ProcessGroup
from teiten.execute.probes.procfs import ProcessRecord, parse_process
from teiten.host.facts.cgroups import parse_own_groups
from teiten.host.facts.disks import parse_mountinfo
from teiten.host.facts.memory import parse_meminfo
from teiten.host.facts.readings import parse_id_list

names = st.text(min_size=0, max_size=15).map(lambda text: text.replace("\n", "?"))
ticks = st.integers(0, 10**9)


@given(st.text())
def test_parsers_of_text_take_anything(text: str) -> None:
    parse_mountinfo(text)
    parse_meminfo(text)
    parse_own_groups(text)


@given(st.sets(st.integers(0, 500)))
def test_a_list_of_processors_is_read_back(numbers: set[int]) -> None:
    assert set(parse_id_list(",".join(map(str, sorted(numbers))))) == numbers


@given(names, ticks, ticks, ticks, ticks)
def test_a_process_is_read_whatever_its_name(
    name: str, user: int, system: int, child_user: int, child_system: int
) -> None:
    text = (
        f"7 ({name}) S 3 7 7 0 -1 64 0 0 0 0 {user} {system} {child_user} {child_system}"
        " 20 0 1 0 5 0 0\n"
    )
    process = parse_process(text.encode("utf-8", "surrogatepass"))
    assert process.own == user + system
    assert process.children == child_user + child_system


states = st.tuples(*[st.integers(0, 10**6)] * 8)


@given(states, states)
def test_shares_are_between_0_and_1_and_sum_to_1(
    before: tuple[int, ...], after: tuple[int, ...]
) -> None:
    shares = cpu_shares(before, after)
    if any(new > old for old, new in zip(before, after, strict=True)):
        assert all(0 <= share <= 1 for share in shares.values())
        assert abs(sum(shares.values()) - 1) < 1e-9


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(1, 50), st.booleans()), max_size=8),
        min_size=1,
        max_size=8,
    )
)
def test_no_tick_of_a_servers_backends_is_lost_or_doubled(
    seconds: list[list[tuple[int, int, bool]]],
) -> None:
    """Backends work, end and are waited for at any time; the sum is what they used."""
    account = CpuAccount(1)
    roots = {1: ProcessGroup.TEITEN, 2: ProcessGroup.SERVER}
    living: dict[int, tuple[int, int]] = {}
    inherited = used = births = 0

    def look() -> None:
        records = {1: ProcessRecord(0, False, 0, 0, 1), 2: ProcessRecord(1, False, 0, inherited, 1)}
        for backend, (own, born) in living.items():
            records[100 + backend] = ProcessRecord(2, False, own, 0, born)
        account.update(records, roots)

    look()
    for second in seconds:
        for backend, work, ends in second:
            births += 1
            own, born = living.pop(backend, (0, births + 1))
            used += work
            if ends:
                inherited += own + work
            else:
                living[backend] = (own + work, born)
        look()
    assert account.ticks[ProcessGroup.SERVER] == used
    assert account.ticks[ProcessGroup.TEITEN] == 0


@given(st.text(alphabet="あア漢。、（） aB", max_size=60), st.integers(4, 40))
def test_wrapping_loses_no_character(text: str, width: int) -> None:
    assert "".join("".join(wrap(text, width)).split()) == "".join(text.split())
