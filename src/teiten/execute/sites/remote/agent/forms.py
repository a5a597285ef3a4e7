"""The words of Teiten and its agent: messages, each a line of JSON, perhaps with bytes behind it,
and in them values of ``model``, as much as a host needs to know of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from teiten.model.installation import Installation, Source, Version
from teiten.model.plan import TemplateSpec
from teiten.model.study import DataOptions, DataSet, Layout, Script, Setting
from teiten.model.text import Bilingual
from teiten.model.units import Bytes

BUILT = "template"
"""The key of the cluster that becomes a template."""


def template_form(spec: TemplateSpec, installation: Installation) -> dict[str, Any]:
    """``installation``: where its programs are on the host."""
    return {
        "installation": installation_form(installation),
        "checksums": spec.checksums,
        "data": data_form(spec.data),
        "fingerprint": spec.fingerprint,
        "bytes": spec.expected_bytes,
    }


def template_of(form: dict[str, Any]) -> TemplateSpec:
    return TemplateSpec(
        installation=installation_of(form["installation"]),
        checksums=form["checksums"],
        data=data_of(form["data"]),
        fingerprint=form["fingerprint"],
        expected_bytes=Bytes(form["bytes"]),
    )


@dataclass(frozen=True)
class DataThere(DataOptions):
    """Tables as a host is told of them, whatever their kind: it does not make them."""

    text: str
    """How they are described."""
    values: tuple[tuple[str, Any], ...]

    @property
    def told(self) -> Mapping[str, Any]:
        return dict(self.values)

    def described(self, scale: float | None) -> str:
        del scale
        return self.text


def data_form(data: DataSet) -> dict[str, Any]:
    return {
        "scale": data.scale,
        "kind": data.kind,
        "text": data.options.described(data.scale),
        "told": dict(data.options.told),
        "layout": None if data.layout is None else asdict(data.layout),
    }


def data_of(form: dict[str, Any]) -> DataSet:
    """A template is described, and given room, by each of these."""
    layout = form["layout"]
    return DataSet(
        scale=form["scale"],
        kind=form["kind"],
        options=DataThere(form["text"], tuple(form["told"].items())),
        layout=_layout_of(layout) if layout else None,
    )


def _layout_of(form: dict[str, Any]) -> Layout:
    return Layout(**{**form, "scripts": tuple(Script(**script) for script in form["scripts"])})


def installation_form(installation: Installation) -> dict[str, Any]:
    return {
        "name": installation.name,
        "version": installation.version.number,
        "bin_directory": str(installation.bin_directory),
        "fingerprint": installation.fingerprint,
        "postgres": str(installation.postgres),
        "initdb": str(installation.initdb),
        "library_path": str(installation.library_path) if installation.library_path else None,
    }


def installation_of(form: dict[str, Any]) -> Installation:
    library_path = form["library_path"]
    return Installation(
        name=form["name"],
        version=Version(form["version"]),
        source=Source.NAMED,
        bin_directory=Path(form["bin_directory"]),
        fingerprint=form["fingerprint"],
        postgres=Path(form["postgres"]),
        initdb=Path(form["initdb"]),
        library_path=Path(library_path) if library_path else None,
    )


def settings_form(settings: Iterable[Setting]) -> list[list[str]]:
    return [
        [setting.name, setting.value or "", setting.reason.en, setting.source]
        for setting in settings
    ]


def settings_of(form: Iterable[list[str]]) -> tuple[Setting, ...]:
    return tuple(
        Setting(name, value, Bilingual(reason, reason), source)
        for name, value, reason, source in form
    )


PAYLOAD = "payload"
LONGEST_LINE = 64 << 20


class WireError(Exception):
    """Input that is no message, or only a part of one."""


@dataclass(frozen=True)
class Message:
    """``values``: JSON; ``payload``: bytes that are no text."""

    values: dict[str, Any]
    payload: bytes = field(default=b"", repr=False)


def write_message(stream: IO[bytes], message: Message) -> None:
    """Raises OSError where the other side is gone."""
    values = message.values
    if message.payload:
        values = {**values, PAYLOAD: len(message.payload)}
    stream.write(json.dumps(values).encode("ascii") + b"\n")
    if message.payload:
        stream.write(message.payload)
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """The next message; None at the end. Raises WireError for anything else, OSError."""
    line = stream.readline(LONGEST_LINE)
    if not line:
        return None
    if not line.endswith(b"\n"):
        raise WireError("a message was cut off")
    try:
        values = json.loads(line)
        size = int(values.pop(PAYLOAD, 0))
    except (ValueError, AttributeError, TypeError) as error:
        raise WireError(f"not a message: {line[:80]!r}") from error
    payload = stream.read(size)  # a buffered stream gives all of it, unless it ends before
    if len(payload) < size:
        raise WireError("a message was cut off")
    return Message(values, payload)
