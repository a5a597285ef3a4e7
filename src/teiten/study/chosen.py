"""Tables of a study file whose form depends on what stands in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


class KeyedError(ValueError):
    """An error in one entry of a table that is read as a whole."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class ChosenForm:
    """A table that is read in the form that is chosen for it."""

    choose: Callable[[Any], type[BaseModel]]
    """Its form. Raises ValueError where there is none."""
    complete: Callable[[Any], Any] = lambda value: value
    """The value with what its form adds."""

    def read(self, value: Any) -> BaseModel:
        return self.choose(value).model_validate(self.complete(value))

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)
