"""Any tree of files is copied as it is, by every method."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.execute.postgres.templates.clone import clone_tree
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.host.system.users import ServerUser

NAMES = st.text("abcdefgh0123456789_.", min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..", "postmaster.pid", "postmaster.opts")
)
TREES = st.recursive(
    st.binary(max_size=20_000),
    lambda children: st.dictionaries(NAMES, children, max_size=4),
    max_leaves=12,
)


def write(folder: Path, tree: dict[str, object]) -> None:
    folder.mkdir()
    for name, content in tree.items():
        if isinstance(content, dict):
            write(folder / name, content)
        elif isinstance(content, bytes):
            (folder / name).write_bytes(content)


def read(folder: Path) -> dict[str, object]:
    return {
        entry.name: read(entry) if entry.is_dir() else entry.read_bytes()
        for entry in folder.iterdir()
    }


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(NAMES, TREES, max_size=5), st.sampled_from(CopyMethod))
def test_a_copy_is_the_same_tree(tree: dict[str, object], method: CopyMethod) -> None:
    with tempfile.TemporaryDirectory() as name:
        source, copy = Path(name, "source"), Path(name, "copy")
        write(source, tree)
        clone_tree(
            source, copy, user=ServerUser("ourselves", None, None), method=method, sync=False
        )
        assert read(copy) == tree
