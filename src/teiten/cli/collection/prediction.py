"""A prediction made from a collection, and read again."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from teiten.analysis.across.prediction import (
    CheckedPrediction,
    Prediction,
    SecondMachine,
    checked,
    foretold,
)
from teiten.analysis.model.collection import CollectionResult
from teiten.cli.printed.collection import findings_text
from teiten.errors import UsageError, first_line

_PREDICTION = TypeAdapter(Prediction)


def prediction_of(result: CollectionResult, machine: SecondMachine, now: float) -> Prediction:
    """Foretell the findings of a collection. ``now``: seconds since the epoch."""
    return Prediction(
        result.name, digest_of(result), now, machine, tuple(foretold(result, machine))
    )


def digest_of(result: CollectionResult) -> str:
    """The SHA-256 of the collection's findings.json."""
    return hashlib.sha256(findings_text(result).encode()).hexdigest()


def read_prediction(path: Path) -> Prediction:
    """Read what ``teiten collection predict --json`` printed. Raises UsageError."""
    try:
        return _PREDICTION.validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} is no prediction: {first_line(error)}",
            "teiten collection predict --json prints one",
        ) from error


def check_prediction(
    prediction: Prediction, first: CollectionResult, second: CollectionResult
) -> CheckedPrediction:
    """Compare it with a second collection. Raises UsageError where it is of other findings than
    those of ``first``, or was made when ``second`` had begun."""
    if prediction.digest != digest_of(first):
        raise UsageError(
            f"the prediction was not made from {first.name} as it stands",
            "compare with the collection that it names, as it was published then",
        )
    if prediction.made_at >= second.created_at:
        raise UsageError(
            f"the prediction was made after {second.name} had begun, and foretells nothing of it",
            "make it before the second machine is measured",
        )
    return checked(prediction, second)
