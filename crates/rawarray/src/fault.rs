//! Faults and oddities of a file: each case with its stable code, its range and its message.

use std::ops::Range;

use container_core::fault::FaultProperties;
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind};

/// One fault or oddity. [`Fault::code`] is the stable name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The file ends before its dimensions do.
    DimsTruncated {
        /// The bytes that the dimensions claim.
        claimed: Range<u64>,
        /// Bytes of them that are there.
        have: u64,
    },
    /// More dimensions than the limits allow.
    NdimsLimit {
        /// Number in the header.
        ndims: u64,
        /// Limit of the options.
        allowed: u64,
    },
    /// The dimensions multiply to more than 2^64 bytes.
    DimsOverflow {
        /// Range of the dimensions.
        range: Range<u64>,
    },
    /// A flag bit without a meaning.
    UnknownFlag(u64),
    /// An eltype over 5.
    UnknownEltype(u64),
    /// An elbyte that the eltype cannot have.
    ImpossibleElbyte {
        /// The width.
        elbyte: u64,
        /// Reason why it is impossible.
        why: &'static str,
    },
    /// The size field and the dimensions disagree.
    SizeMismatch {
        /// The size field.
        size: u64,
        /// The size by dimensions and element width.
        expected: u64,
    },
    /// The file ends before its data do.
    DataTruncated {
        /// The bytes that the data claim.
        claimed: Range<u64>,
        /// Bytes of them that are there.
        have: u64,
    },
    /// The number of dimensions differs from that of the words which follow it: the Rust crate `rawarray` up to 0.1.4 forgets to update it in
    /// `reshape`.
    ReshapeBug {
        /// Number in the header.
        ndims: u64,
        /// The dimensions that fit size and file.
        dims: Vec<u64>,
    },
    /// No dimensions and no data, though a scalar has one element: `RawArray::new().write()` of the Rust crate.
    EmptyWithoutDims {
        /// The width of the element that is missing.
        elbyte: u64,
    },
    /// Flag bit 1 over data that are not encoded: RawArray.jl with `compress=true` on floats.
    FlagOnRawData,
    /// Encoded data that fit no supported encoding, or more than one.
    UndecodableData {
        /// Range of the data.
        range: Range<u64>,
        /// Results of the encodings that were tried.
        why: String,
    },
    /// Encoded data that fit both encodings.
    AmbiguousEncoding {
        /// Range of the data.
        range: Range<u64>,
    },
    /// Bits are set after the last element of a bit array.
    BitsBeyondCount {
        /// The last word.
        range: Range<u64>,
    },
    /// A bool that is neither 0 nor 1.
    BoolValue {
        /// Its place.
        range: Range<u64>,
        /// Number of such bools.
        count: u64,
    },
    /// A width that numpy has no type for; read as opaque bytes.
    OddWidth {
        /// The type in words.
        what: String,
    },
    /// User-defined elements in a big-endian file: the bytes to swap are unknown, so they stay as they are.
    OpaqueBigEndian,
    /// The header itself is big-endian, as C and Julia write it on such machines. Only holdall reads it.
    BigEndianHeader,
    /// Bytes after the data: the description's volatile metadata. Other libraries drop them.
    TrailingBytes {
        /// Range of the bytes.
        range: Range<u64>,
    },
}

