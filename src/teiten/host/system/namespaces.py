"""Network namespaces with names, made and removed by the program ip (iproute2).

Source: ip-netns(8), network_namespaces(7), veth(4).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from teiten.host.facts.readings import read_field
from teiten.host.system.environment import run_briefly

NAMED = Path("/run/netns")
"""Where ip keeps them."""
SYSTEM_FOLDERS = ("/usr/sbin", "/sbin", "/usr/bin", "/bin")
"""Where ip is looked for; never in a folder of somebody else's PATH."""
OWN = Path("/proc/thread-self/ns/net")
CLONE_NEWNET = 0x40000000
CAP_NET_ADMIN, CAP_SYS_ADMIN = 12, 21
PATIENCE = 30.0
"""Seconds for one call of ip."""


def why_no_namespaces(root: Path = Path("/")) -> str | None:
    """Why no namespace can be made here; None where nothing speaks against it. Makes none."""
    if sys.platform != "linux":
        return "only Linux has network namespaces"
    if _ip() is None:
        return "the program ip (iproute2) is missing"
    capabilities = int(read_field(root / "proc/self/status", "CapEff") or "0", 16)
    if any(not capabilities >> needed & 1 for needed in (CAP_NET_ADMIN, CAP_SYS_ADMIN)):
        return "this program may not make network namespaces (it needs root)"
    return None


def path_of_space(name: str) -> Path:
    return NAMED / name


def add_space(name: str) -> None:
    """Make an empty one. Raises OSError."""
    _run("netns", "add", name)


def delete_space(name: str) -> bool:
    """Whether it is gone; with it goes what is in it, once no process is in it any more."""
    try:
        _run("netns", "delete", name)
    except OSError:
        return not path_of_space(name).exists()
    return True


def connect_spaces(space: str, device: str, other_space: str, other_device: str) -> None:
    """A pair of network devices, each made where it belongs: nothing of it is ever outside.

    Raises OSError.
    """
    _run(
        *("link", "add", device, "netns", space),
        *("type", "veth", "peer", "name", other_device, "netns", other_space),
    )


def configure_space(name: str, commands: Sequence[str]) -> None:
    """Commands of ip, one each, in a namespace. Raises OSError."""
    _run("-n", name, "-batch", "-", input="\n".join(commands) + "\n")


@contextmanager
def inside(space: Path | None) -> Iterator[None]:
    """This thread, and so what it starts meanwhile, is in a network namespace; None for ours.

    Raises OSError where it cannot be entered.
    """
    if space is None:
        yield
        return
    home = os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(space, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(home)
    finally:
        os.close(home)


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _ip() -> str | None:
    return shutil.which("ip", path=os.pathsep.join(SYSTEM_FOLDERS))


def _run(*words: str, input: str | None = None) -> None:  # noqa: A002 - as subprocess has it
    program = _ip()
    if program is None:
        raise FileNotFoundError("the program ip (iproute2) is missing")
    commands = None if input is None else input.encode()
    done = run_briefly([program, *words], input=commands, timeout=PATIENCE)
    if done.returncode != 0:
        complaint = " ".join(done.stderr.decode("utf-8", "replace").split())
        reason = complaint or f"ended with {done.returncode}"
        raise OSError(f"ip {' '.join(words)}: {reason}")
