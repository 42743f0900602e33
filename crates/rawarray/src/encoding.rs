//! Encoding of the elements, and detection of the encoding of data with flag bit 1.
//!
//! The C library means one LZ4 block, whose length is the size field. RawArray.jl means LEB128 varints, which continue to the end of the file while
//! the size field counts the bytes before encoding. The header has no field for the choice, so each is tried.

use std::ops::Range;

use container_codecs::lz4::block_shape;

use crate::bits;
use crate::fault::Fault;
use crate::header::Eltype;
use crate::layout::Layout;
use crate::leb128::{self, Leb128, Stop};

/// Encoding of the elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// The bytes as they are in memory.
    #[default]
    Plain,
    /// One LZ4 block (flag bit 1; read and written by the C library).
    Lz4,
    /// LEB128 varints (flag bit 1; integers and bools; read and written by RawArray.jl).
    Leb128,
    /// Bits in 64-bit words (flag bits 1 and 2; bools; read and written by RawArray.jl).
    Bits,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Lz4, Self::Leb128, Self::Bits];

    /// The encoding's name in options: `none`, `lz4`, `leb128` or `bits`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "none",
            Self::Lz4 => "lz4",
            Self::Leb128 => leb128::NAME,
            Self::Bits => bits::NAME,
        }
    }

    /// The encoding of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|encoding| encoding.name() == name)
    }

    /// The codec's name; `None` where the bytes are plain.
    pub(crate) const fn codec(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            other => Some(other.name()),
        }
    }
}

/// The encoding detected from the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetectedEncoding {
    pub encoding: Encoding,
    /// The stored bytes.
    pub range: Range<u64>,
    /// Its faults and oddities.
    pub faults: Vec<Fault>,
}

/// Detects the encoding of a file with flag bit 1: `data` is everything from the start of the data segment.
pub(crate) fn detect(layout: &Layout, data: &[u8], assumed: Option<Encoding>) -> DetectedEncoding {
    let (at, have) = (layout.data_at(), data.len() as u64);
    let size = layout.header().size;
    let full = layout.decoded_len().unwrap_or(0);
    let found = Candidates::new(layout, data, full, size);
    let lz4 = found.lz4 && assumed.is_none_or(|encoding| encoding == Encoding::Lz4);
    // RawArray.jl gives the size before encoding. With another one, varints are damaged at best, and a sound block wins.
    let leb128 =
        found.leb128 && assumed.map_or(size == full || !found.lz4, |encoding| encoding == Encoding::Leb128);
    let told = |encoding, range, faults| DetectedEncoding { encoding, range, faults };
    match (lz4, leb128) {
        (true, false) => {
            let range = at..at.saturating_add(size);
            let rest = range.end..layout.file_len();
            let trailer = (!rest.is_empty()).then_some(Fault::TrailingBytes { range: rest });
            told(Encoding::Lz4, range, trailer.into_iter().collect())
        }
        (false, true) => {
            let misfit = (size != full).then_some(Fault::SizeMismatch { size, expected: full });
            told(Encoding::Leb128, at..layout.file_len(), misfit.into_iter().collect())
        }
        (true, true) => {
            let range = at..at + have;
            told(Encoding::Lz4, range.clone(), vec![Fault::AmbiguousEncoding { range }])
        }
        (false, false) => {
            let encoding = assumed.unwrap_or(found.likely);
            let fault = match assumed.filter(|_| found.lz4 || found.leb128) {
                Some(assumed) => {
                    let why = format!("the data are not {}, the encoding to assume", assumed.name());
                    Fault::UndecodableData { range: at..at + have, why }
                }
                None => found.explain(at, have, full, size),
            };
            told(encoding, at..at + have, vec![fault])
        }
    }
}

struct Candidates {
    lz4: bool,
    leb128: bool,
    /// Values that decode as LEB128, where the type allows it, and the reason for the end.
    scan: Option<leb128::Scan>,
    count: u64,
    likely: Encoding,
    /// Floats and complex numbers, which RawArray.jl marks as encoded but writes plainly.
    float: bool,
}

impl Candidates {
    fn new(layout: &Layout, data: &[u8], full: u64, size: u64) -> Self {
        let count = layout.element_count().unwrap_or(0);
        let block = usize::try_from(size).ok().and_then(|size| data.get(..size));
        let codec = layout.dtype().and_then(Leb128::new);
        let scan = codec.map(|codec| codec.scan(data, count));
        Self {
            lz4: block.is_some_and(|block| block_shape(block, full).is_exactly(full)),
            leb128: scan.is_some_and(|scan| scan.stop == Stop::Done && scan.used == data.len()),
            scan,
            count,
            float: matches!(layout.header().eltype, Eltype::FLOAT | Eltype::COMPLEX),
            // The size field counts the bytes before LEB128, and those after LZ4.
            likely: if size == full && codec.is_some() { Encoding::Leb128 } else { Encoding::Lz4 },
        }
    }

    /// Why neither fits.
    fn explain(&self, at: u64, have: u64, full: u64, size: u64) -> Fault {
        if self.float && have == full && size == full {
            return Fault::FlagOnRawData;
        }
        match (self.likely, self.scan) {
            (Encoding::Leb128, Some(scan)) if scan.stop == Stop::EndsEarly => {
                // Every missing value takes a byte at least.
                let least = (scan.used as u64).saturating_add(self.count - scan.values);
                Fault::DataTruncated { claimed: at..at.saturating_add(least.max(have + 1)), have }
            }
            (Encoding::Lz4, _) if size > have => {
                Fault::DataTruncated { claimed: at..at.saturating_add(size), have }
            }
            (_, scan) => {
                let leb128 = match scan.map(|scan| scan.stop) {
                    None => "the elements are not integers, so not LEB128".to_owned(),
                    Some(Stop::Done) => {
                        format!("LEB128 values end {} bytes before the file", self.left(have))
                    }
                    Some(Stop::EndsEarly) => "LEB128 values are cut short".to_owned(),
                    Some(Stop::TooLarge) => "a LEB128 value does not fit its type".to_owned(),
                };
                let why = format!("flagged as encoded, but not an LZ4 block of {full} bytes, and {leb128}");
                Fault::UndecodableData { range: at..at + have, why }
            }
        }
    }

    fn left(&self, have: u64) -> u64 {
        self.scan.map_or(0, |scan| have - scan.used as u64)
    }
}
