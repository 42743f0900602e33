//! Recovers a partly damaged frame header and its metalayers.

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::Source;
use container_core::{Limits, Result};

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
}

impl RecoveredHeader {
    /// Reads the header, and reports it as kept or lost.
    ///
    /// # Errors
    /// Those of the header where the file is no frame, and those of the source.
    pub fn read(source: &dyn Source, limits: &Limits, report: &mut RepairReport) -> Result<Self> {
        let fixed = 0..FIXED_LEN as u64;
        let (header, layout) = match Layout::parse(source, 0, limits) {
            Ok(layout) => {
                report.kept.push(RepairItem::new(fixed, "header"));
                (layout.header().clone(), Some(layout))
            }
            Err(error) if !error.is_damage() || source.len() < u64::from(BARE_LEN) => return Err(error),
            Err(error) => {
                let mut magic = [0; MAGIC.len()];
                source.read_into(0, &mut magic)?;
                if magic != MAGIC {
                    return Err(error);
                }
                report.lost.push(RepairItem::new(fixed, format!("header: {}", error.kind())));
                (blank_header()?, None)
            }
        };
        let own = u64::from(header.header_len);
        let begins = |at: u64| header_at(source, at).is_some() || trailer_at(source, at, limits).is_some();
        let (found, end) = match metalayers(source)? {
            // Where header and metalayers differ, the data that begin there decide; else the metalayers' own length counts.
            Some((metalayers, end)) if own == end || begins(end) || !begins(own) => {
                if layout.is_some() && own != end {
                    let what = format!("header_len: corrected to {end} (found {own})");
                    report.guessed.push(RepairItem::new(10..15, what).with_evidence(Evidence::Walk));
                }
                (Some(metalayers), end)
            }
            Some(_) => {
                // Values may be stored otherwise than C-Blosc2 stores them; where the header ends they can be read all the same.
                let is_unreadable = |fault: &Fault| fault.kind() == FaultKind::MetalayersUnreadable;
                let sound = layout.as_ref().filter(|it| !it.faults().iter().any(is_unreadable));
                (sound.map(|layout| layout.metalayers().clone()), own)
            }
            None if (u64::from(BARE_LEN)..=source.len()).contains(&own) => (None, own),
            None => (None, u64::from(BARE_LEN)),
        };
        let region = FIXED_LEN as u64..end;
        let mut metalayers = Metalayers::new();
        match &found {
            None => report.lost.push(RepairItem::new(region, "metalayers")),
            Some(found) => {
                if found.has_other_index() {
                    let item = RepairItem::new(
                        region.clone(),
                        "size of the index of the metalayers: corrected to that of its entries",
                    );
                    report.guessed.push(item.with_evidence(Evidence::Walk));
                }
                for (name, value) in found.iter() {
                    // Of two of one name the first is read.
                    if metalayers.get(name).is_some() || metalayers.set(name, value.to_vec()).is_err() {
                        let what = format!("metalayer {name:?}: its name is taken, or there are too many");
                        report.lost.push(RepairItem::new(region.clone(), what));
                    }
                }
                let names: Vec<&str> = metalayers.iter().map(|(name, _)| name).collect();
                if !names.is_empty() {
                    report.kept.push(RepairItem::new(region, format!("metalayers: {}", names.join(", "))));
                }
            }
        }
        Ok(Self { header, end, metalayers, layout })
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
