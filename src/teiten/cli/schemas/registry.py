"""All schemas of ``--json``: what each describes, and which verbs print it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from teiten.cli.schemas.parts import Schema


@dataclass(frozen=True)
class NamedSchema:
    """The schema of one thing; it stands in the module of its name."""

    name: str
    what: str
    verbs: tuple[str, ...] = ()
    """Verbs that print it."""
    listing: tuple[str, ...] = ()
    """Verbs that print a list of it."""

    def make(self) -> Schema:
        """The schema itself, whose module is loaded only here."""
        part = self.name.replace("-", "_")
        found: Schema = getattr(import_module(f"teiten.cli.schemas.{part}"), f"{part}_schema")()
        return found

    def of(self, verb: str) -> Schema:
        """Make the schema of all that one of its verbs prints."""
        return {"type": "array", "items": self.make()} if verb in self.listing else self.make()


SCHEMAS = (
    NamedSchema("verdict", "a verdict, as it stands in other documents"),
    NamedSchema("outcome", "how a campaign ended, with its verdicts", ("run", "resume")),
    NamedSchema("ab", "the verdict on two servers, and how it was come by", ("ab",)),
    NamedSchema("report", "where a report is, and its verdicts", ("report",)),
    NamedSchema("comparison", "two campaigns side by side", ("compare",)),
    NamedSchema("history", "lines through many campaigns, and their changes", ("history",)),
    NamedSchema("site", "what was made of many campaigns", ("site",)),
    NamedSchema("bisection", "a search for a commit", ("bisect",)),
    NamedSchema("noise", "how much equal sides differ", ("null",)),
    NamedSchema("claims", "published findings, and their outcomes", ("claims",)),
    NamedSchema("plan-difference", "two execution plans", ("explain-diff",)),
    NamedSchema("plan", "what a study would do", ("plan",)),
    NamedSchema("study", "a study with the values of a profile", ("show",)),
    NamedSchema("studies", "the catalogue", ("studies",)),
    NamedSchema("campaigns", "the list of campaigns", ("runs",)),
    NamedSchema("removed", "campaigns that were deleted", ("rm",)),
    NamedSchema("export", "files of a campaign's numbers", ("export",)),
    NamedSchema("clean", "what was or would be deleted", ("clean",)),
    NamedSchema("machine", "facts and cautions of this machine", ("doctor",)),
    NamedSchema(
        "installation",
        "an installation of PostgreSQL",
        ("pg build",),
        ("pg list", "pg install", "pg remove"),
    ),
    NamedSchema("tables", "tables of benchmark data that were made", ("data ssb",)),
)
BY_NAME = {one.name: one for one in SCHEMAS}


def schema_of(verb: str) -> Schema:
    """Make the schema of a verb's output with ``--json``. Raises KeyError where none is known."""
    for one in SCHEMAS:
        if verb in (*one.verbs, *one.listing):
            return one.of(verb)
    raise KeyError(verb)
