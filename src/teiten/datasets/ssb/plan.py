"""The Star Schema Benchmark, before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from teiten.datasets.plan import DataPlan
from teiten.datasets.ssb.model import StarSchemaTables, ssb_data
from teiten.model.ssb import LARGEST_SCALE, SsbVariant, table_bytes
from teiten.model.study import DataSet
from teiten.model.units import MIB, Bytes
from teiten.study.locate import Place
from teiten.study.tables import DataTable, ScaledTable, Variant


class StarSchemaTable(DataTable):
    variant: Variant = SsbVariant.REFERENCE


class StarSchema(DataPlan):
    table = StarSchemaTable
    options = StarSchemaTables
    keys_are_for = "the Star Schema Benchmark"
    rate = 45 * MIB
    """Generating, loading, verifying and freezing."""
    scales: ClassVar[tuple[float, ...]] = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    """100 is the reports'."""

    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        assert isinstance(data, StarSchemaTable)
        scale = workload.scale
        if scale is not None and (
            scale > LARGEST_SCALE or (isinstance(scale, float) and scale > 1)
        ):
            raise place.error(
                "scale",
                f"the Star Schema Benchmark has no scale factor {scale}",
                f'give a whole number from 1 to {LARGEST_SCALE}, or a fraction such as "0.1"',
            )
        return ssb_data(scale, data.variant)

    def at_scale(self, data: DataSet, scale: float) -> DataSet:
        """Fractions are below 1."""
        return replace(data, scale=int(scale) if scale == int(scale) else scale)

    def filled_bytes(self, data: DataSet) -> Bytes:
        return table_bytes(data.scale or 1, data.options_as(StarSchemaTables).variant)

    def made_by(self, data: DataSet) -> str:
        return "Teiten's generator"

    def identity(self, data: DataSet) -> dict[str, Any]:
        """With what every kind of data had when it was new."""
        own = {
            "script": "",
            "fillfactor": 100,
            "variant": str(data.options_as(StarSchemaTables).variant),
        }
        return {**super().identity(data), **own}

    def rows_of(self, data: DataSet) -> str:
        return f"{data.kind} {data.options_as(StarSchemaTables).variant}"

    def require(self) -> None:
        """Its generator is a native module."""
        from teiten.datasets.ssb.rows.native import native  # noqa: PLC0415 - only who asks loads it

        native()

    def name_of(self, data: DataSet) -> str:
        return f"Star Schema Benchmark ({data.options_as(StarSchemaTables).variant})"


PLAN = StarSchema()
