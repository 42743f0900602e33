//! How much of another array a proxy holds. The rest was never fetched, and reads as zeros.
//!
//! python-blosc2 keeps a bit for each chunk in the user metadata `proxy-fetched`, lowest bit first; where its source serves blocks, one
//! for each block in `proxy-fetched-blocks`, and in `proxy-fetched-bpc` how many blocks a chunk has.

use container_core::Value;

use crate::frame::Frame;
use crate::msgpack;
use crate::offsets::{Offset, Offsets};

/// The metalayer of a proxy, which says what it stands for.
const SOURCE: &str = "proxy-source";

/// What a proxy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Parts that were fetched.
    pub(crate) parts: u64,
    /// Parts that there are.
    pub(crate) total: u64,
    /// Whether parts are blocks.
    blocks: bool,
}

impl std::fmt::Display for Fetched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.blocks { "blocks" } else { "chunks" };
        write!(f, "{} of {} {what}", self.parts, self.total)
    }
}

impl Fetched {
    /// What a frame holds of its source; `None` for a frame that is no proxy.
    pub(crate) fn of(frame: &Frame) -> Option<Self> {
        frame.metalayers().get(SOURCE)?;
        let chunks = frame.chunk_count();
        let per_chunk = match value(frame, "proxy-fetched-bpc") {
            Some(Value::Int(count)) => u64::try_from(count).unwrap_or(1).max(1),
            _ => 1,
        };
        let total = chunks.saturating_mul(per_chunk);
        if per_chunk > 1
            && let Some(parts) = bits(value(frame, "proxy-fetched-blocks"), total)
        {
            return Some(Self { parts, total, blocks: true });
        }
        // Of a chunk that was fetched as a whole nothing is missing.
        let parts = bits(value(frame, "proxy-fetched"), chunks).unwrap_or_else(|| match per_chunk {
            1 => stored(frame),
            // With blocks, only the bits tell a whole chunk from a part of one.
            _ => 0,
        });
        Some(Self { parts, total: chunks, blocks: false })
    }

    /// True where something is missing.
    pub(crate) const fn is_partial(&self) -> bool {
        self.parts < self.total
    }
}

fn value(frame: &Frame, name: &str) -> Option<Value> {
    let bytes = frame.vlmetalayer(name).ok()??;
    msgpack::to_value(&bytes, &frame.options().limits).ok()
}

/// How many of the first `total` bits are set; `None` where there is another number of bytes than they take.
fn bits(value: Option<Value>, total: u64) -> Option<u64> {
    let Some(Value::Bytes(bytes)) = value else { return None };
    if bytes.len() as u64 != total.div_ceil(8) {
        return None;
    }
    let set = |at: u64| {
        let byte = usize::try_from(at / 8).ok().and_then(|at| bytes.get(at));
        byte.is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    };
    Some((0..total).filter(|at| set(*at)).count() as u64)
}

/// Chunks that are stored: before there were bits, what had been fetched.
fn stored(frame: &Frame) -> u64 {
    match frame.layout().offsets() {
        Offsets::Same(Offset::Stored(_), count) => *count,
        // Of a frame of zeros there may be more than anyone can count one by one.
        Offsets::Same(..) => 0,
        each @ Offsets::Each(_) => {
            each.iter().filter(|offset| matches!(offset, Offset::Stored(_))).count() as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_says_how_much_it_holds() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/");
        let proxy = Frame::open(format!("{path}proxy.b2nd")).unwrap();
        let fetched = Fetched::of(&proxy).unwrap();
        assert_eq!(fetched.to_string(), "1 of 4 chunks");
        assert!(fetched.is_partial());
        let other = Frame::open(format!("{path}expression.b2nd")).unwrap();
        assert_eq!(Fetched::of(&other), None);
    }

    #[test]
    fn bits_count_from_the_lowest() {
        let bytes = |bytes: &[u8]| Some(Value::Bytes(bytes.to_vec()));
        assert_eq!(bits(bytes(&[0b1000_0001, 0b11]), 9), Some(3));
        assert_eq!(bits(bytes(&[0xff, 0xff]), 16), Some(16));
        assert_eq!(bits(bytes(&[0xff]), 16), None);
        assert_eq!(bits(None, 8), None);
        assert_eq!(bits(bytes(&[]), u64::MAX), None);
    }
}
