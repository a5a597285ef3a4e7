"""The text of ``perf script`` to folded stacks."""

from __future__ import annotations

import pytest

from teiten.execute.probes.perf import fold, frame_name

TEXT = """\
  3633 {end}
\tffffffff821eb0e7 clear_page_erms ([kernel.kallsyms])
\tffffffff81000130 entry_SYSCALL_64_after_hwframe ([kernel.kallsyms])
\t           f63d3 __libc_pread (/usr/lib/libc.so.6)
\t          34f485 FileRead.part.0 (/opt/pg 18/bin/postgres)
\t           d0196 main (/opt/pg 18/bin/postgres)
\t           27304 __libc_start_main@@GLIBC_2.34 (/usr/lib/libc.so.6)
\t           d01c9 _start (/opt/pg 18/bin/postgres)

  3629 {end}
\t          34f485 FileRead.constprop.0.isra.2 (/opt/pg 18/bin/postgres)
\t           d0196 main (/opt/pg 18/bin/postgres)

[ perf script: something that is no frame ]

  3640 {end}
\t          7f0000 [unknown] (/dev/shm/x (deleted))
""".replace("{end}", "")  # perf ends a sample's first line with a space


def test_stacks_begin_at_main_and_end_where_the_sample_was_taken() -> None:
    folded = fold(TEXT.splitlines(keepends=True))
    reading = "main;FileRead;__libc_pread;entry_SYSCALL_64_after_hwframe_[k];clear_page_erms_[k]"
    assert folded.stacks == {
        reading: 1,
        "main;FileRead": 1,
        "[unknown]": 1,
        "[x]": 1,
    }
    assert folded.truncated == 2


@pytest.mark.parametrize(
    ("address", "symbol", "file", "name"),
    [
        (0x1000, "heap_fetch", "/bin/postgres", "heap_fetch"),
        (0x1000, "heap_fetch.cold", "/bin/postgres", "heap_fetch"),
        (0x1000, "f.lto_priv.3.part.1", "/bin/postgres", "f"),
        (0x1000, "[unknown]", "/bin/postgres", "[postgres]"),
        (0x1000, "[unknown]", "[unknown]", "[unknown]"),
        (0x1000, "memcpy@@GLIBC_2.14", "/lib/libc.so.6", "memcpy"),
        (0x1000, "clock_gettime", "[vdso]", "clock_gettime"),
        (0x1000, "a;b", "/bin/x", "a:b"),
        (0xFFFFFFFF81000000, "do_syscall_64", "[kernel.kallsyms]", "do_syscall_64_[k]"),
        (0xFFFFFFFFC0000000, "ext4_write", "[ext4]", "ext4_write_[k]"),
        (0xFFFFFFFF81000000, "[unknown]", "[kernel.kallsyms]", "[kernel.kallsyms]_[k]"),
        (0x1000, "operator()(int (*)(char)) const", "/lib/x.so", "operator()(int (*)(char)) const"),
    ],
)
def test_names_of_frames(address: int, symbol: str, file: str, name: str) -> None:
    assert frame_name(address, symbol, file) == name


def test_nothing_gives_nothing() -> None:
    assert not fold([]).stacks
    assert fold([]).truncated == 0
