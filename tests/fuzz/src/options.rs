//! Options with which the targets open and read files.

use container_core::Limits;
use container_core::container::{Axes, OpenOptions, ReadOptions, Tolerance};

/// Most bytes that an input may make the library allocate.
pub const MEMORY: u64 = 64 << 20;

pub(crate) fn limits() -> Limits {
    Limits::default().with_memory(MEMORY)
}

/// Most bytes for what may be asked for many times of one input: what takes more of them finds the same, and less often.
const SMALL_MEMORY: u64 = 1 << 19;

/// As [`open_options`], for formats in which few bytes say that they hold many.
pub(crate) fn small_options() -> OpenOptions {
    let mut options = open_options();
    options.limits = Limits::default().with_memory(SMALL_MEMORY);
    options
}

pub(crate) fn open_options() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = limits();
    options
}

/// Every way to open a file that makes a difference.
pub(crate) fn all_open_options() -> Vec<OpenOptions> {
    let mut all = Vec::new();
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        for assumed in [None, Some("lz4"), Some("leb128")] {
            let mut options = open_options();
            options.tolerance = tolerance;
            options.assume_codec = assumed.map(str::to_owned);
            // Presenting the axes is independent of the rest: one of them will do.
            options.axes = if assumed == Some("lz4") { Axes::Reversed } else { Axes::AsStored };
            all.push(options);
        }
    }
    all
}

/// For reading: what is kept between looks counts beside it.
pub(crate) fn read_options() -> ReadOptions {
    ReadOptions::default().with_limits(Limits::default().with_memory(2 * SMALL_MEMORY))
}
