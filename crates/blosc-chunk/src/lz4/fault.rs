//! A fault of a stream.

/// A fault of a stream: the reason and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Description of the fault, in lower case and without a full stop.
    pub(crate) reason: &'static str,
    /// Byte of the stream where it shows, at most the stream's length.
    pub(crate) position: usize,
}

impl Fault {
    /// Creates a fault at a byte of the stream.
    pub(crate) const fn at(position: usize, reason: &'static str) -> Self {
        Self { reason, position }
    }
}
