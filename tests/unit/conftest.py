"""What unit tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fixtures.undrawn import leave_undrawn


@pytest.fixture(scope="package", autouse=True)
def undrawn() -> Iterator[None]:
    """Reports have an empty picture for each chart; a test that looks at pictures makes its report
    ``with drawn()`` (tests.fixtures.undrawn). Charts themselves can be drawn as ever."""
    with pytest.MonkeyPatch.context() as patch:
        leave_undrawn(patch)
        yield
