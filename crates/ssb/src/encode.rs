//! The formats: delimited text, CSV, and PostgreSQL's binary COPY.
//!
//! A row is written into a fixed window of the output, so that each field is one copy of a constant
//! number of bytes, of which the field's own length is kept.

use crate::table::Table;

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `|` between the fields, and at the end of the line too where the reference has it there.
    Tbl {
        /// Whether a `|` ends each line.
        trailing: bool,
    },
    /// Comma-separated, quoted where a comma is inside; no header line.
    Csv,
    /// The rows of PostgreSQL's binary COPY, without the file's header and trailer.
    Binary {
        /// Whether `lo_orderkey` has eight bytes.
        wide_orderkeys: bool,
    },
}

/// The most bytes of a row, in any table and format, with the slack that constant copies need.
pub(crate) const ROW_WINDOW: usize = 384;

/// Where one row is written to.
pub(crate) struct Row<'a> {
    window: &'a mut [u8; ROW_WINDOW],
    length: usize,
}

impl<'a> Row<'a> {
    #[inline(always)]
    pub(crate) fn new(window: &'a mut [u8; ROW_WINDOW]) -> Self {
        Self { window, length: 0 }
    }

    #[inline(always)]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    #[inline(always)]
    pub(crate) fn piece<const N: usize>(&mut self, piece: &Piece<N>) {
        self.constant(&piece.bytes, usize::from(piece.length));
    }

    /// Copies all of `bytes` and keeps the first `length`.
    #[inline(always)]
    pub(crate) fn constant<const N: usize>(&mut self, bytes: &[u8; N], length: usize) {
        self.window[self.length..self.length + N].copy_from_slice(bytes);
        self.length += length;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.window[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }
}

/// Encoded fields that are written again and again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<const N: usize> {
    bytes: [u8; N],
    length: u8,
}

impl<const N: usize> Piece<N> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; N], length: 0 };

    /// What `write` writes: at most `N` bytes.
    pub(crate) fn of(write: impl FnOnce(&mut Row)) -> Self {
        Self::written(&mut [0; ROW_WINDOW], write)
    }

    /// As [`Piece::of`], by way of a window that need not be cleared.
    #[inline(always)]
    pub(crate) fn written(window: &mut [u8; ROW_WINDOW], write: impl FnOnce(&mut Row)) -> Self {
        let mut row = Row::new(window);
        write(&mut row);
        let length = row.length();
        debug_assert!(length <= N);
        let mut bytes = [0; N];
        bytes.copy_from_slice(&window[..N]);
        Self { bytes, length: length as u8 }
    }
}

/// How fields become bytes.
pub(crate) trait Encoder: Copy + Send + Sync {
    /// Before the first field of a row.
    fn start(&self, row: &mut Row, table: Table);
    /// A whole number.
    fn integer(&self, row: &mut Row, value: u32);
    /// The key of an order: below 10 to the power of 16.
    fn orderkey(&self, row: &mut Row, value: u64);
    /// A text.
    fn text(&self, row: &mut Row, value: &[u8]);
    /// After the last field of a row.
    fn end(&self, row: &mut Row);
}

/// Delimited text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delimited {
    pub delimiter: u8,
    pub trailing: bool,
    pub quoted: bool,
}

impl Encoder for Delimited {
    #[inline(always)]
    fn start(&self, _row: &mut Row, _table: Table) {}

    #[inline(always)]
    fn integer(&self, row: &mut Row, value: u32) {
        // The keys of customers and suppliers have nine digits at the largest scale factors.
        self.orderkey(row, u64::from(value));
    }

    #[inline(always)]
    fn orderkey(&self, row: &mut Row, value: u64) {
        if value < EIGHT_DIGITS {
            let (digits, length) = decimal(value as u32);
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&digits.to_le_bytes());
            bytes[length] = self.delimiter;
            return row.constant(&bytes, length + 1);
        }
        let (first, length) = decimal((value / EIGHT_DIGITS) as u32);
        row.constant(&first.to_le_bytes(), length);
        let mut bytes = [self.delimiter; 16];
        let last = digits((value % EIGHT_DIGITS) as u32) | ASCII_ZEROS;
        bytes[..8].copy_from_slice(&last.to_le_bytes());
        row.constant(&bytes, 9);
    }

    fn text(&self, row: &mut Row, value: &[u8]) {
        // No text of the benchmark holds a quote, a line's end or the tables' delimiter.
        let quote = self.quoted && value.contains(&self.delimiter);
        if quote {
            row.bytes(b"\"");
        }
        row.bytes(value);
        if quote {
            row.bytes(b"\"");
        }
        row.bytes(&[self.delimiter]);
    }

    #[inline(always)]
    fn end(&self, row: &mut Row) {
        if !self.trailing {
            row.length -= 1;
        }
        row.constant(b"\n", 1);
    }
}

