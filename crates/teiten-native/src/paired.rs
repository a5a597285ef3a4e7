//! The load generator of paired transactions, as the program of a process of Python's.

use pyo3::prelude::*;

/// Run the generator: options from the standard input, events to the standard output. Returns the
/// exit status. It takes the process's signals over, so it belongs into a process of its own.
#[pyfunction]
pub fn pairs_main(py: Python<'_>) -> u8 {
    py.detach(pairs::main)
}