impl Fault {
    /// Code, severity and location of each case.
    const fn properties(&self) -> FaultProperties {
        match self {
            Self::DimsTruncated { .. } => FaultProperties::error("dims_truncated", "rawarray dims"),
            Self::NdimsLimit { .. } => FaultProperties::error("ndims_limit", "rawarray dims"),
            Self::DimsOverflow { .. } => FaultProperties::error("dims_overflow", "rawarray dims"),
            Self::UnknownFlag(_) => FaultProperties::unsupported("unknown_flag", "rawarray header"),
            Self::UnknownEltype(_) => FaultProperties::unsupported("unknown_eltype", "rawarray header"),
            Self::ImpossibleElbyte { .. } => FaultProperties::error("impossible_elbyte", "rawarray header"),
            Self::SizeMismatch { .. } => FaultProperties::error("size_mismatch", "rawarray header"),
            Self::DataTruncated { .. } => FaultProperties::error("data_truncated", "rawarray data"),
            Self::ReshapeBug { .. } => FaultProperties::error("reshape_bug", "rawarray header"),
            Self::EmptyWithoutDims { .. } => FaultProperties::error("empty_without_dims", "rawarray header"),
            Self::FlagOnRawData => FaultProperties::error("flag_on_raw_data", "rawarray header"),
            Self::UndecodableData { .. } | Self::AmbiguousEncoding { .. } => {
                FaultProperties::error("undecodable_data", "rawarray data")
            }
            Self::BitsBeyondCount { .. } => FaultProperties::warning("bits_beyond_count", "rawarray data"),
            Self::BoolValue { .. } => FaultProperties::warning("bool_not_0_or_1", "rawarray header"),
            Self::OddWidth { .. } => FaultProperties::note("odd_width", "rawarray header"),
            Self::OpaqueBigEndian => FaultProperties::note("opaque_big_endian", "rawarray header"),
            Self::BigEndianHeader => FaultProperties::note("big_endian_header", "rawarray header"),
            Self::TrailingBytes { .. } => FaultProperties::note("trailing_bytes", "rawarray header"),
        }
    }

    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.properties().code
    }

    /// Severity: damage, a problem for some readers, or merely odd.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.properties().severity
    }

    /// The absolute bytes that it concerns. For a truncation, the stated ones.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        match self {
            Self::DimsTruncated { claimed, .. } | Self::DataTruncated { claimed, .. } => claimed.clone(),
            Self::DimsOverflow { range }
            | Self::UndecodableData { range, .. }
            | Self::AmbiguousEncoding { range }
            | Self::BitsBeyondCount { range }
            | Self::BoolValue { range, .. }
            | Self::TrailingBytes { range } => range.clone(),
            Self::BigEndianHeader => 0..8,
            Self::UnknownFlag(_) | Self::FlagOnRawData | Self::OpaqueBigEndian => 8..16,
            Self::UnknownEltype(_) => 16..24,
            Self::ImpossibleElbyte { .. } | Self::OddWidth { .. } => 24..32,
            Self::SizeMismatch { .. } => 32..40,
            Self::NdimsLimit { .. } | Self::ReshapeBug { .. } | Self::EmptyWithoutDims { .. } => 40..48,
        }
    }

    /// The sentence for people.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::DimsTruncated { claimed, have } => {
                format!(
                    "the file ends within its dimensions: need {} bytes, {have} present",
                    claimed.end - claimed.start
                )
            }
            Self::NdimsLimit { ndims, allowed } => format!("{ndims} dimensions, the limit is {allowed}"),
            Self::DimsOverflow { .. } => "the dimensions multiply to more than 2^64 bytes".into(),
            Self::UnknownFlag(bits) => format!("unknown flag bits {bits:#x}"),
            Self::UnknownEltype(code) => format!("unknown eltype {code} (expected 0 to 5)"),
            Self::ImpossibleElbyte { elbyte, why } => format!("elbyte {elbyte} is impossible: {why}"),
            Self::SizeMismatch { size, expected } => {
                format!("wrong size field: {size} bytes (expected {expected} from the dimensions)")
            }
            Self::DataTruncated { claimed, have } => {
                format!(
                    "the file ends within its data: need {} bytes, {have} present",
                    claimed.end - claimed.start
                )
            }
            Self::ReshapeBug { ndims, dims } => format!(
                "ndims is {ndims}, but size field and file length fit {} dimension words, {dims:?}: \
                 a reshape that forgot to update ndims",
                dims.len()
            ),
            Self::EmptyWithoutDims { elbyte } => format!(
                "no dimensions and no data (expected {elbyte} bytes for a scalar): an empty array written without a shape"
            ),
            Self::FlagOnRawData => "flagged as encoded, but the data are plain".into(),
            Self::UndecodableData { why, .. } => why.clone(),
            Self::AmbiguousEncoding { .. } => {
                "the data are a valid LZ4 block and valid LEB128 values: choose the encoding to assume".into()
            }
            Self::BitsBeyondCount { .. } => "bits are set after the last element".into(),
            Self::BoolValue { count, .. } => format!("{count} bool values are neither 0 nor 1"),
            Self::OddWidth { what } => format!("{what} has no numpy type; it is kept as opaque bytes"),
            Self::OpaqueBigEndian => {
                "big-endian user-defined elements: their bytes are kept as stored".into()
            }
            Self::BigEndianHeader => "the header is big-endian, which most readers refuse".into(),
            Self::TrailingBytes { range } => {
                format!(
                    "{} bytes follow the data; ra.py, MATLAB and the Rust crate refuse such a file, C drops them",
                    range.end - range.start
                )
            }
        }
    }

    /// The finding of a check.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding::new(self.severity(), self.code(), self.message()).at(self.range()).dataset(crate::DATASET)
    }

    /// The error of reading the values.
    #[must_use]
    pub fn error(&self) -> Error {
        let kind = match self {
            Self::DimsTruncated { claimed, have } | Self::DataTruncated { claimed, have } => {
                ErrorKind::Truncated { need: claimed.end - claimed.start, have: *have }
            }
            Self::NdimsLimit { ndims, allowed } => {
                ErrorKind::Limit { what: "number of dimensions".into(), asked: *ndims, allowed: *allowed }
            }
            _ if self.properties().is_unsupported => ErrorKind::Unsupported(self.message().into()),
            _ => ErrorKind::Malformed(self.message().into()),
        };
        Error::new(kind).with_range(self.range()).with_context(self.properties().location)
    }
}
