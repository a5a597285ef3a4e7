//! Load on two to eight PostgreSQL servers in turn, transaction by transaction.
//!
//! Each client has a connection to every server. It runs its script on one and then on the others, in
//! random order and with the same random parameters, transaction by transaction or so many at a time.
//! What disturbs a machine for longer than a transaction so hits all sides alike. With one server it
//! is a generator of the classic load, which pgbench is the reference for: scripts, random numbers
//! and messages are its own.

pub mod authentication;
pub mod client;
pub mod connection;
pub mod expression;
pub mod names;
pub mod options;
pub mod random;
pub mod record;
pub mod run;
pub mod script;
pub mod session;
pub mod statements;
pub mod tls;
pub mod value;
pub mod worker;

use std::io::{Read as _, Write as _};

/// The program: options as JSON from the standard input, events as lines of JSON to the standard
/// output. Returns the exit status: 0, 1 where nothing was run or written, 2 where a client could not
/// go on (as pgbench).
#[must_use]
pub fn main() -> u8 {
    let mut status = 0;
    let result = read().and_then(|options| {
        let stop = run::Stop::on_signals().map_err(|error| error.to_string())?;
        run::run(&options, &stop, |event| {
            if matches!(event, run::Event::Ended(summary) if !summary.aborted.is_empty()) {
                status = 2;
            }
            let mut output = std::io::stdout().lock();
            // Nobody reading is no reason to stop; the records are in their file.
            let _ = serde_json::to_writer(&mut output, event);
            let _ = output.write_all(b"\n");
            let _ = output.flush();
        })
    });
    match result {
        Ok(()) => status,
        Err(message) => {
            eprintln!("teiten-pairs: {message}");
            1
        }
    }
}

fn read() -> Result<options::Options, String> {
    let mut json = String::new();
    std::io::stdin().read_to_string(&mut json).map_err(|error| error.to_string())?;
    options::Options::read(&json)
}
