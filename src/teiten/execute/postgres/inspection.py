"""Finding out which programs of PostgreSQL a folder holds."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.contrib import find_contrib
from teiten.execute.postgres.provision.receipts import read_receipt
from teiten.model.installation import Installation, Source


def inspect_managed(folder: Path, cache: BinaryCache) -> Installation:
    """One of Teiten's own. Raises ValueError or BrokenBinaryError where it is damaged."""
    receipt = read_receipt(folder)
    bin_directory = (folder / receipt.bin_directory).resolve()
    installation = inspect_folder(bin_directory, receipt.source, cache)
    return replace(installation, name=receipt.name, managed=True, build=receipt.build)


def inspect_folder(folder: Path, source: Source, cache: BinaryCache) -> Installation:
    """The installation whose programs are in ``folder``.

    Raises BrokenBinaryError where there is neither a server nor pgbench, or it cannot be run.
    """
    postgres, pgbench = find_binary(folder, "postgres"), find_binary(folder, "pgbench")
    program = postgres or pgbench
    if program is None:
        raise BrokenBinaryError(f"{folder} holds neither postgres nor pgbench")
    facts = cache.facts(program)
    try:
        version = facts.version
    except ValueError as error:
        raise BrokenBinaryError(f"{program}: {error}") from error
    return Installation(
        name=f"system:{version}" if source in (Source.SYSTEM, Source.PATH) else str(folder),
        version=version,
        source=source,
        bin_directory=folder,
        fingerprint=facts.fingerprint,
        contrib=find_contrib(folder, version.major) if postgres else frozenset(),
        postgres=postgres,
        initdb=find_binary(folder, "initdb"),
        pgbench=pgbench,
        psql=find_binary(folder, "psql"),
        programs=frozenset(path.name for path in folder.iterdir() if os.access(path, os.X_OK)),
    )


def folder_of_programs(folder: Path) -> Path | None:
    """The real folder of the server, or else of pgbench, that ``folder`` holds or links to."""
    program = find_binary(folder, "postgres") or find_binary(folder, "pgbench")
    return program.parent if program else None
