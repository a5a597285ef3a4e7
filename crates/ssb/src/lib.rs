//! Rows of the Star Schema Benchmark (O'Neil, O'Neil, Chen: Star Schema Benchmark, Revision 3).
//!
//! Pure: no I/O, no clock, no locale. A [`Rows`] writes the rows of any part of a table into a
//! buffer, in one of the formats of [`Format`]; every part starts its random streams by jumping
//! ahead, so that parts made one by one are byte-identical to the whole.
//!
//! The random streams and the word distributions are those of TPC-H's dbgen, by the `tpchgen`
//! crate. Their seeds and the rules that SSB adds are facts about the reference data sets,
//! verified by checksum (`tests/golden.rs`).

mod calendar;
mod customer;
mod date;
mod encode;
mod lineorder;
mod part;
mod rows;
mod scale;
mod streams;
mod supplier;
mod table;
mod words;

pub use encode::Format;
pub use rows::Rows;
pub use scale::{MAX_SCALE, Scale, ScaleError, Variant};
pub use table::{Column, Kind, Table};
