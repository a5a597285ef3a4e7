"""A build before it is made: its source, its tools, its key, and what it will take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from teiten.execute.postgres.building.prerequisites import Tools, find_tools
from teiten.execute.postgres.building.recipe import build_key, expected_seconds
from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.inspection import WANTED
from teiten.execute.postgres.provision.receipts import folder_name
from teiten.execute.postgres.provision.staging import managed_installations
from teiten.host.system.paths import Workdir
from teiten.model.build import BuildSpec
from teiten.model.installation import Installation, Source
from teiten.model.units import Seconds


@dataclass(frozen=True)
class Prepared:
    """A build of which everything is known but its result."""

    source: SourceCode
    spec: BuildSpec
    tools: Tools
    key: str

    @property
    def described(self) -> str:
        """For a person: version, source and options."""
        options = [*self.spec.configure]
        if self.spec.cflags is not None:
            options.append(f"CFLAGS={self.spec.cflags}")
        with_options = f" with {' '.join(options)}" if options else ""
        how = " by meson" if self.spec.meson else ""
        return (
            f"PostgreSQL {self.source.version_text} from {self.source.described}{how}{with_options}"
        )


def prepare_build(spec: BuildSpec, source: SourceCode | None = None) -> Prepared:
    """Look at source, compiler and libraries. Raises UsageError and MachineError.

    ``source``: where it was found already.
    """
    assert spec.source is not None
    source = source or find_source(spec.source)
    tools = find_tools(source, spec)
    return Prepared(source, spec, tools, build_key(source, spec, tools))


def built_already(workdir: Workdir, key: str) -> Installation | None:
    """The installation of a key, whatever its name."""
    return of_key(managed_installations(workdir), key)


def foretold_seconds(workdir: Workdir, jobs: int) -> Seconds:
    """Estimate the next build's duration from the last one here."""
    known = [
        installation.build
        for installation in managed_installations(workdir)
        if installation.build is not None
    ]
    last = known[-1] if known else None
    return expected_seconds(last.seconds * last.jobs if last else None, jobs)


def foretold(workdir: Workdir, name: str, prepared: Prepared) -> Installation:
    """Describe a build before it is made: for a plan that starts nothing."""
    programs = workdir.installations / folder_name(name) / "bin"
    return Installation(
        name=name,
        version=prepared.source.version,
        source=Source.BUILD,
        bin_directory=programs,
        fingerprint=prepared.key,
        contrib=frozenset(WANTED),
        postgres=programs / "postgres",
        initdb=programs / "initdb",
        pgbench=programs / "pgbench",
        psql=programs / "psql",
        managed=True,
    )


def of_key(own: Iterable[Installation], key: str) -> Installation | None:
    """The installation of a key among these."""
    return next(
        (
            installation
            for installation in own
            if installation.build is not None and installation.build.key == key
        ),
        None,
    )
