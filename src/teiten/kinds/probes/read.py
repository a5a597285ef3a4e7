"""A probe's file to a ``Probe``: a form for each kind of step; unknown keys are refused."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationError

from teiten.kinds.probes.model import (
    MEASURING,
    PLACE,
    Amount,
    Do,
    Of,
    Order,
    Probe,
    ProbeStep,
    State,
    Take,
)
from teiten.model.quantities import parse_share
from teiten.study.scripts import find_file, text_of
from teiten.study.tables import Name, SettingName, SettingValue, Text, Time, TomlTable
from teiten.suggest import did_you_mean

CATALOGUE = Path(__file__).parent / "catalogue"
EACH = "each"
"""A step's part where it is the one of ``parts`` whose turn it is."""
_AMOUNT = re.compile(
    r"(?P<share>\d+(?:\.\d+)?)\s*%\s+of\s+(?P<of>buffers|memory|table|cores)"
    r"|(?P<number>\d+)\s+(?P<unit>pages|clients)"
)
_BOUND = re.compile(r"(?P<side>>=|<=)\s*(?P<share>\d+(?:\.\d+)?\s*%)")


def amount(value: Any) -> Amount:
    """``90% of buffers``, ``500 pages``, ``200% of cores``. Raises ValueError."""
    match = _AMOUNT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(
            f"{value!r} is no amount; write such as 90% of buffers, 10% of table, 50% of memory,"
            " 500 pages, 200% of cores or 4 clients"
        )
    if match["of"]:
        return Amount(float(match["share"]) / 100, Of(match["of"]))
    return Amount(float(match["number"]), Of(match["unit"]))


def _part(value: Any) -> Amount | Literal["each"] | None:
    if value in (None, EACH):
        return value  # type: ignore[no-any-return]
    part = amount(value)
    if part.of in (Of.CORES, Of.CLIENTS):
        raise ValueError(f"{part} is no number of pages")
    return part


def _clients(value: Any) -> tuple[Amount, ...]:
    clients = tuple(amount(text) for text in value) if isinstance(value, list) else ()
    if not clients or any(count.of not in (Of.CORES, Of.CLIENTS) for count in clients):
        raise ValueError('must be a list such as ["1 clients", "100% of cores"]')
    return clients


def _bounds(value: Any) -> tuple[float | None, float | None]:
    """The least and the greatest share."""
    match = _BOUND.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError(f"{value!r} is no bound; write such as >= 99% or <= 5%")
    share = float(parse_share(match["share"].replace(" ", "")))
    return (share, None) if match["side"] == ">=" else (None, share)


def _least(value: Any) -> float:
    least, _ = _bounds(value)
    if least is None:
        raise ValueError(f"{value!r}: memory has a least share alone; write such as >= 99%")
    return least


def _statement(value: Any) -> str:
    if not isinstance(value, str) or PLACE not in value:
        raise ValueError(f"must be a statement with the place {PLACE} of a page's number")
    return value.strip()