/// 10 to the power of the digits that [`digits`] splits at once.
const EIGHT_DIGITS: u64 = 100_000_000;
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight digits of a number below 100,000,000 as a byte each, the first in the lowest.
#[inline(always)]
fn digits(value: u32) -> u64 {
    debug_assert!(u64::from(value) < EIGHT_DIGITS);
    // Split in two halves of four digits, in four of two, in eight of one, all side by side.
    let value = u64::from(value);
    let fours = value / 10_000 + ((value % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    let twos = hundreds + ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x0f_000f_000f_000f;
    tens + ((twos - tens * 10) << 8)
}

/// The characters of a number below 100,000,000, the first in the lowest byte, and their count.
#[inline(always)]
fn decimal(value: u32) -> (u64, usize) {
    let ones = digits(value);
    // Leading zeros are the lowest bytes; the last digit stays even where it is zero.
    let leading = (ones.trailing_zeros() >> 3).min(7);
    ((ones | ASCII_ZEROS) >> (leading * 8), 8 - leading as usize)
}

/// PostgreSQL's binary COPY: a count of fields, then for each its length and its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binary {
    pub wide_orderkeys: bool,
}

impl Encoder for Binary {
    #[inline(always)]
    fn start(&self, row: &mut Row, table: Table) {
        row.constant(&(table.columns().len() as u16).to_be_bytes(), 2);
    }

    #[inline(always)]
    fn integer(&self, row: &mut Row, value: u32) {
        let field = (4 << 32) | u64::from(value);
        row.constant(&field.to_be_bytes(), 8);
    }

    #[inline(always)]
    fn orderkey(&self, row: &mut Row, value: u64) {
        if self.wide_orderkeys {
            row.constant(&8_u32.to_be_bytes(), 4);
            row.constant(&value.to_be_bytes(), 8);
        } else {
            self.integer(row, value as u32);
        }
    }

    fn text(&self, row: &mut Row, value: &[u8]) {
        row.constant(&(value.len() as u32).to_be_bytes(), 4);
        row.bytes(value);
    }

    #[inline(always)]
    fn end(&self, _row: &mut Row) {}
}

/// Writes a row of a dimension field by field and adds to the columns' sums.
pub(crate) struct Fields<'r, 'w, E> {
    encoder: E,
    row: &'r mut Row<'w>,
    sums: &'r mut Sums,
    column: usize,
}

impl<'r, 'w, E: Encoder> Fields<'r, 'w, E> {
    pub(crate) fn new(encoder: E, row: &'r mut Row<'w>, sums: &'r mut Sums, table: Table) -> Self {
        encoder.start(row, table);
        Self { encoder, row, sums, column: 0 }
    }

    pub(crate) fn integer(&mut self, value: u32) {
        self.encoder.integer(self.row, value);
        self.add(u64::from(value));
    }

    pub(crate) fn text(&mut self, value: &[u8]) {
        self.encoder.text(self.row, value);
        self.add(value.len() as u64);
    }

    pub(crate) fn end(self, table: Table) {
        debug_assert_eq!(self.column, table.columns().len());
        self.encoder.end(self.row);
    }

    fn add(&mut self, value: u64) {
        self.sums[self.column] += value;
        self.column += 1;
    }
}

/// For each column of a buffer's rows the sum of its numbers, or of its texts' lengths in bytes.
pub(crate) type Sums = [u64; 17];

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Row)) -> Vec<u8> {
        let piece = Piece::<200>::of(write);
        piece.bytes[..usize::from(piece.length)].to_vec()
    }

    #[test]
    fn decimals_are_those_of_the_standard_library() {
        let text = Delimited { delimiter: b'|', trailing: true, quoted: false };
        let mut values: Vec<u32> = (0..100_000).collect();
        let mut value = 1;
        while value < u32::MAX / 2 {
            values.extend([value - 1, value, value + 1, value + value / 2]);
            value = value * 2 + 1;
        }
        values.extend([99_999_999, 100_000_000, 300_000_000, 1_000_000_000, u32::MAX]);
        for value in values {
            assert_eq!(written(|row| text.integer(row, value)), format!("{value}|").into_bytes());
            for key in [u64::from(value), u64::from(value) + 100_000_000, u64::from(value) * 600] {
                assert_eq!(written(|row| text.orderkey(row, key)), format!("{key}|").into_bytes());
            }
        }
    }

    #[test]
    fn csv_quotes_what_holds_a_comma() {
        let csv = Delimited { delimiter: b',', trailing: false, quoted: true };
        let line = written(|row| {
            csv.text(row, b"January 1, 1992");
            csv.text(row, b"Fall");
            csv.end(row);
        });
        assert_eq!(line, b"\"January 1, 1992\",Fall\n");
    }

    #[test]
    fn binary_fields_have_their_length_before_them() {
        let binary = Binary { wide_orderkeys: true };
        let line = written(|row| {
            binary.start(row, Table::Lineorder);
            binary.orderkey(row, 5_000_000_000);
            binary.integer(row, 258);
            binary.text(row, b"AIR");
        });
        assert_eq!(
            line,
            [
                0, 17, 0, 0, 0, 8, 0, 0, 0, 1, 42, 5, 242, 0, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 3,
                b'A', b'I', b'R'
            ]
        );
    }
}
