"""Schema of what ``teiten plan --json`` prints, in seconds, bytes and shares."""

from __future__ import annotations

from teiten.cli.schemas.machine import SEVERITY
from teiten.cli.schemas.of_values import of_type
from teiten.cli.schemas.parts import (
    ASKED,
    COUNT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    SECONDS,
    TEXT,
    WAY,
    WHOLE,
    Schema,
    closed,
    document,
    listed,
    maybe,
    named,
    said,
)
from teiten.model.build import PlannedBuild
from teiten.model.nodes import NodeMachine
from teiten.model.noise import NoiseFloor

VERSION = 1
_FORETOLD = ("upper_bound", "provisional")
"""Keys that are there with ``--find-saturation``."""


def plan_schema() -> Schema:
    provisional = closed(
        {"trials": COUNT, "seconds": SECONDS, "duration": SECONDS, "clients": listed(COUNT)}
    )
    caution = closed({"code": TEXT, "severity": SEVERITY, "values": named(TEXT)})
    body = closed(
        {
            "study": TEXT,
            "profile": TEXT,
            "conclusive": ASKED,
            "seed": WHOLE,
            "contrast": said("The factor whose levels are compared.", TEXT),
            "factors": said("Levels by factor.", named(listed(TEXT))),
            "servers": said("By their levels.", named(_server())),
            "pgbench": closed({"version": TEXT, "path": TEXT}),
            "measure": _measure(),
            "trials": listed(_trial()),
            "needs": _needs(),
            "builds": listed(of_type(PlannedBuild)),
            "noise": listed(of_type(NoiseFloor)),
            "folder": TEXT,
            "actions": listed(TEXT),
            "cautions": listed(caution),
            "upper_bound": ASKED,
            "provisional": provisional,
        },
        optional=_FORETOLD,
    )
    return document("plan", VERSION, body)


def _server() -> Schema:
    """With the folder of one that Teiten starts, or the address and role of one that runs; a
    host's has what its site says."""
    named_so = {"name": TEXT, "version": TEXT}
    return {
        "type": "object",
        "properties": named_so,
        "required": list(named_so),
        "additionalProperties": TEXT,
    }


def _measure() -> Schema:
    return closed(
        {
            "duration": maybe(SECONDS),
            "warmup": maybe(SECONDS),
            "settle": SECONDS,
            "blocks": COUNT,
            "until_decided": ASKED,
            "budget": maybe(SECONDS),
            "delta": SECONDS,
            "alpha": SECONDS,
            "way": WAY,
            "way_by_clients": named(WAY),
            "slices": COUNT,
            "pairs_of_a_start": COUNT,
            "memory": maybe(COUNT),
        }
    )


def _needs() -> Schema:
    return closed(
        {
            "seconds": SECONDS,
            "measured_seconds": SECONDS,
            "disk_bytes": COUNT,
            "disk_free_bytes": COUNT,
            "directories": named(COUNT),
            "storages": named(COUNT),
            "memory_bytes": COUNT,
            "memory_available_bytes": COUNT,
        }
    )


def _trial() -> Schema:
    """Open: a kind of load and a kind of data have keys of their own beside these."""
    properties: dict[str, Schema] = {
        "number": COUNT,
        "block": COUNT,
        "workload": TEXT,
        "levels": named(TEXT),
        "seed": WHOLE,
        "data": TEXT,
        "scale": MAYBE_NUMBER,
        "checksums": ASKED,
        "nodes": listed(closed({"server": TEXT, "data": TEXT, "checksums": ASKED})),
        "settings": named(TEXT),
        "start": said("Pairs of one number share a start of the servers.", maybe(COUNT)),
        "turns": listed(COUNT),
        "server_cpus": listed(COUNT),
        "client_cpus": listed(COUNT),
        "directory": MAYBE_TEXT,
        "placement": said("The storage of each part.", maybe(named(TEXT))),
        "memory_limit": maybe(COUNT),
        "machines": listed(of_type(NodeMachine)),
    }
    return {"type": "object", "properties": properties, "required": list(properties)}