Part = Annotated[Any, PlainValidator(_part)]
Bounds = Annotated[tuple[float | None, float | None], PlainValidator(_bounds)]
Statement = Annotated[str, PlainValidator(_statement)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


class _OfPages(TomlTable):
    """A step that is about pages of a table."""

    table: Name
    part: Part = None


class _Load(_OfPages):
    do: Literal["load"]
    into: Literal["buffers", "os-cache"] = "buffers"
    times: Annotated[int, Field(ge=1, le=10)] = 1
    new_pages: bool = False
    leaving: Annotated[int, Field(ge=0)] = 0


class _Touch(_OfPages):
    do: Literal["touch"]
    times: Annotated[float, Field(gt=0, le=100)] = 1.0


class _Forget(TomlTable):
    do: Literal["forget"]
    table: Name


class _Set(TomlTable):
    do: Literal["set"]
    parameters: dict[SettingName, SettingValue]


class _Execute(TomlTable):
    do: Literal["execute"]
    name: Name
    statement: str
    table: Annotated[str, Field(max_length=63)] = ""


class _Require(_OfPages):
    do: Literal["require"]
    name: Name
    buffers: Bounds = (None, None)
    os_cache: Bounds = (None, None)
    memory: Annotated[float | None, PlainValidator(_least)] = None


class _Measure(_OfPages):
    do: Literal["measure"]
    name: Name
    statement: Statement
    statements: Count
    order: Literal["random", "ascending", "next"] = "random"
    commit: bool = False
    watch: bool = False


class _Clients(_OfPages):
    do: Literal["clients"]
    name: Name
    statement: Statement
    clients: Annotated[tuple[Amount, ...], PlainValidator(_clients)]
    seconds: Time


class _Checkpoint(_OfPages):
    do: Literal["checkpoint"]
    name: Name
    statement: Statement
    changes: Annotated[int, Field(ge=0, le=10_000)]
    statements: Count


_AnyStep = Annotated[
    _Load | _Touch | _Forget | _Set | _Execute | _Require | _Measure | _Clients | _Checkpoint,
    Field(discriminator="do"),
]


class _Number(TomlTable):
    of: Name
    take: Literal["mean", "median", "commit", "sweep"]


class _File(TomlTable):
    title: Text
    description: Text
    source: str = ""
    parts: Annotated[
        tuple[Amount, ...], PlainValidator(lambda texts: tuple(map(amount, texts)))
    ] = ()
    number: _Number
    steps: Annotated[list[_AnyStep], Field(min_length=1)]


def read_probes(names: Sequence[str], folders: Sequence[Path]) -> tuple[Probe, ...]:
    """Probes of the catalogue by their names, or of files.

    Raises ValueError with a sentence for people.
    """
    probes = tuple(_read(_file(name, folders)) for name in names)
    read = [probe.name for probe in probes]
    twice = next((name for name in read if read.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"there are two probes {twice!r}")
    return probes


def catalogue() -> tuple[str, ...]:
    """The names of the probes that Teiten brings."""
    return tuple(sorted(path.stem for path in CATALOGUE.glob("*.toml")))


def _file(name: str, folders: Sequence[Path]) -> Path:
    if name in catalogue():
        return CATALOGUE / f"{name}.toml"
    path = find_file(name, folders)
    if path is not None:
        return path
    near = did_you_mean(name, catalogue())
    raise ValueError(f"there is no probe {name!r}.{near} Teiten brings {', '.join(catalogue())}")


def _read(path: Path) -> Probe:
    text = text_of(path, "probe")
    try:
        return probe_of(path.stem, text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(key) for key in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise ValueError(f"the probe {path.name}: {where}: {message}") from error
    except ValueError as error:
        raise ValueError(f"the probe {path.name}: {error}") from error


def probe_of(name: str, text: str) -> Probe:
    """Raises ValueError, ValidationError among them."""
    table = _File.model_validate(tomllib.loads(text))
    steps = tuple(_step(step) for step in table.steps)
    probe = Probe(
        name=name,
        title=table.title,
        description=table.description,
        steps=steps,
        number_of=table.number.of,
        take=Take(table.number.take),
        parts=table.parts,
        source=table.source,
        text=text,
    )
    _check(probe)
    return probe


def _step(table: Any) -> ProbeStep:
    given = {name: getattr(table, name) for name in type(table).model_fields}
    part, into = given.pop("part", None), given.pop("into", "")
    state = State()
    if table.do == Do.REQUIRE:
        (low, high), (cached, not_cached) = given.pop("buffers"), given.pop("os_cache")
        state = State(low, high, cached, not_cached, given.pop("memory"))
    return ProbeStep(
        **{
            **given,
            "do": Do(table.do),
            "order": Order(given.get("order", Order.RANDOM)),
            "parameters": tuple(given.get("parameters", {}).items()),
            "part": None if part == EACH else part,
            "each": part == EACH,
            "os_cache_only": into == "os-cache",
            "state": state,
        }
    )


def _check(probe: Probe) -> None:
    """Check what no form of one step can say. Raises ValueError."""
    measured = {step.name: step for step in probe.steps if step.do in MEASURING}
    number = measured.get(probe.number_of)
    if number is None:
        raise ValueError(
            f"number.of: {probe.number_of!r} measures nothing; steps that do:"
            f" {', '.join(measured) or 'none'}"
        )
    names = [step.name for step in probe.steps if step.name]
    if len(set(names)) < len(names):
        raise ValueError("two steps have one name")
    if any(step.each for step in probe.steps) != bool(probe.parts):
        raise ValueError('parts are for steps with part = "each", and these need them')
    if probe.take is Take.SWEEP and not number.watch:
        raise ValueError("a sweep is seen by a step with watch = true")
    if probe.take is Take.COMMIT and not number.commit:
        raise ValueError("COMMIT is timed by a step with commit = true")
    if any(step.new_pages and not step.each for step in probe.steps):
        raise ValueError('new_pages is for a load with part = "each"')
    if any(step.leaving and step.part is not None for step in probe.steps):
        raise ValueError("a step with leaving has no part")
