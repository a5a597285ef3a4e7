//! The result: one record for each round of a client, as an array of NumPy's (`numpy.load` reads it, mapped).
//!
//! The threads hand blocks of records to one that writes, over a channel of bounded length: a disk
//! that cannot follow slows the load down rather than filling the memory, and the time that was
//! lost so is reported.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// A transaction on one server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Nanoseconds from the start of the load.
    pub start: u64,
    /// Nanoseconds that it took.
    pub latency: u64,
    /// The SQLSTATE of its failure; zeros where it did not fail.
    pub state: [u8; 5],
    /// How often it was tried again.
    pub retries: u16,
}

/// The transactions of a round, one on each server: of two servers a pair; with one server a
/// transaction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pair {
    /// By server.
    pub outcomes: [Outcome; MOST_SERVERS],
    /// Which client.
    pub client: u16,
    /// Which script.
    pub script: u8,
    /// The server that was first; where there are more than two, the starts say the whole order.
    pub first: u8,
    /// The place among those that were run on one server before another, from 0.
    pub position: u16,
}

/// The most servers of a run.
pub const MOST_SERVERS: usize = 8;
/// The length of the file's header, which is written before the number of records is known.
const HEADER: usize = 256;
/// The records of a block.
const BLOCK: usize = 4096;
/// The blocks that may wait for the disk.
const WAITING: usize = 64;

/// How many servers a record has room for: two at the least.
#[must_use]
pub fn columns(servers: usize) -> usize {
    servers.max(2)
}

/// The bytes of a record: of each server two numbers and an SQLSTATE, and what they share.
#[must_use]
pub fn size(servers: usize) -> usize {
    columns(servers) * (8 + 8 + 5) + 6
}

/// The fields of a record, as NumPy writes them.
fn fields(servers: usize) -> String {
    let each = columns(servers);
    format!(
        "[('start', '<u8', ({each},)), ('latency', '<u8', ({each},)), \
         ('sqlstate', '|S5', ({each},)), \
         ('client', '<u2'), ('script', '|u1'), ('first', '|u1'), ('position', '<u2')]"
    )
}

impl Pair {
    fn write(&self, servers: usize, bytes: &mut Vec<u8>) {
        let outcomes = &self.outcomes[..columns(servers)];
        for number in outcomes.iter().map(|one| one.start) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for number in outcomes.iter().map(|one| one.latency) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for outcome in outcomes {
            bytes.extend_from_slice(&outcome.state);
        }
        bytes.extend_from_slice(&self.client.to_le_bytes());
        bytes.extend_from_slice(&[self.script, self.first]);
        bytes.extend_from_slice(&self.position.to_le_bytes());
    }
}

fn header(servers: usize, records: u64) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&((HEADER - 10) as u16).to_le_bytes());
    let descr = fields(servers);
    let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({records},), }}");
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(HEADER - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// Where a thread puts its pairs.
#[derive(Debug)]
pub struct Records {
    servers: usize,
    block: Vec<u8>,
    blocks: Option<SyncSender<Vec<u8>>>,
    /// How long the disk was waited for.
    pub blocked: Duration,
}

impl Records {
    /// Records for one who writes, or for nobody.
    #[must_use]
    pub fn new(servers: usize, blocks: Option<SyncSender<Vec<u8>>>) -> Self {
        Self { servers, block: Vec::new(), blocks, blocked: Duration::ZERO }
    }

    /// Put a pair.
    pub fn put(&mut self, pair: &Pair) {
        if self.blocks.is_none() {
            return;
        }
        let full = BLOCK * size(self.servers);
        if self.block.capacity() == 0 {
            self.block.reserve(full);
        }
        pair.write(self.servers, &mut self.block);
        if self.block.len() >= full {
            self.flush();
        }
    }

    /// Hand over what is there.
    pub fn flush(&mut self) {
        let Some(blocks) = &self.blocks else { return };
        let full = std::mem::take(&mut self.block);
        // Nobody reads on only where writing failed, which the writer reports.
        if let Err(TrySendError::Full(full)) = blocks.try_send(full) {
            let began = Instant::now();
            let _ = blocks.send(full);
            self.blocked += began.elapsed();
        }
    }
}

/// A channel for blocks of records.
#[must_use]
pub fn channel() -> (SyncSender<Vec<u8>>, Receiver<Vec<u8>>) {
    sync_channel(WAITING)
}

/// Write what comes into a file, to its end; returns the number of records.
///
/// # Errors
/// Where the file cannot be written.
pub fn write(path: &Path, servers: usize, blocks: &Receiver<Vec<u8>>) -> io::Result<u64> {
    let mut file = File::create(path)?;
    file.write_all(&header(servers, 0))?;
    let mut bytes = 0;
    for block in blocks {
        file.write_all(&block)?;
        bytes += block.len();
    }
    let records = (bytes / size(servers)) as u64;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header(servers, records))?;
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_its_length_whatever_the_number() {
        for (servers, records) in [(1, 0), (2, 1), (MOST_SERVERS, u64::MAX)] {
            let bytes = header(servers, records);
            assert_eq!(bytes.len(), HEADER);
            assert_eq!(bytes.last(), Some(&b'\n'));
        }
    }

    #[test]
    fn a_record_has_its_size() {
        for servers in 1..=MOST_SERVERS {
            let mut bytes = Vec::new();
            Pair::default().write(servers, &mut bytes);
            assert_eq!(bytes.len(), size(servers));
        }
        assert_eq!((size(1), size(2), size(3)), (48, 48, 69));
    }
}
