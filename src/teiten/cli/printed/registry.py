"""All schemas of ``--json``: what each describes, and which verbs print it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from teiten.cli.printed.form import Schema, schema_of_type

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class NamedSchema:
    """The schema of one thing."""

    name: str
    kind: str
    """Module and class below ``teiten.cli.printed``; of a model below ``teiten``."""
    what: str
    printed_by: tuple[str, ...] | None = None
    """Verbs that print it; None for the verb of its name."""
    listing: tuple[str, ...] = ()
    """Verbs that print a list of it."""
    version: int = 1
    """A change of meaning raises it."""
    listed: bool = False
    """The thing is itself a list of such objects."""

    @property
    def verbs(self) -> tuple[str, ...]:
        return (self.name.replace("-", " "),) if self.printed_by is None else self.printed_by

    def make(self) -> Schema:
        """Make the schema itself; the module is loaded only here."""
        module, _, kind = self.kind.rpartition(".")
        room = "teiten" if "." in module else "teiten.cli.printed"
        body = schema_of_type(getattr(import_module(f"{room}.{module}"), kind))
        return {
            "$schema": DRAFT,
            "$id": f"urn:teiten:{self.name}:{self.version}",
            "title": f"Teiten {self.name}",
            **({"type": "array", "items": body} if self.listed else body),
        }


SCHEMAS = (
    NamedSchema(
        "verdict",
        "outcome.JsonVerdict",
        "a verdict, as it stands in other documents",
        (),
        version=2,
    ),
    NamedSchema(
        "outcome",
        "outcome.JsonOutcome",
        "how a campaign ended, with its verdicts",
        ("run", "resume", "demo"),
        version=2,
    ),
    NamedSchema(
        "ab",
        "outcome.JsonTwoSides",
        "the verdict on two servers, and how it was come by",
        version=2,
    ),
    NamedSchema(
        "gate",
        "gate.JsonGate",
        "whether a change made a workload slower, and what this machine can tell",
    ),
    NamedSchema("report", "outcome.JsonReport", "where a report is, and its verdicts", version=2),
    NamedSchema(
        "comparison", "across.JsonComparison", "two campaigns side by side", ("compare",), version=2
    ),
    NamedSchema("history", "across.JsonHistory", "lines through many campaigns, and their changes"),
    NamedSchema("collection-plan", "collection.JsonCollectionPlan", "what a collection would do"),
    NamedSchema(
        "collection",
        "collection.JsonCollection",
        "every finding of a collection with its outcome",
        ("collection run", "collection resume", "collection report"),
        version=2,
    ),
    NamedSchema(
        "collection-comparison",
        "collection.JsonCollectionComparison",
        "the findings of two collections side by side",
        ("collection compare",),
        version=2,
    ),
    NamedSchema(
        "collection-prediction",
        "analysis.across.prediction.Prediction",
        "outcomes foretold for a second machine",
        ("collection predict",),
    ),
    NamedSchema("site", "across.JsonSite", "what was made of many campaigns"),
    NamedSchema("bisection", "across.JsonSearch", "a search for a commit", ("bisect",), version=2),
    NamedSchema("noise", "outcome.JsonNoise", "how much equal sides differ", ("null",)),
    NamedSchema(
        "claims", "claims.JsonClaim", "published findings, and their outcomes", listed=True
    ),
    NamedSchema(
        "plan-difference",
        "plan_difference.JsonPlanDifference",
        "two execution plans",
        ("explain-diff",),
    ),
    NamedSchema("plan", "plan.JsonPlan", "what a study would do"),
    NamedSchema("study", "model.study.Study", "a study with the values of a profile", ("show",)),
    NamedSchema("studies", "model.study.StudySummary", "the catalogue", listed=True),
    NamedSchema(
        "campaigns", "folders.JsonCampaign", "the list of campaigns", ("runs",), listed=True
    ),
    NamedSchema(
        "removed", "folders.JsonRemoved", "campaigns that were deleted", ("rm",), listed=True
    ),
    NamedSchema("export", "folders.JsonExport", "files of a campaign's numbers"),
    NamedSchema("clean", "folders.JsonCleaned", "what was or would be deleted"),
    NamedSchema(
        "machine",
        "machine.JsonMachine",
        "facts and cautions of this machine",
        ("doctor",),
        version=2,
    ),
    NamedSchema(
        "installation",
        "machine.JsonInstallation",
        "an installation of PostgreSQL",
        ("pg build",),
        ("pg list", "pg install", "pg remove"),
    ),
    NamedSchema(
        "tables",
        "folders.JsonTable",
        "tables of benchmark data that were made",
        ("data ssb",),
        listed=True,
    ),
)
BY_NAME = {schema.name: schema for schema in SCHEMAS}
