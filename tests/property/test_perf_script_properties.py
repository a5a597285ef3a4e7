"""Whatever stacks there are: written as perf does, they are read back."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.execute.probes.perf import fold

NAMES = st.from_regex(
    r"[A-Za-z_][A-Za-z0-9_]{0,12}(<[a-z, ]{1,6}>|\([a-z* ]{0,6}\))?", fullmatch=True
)
FILES = st.from_regex(r"/[A-Za-z0-9 ._/-]{1,20}[A-Za-z0-9](\.so\.6| \(deleted\))?", fullmatch=True)
FRAMES = st.tuples(st.integers(1, 2**47), NAMES.filter(lambda name: name != "main"), FILES)
STACKS = st.lists(FRAMES, min_size=1, max_size=6).flatmap(
    lambda frames: st.lists(st.lists(st.sampled_from(frames), min_size=1, max_size=8), max_size=12)
)
"""Of few functions, as of a server: names take longest to invent."""


def written(stack: list[tuple[int, str, str]]) -> str:
    """As ``perf script -F pid,ip,sym,dso`` writes a sample, innermost frame first."""
    frames = [f"\t{address:16x} {name} ({file})" for address, name, file in reversed(stack)]
    return "\n".join((" 4711 ", *frames, "\t         401000 main (/bin/postgres)", "", ""))


@settings(max_examples=200)
@given(STACKS)
def test_what_perf_writes_is_read_back(stacks: list[list[tuple[int, str, str]]]) -> None:
    text = "\n".join(written(stack) for stack in stacks)
    expected = Counter(";".join(("main", *(name for _, name, _ in stack))) for stack in stacks)
    folded = fold(text.splitlines(keepends=True))
    assert folded.stacks == expected
    assert folded.truncated == 0


@given(st.lists(st.text(alphabet=st.characters(codec="utf-8"), max_size=40), max_size=30))
def test_no_text_is_an_error_and_every_sample_is_counted_once(lines: list[str]) -> None:
    folded = fold(lines)
    samples = 0
    inside = False
    for line in lines:
        if line.strip() and not inside:
            samples += 1
        inside = bool(line.strip())
    assert folded.stacks.total() == samples
    assert folded.truncated <= samples
