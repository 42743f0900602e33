//! Digests of chunks, which Blosc2 lacks: an optional piece of user metadata that other programs ignore.
//!
//! The user metalayer `holdall.checksums` is a msgpack map:
//!
//! | key | value |
//! |---|---|
//! | `version` | 1 |
//! | `algorithm` | `crc32`, `sha256` … as hashlib and zlib name it |
//! | `index` | digest of the lengths and offsets of its chunks |
//! | `chunks` | digests of the stored bytes of all chunks, one after the other in their order; zeros for a chunk that is a mark in the index. Empty where all are |
//!
//! `index` is the digest of 64-bit little-endian numbers: the bytes of all chunks after decoding, and then for each run of equal offsets
//! the offset as stored in the index and its count. When another program adds or removes chunks, this digest changes, and the others are
//! no longer valid. (A chunk that another program replaced by one of the same length, in its place, looks like a damaged one.)

use std::collections::BTreeMap;

use container_codecs::checksum::Algorithm;
use container_core::checksum::Digest;
use container_core::{Error, ErrorKind, Limits, Result, Stop, Value};

use crate::frame::Frame;
use crate::msgpack;
use crate::offsets::{Offset, Offsets};

/// The name of the user metalayer.
pub(crate) const NAME: &str = "holdall.checksums";

/// The hint for a chunk that does not match its digest.
const IF_CHANGED: &str = "holdall verify FILE shows all such chunks, holdall repair FILE -o NEW keeps the chunks that match; holdall recode --lenient --checksum none removes the digests of a file that another program has changed on purpose";

/// Digests of stored chunks.
#[derive(Clone, Debug)]
pub(crate) struct Digests {
    algorithm: Algorithm,
    /// Digests by the number of the chunk in the index.
    chunks: BTreeMap<u64, Box<[u8]>>,
}

impl Digests {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, chunks: BTreeMap::new() }
    }

    /// Returns the algorithm of the digests.
    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Compares a chunk that is stored under a number with its digest, if it has one.
    ///
    /// # Errors
    /// `Checksum` where they differ; `Cancelled`.
    pub(crate) fn require(&self, number: u64, chunk: &[u8], stop: Stop) -> Result<()> {
        let Some(stored) = self.chunks.get(&number).and_then(|stored| Digest::new(stored).ok()) else {
            return Ok(());
        };
        let computed = self.algorithm.digest_until(chunk, stop)?;
        if stored == computed {
            return Ok(());
        }
        let (stored, computed) = (stored.to_string(), computed.to_string());
        Err(Error::new(ErrorKind::Checksum { stored, computed }).with_hint(IF_CHANGED))
    }

    /// Takes the digest of a chunk that is stored under a number.
    pub(crate) fn take(&mut self, number: u64, chunk: &[u8]) {
        self.chunks.insert(number, self.algorithm.digest(chunk).as_bytes().into());
    }

    /// Encodes the value of the metalayer.
    ///
    /// # Errors
    /// `Usage` where a chunk has no digest, which does not happen.
    pub(crate) fn encode(&self, offsets: &Offsets, nbytes: u64) -> Result<Vec<u8>> {
        let len = self.algorithm.digest_len();
        let mut all = Vec::new();
        if offsets.distinct().any(|offset| matches!(offset, Offset::Stored(_))) {
            for offset in offsets.iter() {
                match offset {
                    Offset::Stored(number) => {
                        let digest = self.chunks.get(&number);
                        all.extend_from_slice(
                            digest.ok_or_else(|| Error::usage("a chunk without a digest"))?,
                        );
                    }
                    _ => all.resize(all.len().saturating_add(len), 0),
                }
            }
        }
        let index = self.algorithm.digest(&index(offsets, nbytes));
        msgpack::from_value(&Value::Map(vec![
            ("version".into(), Value::Int(1)),
            ("algorithm".into(), Value::Text(self.algorithm.name().into())),
            ("index".into(), Value::Bytes(index.as_bytes().to_vec())),
            ("chunks".into(), Value::Bytes(all)),
        ]))
    }

    /// Digests that match the frame; `None` if they are missing or of another state.
    pub(crate) fn parse(value: &[u8], offsets: &Offsets, nbytes: u64, limits: &Limits) -> Option<Self> {
        let stored = Stored::parse(value, limits).ok()?;
        if !stored.fits(offsets, nbytes) {
            return None;
        }
        let mut digests = Self::new(stored.algorithm);
        for (index, offset) in offsets.distinct().enumerate() {
            if let Offset::Stored(number) = offset {
                digests.chunks.insert(number, stored.chunk(index)?.into());
            }
        }
        Some(digests)
    }
}

/// Builds the bytes that the index digest covers.
fn index(offsets: &Offsets, nbytes: u64) -> Vec<u8> {
    let mut numbers = nbytes.to_le_bytes().to_vec();
    let mut put = |offset: Offset, count: u64| {
        numbers.extend_from_slice(&offset.to_raw().to_le_bytes());
        numbers.extend_from_slice(&count.to_le_bytes());
    };
    if let Offsets::Same(offset, count @ 1..) = offsets {
        put(*offset, *count);
        return numbers;
    }
    let mut run: Option<(Offset, u64)> = None;
    for offset in offsets.iter() {
        match &mut run {
            Some((own, count)) if *own == offset => *count += 1,
            run => {
                if let Some((own, count)) = run.replace((offset, 1)) {
                    put(own, count);
                }
            }
        }
    }
    if let Some((offset, count)) = run {
        put(offset, count);
    }
    numbers
}

/// The metalayer as it is stored: digests by the places of the chunks.
pub(crate) struct Stored {
    algorithm: Algorithm,
    index: Vec<u8>,
    chunks: Vec<u8>,
}

