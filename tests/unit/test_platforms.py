"""What only Linux (or only Unix) has is used in ``host`` and ``execute/probes`` alone, where each
use has its answer for the other systems (docs/reference/platforms.md), and in the agent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import teiten

pytestmark = pytest.mark.same

ROOT = Path(teiten.__file__).parent
ALLOWED = (
    ROOT / "host",
    ROOT / "execute" / "probes",
    ROOT
    / "execute"
    / "sites"
    / "remote"
    / "agent",  # runs on Linux hosts alone, and refuses others
)
MODULES = frozenset(
    {"crypt", "ctypes", "fcntl", "grp", "pty", "pwd", "resource", "select", "syslog", "termios",
     "tty"}
)  # fmt: skip
ATTRIBUTES = {
    "os": frozenset(
        {"chown", "copy_file_range", "fork", "forkpty", "getegid", "geteuid", "getgid",
         "getloadavg", "getpgid", "getuid", "kill", "killpg", "lchown", "mkfifo", "nice",
         "pidfd_open", "posix_fadvise", "posix_fallocate", "posix_spawn", "pread", "preadv",
         "pwrite", "readv", "sched_getaffinity", "sched_setaffinity", "sendfile", "setgid",
         "setgroups", "setpgid", "setpriority", "setsid", "setuid", "splice", "statvfs", "sync",
         "sysconf", "uname", "wait", "wait3", "wait4", "waitid", "writev"}
    ),
    "signal": frozenset(
        {"SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP",
         "SIGTSTP", "SIGUSR1", "SIGUSR2", "alarm", "pthread_kill", "pthread_sigmask", "setitimer",
         "sigwait"}
    ),
    "socket": frozenset({"SO_REUSEPORT", "SO_PEERCRED", "send_fds"}),
}  # fmt: skip
FILES = ("/proc/", "/sys/", "/dev/", "/run/", "/etc/")
WORDS = frozenset({"prctl", "ioctl", "syncfs", "sync_file_range", "fallocate"})
MAY_USE = re.compile(
    rf"\b(?:import|from) (?:{'|'.join((*MODULES, *ATTRIBUTES))})\b"
    rf"|{'|'.join((*WORDS, *(folder.rstrip('/') for folder in FILES)))}"
)
"""What stands in a source that uses any of these: most need not be parsed."""


def sources() -> list[Path]:
    return sorted(
        path
        for path in ROOT.rglob("*.py")
        if not any(path.is_relative_to(folder) for folder in ALLOWED)
    )


def uses(tree: ast.AST) -> Iterator[str]:
    """What a source uses that some systems do not have, docstrings aside."""
    texts = set(docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module.partition(".")[0] in MODULES:
                yield module
            known = ATTRIBUTES.get(module, frozenset())
            yield from (f"{module}.{one.name}" for one in node.names if one.name in known)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.attr in ATTRIBUTES.get(
                node.value.id, frozenset()
            ):
                yield f"{node.value.id}.{node.attr}"
            elif node.attr in WORDS:
                yield node.attr
        elif isinstance(node, ast.Constant) and id(node) not in texts:
            value = node.value
            if isinstance(value, str) and f"{value}/".startswith(FILES):
                yield value


def docstrings(tree: ast.AST) -> Iterator[int]:
    """Texts that stand alone: docstrings, and those below a constant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def test_there_is_something_to_look_at() -> None:
    assert len(sources()) > 100


def test_nothing_of_one_system_is_used_outside_of_host_and_probes() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sources()}
    found = {
        path: sorted(set(uses(ast.parse(text))))
        for path, text in texts.items()
        if MAY_USE.search(text)
    }
    wrong = {path: used for path, used in found.items() if used}
    assert not wrong, f"move to teiten/host, with an answer for other systems: {wrong}"


def test_the_rule_sees_each_kind_of_use() -> None:
    source = (
        '"""/proc/stat is fine here."""\nimport fcntl, os, signal\nfrom os import fork\n'
        'os.sched_getaffinity(0)\nsignal.SIGKILL\nopen("/proc/stat")\nlibc.prctl(1)\n'
    )
    assert set(uses(ast.parse(source))) == {
        "fcntl", "os.fork", "os.sched_getaffinity", "signal.SIGKILL", "/proc/stat", "prctl"
    }  # fmt: skip
