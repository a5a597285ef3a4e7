//! The native part of Teiten for Python: a thin shim over the crates that do the work.
//!
//! Every call is bounded by the buffer that it is given, so that Python sees a signal after
//! milliseconds; while it works, the interpreter is free for other threads.

mod ssb_rows;

use pyo3::prelude::*;

/// Teiten's native part.
#[pymodule]
mod teiten_native {
    #[pymodule_export]
    use crate::ssb_rows::{SsbRows, ssb_columns, ssb_units};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