impl Stored {
    pub(crate) fn parse(value: &[u8], limits: &Limits) -> Result<Self> {
        let wrong =
            || Error::malformed("not a map of digests").with_context(format!("user metalayer {NAME:?}"));
        let Value::Map(mut entries) = msgpack::to_value(value, limits)? else { return Err(wrong()) };
        let mut take = |name: &str| {
            let at = entries.iter().position(|(own, _)| own == name)?;
            Some(entries.swap_remove(at).1)
        };
        match take("version") {
            Some(Value::Int(1)) => {}
            Some(Value::Int(other)) => {
                let problem = format!("unsupported version {other} of the checksums (expected 1)");
                return Err(Error::unsupported(problem).with_context(format!("user metalayer {NAME:?}")));
            }
            _ => return Err(wrong()),
        }
        match (take("algorithm"), take("index"), take("chunks")) {
            (Some(Value::Text(name)), Some(Value::Bytes(index)), Some(Value::Bytes(chunks))) => {
                let unknown = |_| Error::unsupported(format!("checksums by {name:?}"));
                let algorithm = Algorithm::from_name(&name).map_err(unknown)?;
                Ok(Self { algorithm, index, chunks })
            }
            _ => Err(wrong()),
        }
    }

    /// Returns the algorithm of the digests.
    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the number of chunks with a digest; 0 where no chunk is stored.
    pub(crate) fn count(&self) -> usize {
        self.chunks.len() / self.algorithm.digest_len().max(1)
    }

    /// Whether the chunk in the place `index` matches its digest; `None` without a digest.
    pub(crate) fn fit(&self, index: u64, chunk: &[u8]) -> Option<bool> {
        let own = self.chunk(usize::try_from(index).ok()?)?;
        Some(own == self.algorithm.digest(chunk).as_bytes())
    }

    /// Whether they belong to a frame with these offsets.
    pub(crate) fn fits(&self, offsets: &Offsets, nbytes: u64) -> bool {
        let len = self.algorithm.digest_len() as u64;
        let all = self.chunks.len() as u64 == offsets.len().saturating_mul(len);
        let none =
            self.chunks.is_empty() && !offsets.distinct().any(|offset| matches!(offset, Offset::Stored(_)));
        (all || none) && self.algorithm.digest(&index(offsets, nbytes)).as_bytes() == self.index
    }

    /// Returns the digest of the chunk in the place `index`: zeros for a mark.
    pub(crate) fn chunk(&self, index: usize) -> Option<&[u8]> {
        let len = self.algorithm.digest_len();
        self.chunks.get(index.checked_mul(len)?..)?.get(..len)
    }
}

/// Result of checking the digests of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumReport {
    /// Nothing: another program has changed the frame since.
    Stale,
    /// Something of each stored chunk.
    Compared {
        /// The algorithm of the digests.
        algorithm: Algorithm,
        /// Number of stored chunks.
        stored: u64,
        /// The numbers of the chunks whose bytes have another digest, or cannot be read.
        damaged: Vec<u64>,
    },
}

/// Compares the stored bytes of all chunks with the digests that the frame has of them. `None` where it has none.
///
/// # Errors
/// Those of reading the metalayer; `Unsupported` for a later version of it; `Io`; `Limit`.
pub fn check_checksums(frame: &Frame) -> Result<Option<ChecksumReport>> {
    let Some(value) = frame.vlmetalayer(NAME)? else { return Ok(None) };
    let limits = &frame.options().limits;
    let stored = Stored::parse(&value, limits)?;
    let offsets = frame.layout().offsets();
    if !stored.fits(offsets, frame.header().nbytes) {
        return Ok(Some(ChecksumReport::Stale));
    }
    let (mut count, mut damaged) = (0, Vec::new());
    for (number, offset) in (0_u64..).zip(offsets.distinct()) {
        if !matches!(offset, Offset::Stored(_)) {
            continue;
        }
        count += 1;
        let same = match frame.chunk_uncompared(number) {
            Ok(chunk) => {
                let digest = stored.algorithm.digest(&chunk);
                let own = usize::try_from(number).ok().and_then(|number| stored.chunk(number));
                own == Some(digest.as_bytes())
            }
            Err(error) if error.is_damage() => false,
            Err(error) => match error.kind() {
                ErrorKind::Unsupported(_) => false,
                _ => return Err(error),
            },
        };
        if !same {
            damaged.push(number);
        }
    }
    Ok(Some(ChecksumReport::Compared { algorithm: stored.algorithm, stored: count, damaged }))
}

/// Returns the metalayer of a frame whose chunks are put elsewhere in the same order, if its digests fit it: `offsets` are the
/// new ones.
///
/// # Errors
/// `Limit`.
pub(crate) fn moved(frame: &Frame, offsets: &Offsets) -> Result<Option<Vec<u8>>> {
    let Some(value) = frame.vlmetalayer(NAME)? else { return Ok(None) };
    let limits = &frame.options().limits;
    let (header, own) = (frame.header(), frame.layout().offsets());
    let Some(digests) = Digests::parse(&value, own, header.nbytes, limits) else { return Ok(None) };
    let mut there = Digests::new(digests.algorithm);
    for (old, new) in own.distinct().zip(offsets.distinct()) {
        if let (Offset::Stored(old), Offset::Stored(new)) = (old, new)
            && let Some(digest) = digests.chunks.get(&old)
        {
            there.chunks.insert(new, digest.clone());
        }
    }
    there.encode(offsets, header.nbytes).map(Some)
}

#[cfg(test)]
mod tests;
