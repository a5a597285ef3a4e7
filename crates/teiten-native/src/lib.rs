//! The native part of Teiten for Python: a thin shim over the crates that do the work.
//!
//! Every call for rows is bounded by the buffer that it is given, so that Python sees a signal after
//! milliseconds; the load generator is the whole work of its process and sees signals itself. While
//! either works, the interpreter is free for other threads.

mod paired;
mod ssb_rows;

use pyo3::prelude::*;

/// Teiten's native part.
#[pymodule]
mod teiten_native {
    #[pymodule_export]
    use crate::paired::pairs_main;

    #[pymodule_export]
    use crate::ssb_rows::{SsbRows, ssb_columns, ssb_units};

    /// Raised where Python needs more of this module than an earlier one has: a function, or an
    /// option of the generator.
    #[pymodule_export]
    const INTERFACE: u32 = 5;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
