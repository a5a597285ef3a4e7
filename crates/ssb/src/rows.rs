//! Any part of a table as a stream of rows.

use std::ops::Range;

use crate::customer::Customers;
use crate::date::{self, Dates};
use crate::encode::{Binary, Delimited, Encoder, Fields, Format, ROW_WINDOW, Row, Sums};
use crate::lineorder::Lineorders;
use crate::part::Parts;
use crate::scale::Scale;
use crate::supplier::Suppliers;
use crate::table::Table;

/// Of all that a stream has written: the order keys of scale factor 1,012 and more leave 64 bits.
type Totals = [u128; 17];

/// The rows of a range of a table's units, written piece by piece into buffers.
///
/// A unit is a row, and of lineorder an order with its one to seven rows. Two streams over adjacent
/// ranges write what one stream over both writes.
pub struct Rows {
    source: Box<dyn Filler>,
    units: u64,
    table: Table,
    left: u64,
    rows: u64,
    sums: Totals,
}

impl Rows {
    /// The units of a table.
    #[must_use]
    pub fn units(scale: &Scale, table: Table) -> u64 {
        match table {
            Table::Customer => u64::from(scale.customers),
            Table::Part => u64::from(scale.parts),
            Table::Supplier => u64::from(scale.suppliers),
            Table::Date => date::rows(scale),
            Table::Lineorder => scale.orders,
        }
    }

    /// The units of the chunk `number` (from 1) of `count`: sizes differ by at most one.
    #[must_use]
    pub fn chunk(scale: &Scale, table: Table, number: u64, count: u64) -> Range<u64> {
        let units = u128::from(Self::units(scale, table));
        let bound = |number: u64| (units * u128::from(number) / u128::from(count)) as u64;
        bound(number - 1)..bound(number)
    }

    /// A stream over `units`, which must lie within the table's.
    #[must_use]
    pub fn new(scale: &Scale, table: Table, format: Format, units: Range<u64>) -> Self {
        let skipped = units.start;
        let source = match format {
            Format::Tbl { trailing } => {
                let encoder = Delimited { delimiter: b'|', trailing, quoted: false };
                source(encoder, scale, table, skipped)
            }
            Format::Csv => {
                let encoder = Delimited { delimiter: b',', trailing: false, quoted: true };
                source(encoder, scale, table, skipped)
            }
            Format::Binary { wide_orderkeys } => {
                source(Binary { wide_orderkeys }, scale, table, skipped)
            }
        };
        let all = Self::units(scale, table);
        let mut stream =
            Self { source, units: all, table, left: 0, rows: 0, sums: Totals::default() };
        stream.seek(units);
        stream
    }

    /// Goes on with other units, and with rows and sums from zero; cheaper than a new stream.
    ///
    /// # Panics
    /// Where the units do not lie within the table's.
    pub fn seek(&mut self, units: Range<u64>) {
        assert!(units.start <= units.end && units.end <= self.units, "units outside the table");
        self.source.seek(units.start);
        self.left = units.end - units.start;
        self.rows = 0;
        self.sums = Totals::default();
    }

    /// The smallest buffer that [`Rows::fill`] takes.
    pub const SMALLEST_BUFFER: usize = 8 * ROW_WINDOW;

    /// Writes whole rows to the start of `out`; returns how many bytes, 0 at the end.
    ///
    /// # Panics
    /// Where `out` is shorter than [`Rows::SMALLEST_BUFFER`].
    pub fn fill(&mut self, out: &mut [u8]) -> usize {
        assert!(out.len() >= Self::SMALLEST_BUFFER, "a buffer of {} bytes is too small", out.len());
        let mut sums = Sums::default();
        let filled = self.source.fill(out, self.left, &mut sums);
        for (total, more) in self.sums.iter_mut().zip(sums) {
            *total += u128::from(more);
        }
        self.left -= filled.units;
        self.rows += filled.rows;
        filled.bytes
    }

    /// The units that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// For each column the sum of the numbers written, or of the texts' lengths.
    #[must_use]
    pub fn sums(&self) -> &[u128] {
        &self.sums[..self.table.columns().len()]
    }
}

fn source<E: Encoder + 'static>(
    encoder: E,
    scale: &Scale,
    table: Table,
    skipped: u64,
) -> Box<dyn Filler> {
    match table {
        Table::Customer => Box::new(Dimension::<E, Customers>::new(encoder, scale, skipped)),
        Table::Part => Box::new(Dimension::<E, Parts>::new(encoder, scale, skipped)),
        Table::Supplier => Box::new(Dimension::<E, Suppliers>::new(encoder, scale, skipped)),
        Table::Date => Box::new(Dimension::<E, Dates>::new(encoder, scale, skipped)),
        Table::Lineorder => Box::new(Lineorders::new(encoder, scale, skipped)),
    }
}

