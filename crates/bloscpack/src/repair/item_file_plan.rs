//! Repair plan for variable-length files.

use container_core::format::WriteSeek;
use container_core::report::{RepairItem, RepairReport};
use container_core::{Result, Value};

use super::damaged_file::{ChunkStatus, DamagedFile, without_truncated_end};
use super::intact_blocks::PartialChunks;
use crate::ItemType;
use crate::fault::FaultKind;
use crate::items::writer::VarOptions;
use crate::one_chunk::encode_chunk;
use crate::write::ChunkOptions;
use crate::writer::OrderedOutput;

/// Contents of the new file.
pub(super) struct Plan {
    options: VarOptions,
    /// For each item, whether it is kept or empty.
    states: Vec<ChunkStatus>,
}

impl Plan {
    pub(super) fn new(damaged: &DamagedFile, states: &[ChunkStatus], report: &mut RepairReport) -> Self {
        let layout = &damaged.layout;
        // Items are not recovered in part: a text with zeros in it would be wrong.
        damaged.report_chunks(states, &PartialChunks::new(), "item", report);
        let kept = states.get(..without_truncated_end(states)).unwrap_or_default();
        if let Some(fault) = layout.faults().iter().find(|fault| fault.kind() == FaultKind::ItemCount) {
            let what = format!("shape in the metadata: not one of {} items", kept.len());
            report.lost.push(RepairItem::new(fault.range(), what));
        }
        let header = layout.header();
        let chunks = ChunkOptions::default()
            .with_typesize(header.typesize.max(1).into())
            .with_checksum(header.checksum);
        let names = match damaged.tree.as_ref().and_then(|tree| tree.get("names")) {
            // A list of names as long as the items stays as it is.
            Some(Value::List(names))
                if names.len() >= kept.len() && i64::try_from(kept.len()) != Ok(header.nchunks) =>
            {
                names
                    .iter()
                    .take(kept.len())
                    .map(|name| match name {
                        Value::Text(name) => Some(name.clone()),
                        _ => None,
                    })
                    .collect()
            }
            _ => None,
        };
        let options = VarOptions {
            chunks,
            items: layout.item_type().unwrap_or(ItemType::Bytes),
            names,
            base: Some(damaged.tree.clone().unwrap_or(Value::Null)),
            ..VarOptions::default()
        };
        Self { options, states: kept.to_vec() }
    }

    pub(super) fn write(&self, damaged: &DamagedFile, out: &mut dyn WriteSeek) -> Result<()> {
        let head = self.options.head(self.states.len() as u64)?;
        let mut sink = OrderedOutput::new(out, Some(&head))?;
        let chunks = &self.options.chunks;
        let mut empty = encode_chunk(&[], chunks)?;
        chunks.checksum.complete(&mut empty);
        for (entry, status) in damaged.chunks().iter().zip(&self.states) {
            if *status == ChunkStatus::Intact {
                sink.chunk(damaged.stored(entry)?.bytes(), 0)?;
            } else {
                sink.chunk(&empty, 0)?;
            }
        }
        sink.finish(&head).map(|_| ())
    }
}
