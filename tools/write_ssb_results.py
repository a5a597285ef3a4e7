"""Write studies/sql/ssb/results.toml: the results of the 13 queries, by DuckDB over the text files.

    python -m pip install duckdb
    PYTHONPATH=src python -m tools.write_ssb_results

Neither PostgreSQL nor the loader has a part in them. The text files of the variants ``reference``
and ``reports`` are those of the reference programs, byte by byte (crates/ssb/tests/golden.rs); only
the date table is whole at every scale factor.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from teiten.datasets.ssb.rows.blocks import Watch
from teiten.datasets.ssb.rows.files import write_files
from teiten.datasets.ssb.rows.native import columns
from teiten.datasets.ssb.rows.results import KnownResult, condensed, queries
from teiten.model.ssb import SsbData, SsbFormat, SsbVariant

TARGET = Path(__file__).parent.parent / "src/teiten/studies/sql/ssb/results.toml"
SCALES = (0.01, 0.1, 1.0)
HEADER = """\
# The results of the 13 queries, by variant of the data and scale factor: the number of rows, and
# the MD5 of the lines (fields with | between them) in the order of their bytes. Written by
# tools/write_ssb_results.py, with DuckDB over the text files. At scale factor 1 those of
# "reference" and "reports" agree with the results on data of the reference programs.
"""


def main() -> None:
    parts = [HEADER]
    for variant in SsbVariant:
        for scale in SCALES:
            lines = [
                f'"{name}" = {{ rows = {result.rows}, md5 = "{result.md5}" }}'
                for name, result in results_of(SsbData(scale, variant)).items()
            ]
            parts.append(f'\n[{variant}."{scale:g}"]\n' + "\n".join(lines) + "\n")
    TARGET.write_text("".join(parts), encoding="utf-8")


def results_of(data: SsbData) -> dict[str, KnownResult]:
    """The results of the 13 queries on the data's text files."""
    with tempfile.TemporaryDirectory() as name, duckdb.connect() as database:
        for path, written in write_files(data, SsbFormat.TBL, Path(name), 1, Watch()):
            types = {column.name: column.type for column in columns(data, written.table)}
            if data.variant is not SsbVariant.REPORTS:
                types["past_the_last_delimiter"] = "text"
            database.read_csv(
                str(path), delimiter="|", quotechar="", header=False, columns=types
            ).create(written.table)
        return {
            name: condensed(database.execute(query).fetchall()) for name, query in queries().items()
        }


if __name__ == "__main__":
    main()
