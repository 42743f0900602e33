//! Integers as text, of any width up to 128 bits.

use std::fmt::Write;

use container_core::dtype::ByteOrder;

/// An integer of up to 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Signed(i128),
    Unsigned(u128),
}

impl Integer {
    /// Two's complement of any width up to 16 bytes; `None` beyond and for no bytes.
    pub(crate) fn signed(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        let top = match order {
            ByteOrder::Little => bytes.last(),
            ByteOrder::Big => bytes.first(),
        };
        let fill = if top? & 0x80 == 0 { 0 } else { 0xff };
        Some(Self::Signed(i128::from_le_bytes(widened(bytes, order, fill)?)))
    }

    /// Unsigned, of any width up to 16 bytes.
    pub(crate) fn unsigned(bytes: &[u8], order: ByteOrder) -> Option<Self> {
        bytes.first()?;
        Some(Self::Unsigned(u128::from_le_bytes(widened(bytes, order, 0)?)))
    }

    pub(crate) fn write(self, out: &mut String) {
        // A narrow number is printed several times faster than one of 128 bits.
        let _ = match self {
            Self::Signed(value) => match i64::try_from(value) {
                Ok(narrow) => write!(out, "{narrow}"),
                Err(_) => write!(out, "{value}"),
            },
            Self::Unsigned(value) => match u64::try_from(value) {
                Ok(narrow) => write!(out, "{narrow}"),
                Err(_) => write!(out, "{value}"),
            },
        };
    }
}

/// Little-endian, with `fill` above the highest byte.
fn widened(bytes: &[u8], order: ByteOrder, fill: u8) -> Option<[u8; 16]> {
    let mut wide = [fill; 16];
    let place = wide.get_mut(..bytes.len())?;
    place.copy_from_slice(bytes);
    if order == ByteOrder::Big {
        place.reverse();
    }
    Some(wide)
}
