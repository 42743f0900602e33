//! Writing items of any length, for the table of formats.

use container_core::format::{ItemKind, Output, Pack};
use container_core::{Error, Result, Value};

use crate::ItemType;
use crate::import::options::{self, CHECKSUM, FILTER};
use crate::items::writer::{VarOptions, VarWriter};
use crate::writer::with_seek;

/// Option word for the bytes left free after each item.
const RESERVE: &str = "reserve";

/// Writes a variable-length file.
///
/// # Errors
/// `Usage` for options that Bloscpack does not have, and for text that is not UTF-8; those of the items; `Io`, `Cancelled`.
pub(crate) fn pack(job: Pack<'_>, out: &mut dyn Output) -> Result<()> {
    job.options.check_options("Bloscpack", &[FILTER, CHECKSUM, RESERVE])?;
    let mut options = VarOptions {
        names: job.names.map(<[String]>::to_vec),
        others: job.others.to_vec(),
        metadata: match &job.options.metadata {
            Some(Value::Map(entries)) => entries.clone(),
            _ => Vec::new(),
        },
        ..match (job.kind, job.dtype) {
            (ItemKind::Text, _) => VarOptions::text(),
            (ItemKind::Numbers, Some(dtype)) => VarOptions::rows(ItemType::element(dtype)?),
            (ItemKind::Bytes | ItemKind::Numbers, _) => VarOptions::default(),
        }
    };
    options.chunks = options::apply(options.chunks, job.options)?;
    if let Some(bytes) = job.options.get_some(RESERVE) {
        options.reserve =
            bytes.parse().map_err(|_| Error::usage(format!("reserve {bytes:?} is not a number of bytes")))?;
    }
    let Pack { items, count, progress, .. } = job;
    with_seek(out, |out| {
        let mut writer = VarWriter::new(out, count, &options)?;
        for item in items {
            writer.push(item?)?;
            progress.tick(writer.len(), count.unwrap_or(0))?;
        }
        writer.complete().map(|_| ())
    })
}

#[cfg(test)]
mod tests;
