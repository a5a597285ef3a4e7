//! Rows of the Star Schema Benchmark, written into a buffer of Python's.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;
use ssb::{Format, Kind, Rows, Scale, Table, Variant};

/// A stream of the rows of a range of a table's units (rows; orders of lineorder).
///
/// `format` is "tbl", "csv" or "binary" (the rows of PostgreSQL's binary COPY, without the header
/// and trailer of a file). Raises `ValueError` for a wrong scale, name or range.
#[pyclass(module = "teiten_native")]
pub struct SsbRows {
    rows: Rows,
    units: u64,
}

#[pymethods]
impl SsbRows {
    #[new]
    fn new(
        scale: f64,
        variant: &str,
        table: &str,
        format: &str,
        first: u64,
        end: u64,
    ) -> PyResult<Self> {
        let scale = scale_of(scale, variant)?;
        let table = table_of(table)?;
        let units = Rows::units(&scale, table);
        if first > end || end > units {
            return Err(PyValueError::new_err(format!("no units {first} to {end}")));
        }
        let format = format_of(format, &scale)?;
        Ok(Self { rows: Rows::new(&scale, table, format, first..end), units })
    }

    /// Write whole rows into a writable buffer; returns how many bytes, 0 at the end.
    fn fill(&mut self, py: Python<'_>, buffer: PyBuffer<u8>) -> PyResult<usize> {
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("the buffer must be writable and contiguous"));
        }
        if buffer.len_bytes() < Rows::SMALLEST_BUFFER {
            return Err(PyValueError::new_err(format!(
                "the buffer must have at least {} bytes",
                Rows::SMALLEST_BUFFER
            )));
        }
        let out = writable(&buffer);
        Ok(py.detach(|| self.rows.fill(out)))
    }

    /// Go on with other units, and with rows and sums from zero; cheaper than a new stream.
    fn seek(&mut self, first: u64, end: u64) -> PyResult<()> {
        if first > end || end > self.units {
            return Err(PyValueError::new_err(format!("no units {first} to {end}")));
        }
        self.rows.seek(first..end);
        Ok(())
    }

    /// The units that are left.
    #[getter]
    fn left(&self) -> u64 {
        self.rows.left()
    }

    /// The rows written so far.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows.rows()
    }

    /// For each column the sum of the numbers written, or of the texts' lengths.
    #[getter]
    fn sums(&self) -> Vec<u128> {
        self.rows.sums().to_vec()
    }
}

/// The memory of an exported buffer, to be written to without holding the interpreter.
#[allow(unsafe_code, clippy::mut_from_ref)]
fn writable(buffer: &PyBuffer<u8>) -> &mut [u8] {
    // SAFETY: the memory is writable and contiguous, and while the export lives it is neither moved
    // nor freed. Teiten gives each stream a buffer of its own, which nothing else touches meanwhile.
    unsafe { std::slice::from_raw_parts_mut(buffer.buf_ptr().cast(), buffer.len_bytes()) }
}

/// The number of units of a table: rows, of lineorder orders.
#[pyfunction]
pub fn ssb_units(scale: f64, variant: &str, table: &str) -> PyResult<u64> {
    Ok(Rows::units(&scale_of(scale, variant)?, table_of(table)?))
}

/// The columns of a table: name and PostgreSQL type.
#[pyfunction]
pub fn ssb_columns(
    scale: f64,
    variant: &str,
    table: &str,
) -> PyResult<Vec<(&'static str, &'static str)>> {
    let wide = scale_of(scale, variant)?.wide_orderkeys();
    let columns = table_of(table)?.columns().iter();
    Ok(columns
        .map(|column| match column.kind {
            Kind::Integer if wide && column.name == "lo_orderkey" => (column.name, "bigint"),
            Kind::Integer => (column.name, "integer"),
            Kind::Text => (column.name, "text"),
        })
        .collect())
}

fn scale_of(factor: f64, variant: &str) -> PyResult<Scale> {
    let variant = Variant::from_name(variant)
        .ok_or_else(|| PyValueError::new_err(format!("no variant {variant:?}")))?;
    Scale::new(factor, variant).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn table_of(name: &str) -> PyResult<Table> {
    Table::from_name(name).ok_or_else(|| PyValueError::new_err(format!("no table {name:?}")))
}

fn format_of(name: &str, scale: &Scale) -> PyResult<Format> {
    match name {
        "tbl" => Ok(Format::Tbl { trailing: scale.variant != Variant::Reports }),
        "csv" => Ok(Format::Csv),
        "binary" => Ok(Format::Binary { wide_orderkeys: scale.wide_orderkeys() }),
        _ => Err(PyValueError::new_err(format!("no format {name:?}"))),
    }
}