/// Makes the rows of one unit after the other.
pub(crate) trait Source: Send + Sync {
    /// The most bytes that a unit takes, with slack.
    const WINDOW: usize;

    /// Writes the next unit's rows at `at`; returns where they end, and their number.
    fn next(&mut self, out: &mut [u8], at: usize, sums: &mut Sums) -> (usize, u64);

    /// Goes to the unit `skipped` + 1.
    fn seek(&mut self, skipped: u64);
}

struct Filled {
    bytes: usize,
    units: u64,
    rows: u64,
}

/// A [`Source`] whose type is forgotten once for each buffer, not once for each unit.
trait Filler: Send + Sync {
    fn fill(&mut self, out: &mut [u8], most: u64, sums: &mut Sums) -> Filled;
    fn seek(&mut self, skipped: u64);
}

impl<S: Source> Filler for S {
    fn fill(&mut self, out: &mut [u8], most: u64, sums: &mut Sums) -> Filled {
        wide::fill(self, out, most, sums)
    }

    fn seek(&mut self, skipped: u64) {
        Source::seek(self, skipped);
    }
}

#[inline(always)]
fn fill<S: Source>(source: &mut S, out: &mut [u8], most: u64, sums: &mut Sums) -> Filled {
    let mut filled = Filled { bytes: 0, units: 0, rows: 0 };
    while filled.units < most && out.len() - filled.bytes >= S::WINDOW {
        let (end, rows) = source.next(out, filled.bytes, sums);
        filled.bytes = end;
        filled.units += 1;
        filled.rows += rows;
    }
    filled
}

/// The same code, compiled a second time for processors with wider vectors.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Filled, Source, Sums};

    #[allow(unsafe_code)]
    pub(super) fn fill<S: Source>(
        source: &mut S,
        out: &mut [u8],
        most: u64,
        sums: &mut Sums,
    ) -> Filled {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has what the function is compiled for.
            unsafe { with_avx2(source, out, most, sums) }
        } else {
            super::fill(source, out, most, sums)
        }
    }

    /// Safe where the processor has these features.
    #[allow(unsafe_code)]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn with_avx2<S: Source>(
        source: &mut S,
        out: &mut [u8],
        most: u64,
        sums: &mut Sums,
    ) -> Filled {
        super::fill(source, out, most, sums)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) use super::fill;
}

/// The place of a row in a buffer that has room for it.
#[inline(always)]
pub(crate) fn window(out: &mut [u8], at: usize) -> &mut [u8; ROW_WINDOW] {
    out[at..].first_chunk_mut().expect("a buffer has room for every row of a unit")
}

/// The rows of a dimension table.
pub(crate) trait Dimensional: Send + Sync {
    const TABLE: Table;

    fn new(scale: &Scale, skipped: u64) -> Self;

    fn next<E: Encoder>(&mut self, fields: &mut Fields<E>);
}

struct Dimension<E, R> {
    encoder: E,
    scale: Scale,
    rows: R,
}

impl<E, R: Dimensional> Dimension<E, R> {
    fn new(encoder: E, scale: &Scale, skipped: u64) -> Self {
        Self { encoder, scale: *scale, rows: R::new(scale, skipped) }
    }
}

impl<E: Encoder, R: Dimensional + 'static> Source for Dimension<E, R> {
    const WINDOW: usize = ROW_WINDOW;

    fn next(&mut self, out: &mut [u8], at: usize, sums: &mut Sums) -> (usize, u64) {
        let mut row = Row::new(window(out, at));
        let mut fields = Fields::new(self.encoder, &mut row, sums, R::TABLE);
        self.rows.next(&mut fields);
        fields.end(R::TABLE);
        (at + row.length(), 1)
    }

    fn seek(&mut self, skipped: u64) {
        self.rows = R::new(&self.scale, skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::Variant;

    #[test]
    fn sums_go_on_past_64_bits() {
        let scale = Scale::new(10_000.0, Variant::Reference).unwrap();
        let format = Format::Binary { wide_orderkeys: true };
        let last = scale.orders - 1..scale.orders;
        let mut buffer = vec![0; Rows::SMALLEST_BUFFER];
        let mut stream = Rows::new(&scale, Table::Lineorder, format, last);
        stream.sums[0] = u128::from(u64::MAX);
        stream.fill(&mut buffer);
        let keys = 60_000_000_000 * u128::from(stream.rows());
        assert_eq!(stream.sums()[0], u128::from(u64::MAX) + keys);
    }
}
