//! Recovers a partly damaged frame header.

use container_core::source::Source;
use container_core::{Error, Limits, Result};

use super::input::header_at;
use super::scan_indexes::trailer_at;
use crate::fault::{Fault, FaultKind};
use crate::header::{BARE_LEN, ChunkSize, FIXED_LEN, Header, Kind, MAGIC};
use crate::layout::Layout;
use crate::metalayer::Metalayers;
use crate::options::{FrameOptions, default_params};
use crate::writer::new_header;

/// Bytes after the fixed part in which metalayers are searched: their index counts in 16 bits, their values rarely need more.
const MAX_METALAYERS_LEN: u64 = 1 << 20;

/// The header and metalayers as far as they are readable.
pub(super) struct RecoveredHeader {
    pub header: Header,
    /// Offset of the first chunk.
    pub end: u64,
    pub metalayers: Metalayers,
    /// Layout by the header; `None` where its fixed part is unreadable.
    pub layout: Option<Layout>,
    /// The error of the fixed part.
    pub error: Option<Error>,
    /// Whether the metalayers could be read.
    pub has_metalayers: bool,
}

impl RecoveredHeader {
    pub fn read(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let (header, layout, error) = match Layout::parse(source, 0, limits) {
            Ok(layout) => (layout.header().clone(), Some(layout), None),
            Err(error) if !error.is_damage() || source.len() < u64::from(BARE_LEN) => return Err(error),
            Err(error) => {
                let mut magic = [0; MAGIC.len()];
                source.read_into(0, &mut magic)?;
                if magic != MAGIC {
                    return Err(error);
                }
                (blank_header()?, None, Some(error))
            }
        };
        let found = metalayers(source)?;
        let (metalayers, end) = match found {
            // Where header and metalayers differ, the data that begin there decide; else the metalayers' own length counts.
            Some((metalayers, end)) => {
                let own = u64::from(header.header_len);
                let begins =
                    |at: u64| header_at(source, at).is_some() || trailer_at(source, at, limits).is_some();
                if own == end || begins(end) || !begins(own) {
                    (Some(metalayers), end)
                } else {
                    // Values may be stored otherwise than C-Blosc2 stores them; where the header ends they can be read all the same.
                    let is_unreadable = |fault: &Fault| fault.kind() == FaultKind::MetalayersUnreadable;
                    let sound = layout.as_ref().filter(|it| !it.faults().iter().any(is_unreadable));
                    (sound.map(|layout| layout.metalayers().clone()), own)
                }
            }
            None => {
                let own = u64::from(header.header_len);
                let fits = (u64::from(BARE_LEN)..=source.len()).contains(&own);
                (None, if fits { own } else { u64::from(BARE_LEN) })
            }
        };
        let has_metalayers = metalayers.is_some();
        let metalayers = metalayers.unwrap_or_default();
        Ok(Self { header, end, metalayers, layout, error, has_metalayers })
    }
}

/// Returns a header without sizes.
fn blank_header() -> Result<Header> {
    let options = FrameOptions { params: default_params(1), ..FrameOptions::default() };
    let mut header = new_header(&options)?;
    header.kind = Kind::Contiguous;
    header.typesize = 0;
    header.chunksize = ChunkSize::Unset;
    Ok(header)
}

/// Returns the metalayers after the fixed part, and their end.
fn metalayers(source: &dyn Source) -> Result<Option<(Metalayers, u64)>> {
    let start = FIXED_LEN as u64;
    let end = source.len().min(start + MAX_METALAYERS_LEN);
    if end <= start {
        return Ok(None);
    }
    let bytes = source.read(start..end)?;
    let Ok(metalayers) = Metalayers::parse(&bytes, start) else { return Ok(None) };
    let len = metalayers.encode().len() as u64;
    Ok(Some((metalayers, start + len)))
}
